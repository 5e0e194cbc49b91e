/**
 * The work of a training that depends least on tasks, of a small model with random weights, for
 * `bench training`: passes in which every token is a target, and sampling.
 */
import { createRandom } from "../environment/random.ts";
import type { Architecture } from "../model/architecture.ts";
import { openDecoder } from "../model/decoder.ts";
import { packGroups } from "../model/packedBatch.ts";
import {
  computeGradients,
  disposeGradients,
  initializeModel,
  meanLoss,
  type Model,
} from "../model/transformer.ts";
import type { BenchmarkRow } from "./benchmark.ts";
import type { Torch } from "./benchTorch.ts";
import { measureWork, type MeasureOptions } from "./measureWork.ts";

/** The model and the batch of `training.dense`. */
const dense: Architecture = {
  vocabulary: 2048,
  width: 128,
  layers: 4,
  heads: 4,
  kvHeads: 2,
  headWidth: 32,
  hidden: 384,
  context: 512,
  ropeBase: 10_000,
};
const denseSequences = 4;
const denseLength = 256;

const decodedSequences = 16;

export interface DenseOptions extends MeasureOptions {
  readonly torch?: Torch | undefined;
  /** The end of the rows' names. */
  readonly suffix?: string;
  /** Passes of a run. */
  readonly passes?: number;
}

/** The rows `training.dense` and `training.decoding`, on the backend that runs. */
export async function* measureDense(options: DenseOptions): AsyncGenerator<BenchmarkRow> {
  const model = initializeModel(dense, 1);
  yield* measurePasses(model, options);
  yield* measureDecoding(model, options);
  model.dispose();
}

/** Forward and backward passes in which every token is a target. */
function measurePasses(model: Model, { torch, suffix = "", passes = 4, ...options }: DenseOptions) {
  const random = createRandom(1);
  const packed = packGroups(
    Array.from({ length: denseSequences }, () => ({
      prefix: [0],
      branches: [
        {
          ids: Array.from({ length: denseLength }, () => random.integer(dense.vocabulary)),
          mask: Array.from({ length: denseLength }, () => 1),
        },
      ],
    })),
  );
  return measureWork(
    {
      name: `training.dense${suffix}`,
      unit: "tokens/s",
      amount: denseSequences * denseLength,
      repeat: passes,
      work: async () => {
        const { gradients } = await computeGradients(model, packed, meanLoss);
        // the last one to be computed: a graphics card may not be ready before it is read
        await gradients.get("embedding")!.data();
        disposeGradients(gradients);
      },
      others: torch && {
        torch: torch.measure({
          work: "dense",
          architecture: dense,
          sequences: denseSequences,
          length: denseLength,
        }),
      },
    },
    options,
  );
}

/** Sixteen sequences that grow from 128 to 192 tokens. */
async function* measureDecoding(
  model: Model,
  { torch, suffix = "", passes = 4, ...options }: DenseOptions,
) {
  const random = createRandom(2);
  const prompt = Array.from({ length: 128 }, () => random.integer(dense.vocabulary));
  const decoder = openDecoder(model, { slots: decodedSequences });
  const steps = 64;
  const work = async () => {
    const slots = Array.from({ length: decodedSequences }, () => decoder.open());
    await decoder.feed([{ slot: slots[0]!, ids: prompt }]);
    decoder.copy(slots[0]!, slots.slice(1));
    let last = slots.map(slot => ({ slot, id: 1 }));
    for (let i = 0; i < steps; i++)
      last = await decoder.feed(
        last.map(({ slot, id }) => ({
          slot,
          ids: [id],
          choose: { temperature: 1, uniform: random.next() },
        })),
      );
    for (const slot of slots) decoder.release(slot);
  };
  yield* measureWork(
    {
      name: `training.decoding${suffix}`,
      unit: "tokens/s",
      amount: decodedSequences * steps,
      // in a shorter run, what V8 does in other threads would count for much
      repeat: 2 * passes,
      work,
      others: torch && {
        torch: torch.measure({
          work: "decoding",
          architecture: dense,
          sequences: decodedSequences,
          prompt: prompt.length,
          steps,
        }),
      },
    },
    options,
  );
  decoder.dispose();
}
