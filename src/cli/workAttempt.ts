/** The work for the editor that lets a student attempt one task. */
import { openCatalog } from "../environment/catalog.ts";
import { readModelFolder } from "../model/modelFolder.ts";
import { rollout } from "../policy/rollout.ts";
import type { AttemptWork } from "../protocol/work.ts";
import { writeFileAtomicallySync } from "../storage/atomicWrite.ts";
import { createFitCheck } from "../train/taskFit.ts";
import { formatTrajectory } from "../trajectory/trajectoryLine.ts";
import { UserError } from "../userError.ts";
import type { CliContext } from "./command.ts";
import { greedy, openStudentModel } from "./policies.ts";

/**
 * Lets a student attempt a task with greedy decoding, and writes the attempt as a trajectory file.
 * Throws a `UserError` if the task does not fit the student.
 */
export async function attemptTask(
  { task, model, file, fixtures }: AttemptWork,
  { catalog: shipped, dist, signal }: Pick<CliContext, "catalog" | "dist" | "signal">,
): Promise<object> {
  const catalog = openCatalog([...shipped.servers.values()], fixtures);
  const stored = readModelFolder(model);
  const { name, saw } = stored.config;
  const fit = createFitCheck(stored, catalog)(task);
  if (fit !== "fits")
    throw new UserError(
      fit === "too-long"
        ? `task ${task.id} is too long for ${name}`
        : `${name} does not know the servers of task ${task.id}`,
      `choose a shorter task on ${Object.keys(saw.servers).sort().join(", ")}`,
    );
  const student = await openStudentModel(stored, [task], { dist, catalog }, greedy);
  try {
    const { trajectory } = await rollout(task, student.policy, catalog, {
      signal,
      id: `${task.id}/${name}`,
    });
    writeFileAtomicallySync(file, formatTrajectory(trajectory));
  } finally {
    student.dispose();
  }
  return {};
}
