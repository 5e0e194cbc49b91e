/** `export`: writes the tasks of a file as a data set that other training engines read. */
import { resolve } from "node:path";
import { setImmediate } from "node:timers/promises";
import type { JsonObject } from "../environment/json.ts";
import { readTasks } from "../trajectory/file.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { splits, type Split, type Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { defineCommand, option, type CliContext } from "./command.ts";
import { createDatasetCard, ExportTally } from "./exportCard.ts";
import { ExportFolder } from "./exportFolder.ts";
import type { ExportFormat } from "./exportFormat.ts";
import { exportFormats } from "./exportFormats.ts";
import { existingPath, oneOf, outputPath } from "./parsers.ts";
import { jsonFlag } from "./sharedOptions.ts";
import { formatTaskCount, TaskChanges } from "./taskChanges.ts";

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

interface DatasetOptions {
  readonly tasks: string;
  /** The name of a format. */
  readonly to: string;
  /** A folder, which must be new or empty. */
  readonly out: string;
  readonly split?: Split | undefined;
}

/** Writes a data set, and says what is in it. Leaves nothing behind if it fails. */
export async function writeDataset(
  context: CliContext,
  { tasks, to, out, split }: DatasetOptions,
): Promise<Pick<Exporter, "tally" | "leftOut" | "remarks">> {
  const { cwd } = context;
  const format = exportFormats.find(it => it.name === to)!;
  const folder = new ExportFolder(resolve(cwd, out), format.parquet);
  const exporter = new Exporter(context, format, folder);
  try {
    await exporter.addAll(resolve(cwd, tasks), split);
    if (exporter.tally.rows === 0) throw exporter.explainEmpty(tasks, split);
    const { tally, remarks } = exporter;
    const card = { format, tally, source: tasks, files: folder.files, remarks };
    folder.finish(createDatasetCard(card));
  } catch (error) {
    folder.discard();
    throw error;
  }
  return exporter;
}

export const formatRowCount = ({ rows, tasks, rowsBySplit }: ExportTally, out: string): string =>
  `${rows} rows of ${formatTaskCount(tasks)} in ${out}: ${Object.entries(rowsBySplit)
    .map(([name, n]) => `${name} ${n}`)
    .join(", ")}`;

/** Tasks that were left out of which the reason is printed. */
const maxReasons = 5;

/** Writes the rows of tasks, one task after the other, and counts them. */
class Exporter {
  readonly tally = new ExportTally();
  leftOut = 0;
  readonly #context: CliContext;
  readonly #format: ExportFormat;
  readonly #folder: ExportFolder;
  readonly #changes: TaskChanges;
  readonly #splits = new Set<Split>();
  #read = 0;
  #withoutRows = 0;
  #firstError: UserError | undefined;

  constructor(context: CliContext, format: ExportFormat, folder: ExportFolder) {
    this.#context = context;
    this.#format = format;
    this.#folder = folder;
    this.#changes = new TaskChanges(context);
  }

  async addAll(file: string, split: Split | undefined): Promise<void> {
    const { printNote, showProgress, signal } = this.#context;
    for await (const task of readTasks(file, { onTorn: printNote, signal })) {
      signal.throwIfAborted();
      this.#splits.add(task.split);
      if (split === undefined || task.split === split) this.#add(task);
      showProgress(`read ${formatTaskCount(++this.#read)}`);
      // lets an interruption be noticed
      if (this.#read % 100 === 0) await setImmediate();
    }
  }

  /** What the card and the terminal say about tasks that are not as they should be. */
  get remarks(): readonly string[] {
    return [
      ...this.#changes.format("they are exported with the servers as they are now"),
      ...(this.#withoutRows === 0
        ? []
        : [
            `${formatTaskCount(this.#withoutRows)} without rows: no turn can be attempted on its own`,
          ]),
      ...(this.leftOut === 0
        ? []
        : [`${formatTaskCount(this.leftOut)} left out, which cannot be opened`]),
    ];
  }

  /** Why there are no rows. */
  explainEmpty(file: string, split: Split | undefined): UserError {
    if (this.#read === 0)
      return new UserError(`${file} holds no tasks`, "give a file that prove-rl synthesize wrote");
    if (split !== undefined && !this.#splits.has(split))
      return new UserError(
        `${file} has no tasks of the split ${split}`,
        `choose ${[...this.#splits].join(" or ")}`,
      );
    const { what, remedy } = this.#firstError ?? {
      what: "no turn of its tasks can be attempted on its own",
      remedy: "export to another format, or give other tasks",
    };
    return new UserError(`${file} gives no rows for ${this.#format.name}: ${what}`, remedy);
  }

  #add(task: Task): void {
    const rows = this.#createRows(task);
    if (!rows) return;
    if (rows.length === 0) {
      this.#withoutRows++;
      return;
    }
    for (const it of rows) this.#folder.append(task.split, it);
    this.tally.add(task, rows.length);
  }

  /** Undefined for a task that cannot be opened. */
  #createRows(task: Task): readonly JsonObject[] | undefined {
    try {
      this.#changes.add(task);
      return this.#format.createRows(
        task,
        this.#context.catalog,
        this.#folder.countRows(task.split),
      );
    } catch (error) {
      // a task that can no longer be opened does not stop the others
      if (!(error instanceof UserError)) throw error;
      this.#firstError ??= error;
      if (this.leftOut++ < maxReasons)
        this.#context.printNote(
          `${escapeInvisible(task.id)} is left out: ${escapeInvisible(error.what)}\n  ${escapeInvisible(error.remedy)}`,
        );
      return undefined;
    }
  }
}
