/**
 * `import`: converts published abstention data sets, whose files the user has downloaded, to tasks,
 * and rollouts of other software to trajectories.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { UserError } from "../userError.ts";
import {
  importFormats,
  createImportedTask,
  type ImportFormat,
  type SkipReason,
} from "../synthesis/pipeline/importedTasks.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import { formatTaskLine } from "../trajectory/task.ts";
import { argument, defineCommand, option, type CliContext } from "./command.ts";
import { checkTrajectoryName, formatImport, importRollouts } from "../app/importRollouts.ts";
import { rolloutFormats } from "../rollouts/formats.ts";
import { countOf, existingPath, oneOf, outputPath, jsonFlag } from "./options.ts";
import { readRows, RowRemarks } from "../rollouts/readRollouts.ts";

const taskFormats = Object.keys(importFormats) as ImportFormat[];
const formats = [...taskFormats, ...rolloutFormats.map(it => it.name)];

export const importTasks = defineCommand({
  name: "import",
  description:
    "Convert rows of When2Call or xLAM-irrelevance to tasks without goals, and rollouts of other software to trajectories. Of the data sets, only rows whose right answer is no call are used; test rows become the split heldout-server. Rollouts at tasks of --tasks are executed again and scored; the others are shown as they are. Rows that are not JSON are reported and skipped; the command then exits with 1.",
  arguments: [
    argument("<format>", "data set or software that the file is from", {
      parser: oneOf(formats, "there is no format"),
      required: "a format",
    }),
    argument("<file>", "file to read: JSON Lines, JSON or Parquet; for rollouts also a folder", {
      required: "one file to read",
    }),
  ],
  options: {
    out: option("--out <file>", "tasks or trajectory file to write, which must not exist", {
      parser: outputPath("prove/tasks/abstain.tasks.jsonl"),
      required: "a file to write to",
      example: "prove/tasks/abstain.tasks.jsonl",
    }),
    count: option("--count <n>", "most tasks or rollouts to import (default: all)", {
      parser: countOf("a number of tasks"),
    }),
    tasks: option("--tasks <file>", "tasks file with the tasks of the rollouts", {
      parser: existingPath("a tasks file"),
    }),
    policy: option("--policy <name>", "name of the policy, for rollouts that name none"),
    json: jsonFlag,
  },
  examples: [
    "import when2call when2call_train_sft.jsonl --out abstain.tasks.jsonl",
    "import trl out/completions --tasks my.tasks.jsonl --out step.trajectory.jsonl",
    "import bfcl BFCL_v4_multi_turn_base_result.json --out bfcl.trajectory.jsonl",
  ],
  async run(context, [name, from], { out, count = Infinity, tasks, policy, json }) {
    const { cwd, print } = context;
    const rollouts = rolloutFormats.find(it => it.name === name);
    if (rollouts) {
      checkTrajectoryName(out);
      const report = await importRollouts(
        {
          format: rollouts,
          from: resolve(cwd, from),
          file: resolve(cwd, out),
          tasks: tasks === undefined ? undefined : resolve(cwd, tasks),
          policy,
          count,
        },
        context,
      );
      for (const it of json ? [JSON.stringify(report)] : formatImport(report)) print(it);
      if (report.imported === 0 && report.skipped === 0)
        throw new UserError(
          `${from} holds no rollouts`,
          `check that ${rollouts.writer} has written rollouts into it`,
        );
      return report.skipped + report.faults > 0 ? 1 : 0;
    }
    const format = name as ImportFormat;
    const file = resolve(cwd, out);
    if (existsSync(file)) throw new UserError(`${out} exists already`, "write to another file");
    const report = await importRows({ format, from: resolve(cwd, from), file, count }, context);
    if (report.imported === 0)
      throw new UserError(
        `${from} has no row of ${format} whose right answer is no call`,
        "check that the file is of that set",
      );
    if (json) print(JSON.stringify(report));
    else
      print(
        `${report.imported} tasks in ${file}${Object.entries(report.skipped)
          .map(([reason, n]) => `; ${n} skipped: ${reason}`)
          .join("")}`,
      );
    return report.skipped["not JSON"] ? 1 : 0;
  },
});

interface ImportRequest {
  readonly format: ImportFormat;
  readonly from: string;
  readonly file: string;
  /** The most tasks to write. */
  readonly count: number;
}

async function importRows(
  { format, from, file, count }: ImportRequest,
  { printNote, showProgress, signal }: CliContext,
) {
  const skipped: Partial<Record<SkipReason | "not JSON", number>> = {};
  const report = { file, imported: 0, skipped };
  const remarks = new RowRemarks(printNote);
  let number = 0;
  let writer: LineWriter | undefined;
  try {
    for await (const { json } of readRows(from, {}, remarks)) {
      signal.throwIfAborted();
      number++;
      const row = importFormats[format](json);
      if (typeof row === "string") {
        skipped[row] = (skipped[row] ?? 0) + 1;
        continue;
      }
      writer ??= new LineWriter(file);
      const split = row.isTest ? "heldout-server" : "train";
      writer.append(formatTaskLine(createImportedTask(row, { format, number, split })));
      showProgress(`${++report.imported} tasks`);
      if (report.imported === count) break;
    }
  } finally {
    writer?.close();
  }
  remarks.finish();
  if (remarks.skipped > 0) skipped["not JSON"] = remarks.skipped;
  return report;
}
