/**
 * `rewards`: measures what scripted cheats earn under each reward profile, as shares of the
 * teacher's mean on the same tasks.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { printFigures } from "./printFigures.ts";
import { existingPath } from "../../src/cli/options.ts";
import { defineCommand, option } from "../../src/cli/command.ts";
import { measureCheats } from "./cheats.ts";
import { profiles } from "../../src/reward/profiles.ts";
import { readTasks } from "../../src/trajectory/file.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { UserError } from "../../src/userError.ts";
import type { BenchmarkRow } from "../../src/app/bench/benchmark.ts";
import { synthesizeForBench } from "../../src/app/bench/synthesis.ts";
import type { AppContext } from "../../src/app/context.ts";

/** Tasks that are synthesized if no file is given. */
const defaultCount = 200;

async function* measureRewards(context: AppContext, file?: string): AsyncGenerator<BenchmarkRow> {
  const { catalog, signal, showProgress } = context;
  const tasks =
    file === undefined ? await synthesizeTasks(context) : await readAll(resolve(context.cwd, file));
  if (!tasks.some(it => it.goals.length > 0))
    throw new UserError(`${file} holds no tasks with goals`, "choose another tasks file");
  const results = await measureCheats(tasks, catalog, profiles, {
    signal,
    onTask: done => showProgress(`${done} tasks`),
  });
  for (const { name } of profiles)
    for (const { cheat, hasOracle, shares } of results)
      yield {
        name: `rewards.${name}.${cheat}${hasOracle ? ".oracle" : ""}`,
        unit: "of the teacher's mean",
        runs: [shares[name]!],
      };
}

async function readAll(file: string): Promise<Task[]> {
  const tasks: Task[] = [];
  for await (const task of readTasks(file)) tasks.push(task);
  return tasks;
}

async function synthesizeTasks(context: AppContext): Promise<Task[]> {
  const folder = mkdtempSync(join(tmpdir(), "prove-bench-"));
  try {
    const file = join(folder, "rewards.tasks.jsonl");
    await synthesizeForBench({ file, count: defaultCount }, context);
    return await readAll(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export const rewards = defineCommand({
  name: "rewards",
  description: "Measure what cheats earn under each reward.",
  arguments: [],
  options: {
    file: option("--file <file>", "tasks file (default: 200 new tasks)", {
      parser: existingPath("a tasks file"),
    }),
  },
  examples: ["rewards", "rewards --file small.tasks.jsonl"],
  run: (context, _positionals, { file }) => printFigures(measureRewards(context, file), context),
});
