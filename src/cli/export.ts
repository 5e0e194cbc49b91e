/** `export`: writes the tasks of a file as a data set that other training frameworks read. */
import { resolve } from "node:path";
import { splits } from "../trajectory/task.ts";
import { defineCommand, option } from "./command.ts";
import { formatRowCount, writeDataset } from "../app/export/dataset.ts";
import { exportFormats } from "../app/export/formats.ts";
import { existingPath, oneOf, outputPath, jsonFlag } from "./options.ts";

const formatNames = exportFormats.map(it => it.name);

export const exportTasks = defineCommand({
  name: "export",
  description:
    "Write the tasks of a file as a data set: prompts for TRL and verl, or the teacher's conversations for fine-tuning, for viewers and for the Hugging Face Hub. The folder gets one file for each split, and a README.md that says what is in it. Exits with 1 if a task had to be left out.",
  arguments: [],
  options: {
    tasks: option("--tasks <file>", "tasks file to read", {
      parser: existingPath("a tasks file"),
      required: "a tasks file",
      example: "my.tasks.jsonl",
    }),
    to: option("--to <format>", "what the rows are for", {
      parser: oneOf(formatNames, "there is no format"),
      required: "a format",
      example: "trl",
    }),
    out: option("--out <folder>", "folder to write to, which must be new or empty", {
      parser: outputPath("datasets/trl"),
      required: "a folder to write to",
      example: "datasets/trl",
    }),
    split: option("--split <split>", "export this split only (default: all)", {
      parser: oneOf(splits, "there is no split"),
    }),
    json: jsonFlag,
  },
  examples: [
    "export --tasks my.tasks.jsonl --to trl --out datasets/trl",
    "export --tasks my.tasks.jsonl --to sft --split train --out datasets/sft",
  ],
  async run(context, _positionals, { tasks, to, out, split, json }) {
    const { cwd, print, printNote } = context;
    const { tally, leftOut, remarks } = await writeDataset(context, { tasks, to, out, split });
    const { rows, rowsBySplit } = tally;
    if (json)
      print(
        JSON.stringify({
          folder: resolve(cwd, out),
          format: to,
          tasks: tally.tasks,
          rows,
          splits: rowsBySplit,
          left_out: leftOut,
        }),
      );
    else print(formatRowCount(tally, out));
    for (const it of remarks) printNote(it);
    return leftOut > 0 ? 1 : 0;
  },
});
