/**
 * Finds signs in a run's metrics that the training is not going well. Each kind is raised once, at
 * the step at which it is found; a run that ends while one still holds has not gone well.
 */
import type { Alarm, GrpoStep, StepMetrics } from "./metrics.ts";

/** Steps over which shares are averaged, and steps that begin and end a comparison. */
const window = 5;
const longWindow = 10;

const limits = {
  flat: 0.8,
  manyFlat: 0.5,
  entropy: 0.01,
  cut: 0.3,
  faults: 0.3,
  tool: 0.2,
  kl: 0.5,
};

/** Alarms that tell what could be better, after which a run has still gone well. */
const hints: ReadonlySet<Alarm["kind"]> = new Set(["many-flat-groups"]);

/** The alarms because of which a run that ends after these steps has not gone well. */
export const findFinalAlarms = (steps: readonly StepMetrics[]): readonly Alarm[] =>
  findAlarms(steps).filter(it => !hints.has(it.kind));

/** The alarms that hold after these steps, which are all steps of the run so far. */
export function findAlarms(steps: readonly StepMetrics[]): readonly Alarm[] {
  const last = steps.at(-1);
  const told = last?.alarms?.filter(it => it.kind === "not-a-number") ?? [];
  if (told.length > 0 || steps.length < window) return told;
  const grpo = steps.filter(it => it.method === "grpo");
  return [
    ...(grpo.length === steps.length ? findAttemptAlarms(grpo) : []),
    ...findLossAlarms(steps),
  ];
}

function findAttemptAlarms(steps: readonly GrpoStep[]): Alarm[] {
  const recent = steps.slice(-window);
  const mean = (read: (it: GrpoStep) => number) => computeMean(recent.map(read));
  const [flat, entropy] = [mean(it => it.zeroVariance), mean(it => it.entropy)];
  const [cut, tool] = [mean(it => it.cut), mean(it => it.errors.tool)];
  const alarms: Alarm[] = [];
  const raise = (kind: Alarm["kind"], text: string) => alarms.push({ kind, text });
  if (flat > limits.flat)
    raise(
      "flat-groups",
      `${formatShare(flat)} of the groups give no gradient, because all attempts earn the same: the tasks are too easy or too hard for the student`,
    );
  else if (flat > limits.manyFlat)
    raise(
      "many-flat-groups",
      `${formatShare(flat)} of the groups give no gradient, because all attempts earn the same: tasks that are undecided for the student would train it faster (grpo.curriculum)`,
    );
  if (entropy < limits.entropy)
    raise(
      "entropy",
      `the entropy is ${entropy.toFixed(4)} per token: the student hardly varies its attempts, so it has nothing to learn from`,
    );
  if (cut > limits.cut)
    raise(
      "cut",
      `${formatShare(cut)} of the attempts are truncated by a limit: the student does not end its turns, or the tasks are too long for it`,
    );
  const faults = mean(computeFaultShare);
  if (faults > limits.faults)
    raise(
      "faults",
      `${formatShare(faults)} of the attempts end by a fault of their tools, and are not learned from: trainer.log in the run folder has the reasons`,
    );
  if (tool > limits.tool)
    raise(
      "unknown-tools",
      `${formatShare(tool)} of the calls name a tool that is not offered: the student has lost the menu`,
    );
  const measured = recent.flatMap(it => it.kl ?? []);
  const kl = measured.length === 0 ? 0 : computeMean(measured);
  if (kl > limits.kl)
    raise(
      "kl",
      `the KL divergence from the start is ${kl.toFixed(2)} per token: the student has moved far from the weights it started with, and the learning rate may be too high`,
    );
  const fall = findFall(listSuccess(steps));
  if (fall !== undefined)
    raise(
      "success",
      `success is ${formatShare(fall)} below the first ${longWindow} steps, more than chance explains: the learning rate may be too high`,
    );
  return alarms;
}

/**
 * The success of each step. A curriculum chooses tasks by their outcomes, so success can fall while
 * the student stays as it is: then only tasks that were attempted for the first time count, and
 * the result is empty from the step on that has none.
 */
function listSuccess(steps: readonly GrpoStep[]): number[] {
  if (!steps.some(it => it.outcomes)) return steps.map(it => it.success);
  const known = new Set<number>();
  const success: number[] = [];
  for (const { outcomes = [] } of steps) {
    const fresh = outcomes.filter(it => it.attempts > 0 && !known.has(it.task));
    if (fresh.length === 0) return [];
    for (const it of outcomes) known.add(it.task);
    success.push(computeMean(fresh.map(it => it.successes / it.attempts)));
  }
  return success;
}

