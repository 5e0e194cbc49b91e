/** Tools that search, sort and cut the lines of text files. They do not change files. */
import { z } from "zod";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { hasPermission } from "./permissions.ts";
import { shorten, formatPath } from "./pathFormat.ts";
import { findEntry, findReadableDirectory, findReadableFile } from "./lookups.ts";
import { walkTree } from "./walkTree.ts";
import { path } from "./parameters.ts";
import { type File, FilesystemState } from "./state.ts";
import { separator, field, separatorCharacters, requireColumn, getColumn } from "./columns.ts";
import { splitLines, readLines, fileParameter, limit, lineLimit, lines, total } from "./lines.ts";

const tool = createToolFactory(FilesystemState);

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
      return { count: matches.length, matches: matches.slice(0, maxRows) };
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
