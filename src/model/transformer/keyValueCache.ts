/**
 * The key-value cache of a decoder: the keys and values of each layer stay in WebAssembly memory,
 * so that each token is computed once. It calls the kernels with addresses, because creating a
 * tensor for every small result would take longer than computing it.
 */
import type { WasmMemory } from "../../compute/wasm/kernelTypes.ts";
import type * as tf from "@tensorflow/tfjs-core";
import { mergeParameter } from "./adapters.ts";
import {
  getAttentionScale,
  getNormEpsilon,
  hasHeadNorms,
  type Architecture,
} from "./architecture.ts";
import { getOutputName } from "./forward.ts";
import {
  chooseToken,
  type ChosenToken,
  rowsPerTile,
  splitIntoTiles,
  type Tile,
  type DecoderCache,
} from "./decoderStep.ts";
import type { Model } from "./transformer.ts";

export function createKeyValueCache(
  model: Model,
  memory: WasmMemory,
  slots: number,
  context: number,
): DecoderCache {
  const { layers, kvHeads, headWidth } = model.architecture;
  const pages = new CachePages(memory, {
    slots,
    context,
    layers,
    keyBytes: 4 * kvHeads * headWidth,
  });
  const scratch = allocateScratch(memory, model.architecture, pages.perSlot * tokensPerPage);
  const matrices = allocateMatrices(memory, model);
  const packed = new Set<string>();
  const state: CacheState = { model, memory, scratch, pages, matrices, packed };
  return {
    readWeights: () => packMatrices(state),
    feed(feeds, starts) {
      for (const [i, { slot, ids }] of feeds.entries())
        pages.prepare(slot, starts[i]!, starts[i]! + ids.length);
      return Promise.resolve([...splitIntoTiles(feeds, starts)].flatMap(it => runTile(state, it)));
    },
    copy: (slot, others, length) => pages.share(slot, others, length),
    release: slot => pages.release(slot),
    dispose() {
      pages.dispose();
      for (const address of [...Object.values(scratch), ...matrices.values()]) memory.free(address);
    },
  };
}

/** The addresses of intermediate results of a tile. */
type Scratch = ReturnType<typeof allocateScratch>;

function allocateScratch(memory: WasmMemory, architecture: Architecture, longest: number) {
  const { width, heads, kvHeads, headWidth, hidden, vocabulary } = architecture;
  const rows = (n: number) => memory.allocate(rowsPerTile * n);
  return {
    ids: rows(1),
    slots: rows(1),
    positions: rows(1),
    sampledRows: rows(1),
    sampledSlots: rows(1),
    sampledPositions: rows(1),
    temperatures: rows(1),
    uniforms: rows(1),
    chosen: rows(1),
    logprobs: rows(1),
    scale: rows(1),
    stream: rows(width),
    sampledStream: rows(width),
    normed: rows(width),
    added: rows(width),
    qkv: rows((heads + 2 * kvHeads) * headWidth),
    queries: rows(heads * headWidth),
    sampledQueries: rows(heads * headWidth),
    mixed: rows(heads * headWidth),
    gateUp: rows(2 * hidden),
    feed: rows(hidden),
    logits: rows(vocabulary),
    scores: memory.allocate(2 * (longest + 8)),
  };
}

interface CacheState {
  readonly model: Model;
  readonly memory: WasmMemory;
  readonly scratch: Scratch;
  readonly pages: CachePages;
  /** The addresses of the packed matrices by name. */
  readonly matrices: ReadonlyMap<string, number>;
  /** The names of the matrices that were packed before. */
  readonly packed: Set<string>;
}

/** Room for every matrix in the order in which products read it. */
function allocateMatrices(
  memory: WasmMemory,
  { architecture, parameters }: Model,
): Map<string, number> {
  const addresses = new Map<string, number>();
  for (const [name, { shape }] of parameters)
    if (shape.length === 2 && !(architecture.hasOutput && name === "embedding"))
      addresses.set(name, memory.allocate(memory.kernels.packedSize(shape[0], shape[1])));
  return addresses;
}

