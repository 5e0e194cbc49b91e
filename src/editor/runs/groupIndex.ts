/**
 * The attempts of one step of a run, as a tree shows them: task, reward, success. Reads no attempt
 * whole until it is opened.
 */
import { stat } from "node:fs/promises";
import type { GroupLine } from "../../run/group.ts";
import { readLines } from "../../storage/jsonLines.ts";
import type { LineRange } from "../../storage/lineRange.ts";

export interface GroupEntry extends LineRange {
  readonly task: string;
  readonly attempt: number;
  readonly total: number;
  readonly advantage: number;
  readonly success: boolean;
  readonly calls: number;
}

/** Attempts at one task, in their order. */
export interface Group {
  readonly task: string;
  readonly entries: readonly GroupEntry[];
}

export interface GroupIndex {
  readonly groups: readonly Group[];
  /** Lines that could not be read. */
  readonly torn: number;
}

const recent = new Map<string, { readonly stamp: string; readonly index: Promise<GroupIndex> }>();

/**
 * The groups of a step's file, in its order. The last few are remembered: a tree asks again
 * whenever its run takes a step.
 */
export async function indexGroups(file: string): Promise<GroupIndex> {
  const { size, mtimeMs } = await stat(file);
  const stamp = `${size} ${mtimeMs}`;
  const known = recent.get(file);
  if (known?.stamp === stamp) return known.index;
  const index = readGroups(file);
  recent.delete(file);
  recent.set(file, { stamp, index });
  for (const oldest of recent.keys()) if (recent.size > 8) recent.delete(oldest);
  return index;
}

async function readGroups(file: string): Promise<GroupIndex> {
  const groups = new Map<string, GroupEntry[]>();
  let torn = 0;
  for await (const line of readLines(file)) {
    const entry = createEntry(line.text, line);
    if (!entry) torn++;
    else if (groups.has(entry.task)) groups.get(entry.task)!.push(entry);
    else groups.set(entry.task, [entry]);
  }
  return { groups: [...groups].map(([task, entries]) => ({ task, entries })), torn };
}

function createEntry(text: string, { number, offset, bytes }: LineRange): GroupEntry | undefined {
  try {
    const { task, attempt, advantage, success, breakdown } = JSON.parse(text) as GroupLine;
    return {
      task,
      attempt,
      advantage,
      success,
      total: breakdown.total,
      calls: breakdown.n,
      number,
      offset,
      bytes,
    };
  } catch {
    // a line that a crash tore: counted by the caller
    return undefined;
  }
}
