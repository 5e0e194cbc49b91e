/**
 * Tools that remove entries and restore them from the trash, which keeps the path they came from.
 */
import { z } from "zod";
import { id, minute, rowLimit } from "../../environment/fieldSchemas.ts";
import { createToolFactory, findEntity, refuse } from "../../environment/server.ts";
import { addEntry, removeEntry, requireRemovable, requireRemovableContent } from "./treeEdits.ts";
import { resolvePath } from "./paths.ts";
import { shorten, joinSegments, formatPath } from "./pathFormat.ts";
import { findEntry } from "./lookups.ts";
import { nameSchema, path } from "./parameters.ts";
import { FilesystemState } from "./state.ts";

const tool = createToolFactory(FilesystemState);

export const removalTools = {
  rm: tool({
    effect: "write",
    summary:
      "Remove a file, link or archive, or with recursive a directory. It goes to the trash unless permanent is set.",
    destructive: true,
    input: {
      path: path.file.describe("What to remove"),
      recursive: z
        .boolean()
        .optional()
        .describe("Needed for a directory: remove it with all that is in it"),
      permanent: z.boolean().optional().describe("Remove for good, without the trash"),
    },
    returns: { name: nameSchema("trash_item"), trash_id: id("trash_item").optional() },
    run(state, { path: input, recursive = false, permanent = false }, { now, newId }) {
      const place = findEntry(state, input, { follow: false });
      const { entry, segments } = place;
      if (entry.type === "directory" && !recursive)
        refuse(
          "precondition_failed",
          `${shorten(input)} is a directory`,
          "pass recursive: true to remove it with all that is in it, or use filesystem_rmdir if it is empty",
        );
      requireRemovable(state, place);
      if (entry.type === "directory") requireRemovableContent(state, entry, segments);
      removeEntry(state, place, now);
      const name = segments.at(-1)!;
      if (permanent) return { name };
      const trash_id = newId("trash");
      state.trash[trash_id] = { name, from: joinSegments(segments), removed: now, entry };
      return { name, trash_id };
    },
  }),
};

export const trashTools = {
  list_trash: tool({
    effect: "read",
    summary:
      "List what is in the trash, the last removed first, all of it or only names that contain some words.",
    requires: ["rm"],
    input: {
      name: nameSchema("trash_item").optional().describe("Only names that contain this"),
      limit: rowLimit(10),
    },
    returns: {
      count: z.int(),
      items: z.array(
        z.object({
          name: nameSchema("trash_item"),
          trash_id: id("trash_item"),
          from: z.string(),
          removed: minute(),
        }),
      ),
    },
    run(state, { name = "", limit = 10 }) {
      const part = name.toLowerCase();
      const rows = Object.entries(state.trash).filter(([, it]) =>
        it.name.toLowerCase().includes(part),
      );
      rows.sort(([a, x], [b, y]) =>
        x.removed === y.removed ? (a < b ? -1 : 1) : x.removed < y.removed ? 1 : -1,
      );
      return {
        count: rows.length,
        items: rows.slice(0, limit).map(([trash_id, it]) => ({
          name: it.name,
          trash_id,
          from: formatPath(state, it.from),
          removed: it.removed,
        })),
      };
    },
  }),
  restore_trash: tool({
    effect: "write",
    summary: "Bring something back from the trash to where it was, or into another directory.",
    input: {
      trash_id: id("trash_item").describe("Id of the item, as filesystem_list_trash gives it"),
      directory: path.directory
        .optional()
        .describe("Directory to restore into, where it was if not given"),
    },
    returns: { path: path.file },
    run(state, { trash_id, directory }, { now }) {
      const { name, from, entry } = findEntity(
        state.trash,
        trash_id,
        "item in the trash with id",
        "filesystem_list_trash gives the ids",
      );
      const place = resolvePath(state, directory === undefined ? from : `${directory}/${name}`, {
        follow: false,
      });
      addEntry(state, place, entry, now);
      delete state.trash[trash_id];
      return { path: formatPath(state, place.segments) };
    },
  }),
};