/** Packs the matrices with what adapters add to them. Those that cannot have changed are kept. */
function packMatrices({ model, memory, matrices, packed }: CacheState): void {
  for (const [name, address] of matrices) {
    const matrix = model.parameters.get(name)! as tf.Variable<tf.Rank.R2>;
    const merged = model.adapters && mergeParameter(model.adapters, name, matrix);
    if (model.adapters && !merged && packed.has(name)) continue;
    const [outputs, inputs] = matrix.shape;
    memory.kernels.packB(1, inputs, outputs, memory.addressOf(merged ?? matrix), inputs, address);
    merged?.dispose();
    packed.add(name);
  }
}

function runTile(
  { model, memory, scratch, pages, matrices }: Omit<CacheState, "packed">,
  { ids, slots, positions, sampled }: Tile,
): ChosenToken[] {
  const { kernels } = memory;
  const { architecture } = model;
  const { width, layers, heads, kvHeads, headWidth, hidden, vocabulary, multipliers } =
    architecture;
  const epsilon = getNormEpsilon(architecture);
  const qkvWidth = (heads + 2 * kvHeads) * headWidth;
  const residual = multipliers?.residual ?? 1;
  const weight = (name: string) => memory.addressOf(model.parameters.get(name)!);
  const linear = (
    rows: number,
    x: number,
    inputs: number,
    matrix: string,
    outputs: number,
    out: number,
    factor = 1,
  ) =>
    kernels.gemmPacked(
      0,
      rows,
      outputs,
      inputs,
      x,
      inputs,
      matrices.get(matrix)!,
      inputs,
      out,
      outputs,
      memory.scratch(kernels.packedScratch(inputs)),
      factor,
      0,
    );
  const place = (address: number, values: readonly number[]) =>
    memory.intsAt(address, values.length).set(values);
  place(scratch.ids, ids);
  place(scratch.slots, slots);
  place(scratch.positions, positions);
  place(
    scratch.sampledRows,
    sampled.map(it => it.row),
  );
  kernels.gatherRows(ids.length, width, weight("embedding"), scratch.ids, scratch.stream);
  if (multipliers) {
    const stream = memory.floatsAt(scratch.stream, ids.length * width);
    for (let i = 0; i < stream.length; i++) stream[i]! *= multipliers.embedding;
  }
  let rows = {
    n: ids.length,
    stream: scratch.stream,
    queries: scratch.queries,
    slots: scratch.slots,
    positions: scratch.positions,
  };
  const [cos, sin] = [memory.addressOf(model.rope.cos), memory.addressOf(model.rope.sin)];
  for (let layer = 0; layer < layers; layer++) {
    const { keys, values } = pages.offsetsOf(layer);
    const name = (part: string) => `layers.${layer}.${part}`;
    const at = (part: string) => weight(name(part));
    kernels.rmsNorm(
      rows.n,
      width,
      epsilon,
      rows.stream,
      at("attention.norm"),
      scratch.normed,
      scratch.scale,
    );
    linear(rows.n, scratch.normed, width, name("attention.qkv"), qkvWidth, scratch.qkv);
    if (architecture.hasBias)
      for (let row = 0; row < rows.n; row++)
        kernels.addTo(qkvWidth, at("attention.bias"), scratch.qkv + 4 * row * qkvWidth);
    kernels.splitHeadsIntoCache(
      rows.n,
      heads,
      kvHeads,
      headWidth,
      epsilon,
      tokensPerPage,
      pages.perSlot,
      scratch.qkv,
      hasHeadNorms(architecture) ? at("attention.queryNorm") : 0,
      hasHeadNorms(architecture) ? at("attention.keyNorm") : 0,
      cos,
      sin,
      rows.slots,
      rows.positions,
      pages.table,
      rows.queries,
      keys,
      values,
    );
    if (layer === layers - 1) {
      // of the last layer, the other rows need only keys and values
      if (sampled.length === 0) return [];
      rows = gatherSampledRows(memory, scratch, sampled.length, model.architecture);
    }
    kernels.attentionInCache(
      rows.n,
      heads,
      kvHeads,
      headWidth,
      getAttentionScale(architecture),
      tokensPerPage,
      pages.perSlot,
      rows.slots,
      rows.positions,
      pages.table,
      rows.queries,
      keys,
      values,
      scratch.mixed,
      scratch.scores,
    );
    linear(
      rows.n,
      scratch.mixed,
      heads * headWidth,
      name("attention.out"),
      width,
      scratch.added,
      residual,
    );
    kernels.addTo(rows.n * width, scratch.added, rows.stream);
    kernels.rmsNorm(
      rows.n,
      width,
      epsilon,
      rows.stream,
      at("feed.norm"),
      scratch.normed,
      scratch.scale,
    );
    linear(rows.n, scratch.normed, width, name("feed.gateUp"), 2 * hidden, scratch.gateUp);
    kernels.swiglu(rows.n, hidden, scratch.gateUp, scratch.feed);
    linear(rows.n, scratch.feed, hidden, name("feed.down"), width, scratch.added, residual);
    kernels.addTo(rows.n * width, scratch.added, rows.stream);
  }
  kernels.rmsNorm(
    rows.n,
    width,
    epsilon,
    rows.stream,
    weight("norm"),
    scratch.normed,
    scratch.scale,
  );
  linear(
    rows.n,
    scratch.normed,
    width,
    getOutputName(architecture),
    vocabulary,
    scratch.logits,
    1 / (multipliers?.logits ?? 1),
  );
  memory.floatsAt(scratch.temperatures, rows.n).set(sampled.map(it => it.temperature));
  memory.floatsAt(scratch.uniforms, rows.n).set(sampled.map(it => it.uniform));
  kernels.sampleRows(
    rows.n,
    vocabulary,
    scratch.logits,
    scratch.temperatures,
    scratch.uniforms,
    scratch.chosen,
    scratch.logprobs,
    memory.scratch(8),
  );
  const [chosen, logprobs] = [
    memory.intsAt(scratch.chosen, rows.n),
    memory.floatsAt(scratch.logprobs, rows.n),
  ];
  return sampled.map((it, i) => {
    if (!it.allowed) return { slot: it.slot, id: chosen[i]!, logprob: logprobs[i]! };
    const logits = memory.floatsAt(scratch.logits + 4 * i * vocabulary, vocabulary);
    return { slot: it.slot, ...chooseToken(logits, it) };
  });
}

