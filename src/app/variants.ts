/** Writes variants of one task of a file to another file. */
import { setImmediate } from "node:timers/promises";
import { LineWriter } from "../storage/lineWriter.ts";
import { synthesizeVariants } from "../synthesis/pipeline/variants.ts";
import { readTasks } from "../trajectory/file.ts";
import { formatTaskLine, type Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";

/** Writes the variants, and returns how many there are. Without any, no file is created. */
export async function writeVariants(
  task: Task,
  { file, count, seed }: { readonly file: string; readonly count: number; readonly seed: number },
  {
    catalog,
    resources,
    showProgress,
    signal,
  }: Pick<AppContext, "catalog" | "resources" | "showProgress" | "signal">,
): Promise<number> {
  let writer: LineWriter | undefined;
  let made = 0;
  try {
    const variants = synthesizeVariants(task, { catalog, resources, seed, count, signal });
    for await (const variant of variants) {
      writer ??= new LineWriter(file);
      writer.append(formatTaskLine(variant));
      showProgress(`${++made} of ${count} variants of ${task.id}`);
      // lets an interruption be noticed
      await setImmediate();
    }
  } finally {
    writer?.close();
  }
  return made;
}

/** The first task with that id. */
export async function findTask(
  file: string,
  id: string,
  { printNote, signal }: Pick<AppContext, "printNote" | "signal">,
): Promise<Task> {
  let count = 0;
  for await (const task of readTasks(file, { onTorn: printNote, signal })) {
    if (task.id === id) return task;
    count++;
  }
  throw new UserError(
    `${file} has no task ${id} among its ${count}`,
    "copy the id from the file or from the Tasks view",
  );
}
