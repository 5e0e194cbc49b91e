/** The audit of synthesized tasks: right solvers earn what the teacher does, wrong ones fail. */
import { expect, test } from "vitest";
import { AuditTally, createAuditor, type AuditSummary } from "../../src/evaluation/audit.ts";
import { solvers } from "../../src/evaluation/solvers/solvers.ts";
import { catalog } from "../contracts/transports.ts";
import { readSharedTasks } from "../synthesis/synthesizeTasks.ts";

async function auditTasks(count: number): Promise<AuditSummary> {
  const { tasks } = await readSharedTasks("paper");
  const tally = new AuditTally(solvers);
  const auditTask = createAuditor(catalog, solvers);
  for (const task of tasks.slice(0, count)) tally.add(task.id, await auditTask(task));
  return tally.summarize();
}

/** Writes of one server in another order can leave another order of rows or other numbers. */
const changesOrder = new Set(["reorderer", "merger"]);
/** Where nothing is to be done, calls that the server refuses do no harm. */
const doesNoHarm = new Set(["everything-once", "teller-of-everything"]);

/**
 * Tasks in which the user names a second choice, which was made: that the first one was refused is
 * not asked for, so that the claim that it was done is not found.
 */
const unjudgedClaims: Readonly<Record<string, number>> = { "refusal-skipper": 2 };

test("right solvers succeed and earn what the teacher does, wasteful ones no more, wrong ones fail", async () => {
  const { tasks, audited, solvers: rows } = await auditTasks(400);
  expect(audited).toBe(tasks);
  const plus = (name: string) => rows.find(it => it.solver === name)!.reward["prove-plus"]!;
  for (const { solver, kind, tasks, success } of rows) {
    if (tasks === 0 || changesOrder.has(solver) || doesNoHarm.has(solver)) continue;
    if (kind === "baseline") continue;
    // one task more or less is chance in a set of this size
    const most = (unjudgedClaims[solver] ?? 1) + 0.02 * tasks;
    if (kind === "wrong") expect(success * tasks, solver).toBeLessThanOrEqual(most);
    else expect(success, solver).toBeGreaterThanOrEqual(0.97);
    if (kind === "right") expect(plus(solver).ofTeacher, solver).toBeGreaterThanOrEqual(0.949);
    if (kind === "wasteful") expect(plus(solver).gaining, solver).toBe(0);
  }
  for (const it of ["paraphraser", "ask-first", "falsifier", "ok-sayer", "late-writer", "undoer"])
    expect(rows.find(row => row.solver === it)!.tasks, it).toBeGreaterThan(0);
});
