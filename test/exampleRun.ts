/**
 * Remakes the run of resources/example from a finished run with checkpoints: after `npm run build`,
 * `node test/exampleRun.ts RUN`. Keeps the metrics, the attempts at one task of the first and of
 * the last step, and these tasks, and evaluates the run. The shipped one comes from
 *
 *     prove-rl synthesize --out student.tasks.jsonl --count 1000 --seed 1 --preset student
 *       --servers banking,calendar,filesystem
 *     prove-rl train --tasks student.tasks.jsonl --run RUN --from resources/models/careless
 *       --config settings.json --steps 50
 *
 * with `{ "grpo": { "learningRate": 5e-4, "decay": "linear" } }` in settings.json.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { evaluationFormat, writeEvaluation } from "../src/run/evaluation.ts";
import {
  findLatestCheckpoint,
  getCheckpointFolder,
  getGroupsFile,
  readRun,
} from "../src/run/folder.ts";
import { requestCountedWork } from "./cli/editor.ts";

const root = join(import.meta.dirname, "..");
const prove = join(root, "resources/example/prove");
const tasksFile = join(prove, "tasks/student.tasks.jsonl");
const out = join(prove, "runs/example");

const [given] = process.argv.slice(2);
if (given === undefined) throw new Error("name the folder of a finished run");
const run = resolve(given);
const config = readRun(run);
const last = findLatestCheckpoint(run);

interface Attempt {
  readonly task: string;
  readonly success: boolean;
}

/** The attempts at a task that some of them fail at, as few bytes as there are. */
function pickGroup(step: number): { readonly task: string; readonly lines: readonly string[] } {
  const groups = new Map<string, string[]>();
  for (const line of readLines(getGroupsFile(run, step))) {
    const { task } = JSON.parse(line) as Attempt;
    groups.set(task, [...(groups.get(task) ?? []), line]);
  }
  const undecided = [...groups].filter(([, lines]) => {
    const successes = lines.filter(it => (JSON.parse(it) as Attempt).success).length;
    return successes > 1 && successes < lines.length - 1;
  });
  const smallest = undecided.toSorted(([, a], [, b]) => a.join().length - b.join().length)[0]!;
  return { task: smallest[0], lines: smallest[1] };
}

const readLines = (file: string) =>
  readFileSync(file, "utf8")
    .split("\n")
    .filter(it => it !== "");
const joinLines = (lines: readonly string[]) => lines.map(it => `${it}\n`).join("");

rmSync(out, { recursive: true, force: true });
mkdirSync(join(out, "groups"), { recursive: true });
const kept = [1, last.step].map(step => ({ step, ...pickGroup(step) }));
for (const { step, lines } of kept) writeFileSync(getGroupsFile(out, step), joinLines(lines));
const ids = new Set(kept.map(it => it.task));
const tasks = readLines(config.tasks).filter(it =>
  ids.has((JSON.parse(it) as { readonly id: string }).id),
);
writeFileSync(tasksFile, joinLines(tasks));
// relative to the run's folder, so that the example can be copied
const shipped = { ...config, tasks: "../../tasks/student.tasks.jsonl" };
writeFileSync(join(out, "run.json"), `${JSON.stringify(shipped, undefined, 2)}\n`);
for (const name of ["metrics.jsonl", "ended.json"]) copyFileSync(join(run, name), join(out, name));

const { result } = await requestCountedWork("evaluate", {
  tasks: config.tasks,
  models: [getCheckpointFolder(run, 0), last.folder],
  limit: 200,
  profile: config.profile,
  fixtures: [join(root, "resources/servers")],
});
const [before, after] = result.measurements;
writeEvaluation(out, {
  format: evaluationFormat,
  evaluatedAt: new Date().toISOString(),
  tasks: shipped.tasks,
  count: result.count,
  sets: result.sets,
  profile: config.profile,
  before: { step: 0, ...before! },
  after: { step: last.step, ...after! },
  change: result.change!,
});
