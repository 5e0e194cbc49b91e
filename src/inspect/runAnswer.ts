/**
 * Describes runs for agents: settings, the curve, alarms, the evaluation, what the stored attempts
 * did, and the tasks that they fail at.
 */
import { basename, join } from "node:path";
import type { Catalog } from "../environment/catalog.ts";
import { defaultProfile, profiles } from "../reward/profiles.ts";
import { createScorer, scoreRecorded } from "../reward/scorer.ts";
import { getSuccess } from "../reward/success.ts";
import type { RunConfig } from "../run/config.ts";
import { getTrend, readEvaluation, type Estimate, type RunEvaluation } from "../run/evaluation.ts";
import { getMetricsFile, readEnd, readMetrics, readRun, listRecordedSteps } from "../run/folder.ts";
import { formatAlarm } from "../run/alarms.ts";
import { readEngineLock, readTrainerProcess } from "../run/locks.ts";
import type { GroupLine } from "../run/group.ts";
import type { GrpoStep, StepMetrics } from "../run/metrics.ts";
import { getCallFault, listCalls } from "../trajectory/trajectory.ts";
import { findTask, formatSteps, readStep } from "./storedAttempts.ts";
import { clip, formatCount, formatNumber, formatPercent, takePage } from "./text.ts";
import type { WorkspaceFiles } from "./workspaceFiles.ts";
import { UserError } from "../userError.ts";

/** Runs that are listed at once. */
const pageSize = 20;
/** Points of a curve. */
const maxPoints = 25;
/** Stored steps, the last ones, whose attempts are read. */
const maxGroupSteps = 5;
const maxTasks = 10;
/** Tasks whose failure is explained, for which an attempt is made again. */
const maxReasons = 5;
const maxFaults = 8;
const maxAlarms = 8;

export function listRuns(files: WorkspaceFiles, offset: number): readonly string[] {
  const folders = files.listRuns();
  if (folders.length === 0) return ["there is no run in this folder"];
  const { page, more } = takePage(folders, offset, pageSize);
  return [
    `${formatCount(folders.length, "run")}; name one for its settings, curve, alarms, evaluation and worst tasks`,
    ...page.map(folder => `- ${basename(folder)}: ${describeBriefly(folder, files)}`),
    ...more,
  ];
}

function describeBriefly(folder: string, files: WorkspaceFiles): string {
  try {
    const config = readRunIn(folder, files);
    const steps = readMetricsIn(folder, files);
    const last = steps.at(-1);
    return `${config.method}, began ${config.began}, ${describeState(folder, steps)}${
      last?.method === "grpo"
        ? `, reward ${formatNumber(last.reward.mean)}, success ${formatPercent(last.success)}`
        : last
          ? `, loss ${formatNumber(last.loss)}`
          : ""
    }`;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return clip(`cannot be read: ${error.what}`, 200);
  }
}

/** Everything about one run. */
export async function describeRun(
  name: string,
  files: WorkspaceFiles,
  openCatalog: () => Promise<Catalog>,
): Promise<readonly string[]> {
  const folder = files.findRun(name);
  const config = readRunIn(folder, files);
  const steps = readMetricsIn(folder, files);
  return [
    `run ${basename(folder)}: ${describeState(folder, steps)}`,
    ...describeSettings(config, files),
    "",
    ...describeCurve(steps),
    "",
    ...describeAlarms(steps),
    "",
    ...describeEvaluation(folder, files),
    "",
    ...(await describeAttempts(folder, config, { files, openCatalog })),
  ];
}

function readRunIn(folder: string, files: WorkspaceFiles): RunConfig {
  files.findFile(join(folder, "run.json"));
  return readRun(folder);
}

function readMetricsIn(folder: string, files: WorkspaceFiles): readonly StepMetrics[] {
  return files.findOptionalFile(getMetricsFile(folder)) ? readMetrics(folder).lines : [];
}

