/**
 * The key-value cache of a decoder on operations of TensorFlow.js, for backends whose memory cannot
 * be read and written here. Every step appends its keys and values to tensors that some slots
 * share, and a mask says which slot attends to which of them: a prompt that was copied to other
 * slots is there once.
 */
import * as tf from "@tensorflow/tfjs-core";
import { maskedScore, type Heads } from "../../compute/attentionLayout.ts";
import { attend, createHeadSplitter, type HeadSplitter } from "../../compute/operations.ts";
import { hasKernel, runKernel } from "../../compute/runKernel.ts";
import { joinHeads } from "../../compute/stockOperations.ts";
import { mergeParameter } from "./adapters.ts";
import {
  type DecoderCache,
  chooseToken,
  type ChosenToken,
  splitIntoTiles,
  type Tile,
} from "./decoderStep.ts";
import {
  applyBlock,
  computeOutput,
  embedTokens,
  type Attend,
  type ModelWeights,
} from "./forward.ts";
import { readAndDispose, type Model } from "./transformer.ts";

/**
 * The slots that share tensors. Each computes scores of the keys of all of them, so that more would
 * take longer; fewer would take more operations.
 */
const slotsPerPool = 8;

/** Tensors with a column for each token of some slots; for one if slots have it in common. */
interface Pool {
  /** Of each layer; none if there are no columns. */
  layers: LayerCache[];
  columns: number;
  /** The columns of the tokens of each slot, in the order of its sequence. */
  readonly sequences: Map<number, readonly number[]>;
}

interface LayerCache {
  /** (kvHeads, columns, headWidth) */
  readonly keys: tf.Tensor3D;
  readonly values: tf.Tensor3D;
}

export function createTensorCache(model: Model, slots: number): DecoderCache {
  const pools = Array.from({ length: Math.ceil(slots / slotsPerPool) }, createPool);
  const poolOf = (slot: number) => pools[Math.floor(slot / slotsPerPool)]!;
  let weights: MergedWeights | undefined;
  const clear = () => {
    for (const it of pools) clearPool(it);
    weights?.dispose();
    weights = undefined;
  };
  const release = (slot: number) => {
    const pool = poolOf(slot);
    pool.sequences.delete(slot);
    if (pool.sequences.size === 0) clearPool(pool);
    // between two steps of a training, the memory is for learning
    if (pools.every(it => it.sequences.size === 0)) clear();
  };
  return {
    readWeights() {
      clear();
      weights = mergeAdapters(model);
    },
    async feed(feeds, starts) {
      weights ??= mergeAdapters(model);
      // so that the rows of a pool follow each other
      const sorted = [...feeds.entries()].sort(([, a], [, b]) => a.slot - b.slot);
      const tiles = splitIntoTiles(
        sorted.map(([, it]) => it),
        sorted.map(([i]) => starts[i]!),
      );
      const chosen = new Map<number, ChosenToken>();
      for (const tile of tiles)
        for (const it of await runTile(weights, tile, poolOf)) chosen.set(it.slot, it);
      return feeds.filter(it => it.choose).map(it => chosen.get(it.slot)!);
    },
    copy(slot, others, length) {
      const from = poolOf(slot);
      const columns = getSequence(from, slot).slice(0, length);
      if (length === 0) return others.forEach(release);
      for (const pool of new Set(others.map(poolOf))) {
        const copied = pool === from ? columns : copyColumns(from, columns, pool);
        for (const it of others) if (poolOf(it) === pool) pool.sequences.set(it, copied);
      }
    },
    release,
    dispose: clear,
  };
}

type MergedWeights = ModelWeights & { dispose(): void };

/** The weights with what adapters add to them, so that a layer is one product. */
function mergeAdapters(model: Model): MergedWeights {
  const { architecture, rope, adapters } = model;
  const merged: tf.Tensor[] = [];
  const parameters = new Map<string, tf.Tensor>(model.parameters);
  for (const [name, it] of adapters ? model.parameters : []) {
    const sum = mergeParameter(adapters!, name, it);
    if (!sum) continue;
    merged.push(sum);
    parameters.set(name, sum);
  }
  return { architecture, parameters, rope, dispose: () => tf.dispose(merged) };
}

