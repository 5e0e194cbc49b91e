/** Tools that change text files. */
import { z } from "zod";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { createFile } from "./newEntries.ts";
import { addEntry, rewriteFile } from "./treeEdits.ts";
import { reserveSpace } from "./quota.ts";
import { resolvePath } from "./paths.ts";
import { shorten, formatPath, type ExistingPath } from "./pathFormat.ts";
import { findEntry, requireFile, findReadableFile } from "./lookups.ts";
import { splitLines } from "./lines.ts";
import { countBytes } from "./entries.ts";
import { newPathSchema, path } from "./parameters.ts";
import { FilesystemState } from "./state.ts";

const tool = createToolFactory(FilesystemState);

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
