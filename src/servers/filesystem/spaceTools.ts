/** Tools that measure the space that directories use, and the quota. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { createToolFactory } from "../../environment/server.ts";
import { formatPath } from "./pathFormat.ts";
import { findReadableDirectory } from "./lookups.ts";
import { measureUsage } from "./quota.ts";
import { FilesystemState } from "./state.ts";
import { measureSize } from "./entries.ts";
import { path } from "./parameters.ts";
import { walkTree } from "./walkTree.ts";

const tool = createToolFactory(FilesystemState);

export const spaceTools = {
  du: tool({
    effect: "read",
    summary: "Add up the size of a directory and name its largest files.",
    input: {
      path: path.directory.describe("Directory to measure"),
      top: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe("How many of the largest files, 3 if not given"),
    },
    returns: {
      bytes: z.int(),
      files: z.int(),
      largest: z.array(z.object({ path: path.file, bytes: z.int() })),
    },
    run(state, { path: input, top = 3 }) {
      const place = findReadableDirectory(state, input);
      const files = walkTree(state, place).filter(([, it]) => it.type !== "directory");
      const sizes = files
        .map(([at, it]) => ({ path: formatPath(state, at), bytes: measureSize(it).bytes }))
        .sort((a, b) => b.bytes - a.bytes || (a.path < b.path ? -1 : 1));
      return {
        bytes: sizes.reduce((sum, it) => sum + it.bytes, 0),
        files: files.length,
        largest: sizes.slice(0, top),
      };
    },
  }),
  df: tool({
    effect: "read",
    summary:
      "Show the disk quota in bytes: size, used, free, and how much of it lies in the trash.",
    requires: ["rm", "truncate", "cp", "zip", "tar_create"],
    input: {},
    returns: { size: z.int(), used: z.int(), free: z.int(), trash: z.int() },
    run(state) {
      const { quota } = getOriginal(state);
      const { bytes, trash } = measureUsage(state);
      return { size: quota.bytes, used: bytes, free: Math.max(0, quota.bytes - bytes), trash };
    },
  }),
};