async function runTile(
  weights: MergedWeights,
  tile: Tile,
  poolOf: (slot: number) => Pool,
): Promise<ChosenToken[]> {
  const { ids, positions, sampled } = tile;
  const { layers } = weights.architecture;
  const logits = tf.tidy(() => {
    const parts = listParts(tile, poolOf);
    const split = createHeadSplitter(weights.rope, tf.tensor1d(positions, "int32"));
    // if no token is sampled, only the keys and values of the last layer are needed
    const rows = Int32Array.from(sampled.length > 0 ? sampled.map(it => it.row) : [0]);
    let x = embedTokens(weights, Int32Array.from(ids));
    for (let layer = 0; layer < layers; layer++) {
      const attend = createAttend(parts, layer, split);
      x = tf.tidy(() => applyBlock(weights, layer, x, { rows, attend }));
    }
    return sampled.length > 0 ? [computeOutput(weights, x)] : [];
  });
  if (!logits[0]) return [];
  return chooseTokens(logits[0], sampled);
}

/** Chooses a token for each row of logits, (sampled, vocabulary), and disposes of them. */
async function chooseTokens(logits: tf.Tensor2D, sampled: Tile["sampled"]): Promise<ChosenToken[]> {
  if (hasKernel("FusedChoose") && !sampled.some(it => it.allowed)) {
    const chosen = tf.tidy(() => {
      const choices = tf.tensor2d(sampled.map(it => [it.temperature, it.uniform]));
      return runKernel("FusedChoose", { logits, choices })[0]!;
    });
    logits.dispose();
    const values = await readAndDispose(chosen);
    return sampled.map(({ slot }, i) => ({
      slot,
      id: values[2 * i]!,
      logprob: values[2 * i + 1]!,
    }));
  }
  const vocabulary = logits.shape[1];
  const values = await readAndDispose(logits);
  return sampled.map((it, i) => ({
    slot: it.slot,
    ...chooseToken(values.subarray(i * vocabulary, (i + 1) * vocabulary), it),
  }));
}

/** The rows of a tile in one pool, which follow each other. */
interface Part {
  readonly pool: Pool;
  readonly rows: number;
  /** The columns that the rows attend to, if they are less than half of them. */
  readonly columns: tf.Tensor1D | undefined;
  /** (rows, columns) */
  readonly mask: tf.Tensor2D;
}

/** Adds a column for each row of a tile to the sequence of its slot. */
const listParts = ({ slots }: Tile, poolOf: (slot: number) => Pool): Part[] =>
  [...new Set(slots.map(poolOf))].map(pool => {
    removeUnused(pool);
    const own = slots.filter(it => poolOf(it) === pool);
    const sequences = own.map(slot => {
      const sequence = [...getSequence(pool, slot), pool.columns++];
      pool.sequences.set(slot, sequence);
      return sequence;
    });
    const used = listUsed(pool, own);
    const isFew = used.length < pool.columns / 2;
    const columns = isFew ? used : Array.from({ length: pool.columns }, (_, i) => i);
    return {
      pool,
      rows: own.length,
      columns: isFew ? tf.tensor1d(used, "int32") : undefined,
      mask: createMask(sequences, columns),
    };
  });

/** The columns of slots, in ascending order. */
function listUsed({ columns, sequences }: Pool, slots: Iterable<number>): number[] {
  const isUsed = new Uint8Array(columns);
  for (const slot of slots) for (const it of sequences.get(slot)!) isUsed[it] = 1;
  return [...isUsed.keys()].filter(it => isUsed[it] === 1);
}