function describeState(folder: string, steps: readonly StepMetrics[]): string {
  const done = formatCount(steps.at(-1)?.step ?? 0, "step");
  const end = readEnd(folder);
  if (end)
    return end.by === "failed"
      ? clip(`failed after ${done}: ${end.what}`, 400)
      : `${end.by === "stop" ? "stopped" : "finished"} after ${done}`;
  if (readTrainerProcess(folder) || readEngineLock(folder) !== undefined)
    return `training, ${done} so far`;
  return steps.length === 0 ? "not started" : `no trainer is running, ${done} done`;
}

function describeSettings(config: RunConfig, files: WorkspaceFiles): readonly string[] {
  const { method, from, tasks, split, profile, seed, steps, seconds, lora, trainedWith } = config;
  const own = config.method === "grpo" ? config.grpo : config.sft;
  const limits = [
    ...(steps === undefined ? [] : [formatCount(steps, "step")]),
    ...(seconds === undefined ? [] : [formatCount(seconds, "second")]),
  ];
  return [
    `method ${method}${config.engine ? ` in ${config.engine}` : ""}, from ${clip(from ?? "random weights", 200)}, began ${config.began}, PROVE ${clip(config.version, 20)}`,
    `tasks ${clip(files.format(tasks), 200)}, split ${split}; reward profile ${clip(profile, 40)}; seed ${seed}; limit ${limits.join(" and ")}`,
    `settings: ${clip(formatSettings(own), 900)}`,
    ...(lora ? [`lora: ${clip(formatSettings(lora), 300)}`] : []),
    ...(trainedWith
      ? [`trained with ${clip([trainedWith.backend, trainedWith.device].join(", "), 200)}`]
      : []),
  ];
}

const formatSettings = (settings: object): string =>
  Object.entries(settings)
    .map(([key, it]: [string, unknown]) => `${key} ${formatSetting(it)}`)
    .join(", ");

const formatSetting = (it: unknown): string =>
  typeof it === "string" ? it : JSON.stringify(it).replaceAll('"', "");

function describeCurve(steps: readonly StepMetrics[]): readonly string[] {
  if (steps.length === 0) return ["no step has been done, so there is no curve"];
  const size = Math.ceil(steps.length / maxPoints);
  const points: (readonly StepMetrics[])[] = [];
  for (let i = 0; i < steps.length; i += size) points.push(steps.slice(i, i + size));
  const names = listCurveNames(steps);
  const means = size === 1 ? "each step" : `means over ${size} steps`;
  return [
    `curve, ${means}: step | ${names.map(([name]) => name).join(" | ")}`,
    ...points.map(point => {
      const [first, last] = [point[0]!.step, point.at(-1)!.step];
      const values = names.map(([, read]) => formatMean(point.flatMap(it => read(it) ?? [])));
      return `${first === last ? first : `${first}–${last}`} | ${values.join(" | ")}`;
    }),
    ...compareEnds(steps),
  ];
}

type ReadValue = (it: StepMetrics) => number | undefined;

function listCurveNames(steps: readonly StepMetrics[]): (readonly [string, ReadValue])[] {
  const grpo =
    (read: (it: GrpoStep) => number | undefined): ReadValue =>
    it =>
      it.method === "grpo" ? read(it) : undefined;
  const all: (readonly [string, ReadValue])[] = [
    ["reward", grpo(it => it.reward.mean)],
    ["success", grpo(it => it.success)],
    ["loss", it => it.loss],
    ["validation loss", it => (it.method === "sft" ? it.validation : undefined)],
    ["entropy", grpo(it => it.entropy)],
    ["kl", grpo(it => it.kl)],
    ["groups without gradient", grpo(it => it.zeroVariance)],
    ["cut by a limit", grpo(it => it.cut)],
    ["gradient norm", it => it.gradientNorm],
    ["learning rate", it => it.learningRate],
  ];
  return all.filter(([, read]) => steps.some(it => read(it) !== undefined));
}

const formatMean = (values: readonly number[]): string =>
  values.length === 0 ? "–" : formatNumber(values.reduce((sum, it) => sum + it, 0) / values.length);

