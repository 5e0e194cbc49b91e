/**
 * Tools that remove and bring back: the trash keeps what was removed, with the path it came from,
 * until it is restored.
 */
import { z } from "zod";
import { id, minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { put, take } from "./edit.ts";
import { brief, find, locate, pathOf, shown } from "./resolve.ts";
import { nameOf, path, tool } from "./state.ts";

export const trashTools = {
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
    returns: { name: nameOf("trash_item"), trash_id: id("trash_item").optional() },
    run(world, { path: given, recursive = false, permanent = false }, { now, newId }) {
      const place = find(world, given, { follow: false });
      const { entry, at } = place;
      if (entry.type === "directory" && !recursive)
        refuse(
          "precondition_failed",
          `${brief(given)} is a directory`,
          "pass recursive: true to remove it with all that is in it, or use filesystem_rmdir if it is empty",
        );
      take(world, place, now);
      const name = at.at(-1)!;
      if (permanent) return { name };
      const trash_id = newId("trash");
      world.trash[trash_id] = { name, from: pathOf(at), removed: now, entry };
      return { name, trash_id };
    },
  }),
  list_trash: tool({
    effect: "read",
    summary:
      "List what is in the trash, the last removed first, all of it or only names that contain some words.",
    requires: ["rm"],
    input: {
      name: nameOf("trash_item").optional().describe("Only names that contain this"),
      limit: z.int().min(1).max(50).optional().describe("At most this many, 10 if not given"),
    },
    returns: {
      count: z.int(),
      items: z.array(
        z.object({
          name: nameOf("trash_item"),
          trash_id: id("trash_item"),
          from: z.string(),
          removed: minute(),
        }),
      ),
    },
    run(world, { name = "", limit = 10 }) {
      const part = name.toLowerCase();
      const rows = Object.entries(world.trash).filter(([, it]) =>
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
          from: shown(world, it.from),
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
    run(world, { trash_id, directory }, { now }) {
      const { name, from, entry } = findEntity(
        world.trash,
        trash_id,
        "item in the trash with id",
        "filesystem_list_trash gives the ids",
      );
      const place = locate(world, directory === undefined ? from : `${directory}/${name}`, {
        follow: false,
      });
      put(world, place, entry, now);
      delete world.trash[trash_id];
      return { path: shown(world, place.at) };
    },
  }),
};
