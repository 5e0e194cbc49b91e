/**
 * Measures how fast the running backend trains a model and samples from it, without loading its
 * weights: of a large model with one and with two of its layers, from which the time of all layers
 * follows.
 */
import { runningBackend } from "../compute/runningBackend.ts";
import { initializeAdapters } from "../model/adapters.ts";
import { countParameters, listParameters, type Architecture } from "../model/architecture.ts";
import { openDecoder, type Decoder } from "../model/decoder.ts";
import { packGroups } from "../model/packedBatch.ts";
import {
  addAdapters,
  computeGradients,
  createModel,
  disposeGradients,
  meanLoss,
  type Model,
} from "../model/transformer.ts";
import type { LoraSettings } from "../run/config.ts";

/**
 * A token of a longer sequence takes longer, because of attention, so that a conversation is
 * measured in its length. In larger layers, attention is a smaller part, and a pass takes longer:
 * there, a part of a long conversation is measured.
 */
export function countMeasuredTokens(architecture: Architecture, length: number): number {
  const ofLayer = listParameters(architecture)
    .filter(it => it.name.startsWith("layers.0."))
    .reduce((sum, { shape }) => sum + shape.reduce((product, n) => product * n, 1), 0);
  const longest = Math.max(shortestPass, Math.round(passSize / ofLayer));
  return Math.min(longest, length, architecture.context - 1);
}

/** Seconds for one token. */
export interface MeasuredSpeed {
  /** In a forward and backward pass. */
  readonly learned: number;
  /** When it is sampled, in `slots` conversations at the same time. */
  readonly sampled: number;
  /** When it is read before the first one is sampled. */
  readonly read: number;
}

export interface SpeedOptions {
  readonly lora: LoraSettings | undefined;
  /** Conversations that are sampled at the same time; 0 measures no sampling. */
  readonly slots: number;
  /** The tokens of a conversation, and the share of them that are targets. */
  readonly length: number;
  readonly targetShare: number;
  /** Whether each block is computed again in the backward pass. */
  readonly byBlock: boolean;
}

/** The tokens of a pass that is measured, times the parameters of a layer. */
const passSize = 6e9;

/** The tokens of a pass that is measured for a model of any size. */
const shortestPass = 512;

const promptTokens = 128;
const sampledTokens = 4;

/** Tokens of the batches of small models. */
const batchTokens = 1000;

/** Whether a model is small enough to measure all of it. */
const isSmall = (architecture: Architecture) => countParameters(architecture) <= 2e7;

/** Small models are measured for this many seconds: their code is slower when it is new. */
const seconds = 1;

export async function measureSpeed(
  architecture: Architecture,
  options: SpeedOptions,
): Promise<MeasuredSpeed> {
  if (architecture.layers === 1 || isSmall(architecture))
    return await measureLayers(architecture, options);
  const one = await measureLayers({ ...architecture, layers: 1 }, options);
  const two = await measureLayers({ ...architecture, layers: 2 }, options);
  const extrapolate = (name: keyof MeasuredSpeed) =>
    one[name] + (architecture.layers - 1) * Math.max(0, two[name] - one[name]);
  return {
    learned: extrapolate("learned"),
    sampled: extrapolate("sampled"),
    read: extrapolate("read"),
  };
}

async function measureLayers(
  architecture: Architecture,
  options: SpeedOptions,
): Promise<MeasuredSpeed> {
  const { lora, slots } = options;
  // which numbers are computed makes no difference to the time
  const base = createModel(architecture, (_name, shape) =>
    new Float32Array(shape.reduce((size, n) => size * n, 1)).fill(0.01),
  );
  const model = lora ? addAdapters(base, initializeAdapters(architecture, lora, 1)) : base;
  try {
    const learned = await measureLearning(model, options);
    const sampling = slots > 0 ? await measureSampling(model, slots) : { sampled: 0, read: 0 };
    return { learned, ...sampling };
  } finally {
    model.dispose();
  }
}

async function measureLearning(
  model: Model,
  { length, targetShare, byBlock }: SpeedOptions,
): Promise<number> {
  const pass = async (tokens: number, count: number) => {
    const ids = Array.from({ length: tokens }, (_, i) => i % model.architecture.vocabulary);
    const targets = Math.max(1, Math.round(tokens * targetShare));
    const mask = ids.map((_, i) => (i >= tokens - targets ? 1 : 0));
    const conversation = { prefix: [1], branches: [{ ids, mask }] };
    const packed = packGroups(Array.from({ length: count }, () => conversation));
    disposeGradients((await computeGradients(model, packed, meanLoss, 1, byBlock)).gradients);
  };
  const tokens = countMeasuredTokens(model.architecture, length);
  // of a small model, many short matrices would take longer than those of a batch
  const count = isSmall(model.architecture) ? Math.ceil(batchTokens / tokens) : 1;
  await pass(Math.min(32, tokens), 1); // compiles
  return (await measureFastest(() => pass(tokens, count))) / (count * tokens);
}

async function measureSampling(
  model: Model,
  slots: number,
): Promise<Pick<MeasuredSpeed, "sampled" | "read">> {
  const decoder = openDecoder(model, { slots, context: promptTokens + sampledTokens });
  const prompt = Array.from({ length: promptTokens }, (_, i) => i % model.architecture.vocabulary);
  const work = { read: Infinity, sampled: Infinity };
  try {
    await measureFastest(async () => {
      const open = Array.from({ length: slots }, () => decoder.open());
      const read = await measureSeconds(() => decoder.feed([{ slot: open[0]!, ids: prompt }]));
      decoder.copy(open[0]!, open.slice(1));
      const sampled = await measureSeconds(async () => {
        for (let i = 0; i < sampledTokens; i++) await sampleOnce(decoder, open);
      });
      for (const it of open) decoder.release(it);
      work.read = Math.min(work.read, read / promptTokens);
      work.sampled = Math.min(work.sampled, sampled / (sampledTokens * slots));
    });
    return work;
  } finally {
    decoder.dispose();
  }
}

const sampleOnce = (decoder: Decoder, slots: readonly number[]) =>
  decoder.feed(slots.map(slot => ({ slot, ids: [1], choose: { temperature: 1, uniform: 0.5 } })));

/** The seconds of the fastest time that work was done: other programs make it slower. */
async function measureFastest(work: () => Promise<unknown>): Promise<number> {
  let [fastest, spent] = [Infinity, 0];
  while (spent < seconds) {
    const taken = await measureSeconds(work);
    fastest = Math.min(fastest, taken);
    spent += taken;
  }
  return fastest;
}

/** Without the time that other programs took of the processor, where that is known. */
async function measureSeconds(work: () => Promise<unknown>): Promise<number> {
  const [start, used] = [performance.now(), process.cpuUsage()];
  await work();
  const seconds = (performance.now() - start) / 1000;
  const { user, system } = process.cpuUsage(used);
  // threads of a library take several times as long together, and a graphics card is not counted
  return runningBackend().hasGpu ? seconds : Math.min(seconds, (user + system) / 1e6);
}
