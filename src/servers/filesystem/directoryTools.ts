/** Tools that create and remove directories, and create empty files. */
import { z } from "zod";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { createDirectory, createFile } from "./newEntries.ts";
import { getDraft, addEntry, removeEntry } from "./treeEdits.ts";
import { reserveSpace } from "./quota.ts";
import { toAbsolutePath, resolvePath, describeKind } from "./paths.ts";
import { shorten, formatPath, type ExistingPath, type ResolvedPath } from "./pathFormat.ts";
import { requirePermission, requireFreePath } from "./permissions.ts";
import { findEntry } from "./lookups.ts";
import { FilesystemState } from "./state.ts";
import { newPathSchema, path } from "./parameters.ts";

const tool = createToolFactory(FilesystemState);

export const directoryTools = {
  mkdir: tool({
    effect: "write",
    summary: "Make a directory; with parents also the ones above it that are missing.",
    requires: ["cd"],
    input: {
      path: newPathSchema(
        "reports",
        "drafts",
        "backup",
        "old",
        "2027",
        "inbox",
        "samples",
        "handover",
        "~/archive",
        "~/contracts",
        "~/notes/private",
        "~/invoices/april",
        "~/logs/march",
      ).describe("Path of the new directory"),
      parents: z.boolean().optional().describe("Also make missing directories above it"),
    },
    returns: { path: path.directory },
    run(state, { path: input, parents = false }, { now }) {
      if (!parents) {
        const place = resolvePath(state, input);
        reserveSpace(state, 0, 1);
        addEntry(state, place, createDirectory(state, now), now);
        return { path: formatPath(state, place.segments) };
      }
      const { top, names } = findMissingDirectories(state, input);
      if (top.entry?.type === "directory") return { path: formatPath(state, top.segments) };
      reserveSpace(state, 0, names.length);
      let directory = createDirectory(state, now);
      for (const name of names.slice(1).toReversed()) {
        requireFreePath(state, { input, segments: [name], parent: directory, entry: undefined });
        directory = { ...createDirectory(state, now), entries: { [name]: directory } };
      }
      addEntry(state, top, directory, now);
      return { path: formatPath(state, [...top.segments, ...names.slice(1)]) };
    },
  }),
  rmdir: tool({
    effect: "write",
    summary: "Remove a directory that is empty, for good.",
    destructive: true,
    input: { path: path.directory.describe("Empty directory") },
    returns: { removed: z.string() },
    run(state, { path: input }, { now }) {
      const place = findEntry(state, input, { follow: false });
      if (place.entry.type !== "directory")
        refuse(
          "precondition_failed",
          `${shorten(input)} is not a directory but ${describeKind(place.entry)}`,
          "filesystem_rm removes it",
        );
      const n = Object.keys(place.entry.entries).length;
      if (n > 0)
        refuse(
          "precondition_failed",
          `${formatPath(state, place.segments)} is not empty: it holds ${n} ${n === 1 ? "entry" : "entries"}`,
          "filesystem_rm with recursive: true removes a directory with all that is in it",
        );
      removeEntry(state, place, now);
      return { removed: formatPath(state, place.segments) };
    },
  }),
  touch: tool({
    effect: "write",
    summary: "Make an empty file, or set the time of one that exists to now.",
    requires: ["cd"],
    idempotent: true,
    input: {
      path: newPathSchema(
        "todo.md",
        "draft.txt",
        "log.txt",
        "ideas.md",
        "agenda.txt",
        "summary.md",
        "list.csv",
        "~/readme.md",
        "~/notes/monday.md",
        "~/plan.md",
      ).describe("Path of the file"),
    },
    returns: { path: path.file, created: z.boolean() },
    run(state, { path: input }, { now }) {
      const place = resolvePath(state, input);
      const { entry, segments } = place;
      if (entry) {
        if (entry.type !== "link") requirePermission(state, entry, "w", segments);
        getDraft(state, place as ExistingPath).modified = now;
      } else {
        reserveSpace(state, 0, 1);
        addEntry(state, place, createFile(state, "", now), now);
      }
      return { path: formatPath(state, segments), created: !entry };
    },
  }),
};

/**
 * The first missing directory of a path, and the names from there on. If none is missing, the end
 * of the path.
 */
function findMissingDirectories(
  state: FilesystemState,
  input: string,
): { top: ResolvedPath; names: string[] } {
  const names = toAbsolutePath(state, input).slice(1).split("/");
  for (let n = 1; n < names.length; n++) {
    const top = resolvePath(state, `/${names.slice(0, n).join("/")}`);
    if (!top.entry) return { top, names: [top.segments.at(-1)!, ...names.slice(n)] };
  }
  const top = resolvePath(state, input);
  return { top, names: top.segments.slice(-1) };
}
