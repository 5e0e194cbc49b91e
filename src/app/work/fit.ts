/** The work for the editor that checks which tasks of a file fit a student. */
import { openCatalog } from "../../environment/catalog.ts";
import { readModelFolder } from "../../model/modelFolder.ts";
import type { FitResult, FitWork, WorkProgress } from "../../protocol/work.ts";
import { createFitCheck, FitTally } from "../../train/taskFit.ts";
import { readTasks } from "../../trajectory/file.ts";
import type { AppContext } from "../context.ts";

/** Counts the tasks of a file that fit a student. */
export async function checkFit(
  { tasks, model, fixtures }: FitWork,
  { catalog, signal }: Pick<AppContext, "catalog" | "signal">,
  report: (progress: WorkProgress) => void,
): Promise<FitResult> {
  const student = readModelFolder(model);
  const check = createFitCheck(student, openCatalog([...catalog.servers.values()], fixtures));
  const [train, heldOut] = [new FitTally(), new FitTally()];
  const servers = new Map<string, number>();
  let done = 0;
  for await (const task of readTasks(tasks, { signal })) {
    const fit = check(task);
    (task.split === "train" ? train : heldOut).count(fit);
    for (const { name } of task.servers)
      if (!student.chat.describesTools && !Object.hasOwn(student.config.saw.servers, name))
        servers.set(name, (servers.get(name) ?? 0) + 1);
    report({ done: ++done, total: 0, noun: "task" });
  }
  return {
    train: train.counts,
    heldOut: heldOut.counts,
    unknownServers: [...servers].toSorted(([, a], [, b]) => b - a).map(([name]) => name),
  };
}
