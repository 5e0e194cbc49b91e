/**
 * Makes the plan of a training for `plan` and for the editor: what it needs, how long a step takes,
 * and what to change if it does not fit.
 */
import { totalmem } from "node:os";
import { startBackend } from "../compute/backend.ts";
import type { Catalog } from "../environment/catalog.ts";
import { formatPrepareCommand, readModelSize } from "../engine/target.ts";
import { describeTrlMemory } from "../engine/trl.ts";
import { countParameters } from "../model/transformer/architecture.ts";
import { checkTensorSizes } from "../model/huggingface/weights.ts";
import { readModelFolder, type StoredModel } from "../model/modelFolder.ts";
import { countSlots } from "../model/student.ts";
import type { StepTokens, TaskLengths, TrainingPlan } from "../run/trainingPlan.ts";
import type { RunConfig } from "../run/config.ts";
import { getBackendsFolder } from "../run/backends.ts";
import { createConversation } from "../train/sft/corpus.ts";
import {
  measureSpeed,
  countStepTokens,
  countTrained,
  estimateMemory,
  isComputedByBlock,
  listProposals,
  type MeasuredSpeed,
  type PlannedModel,
  type PlannedRun,
} from "../train/plan.ts";
import { readTasks } from "../trajectory/file.ts";
import { UserError } from "../userError.ts";

/** Node, the tasks and what else a worker has in memory. */
const otherBytes = 300 * 2 ** 20;

/** Tasks whose lengths are counted. */
const sampledTasks = 50;

/** `gpus` is how many GPUs a training with TRL is described for. */
export async function makePlan(
  config: RunConfig,
  folder: string,
  { catalog, dist, signal }: { catalog: Catalog; dist: string; signal: AbortSignal },
  gpus = 8,
): Promise<TrainingPlan> {
  const stored = readModelFolder(folder);
  const { architecture } = stored.config;
  const model: PlannedModel = { architecture, context: stored.chat.limits.context };
  const lengths = await measureLengths(config, stored, catalog, signal);
  const backend = await startBackend(config.backend, {
    programs: dist,
    backends: getBackendsFolder(),
    sizes: architecture,
  });
  checkTensorSizes(architecture, stored.adapters?.base ?? folder);
  const isWasm = backend.memory !== undefined;
  const limit = Math.min(backend.maxBytes ?? Infinity, totalmem());
  const estimate = (run: PlannedRun) => {
    const tokens = countStepTokens(run, lengths);
    const memory = estimateMemory(model, run, lengths, isWasm);
    const fits = memory.total <= limit && run.workers * (memory.total + otherBytes) <= totalmem();
    return { tokens, memory, fits };
  };
  const { tokens, memory, fits } = estimate(config);
  const proposal = fits ? undefined : listProposals(config).find(it => estimate(it.run).fits);
  // two layers are measured, with the embeddings, their gradients and a sum of these
  const canMeasure = 4 * architecture.vocabulary * architecture.width * 3 < limit;
  const speed =
    fits && canMeasure ? await measure(model, config, { lengths, tokens, isWasm }) : undefined;
  return {
    model: stored.config.name,
    parameters: countParameters(architecture),
    trained: countTrained(model, config),
    method: config.method,
    lengths,
    tokens,
    memory,
    workers: config.workers,
    backend: backend.name,
    device: backend.device,
    notes: backend.notes,
    limit,
    fits,
    ...(proposal ? { proposal: proposal.label } : {}),
    ...(fits || proposal || stored.kind === "student"
      ? {}
      : { prepare: describePreparation(config, stored) }),
    ...(stored.kind === "student" ? {} : { gpus: describeGpus(config, stored, lengths, gpus) }),
    ...(speed ? { seconds: estimateSeconds(config, { lengths, tokens, speed }) } : {}),
  };
}

/** The command that trains the same with another training framework, which loads a whole model. */
const describePreparation = ({ tasks, lora }: RunConfig, { folder, adapters }: StoredModel) =>
  formatPrepareCommand({ tasks, model: adapters?.base ?? folder, loraRank: lora?.rank });

