/** `import`: others' abstention sets as tasks of ours, from a file that the person has. */
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { UserError } from "../userError.ts";
import {
  importFormats,
  createImportedTask,
  type ImportFormat,
  type SkipReason,
} from "../synthesis/pipeline/importedTasks.ts";
import { readJsonLines } from "../storage/jsonLines.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import { formatTaskLine } from "../trajectory/taskLine.ts";
import type { CliCommand } from "./command.ts";
import { countIn } from "./number.ts";

export const importTasks: CliCommand = {
  usage: "import when2call|xlam-irrelevance F --out G.tasks.jsonl [--count N] [--json]",
  summary:
    "Make tasks without goals of the rows of When2Call or xLAM-irrelevance whose right answer is no call; test rows count as held out.",
  options: { out: { type: "string" }, count: { type: "string" }, json: { type: "boolean" } },
  async run(
    { cwd, print, printNote: say, showProgress: progress, signal },
    [format, from, ...more],
    values,
  ) {
    if (format === undefined || !Object.hasOwn(importFormats, format))
      throw new UserError(
        `there is no format ${format ?? "given"}`,
        `choose ${Object.keys(importFormats).join(" or ")}`,
      );
    if (from === undefined || more.length > 0)
      throw new UserError("import needs one file to read", `usage: prove-rl ${importTasks.usage}`);
    const out = values["out"] as string | undefined;
    if (!out)
      throw new UserError(
        "import needs a file to write to",
        "add --out, such as --out prove/tasks/abstain.tasks.jsonl",
      );
    const file = resolve(cwd, out);
    if (existsSync(file)) throw new UserError(`${out} exists already`, "write to another file");
    const most = countIn(values, "count", "number of tasks") ?? Infinity;
    const report = { file, imported: 0, skipped: {} as Partial<Record<SkipReason, number>> };
    let writer: LineWriter | undefined;
    try {
      for await (const { json, number } of rowsOf(resolve(cwd, from), say)) {
        signal.throwIfAborted();
        const row = importFormats[format as ImportFormat](json);
        if (typeof row === "string") {
          report.skipped[row] = (report.skipped[row] ?? 0) + 1;
          continue;
        }
        writer ??= new LineWriter(file);
        writer.append(
          formatTaskLine(
            createImportedTask(row, {
              format: format as ImportFormat,
              number,
              split: row.isTest ? "heldout-server" : "train",
            }),
          ),
        );
        progress(`${++report.imported} tasks`);
        if (report.imported === most) break;
      }
    } finally {
      writer?.close();
    }
    if (report.imported === 0)
      throw new UserError(
        `${from} has no row of ${format} whose right answer is no call`,
        "check that the file is of that set",
      );
    if (values["json"]) print(JSON.stringify(report));
    else
      print(
        `${report.imported} tasks in ${file}${Object.entries(report.skipped)
          .map(([why, n]) => `; ${n} skipped: ${why}`)
          .join("")}`,
      );
    return 0;
  },
};

/** The rows of JSON Lines, or the elements of one JSON array. */
async function* rowsOf(
  file: string,
  say: (line: string) => void,
): AsyncGenerator<{ json: unknown; number: number }> {
  const text = await readFile(file, "utf8").catch((cause: Error) => {
    throw new UserError(`cannot read ${file} (${cause.message})`, "check the path", { cause });
  });
  if (!/^\s*\[/.test(text)) {
    yield* readJsonLines(file, { onTorn: say });
    return;
  }
  let rows: unknown;
  try {
    rows = JSON.parse(text);
  } catch (cause) {
    throw new UserError(
      `${file} is neither JSON Lines nor a JSON array (${(cause as Error).message})`,
      "fetch the file again",
      { cause },
    );
  }
  for (const [i, json] of (rows as unknown[]).entries()) yield { json, number: i + 1 };
}
