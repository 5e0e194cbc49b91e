/** Lists the entries below a directory. */
import { hasPermission } from "./permissions.ts";
import type { FilesystemState } from "./state.ts";
import { maxDepth, type Directory, type Entry } from "./state.ts";
import { sortEntries } from "./entries.ts";

/** All entries below a directory that the user may read, breadth first. */
export function walkTree(
  state: FilesystemState,
  start: { segments: readonly string[]; entry: Directory },
  levels = maxDepth,
): [string[], Entry][] {
  const entries: [string[], Entry][] = [];
  let level: [readonly string[], Directory][] = [[start.segments, start.entry]];
  for (let n = 0; n < levels && level.length > 0; n++) {
    const next: typeof level = [];
    for (const [at, directory] of level) {
      if (!hasPermission(state, directory, "r") || !hasPermission(state, directory, "x")) continue;
      for (const [name, it] of sortEntries(directory.entries)) {
        entries.push([[...at, name], it]);
        if (it.type === "directory") next.push([[...at, name], it]);
      }
    }
    level = next;
  }
  return entries;
}
