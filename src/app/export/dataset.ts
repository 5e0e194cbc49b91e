/** Writes the tasks of a file as a data set that other trainers read, with its card. */
import { resolve, basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import type { JsonObject } from "../../environment/json.ts";
import { readTasks } from "../../trajectory/file.ts";
import { escapeInvisible } from "../../trajectory/invisibleText.ts";
import { type Split, type Task, splits } from "../../trajectory/task.ts";
import { UserError } from "../../userError.ts";
import type { AppContext } from "../context.ts";
import { formatTaskCount, TaskChanges } from "../taskChanges.ts";
import { exportFormats } from "./formats.ts";
import type { ExportFormat } from "./formats.ts";
import type { CallSyntax } from "../../policy/callText/callText.ts";
import { version } from "../../version.ts";
import { writeFileAtomicallySync } from "../../storage/atomicWrite.ts";
import { readIfExists, withWriteErrors } from "../../storage/fileErrors.ts";
import { LineWriter } from "../../storage/lineWriter.ts";
import { ParquetFile, type ParquetColumns } from "../../storage/parquet.ts";

interface DatasetOptions {
  readonly tasks: string;
  /** The name of a format. */
  readonly to: string;
  /** A folder, which must be new or empty. */
  readonly out: string;
  readonly split?: Split | undefined;
  /** Shows tools as signatures, to a model that writes calls in this syntax. */
  readonly signatures?: CallSyntax | undefined;
}

/** Writes a data set, and says what is in it. Leaves nothing behind if it fails. */
export async function writeDataset(
  context: AppContext,
  { tasks, to, out, split, signatures }: DatasetOptions,
): Promise<Pick<Exporter, "tally" | "leftOut" | "remarks">> {
  const { cwd } = context;
  const format = exportFormats.find(it => it.name === to)!;
  const folder = new ExportFolder(resolve(cwd, out), format.parquet);
  const exporter = new Exporter(context, format, folder, signatures);
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
  readonly #context: AppContext;
  readonly #format: ExportFormat;
  readonly #folder: ExportFolder;
  readonly #signatures: CallSyntax | undefined;
  readonly #changes: TaskChanges;
  readonly #splits = new Set<Split>();
  #read = 0;
  #withoutRows = 0;
  #firstError: UserError | undefined;

  constructor(
    context: AppContext,
    format: ExportFormat,
    folder: ExportFolder,
    signatures: CallSyntax | undefined,
  ) {
    this.#context = context;
    this.#format = format;
    this.#folder = folder;
    this.#signatures = signatures;
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
        this.#signatures,
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

/** Counts the rows of an export by the properties of their tasks. */
class ExportTally {
  rows = 0;
  tasks = 0;
  readonly #counts = {
    split: new Map<string, number>(),
    server: new Map<string, number>(),
    kind: new Map<string, number>(),
    "tools in the chain": new Map<string, number>(),
  };
  readonly #teachers = new Set<string>();
  readonly #catalogs = new Set<string>();
  #seeds: readonly [least: number, greatest: number] = [Infinity, -Infinity];

  /** Counts the rows of one task; a row counts for each server of its task. */
  add(task: Task, rows: number): void {
    this.tasks++;
    this.rows += rows;
    const { split, servers, kind, chain, seed, catalog, provenance } = task;
    const names = servers.length === 0 ? ["none"] : servers.map(it => it.name);
    for (const [property, values] of [
      ["split", [split]],
      ["server", names],
      ["kind", [kind]],
      ["tools in the chain", [String(chain.length)]],
    ] as const)
      for (const it of values)
        this.#counts[property].set(it, (this.#counts[property].get(it) ?? 0) + rows);
    this.#teachers.add(provenance.teacher);
    this.#catalogs.add(catalog);
    this.#seeds = [Math.min(this.#seeds[0], seed), Math.max(this.#seeds[1], seed)];
  }

  get splits(): readonly Split[] {
    return splits.filter(it => this.#counts.split.has(it));
  }

  get rowsBySplit(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts.split);
  }

  get teachers(): readonly string[] {
    return [...this.#teachers].toSorted();
  }

  /** The tables of rows. */
  formatTables(): string[] {
    return Object.entries(this.#counts).flatMap(([property, counts]) => [
      `| ${property} | rows |`,
      "| --- | ---: |",
      ...[...counts]
        .toSorted(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
        .map(([value, n]) => `| ${escapeCell(value)} | ${n} |`),
      "",
    ]);
  }

  formatOrigin(): string {
    const [least, greatest] = this.#seeds;
    const seeds = least === greatest ? `seed ${least}` : `seeds from ${least} to ${greatest}`;
    const catalogs = [...this.#catalogs].toSorted();
    const shown = catalogs.slice(0, 10).map(formatCode);
    const rest = catalogs.length - shown.length;
    return `${this.tasks} tasks, ${seeds}. Tool definitions (\`catalog\` of the tasks): ${shown.join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
  }
}

interface CardContent {
  readonly format: ExportFormat;
  readonly tally: ExportTally;
  /** The tasks file. */
  readonly source: string;
  readonly files: ReadonlyMap<Split, string>;
  /** Remarks about tasks without rows, and tasks that have changed. */
  readonly remarks: readonly string[];
}

/** Creates the card, in Markdown with the header that the Hugging Face Hub reads. */
function createDatasetCard({ format, tally, source, files, remarks }: CardContent): string {
  const foreign = tally.teachers.filter(it => it !== "graph");
  const title = escapeCell(basename(source).replace(/\.tasks\.jsonl$/, ""));
  return [
    "---",
    `license: ${foreign.length === 0 ? "mit" : "other"}`,
    "language:",
    "  - en",
    "task_categories:",
    "  - text-generation",
    "tags:",
    "  - tool-use",
    "  - prove-rl",
    "configs:",
    "  - config_name: default",
    "    data_files:",
    ...tally.splits.flatMap(it => [
      // the Hub allows no hyphens in the names of splits
      `      - split: ${it.replaceAll("-", "_")}`,
      `        path: ${files.get(it)}`,
    ]),
    "---",
    "",
    `# ${title}: tasks for ${format.reader}`,
    "",
    format.description,
    "",
    "| column | content |",
    "| --- | --- |",
    ...Object.entries(format.columns).map(([name, content]) => `| \`${name}\` | ${content} |`),
    "",
    "## Composition",
    "",
    `${tally.rows} rows. A row counts for each server of its task.`,
    "",
    ...tally.formatTables(),
    "## Origin",
    "",
    `Made by PROVE ${version} with \`prove-rl export --to ${format.name}\` from ${formatCode(basename(source))}: ${tally.formatOrigin()}`,
    "",
    `Teachers: ${tally.teachers.map(escapeCell).join(", ")}. The data on the shipped servers, people included, is made up.`,
    "",
    ...remarks.flatMap(it => [escapeCell(it), ""]),
    "## Licence",
    "",
    "What PROVE made is under its own licence, MIT.",
    ...(foreign.length === 0
      ? []
      : [
          `The texts of these teachers also have the terms of the model or data set that they come from: ${foreign.map(escapeCell).join(", ")}.`,
        ]),
    "",
  ].join("\n");
}

/** A name from data as code. */
const formatCode = (text: string): string => `\`${text.replaceAll(/[\p{Cc}\p{Cf}`]+/gu, " ")}\``;

/** Text from data, so that it stays in its place. */
const escapeCell = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, " ").replaceAll(/[\\`|<>[\]*_#]/g, String.raw`\$&`);

interface RowWriter {
  append(row: JsonObject): void;
  close(): void;
}

class ExportFolder {
  readonly #folder: string;
  readonly #parquet: ParquetColumns | undefined;
  readonly #isNew: boolean;
  readonly #writers = new Map<Split, RowWriter>();
  readonly #rows = new Map<Split, number>();

  /**
   * Creates the folder, for files of JSON Lines, or of Parquet if the types of its columns are
   * given. Throws a `UserError` if the folder exists and is not empty.
   */
  constructor(folder: string, parquet?: ParquetColumns) {
    this.#folder = folder;
    this.#parquet = parquet;
    this.#isNew = !existsSync(folder);
    const entries = readIfExists(folder, () => readdirSync(folder)) ?? [];
    if (entries.length > 0)
      throw new UserError(`${folder} is not empty`, "export to another folder, or empty it first");
    withWriteErrors(folder, () => mkdirSync(folder, { recursive: true }));
  }

  /** The files by split, in the order in which they were begun. */
  get files(): ReadonlyMap<Split, string> {
    return new Map([...this.#writers.keys()].map(it => [it, this.#nameFile(it)]));
  }

  countRows(split: Split): number {
    return this.#rows.get(split) ?? 0;
  }

  append(split: Split, row: JsonObject): void {
    let writer = this.#writers.get(split);
    if (!writer) this.#writers.set(split, (writer = this.#openWriter(split)));
    writer.append(row);
    this.#rows.set(split, this.countRows(split) + 1);
  }

  /** Closes the files and writes the card. */
  finish(card: string): void {
    this.#close();
    writeFileAtomicallySync(join(this.#folder, "README.md"), card);
  }

  /**
   * Deletes what was written, so that no part of a data set is taken for the whole. Throws no
   * errors, because the one that ended the export is the one to report.
   */
  discard(): void {
    for (const it of this.#writers.values()) ignoreErrors(() => it.close());
    for (const it of this.files.values())
      ignoreErrors(() => rmSync(join(this.#folder, it), { force: true }));
    if (this.#isNew) ignoreErrors(() => rmSync(this.#folder, { recursive: true, force: true }));
  }

  #openWriter(split: Split): RowWriter {
    const file = join(this.#folder, this.#nameFile(split));
    if (this.#parquet) return new ParquetFile(file, this.#parquet);
    const lines = new LineWriter(file);
    return { append: row => lines.append(JSON.stringify(row)), close: () => lines.close() };
  }

  #nameFile(split: Split): string {
    return `${split}.${this.#parquet ? "parquet" : "jsonl"}`;
  }

  #close(): void {
    for (const it of this.#writers.values()) it.close();
  }
}

function ignoreErrors(action: () => void): void {
  try {
    action();
  } catch {
    // an error before this one is reported
  }
}
