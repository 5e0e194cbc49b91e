/**
 * The fast way to remember sequences: each layer's keys and values stay in wasm memory, and a token
 * is worked once. Everything runs on bare addresses, because a tensor for every small result would
 * take longer than the result.
 */
import type { WasmMemory } from "../compute/wasmMemory.ts";
import type { Architecture } from "./architecture.ts";
import type { ChosenToken, Feed } from "./decoderStep.ts";
import type { DecoderCache } from "./decoderCache.ts";
import type { Model } from "./transformer.ts";

/** Rows worked at once; a call with more is worked in several passes. */
const rowsPerTile = 256;

export function createKeyValueCache(
  model: Model,
  memory: WasmMemory,
  slots: number,
  context: number,
): DecoderCache {
  const { layers, kvHeads, headWidth } = model.architecture;
  const slotSize = kvHeads * context * headWidth;
  const caches = Array.from({ length: layers }, () => ({
    keys: memory.allocate(slots * slotSize),
    values: memory.allocate(slots * slotSize),
  }));
  const room = allocateScratch(memory, model.architecture, context);
  const pass: CacheContext = { model, memory, room, caches, context };
  return {
    feed: (feeds, starts) => [...splitIntoTiles(feeds, starts)].flatMap(it => runTile(pass, it)),
    copy(slot, other, length) {
      for (const address of caches.flatMap(it => [it.keys, it.values])) {
        const cache = memory.floatsAt(address, slots * slotSize);
        for (let head = 0; head < kvHeads; head++) {
          const from = slot * slotSize + head * context * headWidth;
          cache.copyWithin(
            other * slotSize + head * context * headWidth,
            from,
            from + length * headWidth,
          );
        }
      }
    },
    dispose() {
      for (const address of [...caches.flatMap(it => [it.keys, it.values]), ...Object.values(room)])
        memory.free(address);
    },
  };
}

/** At most `tile` rows: each a token at a position of a slot; `asked` rows are to be answered. */
interface Tile {
  readonly ids: number[];
  readonly slots: number[];
  readonly positions: number[];
  readonly asked: {
    readonly row: number;
    readonly slot: number;
    readonly temperature: number;
    readonly uniform: number;
  }[];
}

function* splitIntoTiles(feeds: readonly Feed[], starts: readonly number[]): Generator<Tile> {
  const empty = (): Tile => ({ ids: [], slots: [], positions: [], asked: [] });
  let rows = empty();
  for (const [i, { slot, ids, choose }] of feeds.entries())
    for (const [j, id] of ids.entries()) {
      rows.ids.push(id);
      rows.slots.push(slot);
      rows.positions.push((starts[i] as number) + j);
      if (choose && j === ids.length - 1)
        rows.asked.push({ row: rows.ids.length - 1, slot, ...choose });
      if (rows.ids.length === rowsPerTile) {
        yield rows;
        rows = empty();
      }
    }
  if (rows.ids.length > 0) yield rows;
}

/** Addresses of the rows' numbers between kernels. */
type Scratch = ReturnType<typeof allocateScratch>;

function allocateScratch(memory: WasmMemory, architecture: Architecture, context: number) {
  const { width, heads, kvHeads, headWidth, hidden, vocabulary } = architecture;
  const rows = (n: number) => memory.allocate(rowsPerTile * n);
  return {
    ids: rows(1),
    slots: rows(1),
    positions: rows(1),
    askedRows: rows(1),
    askedSlots: rows(1),
    askedPositions: rows(1),
    temperatures: rows(1),
    uniforms: rows(1),
    chosen: rows(1),
    logprobs: rows(1),
    scale: rows(1),
    stream: rows(width),
    askedStream: rows(width),
    normed: rows(width),
    added: rows(width),
    qkv: rows((heads + 2 * kvHeads) * headWidth),
    queries: rows(heads * headWidth),
    askedQueries: rows(heads * headWidth),
    mixed: rows(heads * headWidth),
    gateUp: rows(2 * hidden),
    feed: rows(hidden),
    logits: rows(vocabulary),
    scores: memory.allocate(context + 8),
  };
}

interface CacheContext {
  readonly model: Model;
  readonly memory: WasmMemory;
  readonly room: Scratch;
  readonly caches: readonly { readonly keys: number; readonly values: number }[];
  readonly context: number;
}

