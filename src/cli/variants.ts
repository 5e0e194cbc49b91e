/**
 * `variants`: makes more tasks like one task of a file, for a trainer that needs more of what its
 * student only sometimes succeeds at.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { findTask, writeVariants } from "../app/variants.ts";
import { UserError } from "../userError.ts";
import { argument, defineCommand, option } from "./command.ts";
import { countOf, existingPath, jsonFlag, outputPath, seedOption } from "./options.ts";

export const variants = defineCommand({
  name: "variants",
  description:
    "Make more tasks like one task of a file: the same tools in the same turns, about other entities and in other words. The same options give the same bytes. Exits with 1 if the fixtures give fewer than asked for.",
  arguments: [
    argument("<file>", "tasks file to read", {
      parser: existingPath("a tasks file"),
      required: "one tasks file to read",
    }),
  ],
  options: {
    task: option("--task <id>", "id of the task to vary", {
      required: "to know which task to vary",
      example: "banking-1-17, the id of a task of the file",
    }),
    count: option("--count <n>", "number of variants", {
      parser: countOf("a number of tasks"),
      required: "to know how many to make",
      example: "20",
    }),
    seed: seedOption,
    out: option("--out <file>", "tasks file to write, which must not exist", {
      parser: outputPath("prove/tasks/more.tasks.jsonl"),
      required: "a file to write to",
      example: "prove/tasks/more.tasks.jsonl",
    }),
    json: jsonFlag,
  },
  examples: ["variants my.tasks.jsonl --task banking-1-17 --count 20 --out more.tasks.jsonl"],
  async run(context, [from], { task: id, count, seed, out, json }) {
    const { cwd, print } = context;
    const file = resolve(cwd, out);
    if (existsSync(file)) throw new UserError(`${out} exists already`, "write to another file");
    const task = await findTask(resolve(cwd, from), id, context);
    const startedAt = performance.now();
    const made = await writeVariants(task, { file, count, seed }, context);
    const seconds = Math.round((performance.now() - startedAt) / 10) / 100;
    if (made === 0)
      throw new UserError(
        `the fixtures give no other task like ${id}`,
        "choose another task, or add fixtures under prove/fixtures",
      );
    if (json) print(JSON.stringify({ file, task: id, made, seconds }));
    else
      print(
        `${made} variants of ${id} in ${file} (${seconds} s)${made < count ? `; the worlds have no more, ${count - made} are missing` : ""}`,
      );
    return made < count ? 1 : 0;
  },
});
