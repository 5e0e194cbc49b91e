/**
 * Estimates what a training needs before anything of its model is loaded: parameters, tokens of a
 * step, memory, and the nearest setting that fits if it does not. measureSpeed.ts adds the time.
 */
import { countAdapterParameters } from "../model/adapters.ts";
import { countParameters, listParameters, type Architecture } from "../model/architecture.ts";
import { rowsPerTile } from "../model/decoderTile.ts";
import { countSlots } from "../model/student.ts";
import { activationLimit, countActivationBytes } from "../model/recomputedGradients.ts";
import type { RunConfig } from "../run/config.ts";
import type { PlanMemory, StepTokens, TaskLengths } from "../run/trainingPlan.ts";
import { tokensPerBatch } from "./trainingGroup.ts";

export interface PlannedModel {
  readonly architecture: Architecture;
  /** The most tokens of a conversation. */
  readonly context: number;
}

/** What is planned: the settings of a run that decide about memory. */
export type PlannedRun = Pick<RunConfig, "lora" | "workers"> &
  (
    | { readonly method: "grpo"; readonly grpo: Extract<RunConfig, { method: "grpo" }>["grpo"] }
    | { readonly method: "sft"; readonly sft: Extract<RunConfig, { method: "sft" }>["sft"] }
  );

export function countTrained({ architecture }: PlannedModel, { lora }: PlannedRun): number {
  return lora ? countAdapterParameters(architecture, lora) : countParameters(architecture);
}

export function countStepTokens(run: PlannedRun, lengths: TaskLengths): StepTokens {
  const { opening, conversation, longest, sampled } = lengths;
  if (run.method === "sft") {
    const { conversations } = run.sft;
    const own = Math.ceil(conversations / run.workers);
    // batches are at most as long as the longest conversation, or have several
    const batch = Math.max(longest, Math.min(own * conversation, tokensPerBatch));
    return { learned: conversations * conversation, sampled: 0, batch };
  }
  const { prompts, group } = run.grpo;
  // the attempts of a group share its opening
  const ofGroup = opening + group * (conversation - opening);
  return {
    learned: prompts * ofGroup,
    sampled: prompts * group * sampled,
    // a group that has more is divided
    batch: Math.max(longest, tokensPerBatch),
  };
}

/** `isWasm`: whether the backend is `wasm`, whose decoder is another one. */
export function estimateMemory(
  model: PlannedModel,
  run: PlannedRun,
  { batch }: StepTokens,
  isWasm: boolean,
): PlanMemory {
  const { architecture } = model;
  const trained = countTrained(model, run);
  const weights = 4 * countParameters(architecture);
  const parts = {
    weights,
    // the sum and the gradients of one batch
    gradients: (run.method === "grpo" ? 2 : 1) * 4 * trained,
    optimizer: 8 * trained,
    activations: estimateActivations(architecture, batch, run.lora !== undefined),
    sampling: run.method === "grpo" ? estimateSampling(model, run, isWasm) : 0,
  };
  return { ...parts, total: Object.values(parts).reduce((sum, it) => sum + it, 0) };
}

/** Whether a batch of that many tokens is computed by block. About a third of them are predicted. */
export const isComputedByBlock = (
  architecture: Architecture,
  tokens: number,
  isAdapted: boolean,
): boolean =>
  countActivationBytes(architecture, { tokens, targets: Math.round(tokens / 3), isAdapted }) >
  activationLimit;

/** At most the limit beyond which each block is computed again, or the inputs of all blocks. */
function estimateActivations(
  architecture: Architecture,
  tokens: number,
  isAdapted: boolean,
): number {
  const { layers, width } = architecture;
  const all = { tokens, targets: Math.round(tokens / 3), isAdapted };
  if (!isComputedByBlock(architecture, tokens, isAdapted))
    return countActivationBytes(architecture, all);
  const inputs = 4 * tokens * layers * width;
  const block = countActivationBytes({ ...architecture, layers: 1 }, { ...all, targets: 0 });
  const logits = 3 * 4 * 2 ** 23;
  return Math.max(inputs + block + logits, activationLimit);
}

/** The copies of matrices, the keys and values of all slots, and intermediate results of rows. */
function estimateSampling(
  { architecture, context }: PlannedModel,
  { lora }: PlannedRun,
  isWasm: boolean,
): number {
  const { layers, kvHeads, headWidth, vocabulary, width, hidden } = architecture;
  const matrices = listParameters(architecture)
    .filter(it => it.shape.length === 2)
    // wasm copies all matrices, the other backends those of blocks to which adapters are added
    .filter(it => isWasm || (lora !== undefined && it.name.startsWith("layers.")))
    .reduce((sum, { shape }) => sum + shape[0]! * shape[1]!, 0);
  const slots = countSlots(architecture, context, isWasm);
  const cache = slots * 2 * layers * kvHeads * headWidth * context;
  // elsewhere, a quarter of the columns may be unused
  const reserve = isWasm ? 1 : 4 / 3;
  return 4 * (matrices + reserve * cache + rowsPerTile * (vocabulary + 12 * width + 3 * hidden));
}

/** A change of settings, and what it is called. */
export interface Proposal {
  readonly label: string;
  readonly run: PlannedRun;
}

/** The nearest settings to those of a run that take less memory, nearest first. */
export function listProposals(run: PlannedRun): readonly Proposal[] {
  const proposals: Proposal[] = [];
  const add = (label: string, changed: PlannedRun) => proposals.push({ label, run: changed });
  const lora = { rank: 8, alpha: 16 };
  const withOneWorker = { ...run, workers: 1 };
  if (run.workers > 1) add("one worker", withOneWorker);
  if (run.method === "sft")
    for (let conversations = run.sft.conversations >> 1; conversations >= 1; conversations >>= 1)
      add(`sft.conversations ${conversations}`, {
        ...withOneWorker,
        method: "sft",
        sft: { ...run.sft, conversations },
      });
  if (!run.lora) add("--lora 8", { ...withOneWorker, lora });
  if (!run.lora && run.method === "sft")
    add("--lora 8 and sft.conversations 1", {
      ...withOneWorker,
      lora,
      method: "sft",
      sft: { ...run.sft, conversations: 1 },
    });
  return proposals;
}
