/** Synthesizes tasks on the shipped servers for tests. */
import { join } from "node:path";
import type { RejectedAttempt } from "../../src/synthesis/pipeline/report/report.ts";
import { synthesize } from "../../src/synthesis/pipeline/run/synthesize.ts";
import type { SynthesisOptions } from "../../src/synthesis/pipeline/synthesisOptions.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { catalog, root } from "../contracts/transports.ts";

export const resources = join(root, "resources");

export const createSynthesisOptions = (
  changes: Partial<SynthesisOptions> = {},
): SynthesisOptions => ({
  catalog,
  resources,
  seed: 11,
  servers: ["banking", "calendar", "filesystem"],
  menu: "chain",
  preset: "student",
  ...changes,
});

/** Synthesizes `count` tasks. Returns them with the attempts that were rejected on the way. */
export async function synthesizeTasks(
  count: number,
  changes: Partial<SynthesisOptions> = {},
): Promise<{ tasks: Task[]; rejected: RejectedAttempt[] }> {
  const tasks: Task[] = [];
  const rejected: RejectedAttempt[] = [];
  for await (const it of synthesize(createSynthesisOptions(changes))) {
    if (it.kind === "rejected") rejected.push(it.rejected);
    else tasks.push(it.task);
    if (tasks.length === count) break;
  }
  return { tasks, rejected };
}
