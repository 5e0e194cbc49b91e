/**
 * `variants`: more tasks like one of a tasks file, for a trainer that wants more of what is at its
 * student's boundary.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import { UserError } from "../userError.ts";
import { synthesizeVariants } from "../synthesis/pipeline/variants.ts";
import { readTasks } from "../trajectory/file.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import type { Task } from "../trajectory/task.ts";
import { formatTaskLine } from "../trajectory/taskLine.ts";
import { readSeed } from "./call.ts";
import type { CliCommand, Values } from "./command.ts";
import { countIn } from "./number.ts";

export const variants: CliCommand = {
  usage: "variants F.tasks.jsonl --task ID --count N [--seed S] --out G.tasks.jsonl [--json]",
  summary:
    "Make more tasks like one of a file: the same tools in the same turns, about other things and in other words; the same seed gives the same bytes.",
  options: {
    task: { type: "string" },
    count: { type: "string" },
    seed: { type: "string" },
    out: { type: "string" },
    json: { type: "boolean" },
  },
  async run(
    { cwd, catalog, resources, print, printNote: say, showProgress: progress, signal },
    [from, ...more],
    values,
  ) {
    if (from === undefined || more.length > 0)
      throw new UserError(
        "variants needs one tasks file to read",
        `usage: prove-rl ${variants.usage}`,
      );
    const [id, out] = [values["task"] as string | undefined, values["out"] as string | undefined];
    if (!id)
      throw new UserError(
        "variants needs to know which task to vary",
        "add --task with the id of one of the file's tasks",
      );
    if (!out)
      throw new UserError(
        "variants needs a file to write to",
        "add --out, such as --out prove/tasks/more.tasks.jsonl",
      );
    const count = countOf(values);
    const seed = readSeed(values);
    const file = resolve(cwd, out);
    if (existsSync(file)) throw new UserError(`${out} exists already`, "write to another file");
    const task = await taskIn(resolve(cwd, from), id, { onTorn: say, signal });
    const began = performance.now();
    let writer: LineWriter | undefined;
    let made = 0;
    try {
      for await (const variant of synthesizeVariants(task, {
        catalog,
        resources,
        seed,
        count,
        signal,
      })) {
        writer ??= new LineWriter(file);
        writer.append(formatTaskLine(variant));
        progress(`${++made} of ${count} variants of ${id}`);
        // Ctrl-C and the editor's cancel are heard between two of them
        await setImmediate();
      }
    } finally {
      writer?.close();
    }
    const seconds = Math.round((performance.now() - began) / 10) / 100;
    if (made === 0)
      throw new UserError(
        `nothing else in the worlds makes a task like ${id}`,
        "choose another task, or add fixtures under prove/fixtures",
      );
    if (values["json"]) print(JSON.stringify({ file, task: id, made, seconds }));
    else
      print(
        `${made} variants of ${id} in ${file} (${seconds} s)${made < count ? `; the worlds have no more, ${count - made} are missing` : ""}`,
      );
    return made < count ? 1 : 0;
  },
};

async function taskIn(
  file: string,
  id: string,
  reading: { onTorn: (remark: string) => void; signal: AbortSignal },
): Promise<Task> {
  let tasks = 0;
  for await (const it of readTasks(file, reading)) {
    if (it.id === id) return it;
    tasks++;
  }
  throw new UserError(
    `${file} has no task ${id} among its ${tasks}`,
    "copy the id from the file or from the Tasks view",
  );
}

function countOf(values: Values): number {
  const count = countIn(values, "count", "number of tasks");
  if (count === undefined)
    throw new UserError(
      "variants needs to know how many to make",
      "add --count, such as --count 20",
    );
  return count;
}