/** The first and the last tenth, and where the best one was: where a curve stopped rising. */
function compareEnds(steps: readonly StepMetrics[]): readonly string[] {
  const grpo = steps.filter(it => it.method === "grpo");
  if (grpo.length < 10) return [];
  const size = Math.max(5, Math.floor(grpo.length / 10));
  const mean = (from: number) =>
    grpo.slice(from, from + size).reduce((sum, it) => sum + it.success, 0) / size;
  let best = 0;
  for (let from = 1; from + size <= grpo.length; from++) if (mean(from) > mean(best)) best = from;
  const at = (from: number) => `steps ${grpo[from]!.step}–${grpo[from + size - 1]!.step}`;
  const last = grpo.length - size;
  return [
    `success of attempts in training, means over ${size} steps: first ${formatPercent(mean(0))} (${at(0)}), best ${formatPercent(mean(best))} (${at(best)}), last ${formatPercent(mean(last))} (${at(last)})`,
  ];
}

function describeAlarms(steps: readonly StepMetrics[]): readonly string[] {
  const alarms = steps.flatMap(it => (it.alarms ?? []).map(alarm => formatAlarm(it.step, alarm)));
  if (alarms.length === 0) return ["alarms: none was raised"];
  const rest = alarms.length - maxAlarms;
  return [
    "alarms",
    ...alarms.slice(0, maxAlarms).map(it => `- ${clip(it, 250)}`),
    ...(rest > 0 ? [`… ${rest} more alarms`] : []),
  ];
}

function describeEvaluation(folder: string, files: WorkspaceFiles): readonly string[] {
  if (!files.findOptionalFile(join(folder, "evaluation.json")))
    return ["evaluation on held-out tasks: none was made"];
  const it = readEvaluation(folder)!;
  const format = (name: "success" | "reward", write: (value: number) => string) =>
    `- ${name}: ${formatEstimate(it.before[name], write)} at step ${it.before.step}, ${formatEstimate(it.after[name], write)} at step ${it.after.step}, change ${formatEstimate(it.change[name], write)}`;
  return [
    `evaluation on ${formatCount(it.count, "held-out task")} with ${formatCount(it.sets, "set")} of tools, one greedy attempt each, 95% intervals${it.evaluatedAt === undefined ? "" : `, made ${it.evaluatedAt}`}`,
    format("success", formatPercent),
    format("reward", formatNumber),
    `- ${describeTrend(it)}`,
  ];
}

const trends = {
  higher: "success rose",
  lower: "success fell",
  unclear: "whether success changed cannot be told: the interval of the change contains 0",
} as const;

const describeTrend = ({ change }: RunEvaluation): string => trends[getTrend(change.success)];

const formatEstimate = ({ mean, low, high }: Estimate, write: (value: number) => string): string =>
  low === undefined || high === undefined
    ? `${write(mean)} (too few tasks for an interval)`
    : `${write(mean)} (${write(low)} to ${write(high)})`;

interface Workspace {
  readonly files: WorkspaceFiles;
  readonly openCatalog: () => Promise<Catalog>;
}

async function describeAttempts(
  folder: string,
  config: RunConfig,
  workspace: Workspace,
): Promise<readonly string[]> {
  const { files } = workspace;
  const stored = listRecordedSteps(folder).toReversed();
  if (stored.length === 0) return ["attempts: none were stored"];
  const attempts: GroupLine[] = [];
  const steps = stored.slice(-maxGroupSteps);
  for (const it of steps)
    for (const line of await readStep(folder, it, files)) attempts.push(omitTokens(line));
  return [
    `attempts were stored of ${stored.length === 1 ? "step" : "steps"} ${formatSteps(stored)}; what follows is about ${formatCount(attempts.length, "attempt")} of ${steps.length === 1 ? "step" : "steps"} ${steps.join(", ")}`,
    ...describeGroups(attempts),
    ...describeFaults(attempts),
    ...(await describeWorstTasks(attempts, config, workspace)),
  ];
}

/** The attempts of several steps are kept at once, whose tokens take the most memory. */
const omitTokens = (line: GroupLine): GroupLine => ({
  ...line,
  trajectory: {
    ...line.trajectory,
    events: line.trajectory.events.map(it =>
      it.kind === "assistant" ? { kind: it.kind, message: it.message, text: it.text } : it,
    ),
  },
});

