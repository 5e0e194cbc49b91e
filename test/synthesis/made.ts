/** Tasks for tests, made on the shipped servers. */
import { join } from "node:path";
import type { RejectedAttempt } from "../../src/synthesis/pipeline/report.ts";
import { synthesize } from "../../src/synthesis/pipeline/synthesize.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { catalog, root } from "../contracts/doors.ts";
import type { SynthesisOptions } from "../../src/synthesis/pipeline/synthesisOptions.ts";

export const resources = join(root, "resources");

export const synthesis = (more: Partial<SynthesisOptions> = {}): SynthesisOptions => ({
  catalog,
  resources,
  seed: 11,
  servers: ["banking", "calendar", "filesystem"],
  menu: "chain",
  preset: "student",
  ...more,
});

/** The first n tasks, and all that was turned down on the way. */
export async function made(
  n: number,
  more: Partial<SynthesisOptions> = {},
): Promise<{ tasks: Task[]; rejected: RejectedAttempt[] }> {
  const tasks: Task[] = [];
  const rejected: RejectedAttempt[] = [];
  for await (const it of synthesize(synthesis(more))) {
    if (it.kind === "rejected") rejected.push(it.rejected);
    else tasks.push(it.task);
    if (tasks.length === n) break;
  }
  return { tasks, rejected };
}
