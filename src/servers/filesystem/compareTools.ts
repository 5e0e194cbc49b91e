/** Tools that compare two text files and compute checksums. */
import { hash } from "node:crypto";
import { z } from "zod";
import { canonicalJson } from "../../environment/json.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { requirePermission } from "./permissions.ts";
import { describeKind } from "./paths.ts";
import { formatPath } from "./pathFormat.ts";
import { findEntry } from "./lookups.ts";
import { path } from "./parameters.ts";
import { FilesystemState } from "./state.ts";
import { readLines, lineLimit, lines } from "./lines.ts";

const tool = createToolFactory(FilesystemState);

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
    returns: { same: z.boolean(), removed: z.int(), added: z.int(), changes: lines },
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
