/** The dataset card of an export: what the rows are, how many of what, and where they come from. */
import { basename } from "node:path";
import { splits, type Split, type Task } from "../trajectory/task.ts";
import { version } from "../version.ts";
import type { ExportFormat } from "./exportFormat.ts";

/** Counts the rows of an export by the properties of their tasks. */
export class ExportTally {
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

export interface CardContent {
  readonly format: ExportFormat;
  readonly tally: ExportTally;
  /** The tasks file. */
  readonly source: string;
  readonly files: ReadonlyMap<Split, string>;
  /** Remarks about tasks without rows, and tasks that have changed. */
  readonly remarks: readonly string[];
}

/** Creates the card, in Markdown with the header that the Hugging Face Hub reads. */
export function createDatasetCard({ format, tally, source, files, remarks }: CardContent): string {
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
