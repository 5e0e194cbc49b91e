/**
 * `evaluate`: lets a policy attempt each task once with greedy decoding, and prints the metrics.
 */
import { resolve } from "node:path";
import { evaluate as evaluateTasks, type Evaluation } from "../evaluation/evaluate.ts";
import { UserError } from "../userError.ts";
import { partNames } from "../reward/breakdown.ts";
import { paperProfile, provePlusProfile } from "../reward/profiles.ts";
import { readTasks } from "../trajectory/file.ts";
import { splits, type Task } from "../trajectory/task.ts";
import { getEnd } from "../trajectory/trajectory.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { defineCommand, option, type CliContext } from "./command.ts";
import { endpointOptions } from "./endpoints.ts";
import { countOf, existingPath, oneOf } from "./parsers.ts";
import type { OpenedPolicy } from "./policies.ts";
import { jsonFlag } from "./sharedOptions.ts";

export const evaluate = defineCommand({
  name: "evaluate",
  description:
    "Let a policy attempt every task of a split once with greedy decoding, and print the metrics. The policy is a run or model folder, endpoint:MODEL, scripted:teacher or scripted:idle.",
  arguments: [],
  options: {
    tasks: option("--tasks <file>", "tasks file", {
      parser: existingPath("a tasks file"),
      required: "a tasks file",
      example: "small.tasks.jsonl",
    }),
    policy: option("--policy <policy>", "run or model folder, endpoint:MODEL, or scripted:NAME", {
      required: "a policy",
      example: "prove/runs/first",
    }),
    split: option("--split <split>", "split of the tasks to attempt", {
      parser: oneOf(splits, "there is no split"),
      default: "heldout-chain",
    }),
    limit: option("--limit <n>", "attempt only the first tasks of the split (default: all)", {
      parser: countOf("a number of tasks"),
    }),
    json: jsonFlag,
    ...endpointOptions,
  },
  examples: [
    "evaluate --tasks small.tasks.jsonl --policy prove/runs/first",
    "evaluate --tasks small.tasks.jsonl --policy scripted:teacher --split train --json",
    "evaluate --tasks small.tasks.jsonl --policy endpoint:qwen3-4b --limit 100",
  ],
  async run(context, _positionals, { tasks: file, policy: spec, split, limit, json, ...endpoint }) {
    const { cwd, print, printNote } = context;
    const tasks = await readTasksOfSplit(resolve(cwd, file), split, limit ?? Infinity, printNote);
    // loads the numerics
    const { openPolicy } = await import("./policies.ts");
    const opened = await openPolicy(spec, tasks, context, endpoint);
    const { policy, metrics } = await evaluatePolicy(opened, tasks, context, `${spec} `);
    opened.dispose();
    if (json) print(JSON.stringify({ policy, tasks: file, split, ...metrics }));
    else for (const line of formatMetrics(metrics)) print(line);
    return metrics.attempts > metrics.unscorable ? 0 : 1;
  },
});

async function readTasksOfSplit(
  file: string,
  split: Task["split"],
  limit: number,
  onTorn: (remark: string) => void,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of readTasks(file, { onTorn }))
    if (task.split === split && tasks.length < limit) tasks.push(task);
  if (tasks.length === 0)
    throw new UserError(
      `${file} holds no tasks of the split ${split}`,
      "choose another split, or synthesize more tasks",
    );
  return tasks;
}

/**
 * Evaluates a policy by the reward that runs train on, and by the paper's. Shows progress, and
 * notes each fault that ended an attempt once.
 */
export async function evaluatePolicy(
  { policy, concurrency }: OpenedPolicy,
  tasks: readonly Task[],
  {
    catalog,
    signal,
    showProgress,
    printNote,
  }: Pick<CliContext, "catalog" | "signal" | "showProgress" | "printNote">,
  label: string,
): Promise<Evaluation> {
  const faults = new Set<string>();
  return await evaluateTasks(tasks, policy, {
    catalog,
    profiles: [provePlusProfile, paperProfile],
    concurrency,
    signal,
    clock: () => performance.now() / 1000,
    onRow(_row, trajectory, done) {
      const { fault } = getEnd(trajectory);
      if (fault !== undefined && !faults.has(fault)) {
        faults.add(fault);
        printNote(`an attempt was cut off: ${escapeInvisible(fault)}`);
      }
      showProgress(`${label}${done}/${tasks.length} tasks`);
    },
  });
}

function formatMetrics(it: Evaluation["metrics"]): string[] {
  const formatShare = (share: number) => `${(100 * share).toFixed(1)}%`;
  const row = (name: string, value: string) => `${name.padEnd(22)}${value}`;
  return [
    row(
      "tasks",
      `${it.attempts}${it.unscorable ? ` (${it.unscorable} cut off by a fault, not counted)` : ""}`,
    ),
    row("reward, paper", (it.reward[paperProfile.name] ?? 0).toFixed(4)),
    row(
      `reward, ${provePlusProfile.name}`,
      `${(it.reward[provePlusProfile.name] ?? 0).toFixed(4)}${it.interval ? ` (95% ${it.interval.low.toFixed(4)} … ${it.interval.high.toFixed(4)})` : ""}`,
    ),
    ...(it.parts ? partNames.map(part => row(`  ${part}`, it.parts![part].toFixed(4))) : []),
    ...(it.abstention === undefined ? [] : [row("abstention", it.abstention.toFixed(4))]),
    row("success", formatShare(it.success)),
    ...(it.goalSuccess === undefined
      ? []
      : [row("  tasks with goals", formatShare(it.goalSuccess))]),
    ...(it.readOnlySuccess === undefined
      ? []
      : [row("  look-ups only", formatShare(it.readOnlySuccess))]),
    row(
      "calls / budget",
      `${it.calls.toFixed(2)} / ${it.budget.toFixed(2)}, ${formatShare(it.withinBudget)} within`,
    ),
    row("calls not parsed", formatShare(it.errors.syntax)),
    row("calls to no tool", formatShare(it.errors.tool)),
    row("arguments unfit", formatShare(it.errors.arguments)),
    row("calls refused", formatShare(it.errors.refused)),
    row("cut by a limit", formatShare(it.cut)),
    ...(it.tokensPerRollout === undefined
      ? []
      : [row("tokens a rollout", it.tokensPerRollout.toFixed(1))]),
    ...(it.rolloutsPerSecond === undefined
      ? []
      : [row("rollouts a second", it.rolloutsPerSecond.toFixed(1))]),
  ];
}
