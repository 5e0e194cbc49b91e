/**
 * Tools that read text files line by line. None of them writes: what they sort or cut is what they
 * answer with.
 */
import { hash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "../../environment/json.ts";
import { refuse } from "../../environment/server.ts";
import { allow, brief, find, listed, may, readable, shown, whatIs } from "./resolve.ts";
import { below } from "./navigate.ts";
import { bytesIn, path, tool, type File, type World } from "./state.ts";

/** The lines of a text; the newline at its end begins no further one. */
export const linesOf = (text: string): string[] =>
  text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

const textAt = (world: World, given: string) => linesOf(readable(world, given).entry.text);

const file = path.file.describe("Text file");
const limit = z.int().min(1).max(200).optional();
const upTo20 = limit.describe("At most this many lines, 20 if not given");
const lines = z.array(z.string());
const total = z.int().describe("Lines in all");
const separator = z
  .enum(["comma", "semicolon", "tab", "space"])
  .optional()
  .describe("What stands between columns, a comma if not given");
const field = z.int().min(1).max(50);
const mark = { comma: ",", semicolon: ";", tab: "\t", space: " " } as const;

type Separator = keyof typeof mark;

/** Refuses a file of which no line has such a column. */
function inColumns(lines: readonly string[], nth: number, by: Separator, given: string): void {
  const n = lines.reduce((most, it) => Math.max(most, it.split(mark[by]).length), 0);
  if (n < 2)
    refuse(
      "precondition_failed",
      `${brief(given)} has no columns with a ${by} between them`,
      "choose another separator",
    );
  if (n < nth)
    refuse(
      "precondition_failed",
      `${brief(given)} has ${n} columns, and no column ${nth}`,
      `choose at most ${n}`,
    );
}

const column = (line: string, nth: number, by: Separator) => line.split(mark[by])[nth - 1] ?? "";

export const viewTools = {
  cat: tool({
    effect: "read",
    summary: "Read a text file from its beginning, and learn how many lines it has.",
    input: { path: file, limit: limit.describe("At most this many lines, 40 if not given") },
    returns: { text: z.string(), total },
    run(world, { path: given, limit: most = 40 }) {
      const all = textAt(world, given);
      return { text: all.slice(0, most).join("\n"), total: all.length };
    },
  }),
  head: tool({
    effect: "read",
    summary: "Read the first lines of a text file.",
    input: { path: file, lines: limit.describe("How many lines, 5 if not given") },
    returns: { lines, total },
    run(world, { path: given, lines: n = 5 }) {
      const all = textAt(world, given);
      return { lines: all.slice(0, n), total: all.length };
    },
  }),
  tail: tool({
    effect: "read",
    summary: "Read the last lines of a text file.",
    input: { path: file, lines: limit.describe("How many lines, 5 if not given") },
    returns: { lines, total },
    run(world, { path: given, lines: n = 5 }) {
      const all = textAt(world, given);
      return { lines: all.slice(-n), total: all.length };
    },
  }),
  wc: tool({
    effect: "read",
    summary: "Count the lines, words and bytes of a text file.",
    input: { path: file },
    returns: { lines: z.int(), words: z.int(), bytes: z.int() },
    run(world, { path: given }) {
      const { text } = readable(world, given).entry;
      return {
        lines: linesOf(text).length,
        words: text.split(/\s+/u).filter(it => it !== "").length,
        bytes: bytesIn(text),
      };
    },
  }),
};

export const searchTools = {
  grep: tool({
    effect: "read",
    summary: "Find the lines that contain a text in all files below a directory, or in one file.",
    input: {
      pattern: z
        .string()
        .min(1)
        .max(200)
        .describe("Text to look for, taken literally")
        .meta({
          examples: [
            "ERROR",
            "WARN",
            "Northwind",
            "Bluepeak",
            "Orchard",
            "overdue",
            "paid",
            "open",
            "Friday",
            "Ben",
            "Chloe",
            "total",
            "timeout",
            "logo",
          ],
        }),
      path: path.directory.describe("Directory to search with all below it, or a file"),
      ignore_case: z.boolean().optional().describe("Take capital and small letters as the same"),
      limit: limit.describe("At most this many lines, 10 if not given"),
    },
    returns: {
      count: z.int().describe("Lines that match in all"),
      matches: z.array(z.object({ path: path.file, line: z.int(), text: z.string() })),
    },
    run(world, { pattern, path: given, ignore_case = false, limit: most = 10 }) {
      const fold = (text: string) => (ignore_case ? text.toLowerCase() : text);
      const wanted = fold(pattern);
      const hits = searched(world, given).flatMap(([at, { text }]) =>
        linesOf(text).flatMap((it, i) =>
          fold(it).includes(wanted) ? [{ path: shown(world, at), line: i + 1, text: it }] : [],
        ),
      );
      return { count: hits.length, matches: hits.slice(0, most) };
    },
  }),
  sort: tool({
    effect: "read",
    summary: "Show a file's lines in order, whole or by one column. The file stays as it is.",
    input: {
      path: file,
      field: field.optional().describe("Column to order by, from 1; the whole line if not given"),
      separator,
      numeric: z.boolean().optional().describe("Order as numbers"),
      reverse: z.boolean().optional().describe("Largest or last first"),
      header: z.boolean().optional().describe("The first line is a heading and stays on top"),
      limit: upTo20,
    },
    returns: { lines, total },
    run(
      world,
      {
        path: given,
        field: nth,
        separator: by = "comma",
        numeric = false,
        reverse = false,
        header = false,
        limit: most = 20,
      },
    ) {
      const all = textAt(world, given);
      if (nth !== undefined) inColumns(all, nth, by, given);
      const rows = all.slice(header ? 1 : 0).map(line => {
        const key = nth === undefined ? line : column(line, nth, by);
        return { line, key, number: Number.parseFloat(key) || 0 };
      });
      if (numeric && rows.every(it => !/^\s*[-+]?\d/.test(it.key)))
        refuse(
          "precondition_failed",
          `there are no numbers to order ${brief(given)} by`,
          "leave out numeric, or choose another field",
        );
      rows.sort(
        (a, b) =>
          (numeric ? a.number - b.number : 0) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
      );
      if (reverse) rows.reverse();
      return {
        lines: [...(header ? all.slice(0, 1) : []), ...rows.map(it => it.line)].slice(0, most),
        total: all.length,
      };
    },
  }),
  uniq: tool({
    effect: "read",
    summary:
      "Show a file's lines without those that repeat the line before, optionally with how often each came. The file stays as it is.",
    input: {
      path: file,
      count: z.boolean().optional().describe("Put before each line how often it came"),
      limit: upTo20,
    },
    returns: { lines, total },
    run(world, { path: given, count = false, limit: most = 20 }) {
      const runs: { line: string; n: number }[] = [];
      for (const line of textAt(world, given)) {
        const last = runs.at(-1);
        if (last?.line === line) last.n++;
        else runs.push({ line, n: 1 });
      }
      return {
        lines: runs.slice(0, most).map(it => (count ? `${it.n} ${it.line}` : it.line)),
        total: runs.length,
      };
    },
  }),
  cut: tool({
    effect: "read",
    summary: "Show one column of a file's lines; lines without it are left out.",
    input: {
      path: file,
      field: field.describe("Column, from 1").meta({ examples: [1, 2, 3] }),
      separator,
      limit: upTo20,
    },
    returns: { lines, total },
    run(world, { path: given, field: nth, separator: by = "comma", limit: most = 20 }) {
      const all = textAt(world, given);
      inColumns(all, nth, by, given);
      const cells = all.flatMap(it => it.split(mark[by])[nth - 1] ?? []);
      return { lines: cells.slice(0, most), total: cells.length };
    },
  }),
};

/**
 * The text files that a search goes through. One that is named must be readable; others that are
 * not are passed over.
 */
function searched(world: World, given: string): (readonly [readonly string[], File])[] {
  const start = find(world, given);
  if (start.entry.type !== "directory") return [[start.at, readable(world, given).entry]];
  return below(world, listed(world, given)).flatMap(([at, it]) =>
    it.type === "file" && may(world, it, "r") ? [[at, it] as const] : [],
  );
}

const mostLines = 2000;

export const compareTools = {
  diff: tool({
    effect: "read",
    summary:
      "Compare two text files line by line: lines only in the first are marked -, lines only in the second +.",
    input: {
      first: path.file.describe("Text file before"),
      second: path.file.describe("Text file after"),
      limit: upTo20,
    },
    returns: { same: z.boolean(), removed: z.int(), added: z.int(), changes: lines },
    run(world, { first, second, limit: most = 20 }) {
      const [a, b] = [textAt(world, first), textAt(world, second)];
      if (Math.max(a.length, b.length) > mostLines)
        refuse("limit_exceeded", `files of more than ${mostLines} lines are not compared`);
      const changes = changesOf(a, b);
      const removed = changes.filter(it => it.startsWith("-")).length;
      return {
        same: changes.length === 0,
        removed,
        added: changes.length - removed,
        changes: changes.slice(0, most),
      };
    },
  }),
  checksum: tool({
    effect: "read",
    summary: "Compute the checksum of a file's or an archive's content.",
    input: {
      path: path.file.describe("File or archive"),
      algorithm: z.enum(["sha256", "sha1", "md5"]).optional().describe("sha256 if not given"),
    },
    returns: {
      short: z.string().describe("Its first eight digits, to compare by eye"),
      algorithm: z.string(),
      checksum: z.string(),
    },
    run(world, { path: given, algorithm = "sha256" }) {
      const { entry, at } = find(world, given);
      if (entry.type === "directory" || entry.type === "link")
        refuse(
          "precondition_failed",
          `${shown(world, at)} is ${whatIs(entry)}, which has no content`,
        );
      allow(world, entry, "r", at);
      const checksum = hash(
        algorithm,
        entry.type === "file" ? entry.text : canonicalJson(entry.entries),
        "hex",
      );
      return { short: checksum.slice(0, 8), algorithm, checksum };
    },
  }),
};

/** The lines that differ, by the longest common subsequence. */
function changesOf(a: readonly string[], b: readonly string[]): string[] {
  const width = b.length + 1;
  const common = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] =
        a[i] === b[j]
          ? common[(i + 1) * width + j + 1]! + 1
          : Math.max(common[(i + 1) * width + j]!, common[i * width + j + 1]!);
  const changes: string[] = [];
  for (let i = 0, j = 0; i < a.length || j < b.length;) {
    if (i < a.length && j < b.length && a[i] === b[j]) [i, j] = [i + 1, j + 1];
    else if (
      j >= b.length ||
      (i < a.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!)
    )
      changes.push(`-${a[i++]!}`);
    else changes.push(`+${b[j++]!}`);
  }
  return changes;
}