function groupBy<T>(items: readonly T[], getKey: (it: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const it of items) {
    const key = getKey(it);
    const group = groups.get(key);
    if (group) group.push(it);
    else groups.set(key, [it]);
  }
  return groups;
}

function describeGroups(attempts: readonly GroupLine[]): readonly string[] {
  const groups = [...groupBy(attempts, it => `${it.step} ${it.task}`).values()];
  const count = (test: (group: readonly GroupLine[]) => boolean) => groups.filter(test).length;
  const isFlat = (group: readonly GroupLine[]) => group.every(it => it.advantage === 0);
  const all = count(it => it.every(({ success }) => success));
  const none = count(it => !it.some(({ success }) => success));
  return [
    `groups: ${groups.length}; in ${all} all attempts succeed, in ${none} none does, in ${groups.length - all - none} some do; ${count(isFlat)} have no gradient`,
  ];
}

/** What calls fail by, the most frequent first. */
function describeFaults(attempts: readonly GroupLine[]): readonly string[] {
  const counts = new Map<string, number>();
  let calls = 0;
  for (const call of attempts.flatMap(it => listCalls(it.trajectory))) {
    calls++;
    const fault = getCallFault(call);
    if (!fault) continue;
    const what = `${call.name || "unparsed call"}: ${fault.kind}${fault.type ? ` (${fault.type})` : ""}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const failed = [...counts.values()].reduce((sum, it) => sum + it, 0);
  const sorted = [...counts].toSorted(([, a], [, b]) => b - a);
  return [
    `calls: ${calls}, of which ${failed} failed${failed > 0 ? ", by" : ""}`,
    ...sorted.slice(0, maxFaults).map(([what, n]) => `- ${n} × ${clip(what, 120)}`),
    ...(sorted.length > maxFaults ? [`- … ${sorted.length - maxFaults} other kinds`] : []),
  ];
}

async function describeWorstTasks(
  attempts: readonly GroupLine[],
  config: RunConfig,
  workspace: Workspace,
): Promise<readonly string[]> {
  const tasks = [...groupBy(attempts, it => it.task)].map(([task, own]) => ({
    task,
    own,
    successes: own.filter(it => it.success).length,
    reward: own.reduce((sum, it) => sum + it.breakdown.total, 0) / own.length,
  }));
  const worst = tasks
    .filter(it => it.successes < it.own.length)
    .toSorted(
      (a, b) => a.successes / a.own.length - b.successes / b.own.length || a.reward - b.reward,
    );
  if (worst.length === 0) return ["tasks: every attempt succeeds"];
  const lines: string[] = [];
  for (const [i, { task, own, successes, reward }] of worst.slice(0, maxTasks).entries()) {
    const failing = own.find(it => !it.success)!;
    lines.push(
      `- ${clip(task, 100)}: ${successes} of ${own.length} succeed, mean reward ${formatNumber(reward)}; failing: step ${failing.step}, attempt ${failing.attempt + 1}`,
    );
    const reason = i < maxReasons ? await explainFailure(failing, config, workspace) : undefined;
    if (reason !== undefined) lines.push(`    because: ${clip(reason, 250)}`);
  }
  return [
    "worst tasks; step, task and attempt are what prove_attempt needs",
    ...lines,
    ...(worst.length > maxTasks ? [`… ${worst.length - maxTasks} more tasks with failures`] : []),
  ];
}

/** The first reason of a failure; undefined if the attempt cannot be made again. */
async function explainFailure(
  { trajectory, variant, breakdown }: GroupLine,
  { tasks }: RunConfig,
  { files, openCatalog }: Workspace,
): Promise<string | undefined> {
  const task = variant ?? (await findTask(trajectory.header.task, [tasks], files)).task;
  const profile = profiles.find(it => it.name === breakdown.profile) ?? defaultProfile;
  const scored = scoreRecorded(createScorer(await openCatalog()), { trajectory, task }, profile);
  return "unscorable" in scored ? undefined : getSuccess(scored.attempt, profile).reasons[0];
}
