/** Tools that read a text file or a part of it. */
import { z } from "zod";
import { createToolFactory } from "../../environment/server.ts";
import { findReadableFile } from "./lookups.ts";
import { countBytes } from "./entries.ts";
import { FilesystemState } from "./state.ts";
import { splitLines, readLines, fileParameter, limit, lines, total } from "./lines.ts";

const tool = createToolFactory(FilesystemState);

export const viewTools = {
  cat: tool({
    effect: "read",
    summary: "Read a text file from its beginning, and learn how many lines it has.",
    input: {
      path: fileParameter,
      limit: limit.describe("At most this many lines, 40 if not given"),
    },
    returns: { text: z.string(), total },
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
