/** The nodes of the Tasks view. A long list of tasks is divided into ranges. */
import type { Uri } from "vscode";
import type { TaskEntry } from "../attempts/taskIndex.ts";

/** `group` is the value of the group that a node is in, if tasks are grouped. */
export type TasksNode =
  | { readonly kind: "taskFile"; readonly file: Uri }
  | {
      readonly kind: "taskGroup";
      readonly file: Uri;
      readonly group: string;
      readonly entries: readonly TaskEntry[];
    }
  | {
      readonly kind: "range";
      readonly file: Uri;
      readonly from: number;
      readonly size: number;
      readonly entries: readonly TaskEntry[];
      readonly group?: string;
    }
  | {
      readonly kind: "task";
      readonly file: Uri;
      readonly entry: TaskEntry;
      readonly group?: string;
    }
  | {
      readonly kind: "skipped";
      readonly file: Uri;
      readonly line: number;
      readonly reason: string;
    };

/** A node has at most this many children, so that it expands without delay. */
export const maxRows = 100;

/** Nodes for tasks: one per task, or ranges of a hundred, a thousand and so on. */
export function createRows(
  file: Uri,
  entries: readonly TaskEntry[],
  start: number,
  group?: string,
): TasksNode[] {
  const place = { file, ...(group === undefined ? {} : { group }) };
  if (entries.length <= maxRows) return entries.map(entry => ({ kind: "task", ...place, entry }));
  let size = maxRows;
  while (entries.length / size > maxRows) size *= 10;
  const offsets = Array.from({ length: Math.ceil(entries.length / size) }, (_, n) => n * size);
  return offsets.map(offset => ({
    kind: "range",
    ...place,
    from: start + offset,
    size,
    entries: entries.slice(offset, offset + size),
  }));
}
