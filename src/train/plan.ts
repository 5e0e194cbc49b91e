/**
 * Estimates what a training needs before anything of its model is loaded: parameters, tokens of a
 * step, memory, and the nearest setting that fits if it does not. measureSpeed.ts adds the time.
 */
import { countAdapterParameters } from "../model/adapters.ts";
import { countParameters, listParameters, type Architecture } from "../model/architecture.ts";
import { tokensPerPage } from "../model/cachePages.ts";
import { rowsPerTile } from "../model/decoderTile.ts";
import { countSlots } from "../model/student.ts";
import {
  activationLimit,
  countActivationBytes,
  logitsPerPart,
} from "../model/recomputedGradients.ts";
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

/** The memory of a worker. On `wasm`, that of sampling is kept while it learns. */
export function estimateMemory(
  model: PlannedModel,
  run: PlannedRun,
  lengths: TaskLengths,
  isWasm: boolean,
): PlanMemory {
  const { architecture } = model;
  const trained = countTrained(model, run);
  const isAdapted = run.lora !== undefined;
  const parts = {
    weights: 4 * countParameters(architecture) * (hasReference(run) ? 2 : 1),
    // the sum and the gradients of one batch
    gradients: (run.method === "grpo" ? 2 : 1) * 4 * trained,
    optimizer: 8 * trained,
    activations: isWasm
      ? estimateActivations(architecture, countStepTokens(run, lengths).batch, isAdapted)
      : estimateStockActivations(architecture, countUsualBatch(run, lengths), isAdapted),
    sampling: run.method === "grpo" ? estimateSampling(model, run, lengths, isWasm) : 0,
  };
  const { activations, sampling, ...others } = parts;
  const step = isWasm ? activations + sampling : Math.max(activations, sampling);
  return { ...parts, total: Object.values(others).reduce((sum, it) => sum + it, step) };
}

/** Whether the weights of the start are kept for the KL term. Adapters share those of the base. */
const hasReference = (run: PlannedRun): boolean =>
  run.method === "grpo" && run.grpo.kl > 0 && run.lora === undefined;

/** The tokens of a batch that has as many groups or conversations of the average length as fit. */
function countUsualBatch(run: PlannedRun, { opening, conversation, longest }: TaskLengths): number {
  const isGrpo = run.method === "grpo";
  const one = isGrpo ? opening + run.grpo.group * (conversation - opening) : conversation;
  const count = (isGrpo ? run.grpo.prompts : run.sft.conversations) / run.workers;
  const fitting = Math.max(1, Math.min(Math.ceil(count), Math.floor(tokensPerBatch / one)));
  return Math.max(longest, Math.min(fitting * one, tokensPerBatch));
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
  const logits = 3 * 4 * logitsPerPart;
  return Math.max(inputs + block + logits, activationLimit);
}

/**
 * Of stock operations, each of which keeps its result until the end of the pass. How many there are
 * of each size was measured: the scores of attention are for each pair of tokens.
 */
function estimateStockActivations(
  architecture: Architecture,
  tokens: number,
  isAdapted: boolean,
): number {
  const { layers, width, heads, vocabulary } = architecture;
  const targets = Math.round(tokens / 3);
  const byBlock = isComputedByBlock(architecture, tokens, isAdapted);
  const together = byBlock ? 1 : layers;
  const count = (adapted: boolean) =>
    countActivationBytes(
      { ...architecture, layers: together },
      { tokens, targets: 0, isAdapted: adapted },
    );
  const rows = count(false);
  const adapters = count(isAdapted) - rows;
  const scores = 4 * together * heads * tokens ** 2;
  const logits = 4 * Math.min(targets * vocabulary, byBlock ? logitsPerPart : Infinity);
  const inputs = byBlock ? 4 * tokens * layers * width : 0;
  return inputs + 6 * rows + adapters + 11 * scores + 8 * logits;
}

/** Copies of matrices, keys and values of conversations, and intermediate results of rows. */
function estimateSampling(
  { architecture, context }: PlannedModel,
  { lora, grpo, workers }: Extract<PlannedRun, { method: "grpo" }>,
  { longest }: TaskLengths,
  isWasm: boolean,
): number {
  const { layers, kvHeads, headWidth, vocabulary, width, hidden } = architecture;
  const matrices = listParameters(architecture)
    .filter(it => it.shape.length === 2)
    // wasm copies all matrices, the other backends those of blocks to which adapters are added
    .filter(it => isWasm || (lora !== undefined && it.name.startsWith("layers.")))
    .reduce((sum, { shape }) => sum + shape[0]! * shape[1]!, 0);
  const slots = countSlots(architecture, context, isWasm);
  const attempts = Math.ceil((grpo.prompts * grpo.group) / workers);
  // the last page of a conversation is not full; elsewhere, a quarter of the cache may be unused
  const room = isWasm ? Math.ceil(longest / tokensPerPage) * tokensPerPage : (4 / 3) * longest;
  const columns = Math.min(slots, attempts) * room;
  const cache = 2 * layers * kvHeads * headWidth * columns;
  return 4 * (matrices + cache + rowsPerTile * (vocabulary + 12 * width + 3 * hidden));
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
