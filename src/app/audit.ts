/** Lets solvers play the tasks of a file, and sums up how they fare. */
import { setImmediate } from "node:timers/promises";
import { createRandom } from "../environment/random.ts";
import { AuditTally, createAuditor, type AuditSummary } from "../evaluation/audit.ts";
import type { Solver } from "../evaluation/solvers/solver.ts";
import { readJsonLines } from "../storage/jsonLines.ts";
import { parseTask, readTasks } from "../trajectory/file.ts";
import type { Task } from "../trajectory/task.ts";
import type { AppContext } from "./context.ts";
import { formatTaskCount, TaskChanges } from "./taskChanges.ts";

/** Audits the selected tasks of a file, and finds those that have changed since they were made. */
export async function auditTasks(
  file: string,
  solvers: readonly Solver[],
  selection: Selection,
  context: Pick<AppContext, "catalog" | "printNote" | "showProgress" | "signal">,
): Promise<{ readonly summary: AuditSummary; readonly changes: TaskChanges }> {
  const { catalog, showProgress, signal } = context;
  const tally = new AuditTally(solvers);
  const changes = new TaskChanges(context);
  const auditTask = createAuditor(catalog, solvers, signal);
  for await (const task of selectTasks(file, selection, context)) {
    signal.throwIfAborted();
    const why = changes.add(task);
    tally.add(task.id, why === undefined ? await auditTask(task) : { kind: "gone", why });
    showProgress(`audited ${formatTaskCount(tally.count)}`);
    // lets an interruption be noticed
    await setImmediate();
  }
  return { summary: tally.summarize(), changes };
}

interface Selection {
  /** Only the first tasks of the file; all where undefined. */
  readonly limit: number | undefined;
  /** A random sample of this many tasks; all where undefined. */
  readonly count: number | undefined;
  readonly seed: number;
}

/** The first tasks of a file, or a sample of them, in the order of the file. */
async function* selectTasks(
  file: string,
  { limit = Infinity, count, seed }: Selection,
  { printNote, signal }: Pick<AppContext, "printNote" | "signal">,
): AsyncGenerator<Task> {
  const options = { onTorn: printNote, signal };
  let n = 0;
  if (count === undefined) {
    for await (const task of readTasks(file, options)) {
      yield task;
      if (++n >= limit) return;
    }
    return;
  }
  // a reservoir: each line stays with the same probability, and only `count` are kept
  const random = createRandom(seed, "audit");
  const kept: { json: unknown; number: number }[] = [];
  for await (const line of readJsonLines(file, options)) {
    if (n++ >= limit) break;
    const place = n <= count ? n - 1 : random.integer(n);
    if (place < count) kept[place] = line;
  }
  for (const { json, number } of kept.toSorted((a, b) => a.number - b.number))
    yield parseTask(json, { file, line: number });
}
