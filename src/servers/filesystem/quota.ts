/** The space that is used, and the quota. */
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { measureSize } from "./entries.ts";
import type { FilesystemState } from "./state.ts";

/** The space used, including the trash. */
export function measureUsage(state: FilesystemState): {
  bytes: number;
  entries: number;
  trash: number;
} {
  const { root, trash } = getOriginal(state);
  const total = { ...measureSize(root), trash: 0 };
  for (const { entry } of Object.values(trash)) {
    const { bytes, entries } = measureSize(entry);
    total.bytes += bytes;
    total.entries += entries;
    total.trash += bytes;
  }
  return total;
}

/** Refuses if the quota does not allow this much more. */
export function reserveSpace(state: FilesystemState, bytes: number, entries = 0): void {
  if (bytes <= 0 && entries <= 0) return;
  const { quota } = getOriginal(state);
  const now = measureUsage(state);
  if (now.bytes + bytes > quota.bytes)
    refuse(
      "limit_exceeded",
      `no space: ${bytes} bytes needed, ${Math.max(0, quota.bytes - now.bytes)} of ${quota.bytes} free`,
      "filesystem_rm with permanent: true frees space, filesystem_du finds large files",
    );
  if (now.entries + entries > quota.entries)
    refuse(
      "limit_exceeded",
      `the disk holds at most ${quota.entries} files and directories`,
      "remove some with permanent: true",
    );
}
