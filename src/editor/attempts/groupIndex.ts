/**
 * Indexes the attempts of one step of a run: task, reward and success. An attempt is read as a
 * whole only when it is opened.
 */
import type { GroupLine } from "../../run/group.ts";
import { LineIndexes, type LineRange } from "../../storage/lineIndex.ts";

export interface GroupEntry extends LineRange {
  readonly task: string;
  readonly attempt: number;
  readonly total: number;
  readonly advantage: number;
  readonly success: boolean;
  readonly calls: number;
}

/** The attempts at one task. */
export interface Group {
  readonly task: string;
  readonly entries: readonly GroupEntry[];
}

interface GroupIndex {
  readonly groups: readonly Group[];
  /** The number of lines that could not be read. */
  readonly torn: number;
}

/** The groups of a step's file, in the order of their first attempts. */
export async function indexGroups(file: string): Promise<GroupIndex> {
  const { entries, skipped } = await indexes.read(file);
  const groups = new Map<string, GroupEntry[]>();
  for (const it of entries) groups.set(it.task, [...(groups.get(it.task) ?? []), it]);
  return {
    groups: [...groups].map(([task, attempts]) => ({ task, entries: attempts })),
    torn: skipped.length,
  };
}

function createEntry(text: string, { number, offset, bytes }: LineRange): GroupEntry | string {
  try {
    const { task, attempt, advantage, success, breakdown } = JSON.parse(text) as GroupLine;
    const { total, n: calls } = breakdown;
    return { task, attempt, advantage, success, total, calls, number, offset, bytes };
  } catch (error) {
    return `the line is not an attempt (${(error as Error).message})`;
  }
}

const indexes = new LineIndexes(createEntry, 8);