/** Gathers the residual stream, queries, slots and positions of the sampled rows. */
function gatherSampledRows(
  { kernels }: WasmMemory,
  scratch: Scratch,
  n: number,
  { width, heads, headWidth }: Architecture,
) {
  kernels.gatherRows(n, width, scratch.stream, scratch.sampledRows, scratch.sampledStream);
  kernels.gatherRows(
    n,
    heads * headWidth,
    scratch.queries,
    scratch.sampledRows,
    scratch.sampledQueries,
  );
  kernels.gatherRows(n, 1, scratch.slots, scratch.sampledRows, scratch.sampledSlots);
  kernels.gatherRows(n, 1, scratch.positions, scratch.sampledRows, scratch.sampledPositions);
  return {
    n,
    stream: scratch.sampledStream,
    queries: scratch.sampledQueries,
    slots: scratch.sampledSlots,
    positions: scratch.sampledPositions,
  };
}

// The pages of a key-value cache: each has the keys and values of some tokens that follow each
// other, in all layers. Slots take pages as their sequences grow, and read the same pages where
// their sequences begin alike, until one of them writes to such a page.

/** The tokens of a page. */
export const tokensPerPage = 64;

/** Pages are allocated so many at a time. Those of one layer follow each other. */
const pagesPerBlock = 16;

