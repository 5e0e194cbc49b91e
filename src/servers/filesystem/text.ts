/** Tools that change what is in a text file. How lines are read or ordered is not their affair. */
import { z } from "zod";
import { refuse } from "../../environment/server.ts";
import { newFile, put, reserve, rewrite } from "./edit.ts";
import { brief, find, locate, onlyFile, readable, shown, type Found } from "./resolve.ts";
import { linesOf } from "./read.ts";
import { bytesIn, newPath, path, tool } from "./state.ts";

const longestText = 20_000;
const line = [
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
const text = z.string().max(longestText);
const modified = { path: path.file, bytes: z.int().describe("Size after the change") };

export const textTools = {
  write_file: tool({
    effect: "write",
    summary: "Write a text file, new or with overwrite in place of an old one.",
    requires: ["cd"],
    destructive: true,
    idempotent: true,
    input: {
      path: newPath(
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
      text: text.describe("What the file then holds").meta({ examples: line }),
      overwrite: z.boolean().optional().describe("Replace the file if it exists"),
    },
    returns: modified,
    run(world, { path: given, text: wanted, overwrite = false }, { now }) {
      const place = locate(world, given);
      const { at, entry } = place;
      const bytes = bytesIn(wanted);
      if (!entry) {
        reserve(world, bytes, 1);
        put(world, place, newFile(world, wanted, now), now);
      } else {
        const found = place as Found;
        onlyFile(found);
        if (!overwrite)
          refuse(
            "conflict",
            `${shown(world, at)} already exists`,
            "pass overwrite: true to replace it, or use filesystem_append_file",
          );
        rewrite(world, found, bytes - bytesIn(found.entry.text), () => wanted, now);
      }
      return { path: shown(world, at), bytes };
    },
  }),
  append_file: tool({
    effect: "write",
    summary: "Add a line, or several, at the end of a text file that exists.",
    input: {
      path: path.file.describe("Text file"),
      text: text.min(1).describe("Line to add").meta({ examples: line }),
    },
    returns: { path: path.file, lines: z.int().describe("Lines after the change") },
    run(world, { path: given, text: added }, { now }) {
      const place = find(world, given);
      onlyFile(place);
      const { text: old } = place.entry;
      const more = `${old === "" || old.endsWith("\n") ? "" : "\n"}${added}${added.endsWith("\n") ? "" : "\n"}`;
      rewrite(world, place, bytesIn(more), () => old + more, now);
      return { path: shown(world, place.at), lines: linesOf(old).length + linesOf(added).length };
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
    run(world, { path: given, find: old, replace, first = false }, { now }) {
      const place = readable(world, given);
      const parts = place.entry.text.split(old);
      if (parts.length === 1)
        refuse(
          "not_found",
          `${shown(world, place.at)} does not contain ${brief(old)}`,
          "filesystem_cat shows the file, filesystem_grep finds a text",
        );
      const times = first ? 1 : parts.length - 1;
      const changed = () =>
        first ? `${parts[0]!}${replace}${parts.slice(1).join(old)}` : parts.join(replace);
      rewrite(world, place, times * (bytesIn(replace) - bytesIn(old)), changed, now);
      return { path: shown(world, place.at), replaced: times };
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
    returns: modified,
    run(world, { path: given, lines }, { now }) {
      const place = find(world, given);
      onlyFile(place);
      const all = linesOf(place.entry.text);
      if (lines > all.length)
        refuse(
          "precondition_failed",
          `${shown(world, place.at)} has fewer lines than ${lines}: ${all.length}`,
          `choose at most ${all.length}`,
        );
      const kept = all
        .slice(0, lines)
        .map(it => `${it}\n`)
        .join("");
      const cut = kept.length > place.entry.text.length ? place.entry.text : kept;
      rewrite(world, place, 0, () => cut, now);
      return { path: shown(world, place.at), bytes: bytesIn(cut) };
    },
  }),
};