function describeGpus(
  { lora }: RunConfig,
  { folder, adapters }: StoredModel,
  { longestOpening }: TaskLengths,
  gpus: number,
): readonly string[] {
  const model = adapters?.base ?? folder;
  const target = { model, size: readModelSize(model), gpus, loraRank: lora?.rank };
  try {
    const memory = describeTrlMemory(target, longestOpening);
    return memory ? [memory.text, ...(memory.remedy === undefined ? [] : [memory.remedy])] : [];
  } catch (error) {
    if (error instanceof UserError) return [`${error.what}: ${error.remedy}`];
    throw error;
  }
}

/** The lengths of the first tasks of the run. */
async function measureLengths(
  { tasks: file, split }: RunConfig,
  { chat, config }: StoredModel,
  catalog: Catalog,
  signal: AbortSignal,
): Promise<TaskLengths> {
  const all: { opening: number; tools: number; conversation: number; sampled: number }[] = [];
  let tasks = 0;
  let shortest = Infinity;
  for await (const task of readTasks(file, { signal })) {
    if (task.split !== split) continue;
    tasks++;
    if (all.length === sampledTasks) continue;
    const offered = createConversation(catalog, task, task.trajectory);
    const encoded = chat.encode(offered);
    const conversation = encoded.ids.length;
    shortest = Math.min(shortest, conversation);
    // longer ones are not trained on
    if (conversation > chat.limits.context || encoded.opening > chat.limits.prompt) continue;
    const sampled = encoded.mask.reduce((sum, it) => sum + it, 0);
    const tools = chat.countTools(offered.tools);
    all.push({ opening: encoded.opening, tools, conversation, sampled });
  }
  if (tasks === 0)
    throw new UserError(
      `${file} holds no tasks of the split ${split}`,
      "synthesize some, or choose another split",
    );
  if (all.length === 0)
    throw new UserError(
      `no conversation of ${file} fits ${config.name}: it reads ${chat.limits.context} tokens, and the shortest has ${shortest}`,
      "set a longer context with prove-rl model FOLDER --context N, or synthesize tasks with smaller menus",
    );
  const mean = (name: keyof (typeof all)[number]) =>
    Math.round(all.reduce((sum, it) => sum + it[name], 0) / all.length);
  const most = (name: keyof (typeof all)[number]) => Math.max(...all.map(it => it[name]));
  return {
    tasks,
    opening: mean("opening"),
    longestOpening: most("opening"),
    tools: mean("tools"),
    mostTools: most("tools"),
    conversation: mean("conversation"),
    longest: most("conversation"),
    sampled: mean("sampled"),
  };
}

const measure = (
  model: PlannedModel,
  config: RunConfig,
  { lengths, tokens, isWasm }: { lengths: TaskLengths; tokens: StepTokens; isWasm: boolean },
): Promise<MeasuredSpeed> =>
  measureSpeed(model.architecture, {
    lora: config.lora,
    length: lengths.conversation,
    targetShare: lengths.sampled / lengths.conversation,
    byBlock: isComputedByBlock(model.architecture, tokens.batch, config.lora !== undefined),
    slots:
      config.method === "grpo"
        ? Math.min(
            config.grpo.prompts * config.grpo.group,
            countSlots(model.architecture, model.context, isWasm),
          )
        : 0,
  });

function estimateSeconds(
  config: RunConfig,
  { lengths, tokens, speed }: { lengths: TaskLengths; tokens: StepTokens; speed: MeasuredSpeed },
): number {
  const learning = tokens.learned * speed.learned;
  if (config.method === "sft") return learning / config.workers;
  const { prompts, group } = config.grpo;
  const { opening, conversation, sampled } = lengths;
  // a prompt is read once for its group, and what users and tools add in each attempt
  const read = prompts * (opening + group * Math.max(0, conversation - opening - sampled));
  return (learning + read * speed.read + tokens.sampled * speed.sampled) / config.workers;
}
