/** What a training in another engine is for, and the paper's hyper-parameters. */

import type { ModelSize } from "./modelSize.ts";

export interface EngineTarget {
  /** A folder, or a name on the Hugging Face hub. */
  readonly model: string;
  readonly size: ModelSize;
  /** 0 stands for the CPU. */
  readonly gpus: number;
  readonly profile: string;
  /** Trains adapters of this rank instead of all weights. */
  readonly loraRank?: number | undefined;
  /** The command line that serves the tasks. */
  readonly serve: readonly string[];
}

/** The settings that the paper gives (section 4). Lengths are in tokens. */
export const paper = {
  group: 16,
  prompts: 16,
  steps: 350,
  klCoefficient: 0.01,
  promptLength: 12_384,
  responseLength: 16_384,
  userTurns: 5,
  assistantTurns: 10,
  tensorParallel: 2,
} as const;

/** The paper's learning rates for its models; the first is Qwen3-4B's, and of all others. */
export const defaultLearningRate = 1e-6;
const learningRates: readonly (readonly [RegExp, number])[] = [
  [/qwen3-8b/i, 5e-8],
  [/qwen2\.5-7b|granite-4\.1-8b/i, 3e-7],
];

/** The paper's models by their names on the Hugging Face hub. */
export const paperModels: readonly string[] = [
  "Qwen/Qwen3-4B-Instruct-2507",
  "Qwen/Qwen3-8B",
  "Qwen/Qwen2.5-7B-Instruct",
  "ibm-granite/granite-4.1-8b",
];

export const findLearningRate = (model: string): number =>
  learningRates.find(([name]) => name.test(model))?.[1] ?? defaultLearningRate;

/** For READMEs. */
export const learningRateNote =
  "Its learning rate depends on the model: 1e-6 for Qwen3-4B, 5e-8 for Qwen3-8B, 3e-7 for Qwen2.5-7B and Granite-4.1-8B.";