const computeFaultShare = ({ attempts, faults }: GrpoStep): number =>
  faults === 0 ? 0 : faults / (attempts + faults);

/**
 * How far the mean of the last steps is below that of the first ones, if it is more than three
 * standard errors. The steps are the units: the attempts of one step depend on each other.
 */
function findFall(values: readonly number[]): number | undefined {
  if (values.length < 2 * longWindow) return undefined;
  const [first, last] = [values.slice(0, longWindow), values.slice(-longWindow)];
  const fall = computeMean(first) - computeMean(last);
  const error = Math.sqrt((computeVariance(first) + computeVariance(last)) / longWindow);
  return fall > 0 && fall > 3 * error ? fall : undefined;
}

/** The loss of GRPO is near 0; the loss of supervised training falls. */
function findLossAlarms(steps: readonly StepMetrics[]): Alarm[] {
  const recent = computeMean(steps.slice(-window).map(it => it.loss));
  let lowest = Infinity;
  for (let i = 0; i + window <= steps.length; i++)
    lowest = Math.min(lowest, computeMean(steps.slice(i, i + window).map(it => it.loss)));
  const isRising =
    steps.at(-1)!.method === "grpo" ? recent > lowest + 1 : recent > 1.5 * lowest + 0.1;
  return isRising
    ? [
        {
          kind: "rising-loss",
          text: `the loss is ${recent.toFixed(2)} and was ${lowest.toFixed(2)}: the learning rate may be too high`,
        },
      ]
    : [];
}

/**
 * The metrics with 0 in place of what is not a finite number, and an alarm that names it. A line of
 * JSON cannot hold such numbers.
 */
export function replaceInvalidNumbers(metrics: StepMetrics): StepMetrics {
  const names: string[] = [];
  const replace = (value: unknown, name: string): unknown => {
    if (typeof value === "number" && !Number.isFinite(value)) {
      names.push(name);
      return 0;
    }
    if (value === null || typeof value !== "object" || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, it]) => [key, replace(it, name ? `${name}.${key}` : key)]),
    );
  };
  const finite = replace(metrics, "") as StepMetrics;
  if (names.length === 0) return metrics;
  const text = `${names.join(", ")} ${names.length > 1 ? "are" : "is"} not a number: the weights are spoiled, and the learning rate is probably too high`;
  return { ...finite, alarms: [{ kind: "not-a-number", text }] };
}

/** An alarm as a sentence for people. */
export const formatAlarm = (step: number, { text }: Alarm): string => `step ${step}: ${text}`;

/**
 * What alarms that hold at the end of a run say, and what to do about them, in one line. What holds
 * from the first step on is not a matter of the learning rate.
 */
export function formatFinalAlarms(alarms: readonly Alarm[], steps: readonly StepMetrics[]): string {
  const [first] = steps;
  const isLasting = alarms.every(({ kind }) => first?.method === "grpo" && holdsAt(first, kind));
  const remedy = alarms.some(it => it.kind === "faults")
    ? "fix the tools, or train on other tasks"
    : isLasting
      ? "train on other tasks, or start from another student"
      : "start a new run with a lower learning rate";
  const count = alarms.length > 1 ? `${alarms.length} alarms` : "an alarm";
  return `the training ended with ${count}: ${alarms.map(it => it.text).join("; ")}. To do: ${remedy}`;
}

/** Whether what an alarm is about holds at a single step. */
function holdsAt(
  { zeroVariance, entropy, cut, errors, kl }: GrpoStep,
  kind: Alarm["kind"],
): boolean {
  switch (kind) {
    case "flat-groups":
      return zeroVariance > limits.flat;
    case "entropy":
      return entropy < limits.entropy;
    case "cut":
      return cut > limits.cut;
    case "unknown-tools":
      return errors.tool > limits.tool;
    case "kl":
      return (kl ?? 0) > limits.kl;
    default:
      return false;
  }
}

const formatShare = (share: number) => `${(100 * share).toFixed(0)}%`;
const computeMean = (values: readonly number[]) =>
  values.reduce((sum, it) => sum + it, 0) / values.length;

function computeVariance(values: readonly number[]): number {
  const mean = computeMean(values);
  return values.reduce((sum, it) => sum + (it - mean) ** 2, 0) / (values.length - 1);
}
