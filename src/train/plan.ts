/**
 * What a training needs, before anything of its model is loaded: parameters, tokens of a step,
 * memory, and the nearest setting that fits if it does not; how long a step takes, measured on the
 * running backend; and whether the backend can hold the model at all.
 */
import { createMissingError } from "../compute/loadError.ts";
import { runningBackend, wasmLimits } from "../compute/runningBackend.ts";
import { countAdapterParameters, initializeAdapters } from "../model/transformer/adapters.ts";
import {
  countParameters,
  listParameters,
  type Architecture,
} from "../model/transformer/architecture.ts";
import { tokensPerPage } from "../model/transformer/keyValueCache.ts";
import { openDecoder, type Decoder } from "../model/transformer/decoder.ts";
import { rowsPerTile } from "../model/transformer/decoderStep.ts";
import { checkSize } from "../model/huggingface/weights.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import { packGroups } from "../model/transformer/packedBatch.ts";
import {
  activationLimit,
  countActivationBytes,
  logitsPerPart,
  addAdapters,
  computeGradients,
  createModel,
  disposeGradients,
  meanLoss,
  type Model,
} from "../model/transformer/transformer.ts";
import { countSlots } from "../model/student.ts";
import { listInstalledBackends } from "../run/backends.ts";
import type { RunConfig, LoraSettings } from "../run/config.ts";
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
interface Proposal {
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

interface SpeedOptions {
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

/**
 * Throws a `UserError` if the backend is not installed, or the weights of the model are too large
 * for it. `backends` is the folder of native backends: if one is installed, `auto` may take it, and
 * its limits are known when it has started.
 */
export function checkBackend(
  { folder, config, adapters }: Pick<StoredModel, "folder" | "config" | "adapters">,
  backend: RunConfig["backend"],
  backends: string,
): void {
  const installed = listInstalledBackends(backends);
  if ((backend === "tensorflow" || backend === "webgpu") && !installed.includes(backend))
    throw createMissingError(backend);
  const isWasm = backend === "wasm" || (backend === "auto" && installed.length === 0);
  if (isWasm) checkSize(config.architecture, adapters?.base ?? folder, wasmLimits);
}
