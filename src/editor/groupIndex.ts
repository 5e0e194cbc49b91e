/** The attempts of one step of a run, as a tree shows them: task, reward, success. Reads no attempt whole until it is opened. */
import type { GroupLine } from "../run/group.ts";
import { linesIn, type LinePlace } from "./lineFile.ts";

export interface GroupEntry extends LinePlace {
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

/** The groups of a step's file, in its order; a torn line is left out and counted. */
export async function indexGroups(file: string): Promise<{ readonly groups: readonly Group[]; readonly torn: number }> {
  const groups = new Map<string, GroupEntry[]>();
  let torn = 0;
  for await (const line of linesIn(file)) {
    const entry = entryOf(line.text, line);
    if (!entry) torn++;
    else if (groups.has(entry.task)) groups.get(entry.task)!.push(entry);
    else groups.set(entry.task, [entry]);
  }
  return { groups: [...groups].map(([task, entries]) => ({ task, entries })), torn };
}

function entryOf(text: string, { number, offset, bytes }: LinePlace): GroupEntry | undefined {
  try {
    const { task, attempt, advantage, success, breakdown } = JSON.parse(text) as GroupLine;
    return { task, attempt, advantage, success, total: breakdown.total, calls: breakdown.n, number, offset, bytes };
  } catch {
    // a line that a crash tore: counted by the caller
    return undefined;
  }
}
