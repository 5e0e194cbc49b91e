/** Counts the transitions of the state machine over the tasks and rejected attempts of a file. */
import type { TransitionCount } from "../../protocol/synthesisPage.ts";
import { readTextsAt } from "../../storage/lineRange.ts";
import { parseStateLog } from "../../synthesis/pipeline/conversation/stateLog.ts";
import type { Task } from "../../trajectory/task.ts";
import { migrateTaskLine } from "../../trajectory/taskLine.ts";
import type { TaskEntry } from "../attempts/taskIndex.ts";
import type { RejectedEntry } from "../attempts/rejectedAttempts.ts";

/** Counts so far, by the list of entries, so that only new tasks of a file are read. */
const countsByEntries = new WeakMap<
  readonly TaskEntry[],
  { counted: number; readonly counts: Map<string, TransitionCount> }
>();

/** Counts the transitions in the logs of tasks. */
export async function countTransitions(
  file: string,
  entries: readonly TaskEntry[],
): Promise<readonly TransitionCount[]> {
  const known = countsByEntries.get(entries) ?? {
    counted: 0,
    counts: new Map<string, TransitionCount>(),
  };
  countsByEntries.set(entries, known);
  const newEntries = entries.slice(known.counted);
  known.counted = entries.length;
  for await (const { text } of readTextsAt(file, newEntries))
    for (const { from, event, to } of parseStateLog(readLog(text))) {
      const key = `${from} ${to} ${event}`;
      known.counts.set(key, { from, event, to, n: (known.counts.get(key)?.n ?? 0) + 1 });
    }
  return [...known.counts.values()];
}

const readLog = (line: string): readonly string[] =>
  (migrateTaskLine(JSON.parse(line)) as Partial<Task> | undefined)?.provenance?.log ?? [];

/** Adds the last transition of each rejected attempt; their logs are not read as a whole. */
export function addRejections(
  transitions: readonly TransitionCount[],
  rejected: readonly RejectedEntry[],
): readonly TransitionCount[] {
  const counts = new Map<string, number>();
  for (const { from } of rejected) if (from !== "") counts.set(from, (counts.get(from) ?? 0) + 1);
  const last = [...counts].map(([from, n]) =>
    from === "finish"
      ? { from: "continue", event: "end", to: "finish", n }
      : { from, event: "rejected", to: "reject", n },
  );
  return [...transitions, ...last];
}

/** Adds the filter after the last state, which accepts or rejects finished conversations. */
export function addFilterStep(
  transitions: readonly TransitionCount[],
  accepted: number,
): readonly TransitionCount[] {
  const finished = transitions.reduce((sum, it) => sum + (it.to === "finish" ? it.n : 0), 0);
  const rejected = finished - accepted;
  const steps = [
    { from: "finish", event: "accepted", to: "accept", n: accepted },
    { from: "finish", event: "filtered out", to: "reject", n: rejected },
  ];
  return [...transitions, ...steps.filter(it => it.n > 0)];
}
