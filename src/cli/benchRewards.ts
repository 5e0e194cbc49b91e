/**
 * Measures `bench rewards`: what scripted cheats earn under each reward profile, as shares of the
 * teacher's mean on the same tasks.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { measureCheats } from "../evaluation/cheats.ts";
import { profiles } from "../reward/profiles.ts";
import { readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import type { BenchmarkRow } from "./benchmark.ts";
import { synthesizeForBench } from "./benchSynthesis.ts";
import type { CliContext } from "./command.ts";

/** Tasks that are synthesized if no file is given. */
const defaultCount = 200;

export async function* measureRewards(
  context: CliContext,
  file?: string,
): AsyncGenerator<BenchmarkRow> {
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

async function synthesizeTasks(context: CliContext): Promise<Task[]> {
  const folder = mkdtempSync(join(tmpdir(), "prove-bench-"));
  try {
    const file = join(folder, "rewards.tasks.jsonl");
    await synthesizeForBench({ file, count: defaultCount }, context);
    return await readAll(file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