interface CachePagesOptions {
  readonly slots: number;
  /** The longest sequence of a slot, in tokens. */
  readonly context: number;
  readonly layers: number;
  /** The size of the keys of one token in one layer, in bytes. Values are as large. */
  readonly keyBytes: number;
}

class CachePages {
  /** The most pages of a slot. */
  readonly perSlot: number;
  /** The address of a table (slots, perSlot) with the address of each page in the first layer. */
  readonly table: number;
  readonly #memory: WasmMemory;
  readonly #options: CachePagesOptions;
  /** The addresses of each slot's pages. */
  readonly #pages: number[][];
  /** How many slots read a page. */
  readonly #readers = new Map<number, number>();
  readonly #free: number[] = [];
  readonly #blocks: number[] = [];

  constructor(memory: WasmMemory, options: CachePagesOptions) {
    this.#memory = memory;
    this.#options = options;
    this.perSlot = Math.ceil(options.context / tokensPerPage);
    this.table = memory.allocate(options.slots * this.perSlot);
    this.#pages = Array.from({ length: options.slots }, () => []);
  }

  /** The offsets of a layer's keys and values from the address of a page, in bytes. */
  offsetsOf(layer: number): { readonly keys: number; readonly values: number } {
    const keys = layer * pagesPerBlock * this.#layerBytes;
    return { keys, values: keys + this.#layerBytes / 2 };
  }

  /** Gives a slot pages of its own for the tokens from `start` on, up to a length. */
  prepare(slot: number, start: number, length: number): void {
    const pages = this.#pages[slot]!;
    const first = Math.floor(start / tokensPerPage);
    const shared = pages[first];
    if (shared !== undefined && this.#readers.get(shared)! > 1) {
      const copy = this.#take();
      this.#copy(shared, copy);
      this.#releasePage(shared);
      pages[first] = copy;
    }
    while (pages.length * tokensPerPage < length) pages.push(this.#take());
    this.#writeTable(slot);
  }

  /** Lets other slots read the first `length` tokens of a slot, instead of what they have. */
  share(slot: number, others: readonly number[], length: number): void {
    const pages = this.#pages[slot]!.slice(0, Math.ceil(length / tokensPerPage));
    for (const other of others) {
      this.release(other);
      for (const page of pages) this.#readers.set(page, this.#readers.get(page)! + 1);
      this.#pages[other] = [...pages];
      this.#writeTable(other);
    }
  }

  /** Empties a slot. */
  release(slot: number): void {
    for (const page of this.#pages[slot]!) this.#releasePage(page);
    this.#pages[slot] = [];
  }

  dispose(): void {
    for (const address of [this.table, ...this.#blocks]) this.#memory.free(address);
  }

  /** The size of a page in one layer, in bytes. */
  get #layerBytes(): number {
    return 2 * tokensPerPage * this.#options.keyBytes;
  }

  #take(): number {
    if (this.#free.length === 0) this.#allocateBlock();
    const page = this.#free.pop()!;
    this.#readers.set(page, 1);
    return page;
  }

  /** Frees a page once no slot reads it. */
  #releasePage(page: number): void {
    const readers = this.#readers.get(page)! - 1;
    this.#readers.set(page, readers);
    if (readers === 0) this.#free.push(page);
  }

  #allocateBlock(): void {
    const layer = pagesPerBlock * this.#layerBytes;
    const block = this.#memory.allocate((this.#options.layers * layer) / 4);
    this.#blocks.push(block);
    for (let i = pagesPerBlock - 1; i >= 0; i--) this.#free.push(block + i * this.#layerBytes);
  }

  #copy(from: number, to: number): void {
    const floats = this.#layerBytes / 4;
    for (let layer = 0; layer < this.#options.layers; layer++) {
      const { keys } = this.offsetsOf(layer);
      this.#memory.floatsAt(to + keys, floats).set(this.#memory.floatsAt(from + keys, floats));
    }
  }

  #writeTable(slot: number): void {
    this.#memory.intsAt(this.table + 4 * slot * this.perSlot, this.perSlot).set(this.#pages[slot]!);
  }
}
