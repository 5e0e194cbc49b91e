/**
 * Measures how fast the running backend trains a model and samples from it, without loading its
 * weights: with one and with two of its layers, from which the time of all layers follows.
 */
import { initializeAdapters } from "../model/adapters.ts";
import type { Architecture } from "../model/architecture.ts";
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
}

const tokens = 256;
const sampledTokens = 4;

export async function measureSpeed(
  architecture: Architecture,
  options: SpeedOptions,
): Promise<MeasuredSpeed> {
  const one = await measureLayers({ ...architecture, layers: 1 }, options);
  if (architecture.layers === 1) return one;
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
  { lora, slots }: SpeedOptions,
): Promise<MeasuredSpeed> {
  // which numbers are computed makes no difference to the time
  const base = createModel(architecture, (_name, shape) =>
    new Float32Array(shape.reduce((size, n) => size * n, 1)).fill(0.01),
  );
  const model = lora ? addAdapters(base, initializeAdapters(architecture, lora, 1)) : base;
  try {
    const learned = await measureLearning(model);
    const sampling = slots > 0 ? await measureSampling(model, slots) : { sampled: 0, read: 0 };
    return { learned, ...sampling };
  } finally {
    model.dispose();
  }
}

/** Half of the tokens are targets. */
async function measureLearning(model: Model): Promise<number> {
  const ids = Array.from({ length: tokens }, (_, i) => i % model.architecture.vocabulary);
  const mask = ids.map((_, i) => (i > tokens / 2 ? 1 : 0));
  const packed = packGroups([{ prefix: [1], branches: [{ ids, mask }] }]);
  const pass = async () =>
    disposeGradients((await computeGradients(model, packed, meanLoss)).gradients);
  await pass(); // compiles
  return (await measureSeconds(pass)) / tokens;
}

async function measureSampling(
  model: Model,
  slots: number,
): Promise<Pick<MeasuredSpeed, "sampled" | "read">> {
  const decoder = openDecoder(model, { slots, context: tokens + sampledTokens });
  try {
    const open = Array.from({ length: slots }, () => decoder.open());
    const prompt = Array.from({ length: tokens / 2 }, (_, i) => i % model.architecture.vocabulary);
    await decoder.feed([{ slot: open[0]!, ids: [1] }]);
    const read = await measureSeconds(() => decoder.feed([{ slot: open[0]!, ids: prompt }]));
    decoder.copy(open[0]!, open.slice(1));
    await sampleOnce(decoder, open);
    const sampled = await measureSeconds(async () => {
      for (let i = 1; i < sampledTokens; i++) await sampleOnce(decoder, open);
    });
    return { sampled: sampled / ((sampledTokens - 1) * slots), read: read / prompt.length };
  } finally {
    decoder.dispose();
  }
}

const sampleOnce = (decoder: Decoder, slots: readonly number[]) =>
  decoder.feed(slots.map(slot => ({ slot, ids: [1], choose: { temperature: 1, uniform: 0.5 } })));

async function measureSeconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