function createMask(
  sequences: readonly (readonly number[])[],
  columns: readonly number[],
): tf.Tensor2D {
  const places = new Map(columns.map((column, i) => [column, i]));
  const mask = new Float32Array(sequences.length * columns.length).fill(maskedScore);
  for (const [row, sequence] of sequences.entries())
    for (const it of sequence) mask[row * columns.length + places.get(it)!] = 0;
  return tf.tensor2d(mask, [sequences.length, columns.length]);
}

/** Attention to the columns of the pools, after those of the rows were added to them. */
const createAttend =
  (parts: readonly Part[], layer: number, split: HeadSplitter): Attend =>
  (qkv, norms, shape) => {
    const heads = split(qkv, norms, shape);
    const mixed = splitRows(heads, parts).map(({ queries, ...added }, i) => {
      const { pool, columns, mask } = parts[i]!;
      const all = appendColumns(pool, layer, added);
      const seen = columns ? selectColumns(all, columns) : all;
      return attend({ queries, ...seen }, mask, shape.scale);
    });
    return joinHeads(mixed.length === 1 ? mixed[0]! : tf.concat(mixed, 2));
  };

function splitRows({ queries, keys, values }: Heads, parts: readonly Part[]): Heads[] {
  if (parts.length === 1) return [{ queries, keys, values }];
  const sizes = parts.map(it => it.rows);
  const q = tf.split<tf.Tensor4D>(queries, sizes, 2);
  const k = tf.split<tf.Tensor3D>(keys, sizes, 1);
  const v = tf.split<tf.Tensor3D>(values, sizes, 1);
  return parts.map((_, i) => ({ queries: q[i]!, keys: k[i]!, values: v[i]! }));
}

const getSequence = (pool: Pool, slot: number): readonly number[] => pool.sequences.get(slot) ?? [];

/** Adds columns to those of a layer, and returns all. */
function appendColumns(pool: Pool, layer: number, { keys, values }: LayerCache): LayerCache {
  const before = pool.layers[layer];
  const all = before
    ? { keys: tf.concat([before.keys, keys], 1), values: tf.concat([before.values, values], 1) }
    : { keys, values };
  return replaceLayer(pool, layer, all);
}

function replaceLayer(pool: Pool, layer: number, { keys, values }: LayerCache): LayerCache {
  const before = pool.layers[layer];
  const after = { keys: tf.keep(keys), values: tf.keep(values) };
  pool.layers[layer] = after;
  if (before) tf.dispose([before.keys, before.values]);
  return after;
}

const selectColumns = ({ keys, values }: LayerCache, columns: tf.Tensor1D): LayerCache => ({
  keys: tf.gather(keys, columns, 1),
  values: tf.gather(values, columns, 1),
});

/** Copies columns to another pool, and returns the new ones. */
function copyColumns(from: Pool, columns: readonly number[], to: Pool): readonly number[] {
  tf.tidy(() => {
    const selected = tf.tensor1d([...columns], "int32");
    for (const [layer, it] of from.layers.entries())
      appendColumns(to, layer, selectColumns(it, selected));
  });
  const first = to.columns;
  to.columns += columns.length;
  return columns.map((_, i) => first + i);
}

/** Removes the columns that no sequence has any more, if they are more than a quarter. */
function removeUnused(pool: Pool): void {
  const used = listUsed(pool, pool.sequences.keys());
  if (used.length >= 0.75 * pool.columns) return;
  tf.tidy(() => {
    const selected = tf.tensor1d(used, "int32");
    for (const [layer, it] of pool.layers.entries())
      replaceLayer(pool, layer, selectColumns(it, selected));
  });
  const moved = new Map(used.map((column, i) => [column, i]));
  pool.columns = used.length;
  for (const [slot, sequence] of pool.sequences)
    pool.sequences.set(
      slot,
      sequence.map(it => moved.get(it)!),
    );
}

const createPool = (): Pool => ({ layers: [], columns: 0, sequences: new Map() });

function clearPool(pool: Pool): void {
  for (const { keys, values } of pool.layers) tf.dispose([keys, values]);
  pool.layers = [];
  pool.columns = 0;
  pool.sequences.clear();
}
