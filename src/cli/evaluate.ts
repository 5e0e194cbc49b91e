/** `evaluate`: one greedy attempt at each task, and what it adds up to. */
import { resolve } from "node:path";
import { evaluate as evaluateTasks, type Evaluation } from "../evaluation/evaluate.ts";
import { UserError } from "../userError.ts";
import { partNames } from "../reward/breakdown.ts";
import { paperProfile, provePlusProfile } from "../reward/profiles.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import { getEnd } from "../trajectory/trajectory.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { CliCommand, CliContext } from "./command.ts";
import { endpointOptions, endpointUsage } from "./endpoints.ts";
import { openPolicy, type OpenedPolicy } from "./policies.ts";

export const evaluate: CliCommand = {
  usage: `evaluate --tasks F --policy SPEC [--split heldout-chain|heldout-server|train] [--limit N] [--json] ${endpointUsage}`,
  summary:
    "Let a policy attempt every task once and print the metrics. SPEC is a run or model folder, endpoint:MODEL, scripted:teacher or scripted:idle.",
  options: {
    tasks: { type: "string" },
    policy: { type: "string" },
    split: { type: "string", default: "heldout-chain" },
    limit: { type: "string" },
    json: { type: "boolean" },
    ...endpointOptions,
  },
  async run(terminal, _positionals, values) {
    const { cwd, print, printNote: say } = terminal;
    const [file, spec] = [values["tasks"], values["policy"]] as (string | undefined)[];
    if (file === undefined || spec === undefined)
      throw new UserError(
        "evaluate needs a tasks file and a policy",
        `usage: prove-rl ${evaluate.usage}`,
      );
    const split = splitNamed(values["split"] as string);
    const tasks = await tasksIn(
      resolve(cwd, file),
      split,
      values["limit"] === undefined ? Infinity : Number(values["limit"]),
      say,
    );
    const opened = await openPolicy(spec, tasks, terminal, values);
    const { policy, metrics } = await evaluatePolicy(opened, tasks, terminal, `${spec} `);
    opened.dispose();
    if (values["json"]) print(JSON.stringify({ policy, tasks: file, split, ...metrics }));
    else for (const line of linesOf(metrics)) print(line);
    return metrics.attempts > metrics.unscorable ? 0 : 1;
  },
};

function splitNamed(name: string): Task["split"] {
  const splits: readonly Task["split"][] = ["heldout-chain", "heldout-server", "train"];
  const split = splits.find(it => it === name);
  if (!split)
    throw new UserError(`there is no split ${name}`, `choose one of ${splits.join(", ")}`);
  return split;
}

async function tasksIn(
  file: string,
  split: Task["split"],
  limit: number,
  say: (line: string) => void,
): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of readTasks(file, { onTorn: say }))
    if (task.split === split && tasks.length < limit) tasks.push(task);
  if (tasks.length === 0)
    throw new UserError(
      `${file} holds no tasks of the split ${split}`,
      "choose another split, or synthesize more tasks",
    );
  return tasks;
}

/** Evaluates with the default run's reward first and the paper's beside it; says how far it is. */
export async function evaluatePolicy(
  { policy, concurrency }: OpenedPolicy,
  tasks: readonly Task[],
  {
    catalog,
    signal,
    showProgress: progress,
    printNote: say,
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
      if (fault !== undefined && !faults.has(fault))
        say(`an attempt was cut off: ${escapeInvisible(fault)}`);
      if (fault !== undefined) faults.add(fault);
      progress(`${label}${done}/${tasks.length} tasks`);
    },
  });
}

function linesOf(it: Evaluation["metrics"]): string[] {
  const percent = (share: number) => `${(100 * share).toFixed(1)}%`;
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
    row("success", percent(it.success)),
    ...(it.goalSuccess === undefined ? [] : [row("  tasks with goals", percent(it.goalSuccess))]),
    ...(it.readOnlySuccess === undefined
      ? []
      : [row("  look-ups only", percent(it.readOnlySuccess))]),
    row(
      "calls / budget",
      `${it.calls.toFixed(2)} / ${it.budget.toFixed(2)}, ${percent(it.withinBudget)} within`,
    ),
    row("calls not parsed", percent(it.errors.syntax)),
    row("calls to no tool", percent(it.errors.tool)),
    row("arguments unfit", percent(it.errors.arguments)),
    row("calls refused", percent(it.errors.refused)),
    row("cut by a limit", percent(it.cut)),
    ...(it.tokensPerRollout === undefined
      ? []
      : [row("tokens a rollout", it.tokensPerRollout.toFixed(1))]),
    ...(it.rolloutsPerSecond === undefined
      ? []
      : [row("rollouts a second", it.rolloutsPerSecond.toFixed(1))]),
  ];
}