function runTile(
  { model, memory, room, caches, context }: CacheContext,
  { ids, slots, positions, asked }: Tile,
): ChosenToken[] {
  const { kernels } = memory;
  const { width, layers, heads, kvHeads, headWidth, hidden, vocabulary } = model.architecture;
  const weight = (name: string) => memory.addressOf(model.parameters.get(name)!);
  const linear = (
    rows: number,
    x: number,
    inputs: number,
    matrix: number,
    outputs: number,
    out: number,
  ) =>
    kernels.gemm(
      0,
      1,
      rows,
      outputs,
      inputs,
      x,
      inputs,
      matrix,
      inputs,
      out,
      outputs,
      memory.scratch(kernels.gemmScratch(outputs, inputs)),
      1,
      0,
    );
  const place = (address: number, values: readonly number[]) =>
    memory.intsAt(address, values.length).set(values);
  place(room.ids, ids);
  place(room.slots, slots);
  place(room.positions, positions);
  place(
    room.askedRows,
    asked.map(it => it.row),
  );
  kernels.gatherRows(ids.length, width, weight("embedding"), room.ids, room.stream);
  let rows = {
    n: ids.length,
    stream: room.stream,
    queries: room.queries,
    slots: room.slots,
    positions: room.positions,
  };
  const [cos, sin] = [memory.addressOf(model.rope.cos), memory.addressOf(model.rope.sin)];
  for (const [layer, { keys, values }] of caches.entries()) {
    const at = (part: string) => weight(`layers.${layer}.${part}`);
    kernels.rmsNorm(rows.n, width, rows.stream, at("attention.norm"), room.normed, room.scale);
    linear(
      rows.n,
      room.normed,
      width,
      at("attention.qkv"),
      (heads + 2 * kvHeads) * headWidth,
      room.qkv,
    );
    kernels.splitHeadsIntoCache(
      rows.n,
      heads,
      kvHeads,
      headWidth,
      context,
      room.qkv,
      at("attention.queryNorm"),
      at("attention.keyNorm"),
      cos,
      sin,
      rows.slots,
      rows.positions,
      rows.queries,
      keys,
      values,
    );
    if (layer === layers - 1) {
      // nothing looks at the last layer's outputs but the answers: other rows were here to leave
      // keys and values
      if (asked.length === 0) return [];
      rows = gatherAskedRows(memory, room, asked.length, model.architecture);
    }
    kernels.attentionInCache(
      rows.n,
      heads,
      kvHeads,
      headWidth,
      context,
      rows.slots,
      rows.positions,
      rows.queries,
      keys,
      values,
      room.mixed,
      room.scores,
    );
    linear(rows.n, room.mixed, heads * headWidth, at("attention.out"), width, room.added);
    kernels.addTo(rows.n * width, room.added, rows.stream);
    kernels.rmsNorm(rows.n, width, rows.stream, at("feed.norm"), room.normed, room.scale);
    linear(rows.n, room.normed, width, at("feed.gateUp"), 2 * hidden, room.gateUp);
    kernels.swiglu(rows.n, hidden, room.gateUp, room.feed);
    linear(rows.n, room.feed, hidden, at("feed.down"), width, room.added);
    kernels.addTo(rows.n * width, room.added, rows.stream);
  }
  kernels.rmsNorm(rows.n, width, rows.stream, weight("norm"), room.normed, room.scale);
  linear(rows.n, room.normed, width, weight("embedding"), vocabulary, room.logits);
  memory.floatsAt(room.temperatures, rows.n).set(asked.map(it => it.temperature));
  memory.floatsAt(room.uniforms, rows.n).set(asked.map(it => it.uniform));
  kernels.sampleRows(
    rows.n,
    vocabulary,
    room.logits,
    room.temperatures,
    room.uniforms,
    room.chosen,
    room.logprobs,
  );
  const [chosen, logprobs] = [
    memory.intsAt(room.chosen, rows.n),
    memory.floatsAt(room.logprobs, rows.n),
  ];
  return asked.map(({ slot }, i) => ({
    slot,
    id: chosen[i] as number,
    logprob: logprobs[i] as number,
  }));
}

/** The asked rows' streams, queries and places, side by side. */
function gatherAskedRows(
  { kernels }: WasmMemory,
  room: Scratch,
  n: number,
  { width, heads, headWidth }: Architecture,
) {
  kernels.gatherRows(n, width, room.stream, room.askedRows, room.askedStream);
  kernels.gatherRows(n, heads * headWidth, room.queries, room.askedRows, room.askedQueries);
  kernels.gatherRows(n, 1, room.slots, room.askedRows, room.askedSlots);
  kernels.gatherRows(n, 1, room.positions, room.askedRows, room.askedPositions);
  return {
    n,
    stream: room.askedStream,
    queries: room.askedQueries,
    slots: room.askedSlots,
    positions: room.askedPositions,
  };
}
