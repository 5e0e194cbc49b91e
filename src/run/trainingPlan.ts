/** The plan of a training: what it needs, how long a step takes, and both as text. */
import { formatComputedWith } from "./backends.ts";

/** Lengths of teachers' conversations in tokens, as means over the first tasks of a run. */
export interface TaskLengths {
  /** The number of tasks. */
  readonly tasks: number;
  /** Of the menu and the first turn, and of the longest of them. */
  readonly opening: number;
  readonly longestOpening: number;
  /** Of the offered tools alone, and of the largest menu. */
  readonly tools: number;
  readonly mostTools: number;
  /** Of the whole conversation, and of the longest one. */
  readonly conversation: number;
  readonly longest: number;
  /** What the assistant writes. */
  readonly sampled: number;
}

/** The tokens of one step, over all workers. */
export interface StepTokens {
  /** Of the forward and backward passes. */
  readonly learned: number;
  /** That are sampled; 0 for supervised fine-tuning. */
  readonly sampled: number;
  /** The longest batch of a pass. */
  readonly batch: number;
}

/** Bytes of one worker. */
export interface PlanMemory {
  readonly weights: number;
  readonly gradients: number;
  readonly optimizer: number;
  readonly activations: number;
  /** The key-value cache, and the matrices in the order in which sampling reads them. */
  readonly sampling: number;
  /** Of activations and sampling, only the larger one where the other is freed before. */
  readonly total: number;
}

export interface TrainingPlan {
  readonly model: string;
  readonly parameters: number;
  /** The parameters that are trained. */
  readonly trained: number;
  readonly method: "grpo" | "sft";
  readonly lengths: TaskLengths;
  readonly tokens: StepTokens;
  readonly memory: PlanMemory;
  readonly workers: number;
  readonly backend: string;
  readonly device: string;
  /** Why it was chosen, as far as that is not plain. */
  readonly notes: readonly string[];
  /** The bytes that a worker can have. */
  readonly limit: number;
  readonly fits: boolean;
  /** The nearest setting that fits, if there is one. */
  readonly proposal?: string;
  /** If none fits: the command that prepares the training with TRL or verl. */
  readonly prepare?: string;
  /** For real models: what GPUs need to train the same with TRL, and what to change, in lines. */
  readonly gpus?: readonly string[];
  /** Estimated seconds of a step; absent if it does not fit, or is too large to be measured. */
  readonly seconds?: number;
}

/** One line. */
export function summarizePlan(plan: TrainingPlan): string {
  const { parameters, trained, memory, backend, limit, fits, seconds, proposal } = plan;
  const size = `${formatParameters(parameters)} parameters${trained < parameters ? `, ${formatParameters(trained)} trained` : ""}`;
  const needs = `${formatBytes(memory.total)} of ${formatBytes(limit)} for a worker on ${backend}`;
  if (!fits) {
    const change = proposal === undefined ? "no setting fits" : `${proposal} fits`;
    return `${size} · does not fit: needs ${needs}; ${change}`;
  }
  const time = seconds === undefined ? [] : [`about ${formatSeconds(seconds)} a step`];
  return [size, ...time, needs].join(" · ");
}

/** All numbers, a line each. */
export function formatPlan(plan: TrainingPlan): string[] {
  const { model, lengths, tokens, memory, workers, limit, fits } = plan;
  const format = (n: number) => n.toLocaleString("en");
  const rows: (readonly [string, string])[] = [
    [
      "parameters",
      `${format(plan.parameters)}, ${plan.trained < plan.parameters ? format(plan.trained) : "all"} of them trained`,
    ],
    [
      "conversations",
      `${format(lengths.tasks)}: ${format(lengths.conversation)} tokens on average, at most ${format(lengths.longest)}; ${format(lengths.opening)} for the menu and the first turn (at most ${format(lengths.longestOpening)}), ${format(lengths.sampled)} written by the assistant`,
    ],
    ["tools", `${format(lengths.tools)} tokens on average, at most ${format(lengths.mostTools)}`],
    [
      "tokens a step",
      `${format(tokens.learned)} learned${tokens.sampled > 0 ? `, ${format(tokens.sampled)} sampled` : ""}`,
    ],
    ["weights", formatBytes(memory.weights)],
    ["gradients", formatBytes(memory.gradients)],
    ["optimizer", formatBytes(memory.optimizer)],
    ["activations", formatBytes(memory.activations)],
    ...(memory.sampling > 0 ? [["sampling", formatBytes(memory.sampling)] as const] : []),
    [
      "memory",
      `${formatBytes(memory.total)} of ${formatBytes(limit)} for ${workers === 1 ? "one worker" : `each of ${workers} workers`}`,
    ],
    ["backend", formatComputedWith(plan)],
    ...(plan.seconds === undefined
      ? []
      : [["a step", `about ${formatSeconds(plan.seconds)}`] as const]),
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    `${model}, ${plan.method}`,
    ...rows.map(([name, text]) => `  ${name.padEnd(width)}  ${text}`),
    ...(plan.gpus === undefined ? [] : ["With TRL on GPUs:", ...plan.gpus.map(it => `  ${it}`)]),
    ...(fits ? [] : formatRemedy(plan)),
  ];
}

function formatRemedy({ proposal, prepare }: TrainingPlan): string[] {
  if (proposal !== undefined)
    return [`It does not fit. The nearest setting that does: ${proposal}.`];
  const what = "It does not fit this machine, and no setting makes it fit.";
  if (prepare === undefined) return [what];
  return [
    `${what} Train it with another training framework, on as many GPUs as --gpus says (8 by default):`,
    `  ${prepare}`,
  ];
}

function formatParameters(count: number): string {
  if (count >= 1e9) return `${(count / 1e9).toFixed(1)} B`;
  return count >= 1e6
    ? `${(count / 1e6).toFixed(count < 1e7 ? 1 : 0)} M`
    : count.toLocaleString("en");
}

const formatBytes = (bytes: number): string =>
  bytes >= 2 ** 30 ? `${(bytes / 2 ** 30).toFixed(1)} GB` : `${Math.ceil(bytes / 2 ** 20)} MB`;

const formatSeconds = (seconds: number): string =>
  seconds >= 90
    ? `${(seconds / 60).toFixed(0)} minutes`
    : `${seconds.toFixed(seconds < 10 ? 1 : 0)} seconds`;
