/** Tools that show, search, sort, compare and change text files. */
import { z } from "zod";
import { hash } from "node:crypto";
import {
  findReadableFile,
  shorten,
  countBytes,
  hasPermission,
  formatPath,
  findEntry,
  findReadableDirectory,
  walkTree,
  requirePermission,
  describeKind,
  resolvePath,
  type ExistingPath,
  requireFile,
} from "./paths.ts";
import { path, FilesystemState, type File, newPathSchema } from "./state.ts";
import { rowTotal } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { canonicalJson } from "../../environment/json.ts";
import { createFile, addEntry, rewriteFile, reserveSpace } from "./treeEdits.ts";

/** The lines of a text. A newline at the end does not start another line. */
const splitLines = (text: string): string[] =>
  text === "" ? [] : (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");

const readLines = (state: FilesystemState, input: string) =>
  splitLines(findReadableFile(state, input).entry.text);

const fileParameter = path.file.describe("Text file");
const limit = z.int().min(1).max(200).optional();
const lineLimit = limit.describe("At most this many lines, 20 if not given");
const lines = z.array(z.string());
const total = rowTotal("lines");

const separator = z
  .enum(["comma", "semicolon", "tab", "space"])
  .optional()
  .describe("What stands between columns, a comma if not given");
const field = z.int().min(1).max(50);
const separatorCharacters = { comma: ",", semicolon: ";", tab: "\t", space: " " } as const;

type Separator = keyof typeof separatorCharacters;

/** Refuses a file in which no line has that column. */
function requireColumn(lines: readonly string[], nth: number, by: Separator, input: string): void {
  const n = lines.reduce((most, it) => Math.max(most, it.split(separatorCharacters[by]).length), 0);
  if (n < 2)
    refuse(
      "precondition_failed",
      `${shorten(input)} has no columns with a ${by} between them`,
      "choose another separator",
    );
  if (n < nth)
    refuse(
      "precondition_failed",
      `${shorten(input)} has ${n} columns, and no column ${nth}`,
      `choose at most ${n}`,
    );
}

const getColumn = (line: string, nth: number, by: Separator) =>
  line.split(separatorCharacters[by])[nth - 1] ?? "";

const tool = createToolFactory(FilesystemState);

export const viewTools = {
  cat: tool({
    effect: "read",
    summary: "Read a text file from its beginning, and learn how many lines it has.",
    input: {
      path: fileParameter,
      limit: limit.describe("At most this many lines, 40 if not given"),
    },
    returns: { text: z.string(), total: z.int().describe("Lines in all") },
    run(state, { path: input, limit: maxLines = 40 }) {
      const lines = readLines(state, input);
      return { text: lines.slice(0, maxLines).join("\n"), total: lines.length };
    },
  }),
  head: tool({
    effect: "read",
    summary: "Read the first lines of a text file.",
    input: { path: fileParameter, lines: limit.describe("How many lines, 5 if not given") },
    returns: { lines, total },
    run(state, { path: input, lines: n = 5 }) {
      const lines = readLines(state, input);
      return { lines: lines.slice(0, n), total: lines.length };
    },
  }),
  tail: tool({
    effect: "read",
    summary: "Read the last lines of a text file.",
    input: { path: fileParameter, lines: limit.describe("How many lines, 5 if not given") },
    returns: { lines, total },
    run(state, { path: input, lines: n = 5 }) {
      const lines = readLines(state, input);
      return { lines: lines.slice(-n), total: lines.length };
    },
  }),
  wc: tool({
    effect: "read",
    summary: "Count the lines, words and bytes of a text file.",
    input: { path: fileParameter },
    returns: { lines: z.int(), words: z.int(), bytes: z.int() },
    run(state, { path: input }) {
      const { text } = findReadableFile(state, input).entry;
      return {
        lines: splitLines(text).length,
        words: text.split(/\s+/u).filter(it => it !== "").length,
        bytes: countBytes(text),
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
      total: rowTotal("matches"),
      matches: z.array(z.object({ path: path.file, line: z.int(), text: z.string() })),
    },
    run(state, { pattern, path: input, ignore_case = false, limit: maxRows = 10 }) {
      const fold = (text: string) => (ignore_case ? text.toLowerCase() : text);
      const searchedText = fold(pattern);
      const matches = listSearchedFiles(state, input).flatMap(([at, { text }]) =>
        splitLines(text).flatMap((it, i) =>
          fold(it).includes(searchedText)
            ? [{ path: formatPath(state, at), line: i + 1, text: it }]
            : [],
        ),
      );
      const total = matches.length;
      return { count: total, total, matches: matches.slice(0, maxRows) };
    },
  }),
  sort: tool({
    effect: "read",
    summary: "Show a file's lines in order, whole or by one column. The file stays as it is.",
    input: {
      path: fileParameter,
      field: field.optional().describe("Column to order by, from 1; the whole line if not given"),
      separator,
      numeric: z.boolean().optional().describe("Order as numbers"),
      reverse: z.boolean().optional().describe("Largest or last first"),
      header: z.boolean().optional().describe("The first line is a heading and stays on top"),
      limit: lineLimit,
    },
    returns: { lines, total },
    run(
      state,
      {
        path: input,
        field: nth,
        separator: by = "comma",
        numeric = false,
        reverse = false,
        header = false,
        limit: maxRows = 20,
      },
    ) {
      const lines = readLines(state, input);
      if (nth !== undefined) requireColumn(lines, nth, by, input);
      const rows = lines.slice(header ? 1 : 0).map(line => {
        const key = nth === undefined ? line : getColumn(line, nth, by);
        return { line, key, number: Number.parseFloat(key) || 0 };
      });
      if (numeric && rows.every(it => !/^\s*[-+]?\d/.test(it.key)))
        refuse(
          "precondition_failed",
          `there are no numbers to order ${shorten(input)} by`,
          "leave out numeric, or choose another field",
        );
      rows.sort(
        (a, b) =>
          (numeric ? a.number - b.number : 0) || (a.key < b.key ? -1 : a.key > b.key ? 1 : 0),
      );
      if (reverse) rows.reverse();
      return {
        lines: [...(header ? lines.slice(0, 1) : []), ...rows.map(it => it.line)].slice(0, maxRows),
        total: lines.length,
      };
    },
  }),
  uniq: tool({
    effect: "read",
    summary:
      "Show a file's lines without those that repeat the line before, optionally with how often each came. The file stays as it is.",
    input: {
      path: fileParameter,
      count: z.boolean().optional().describe("Put before each line how often it came"),
      limit: lineLimit,
    },
    returns: { lines, total },
    run(state, { path: input, count = false, limit: maxRows = 20 }) {
      const runs: { line: string; n: number }[] = [];
      for (const line of readLines(state, input)) {
        const last = runs.at(-1);
        if (last?.line === line) last.n++;
        else runs.push({ line, n: 1 });
      }
      return {
        lines: runs.slice(0, maxRows).map(it => (count ? `${it.n} ${it.line}` : it.line)),
        total: runs.length,
      };
    },
  }),
  cut: tool({
    effect: "read",
    summary: "Show one column of a file's lines; lines without it are left out.",
    input: {
      path: fileParameter,
      field: field.describe("Column, from 1").meta({ examples: [1, 2, 3] }),
      separator,
      limit: lineLimit,
    },
    returns: { lines, total },
    run(state, { path: input, field: nth, separator: by = "comma", limit: maxRows = 20 }) {
      const lines = readLines(state, input);
      requireColumn(lines, nth, by, input);
      const cells = lines.flatMap(it => it.split(separatorCharacters[by])[nth - 1] ?? []);
      return { lines: cells.slice(0, maxRows), total: cells.length };
    },
  }),
};

/**
 * The text files that a search covers. A file given by its path must be readable; unreadable files
 * in a directory are skipped.
 */
function listSearchedFiles(
  state: FilesystemState,
  input: string,
): (readonly [readonly string[], File])[] {
  const start = findEntry(state, input);
  if (start.entry.type !== "directory")
    return [[start.segments, findReadableFile(state, input).entry]];
  return walkTree(state, findReadableDirectory(state, input)).flatMap(([at, it]) =>
    it.type === "file" && hasPermission(state, it, "r") ? [[at, it] as const] : [],
  );
}

const maxComparedLines = 2000;

export const compareTools = {
  diff: tool({
    effect: "read",
    summary:
      "Compare two text files line by line: lines only in the first are marked -, lines only in the second +.",
    input: {
      first: path.file.describe("Text file before"),
      second: path.file.describe("Text file after"),
      limit: lineLimit,
    },
    returns: {
      same: z.boolean(),
      removed: z.int(),
      added: z.int(),
      total: rowTotal("changes"),
      changes: lines,
    },
    run(state, { first, second, limit: maxRows = 20 }) {
      const [a, b] = [readLines(state, first), readLines(state, second)];
      if (Math.max(a.length, b.length) > maxComparedLines)
        refuse("limit_exceeded", `files of more than ${maxComparedLines} lines are not compared`);
      const changes = computeChanges(a, b);
      const removed = changes.filter(it => it.startsWith("-")).length;
      return {
        same: changes.length === 0,
        removed,
        added: changes.length - removed,
        total: changes.length,
        changes: changes.slice(0, maxRows),
      };
    },
  }),
};

export const checksumTools = {
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
    run(state, { path: input, algorithm = "sha256" }) {
      const { entry, segments } = findEntry(state, input);
      if (entry.type === "directory" || entry.type === "link")
        refuse(
          "precondition_failed",
          `${formatPath(state, segments)} is ${describeKind(entry)}, which has no content`,
        );
      requirePermission(state, entry, "r", segments);
      const checksum = hash(
        algorithm,
        entry.type === "file" ? entry.text : canonicalJson(entry.entries),
        "hex",
      );
      return { short: checksum.slice(0, 8), algorithm, checksum };
    },
  }),
};

/** The lines that differ, found with the longest common subsequence. */
function computeChanges(a: readonly string[], b: readonly string[]): string[] {
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

const maxTextLength = 20_000;
const exampleLines = [
  "Call Ben on Friday",
  "Send the invoice to Bluepeak",
  "Ask Chloe for the logo",
  "Review the draft with Emma",
  "Book the room for Monday",
  "Order more paper",
  "Northwind wants two options",
  "Deadline moved to 20 March",
  "Print three copies",
  "Backup done",
];
const text = z.string().max(maxTextLength);
const changeResult = { path: path.file, bytes: z.int().describe("Size after the change") };

export const textTools = {
  write_file: tool({
    effect: "write",
    summary: "Write a text file, new or with overwrite in place of an old one.",
    requires: ["cd"],
    destructive: true,
    idempotent: true,
    input: {
      path: newPathSchema(
        "memo.txt",
        "plan.txt",
        "agenda.md",
        "summary.txt",
        "reply.txt",
        "~/hello.txt",
        "~/notes/call.md",
        "~/notes/tuesday.md",
        "~/shopping.txt",
        "~/invoices/readme.md",
      ).describe("Path of the file"),
      text: text.describe("What the file then holds").meta({ examples: exampleLines }),
      overwrite: z.boolean().optional().describe("Replace the file if it exists"),
    },
    returns: changeResult,
    run(state, { path: input, text: newText, overwrite = false }, { now }) {
      const place = resolvePath(state, input);
      const { segments, entry } = place;
      const bytes = countBytes(newText);
      if (!entry) {
        reserveSpace(state, bytes, 1);
        addEntry(state, place, createFile(state, newText, now), now);
      } else {
        const existing = place as ExistingPath;
        requireFile(existing);
        if (!overwrite)
          refuse(
            "conflict",
            `${formatPath(state, segments)} already exists`,
            "pass overwrite: true to replace it, or use filesystem_append_file",
          );
        rewriteFile(state, existing, bytes - countBytes(existing.entry.text), () => newText, now);
      }
      return { path: formatPath(state, segments), bytes };
    },
  }),
  append_file: tool({
    effect: "write",
    summary: "Add a line, or several, at the end of a text file that exists.",
    input: {
      path: path.file.describe("Text file"),
      text: text.min(1).describe("Line to add").meta({ examples: exampleLines }),
    },
    returns: { path: path.file, lines: z.int().describe("Lines after the change") },
    run(state, { path: input, text: addedText }, { now }) {
      const place = findEntry(state, input);
      requireFile(place);
      const { text: oldText } = place.entry;
      const appendedText = `${oldText === "" || oldText.endsWith("\n") ? "" : "\n"}${addedText}${addedText.endsWith("\n") ? "" : "\n"}`;
      rewriteFile(state, place, countBytes(appendedText), () => oldText + appendedText, now);
      return {
        path: formatPath(state, place.segments),
        lines: splitLines(oldText).length + splitLines(addedText).length,
      };
    },
  }),
  replace_in_file: tool({
    effect: "write",
    summary: "Replace a text by another wherever it stands in a file, or only the first time.",
    input: {
      path: path.file.describe("Text file"),
      find: text
        .min(1)
        .describe("Text to replace, taken literally")
        .meta({ examples: ["draft", "open", "Friday", "Ben", "Monday", "March"] }),
      replace: text
        .describe("What to put in its place")
        .meta({ examples: ["final", "paid", "Thursday", "Emma", "Tuesday", "April"] }),
      first: z.boolean().optional().describe("Only the first time"),
    },
    returns: { path: path.file, replaced: z.int().describe("How many times") },
    run(state, { path: input, find: oldText, replace, first = false }, { now }) {
      const place = findReadableFile(state, input);
      const parts = place.entry.text.split(oldText);
      if (parts.length === 1)
        refuse(
          "not_found",
          `${formatPath(state, place.segments)} does not contain ${shorten(oldText)}`,
          "filesystem_cat shows the file, filesystem_grep finds a text",
        );
      const times = first ? 1 : parts.length - 1;
      const changed = () =>
        first ? `${parts[0]!}${replace}${parts.slice(1).join(oldText)}` : parts.join(replace);
      rewriteFile(state, place, times * (countBytes(replace) - countBytes(oldText)), changed, now);
      return { path: formatPath(state, place.segments), replaced: times };
    },
  }),
  truncate: tool({
    effect: "write",
    summary: "Cut a text file after its first lines, or empty it.",
    destructive: true,
    idempotent: true,
    input: {
      path: path.file.describe("Text file"),
      lines: z
        .int()
        .min(0)
        .max(100_000)
        .describe("How many lines stay; 0 empties the file")
        .meta({ examples: [0, 1, 2, 3] }),
    },
    returns: changeResult,
    run(state, { path: input, lines }, { now }) {
      const place = findEntry(state, input);
      requireFile(place);
      const all = splitLines(place.entry.text);
      if (lines > all.length)
        refuse(
          "precondition_failed",
          `${formatPath(state, place.segments)} has fewer lines than ${lines}: ${all.length}`,
          `choose at most ${all.length}`,
        );
      const remainingText = all
        .slice(0, lines)
        .map(it => `${it}\n`)
        .join("");
      const finalText =
        remainingText.length > place.entry.text.length ? place.entry.text : remainingText;
      rewriteFile(state, place, 0, () => finalText, now);
      return { path: formatPath(state, place.segments), bytes: countBytes(finalText) };
    },
  }),
};
