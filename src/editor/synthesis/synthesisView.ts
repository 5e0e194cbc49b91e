/**
 * Creates the content of the synthesis page from the report of a tasks file or, without a report,
 * by counting the logs of its tasks and rejected attempts.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type {
  RejectedSelection,
  SynthesisView,
  Tally,
  TransitionCount,
} from "../../protocol/synthesisPage.ts";
import { readTextsAt } from "../../storage/lineIndex.ts";
import { parseStateLog } from "../../synthesis/pipeline/conversation/stateLog.ts";
import {
  formatDistances,
  formatDemands,
  formatShape,
  getRejectedFile,
  getReportFile,
  readReport,
  type Report,
} from "../../synthesis/pipeline/report/report.ts";
import { type Task, migrateTaskLine } from "../../trajectory/task.ts";
import { indexRejected, type RejectedEntry } from "../attempts/rejectedAttempts.ts";
import { indexTasks, type TaskEntry } from "../attempts/taskIndex.ts";
import { forEachInSlices } from "../shared/timeSlices.ts";
import { countFieldValues, type FilterField } from "../tasks/taskFilter.ts";

/** The view of a tasks file. Throws a `UserError` if a file cannot be read. */
export async function createSynthesisView(file: string): Promise<SynthesisView> {
  const subject = { file, name: basename(file, ".tasks.jsonl") };
  const report = getReportFile(file);
  return existsSync(report)
    ? { ...subject, ...createContentFromReport(readReport(report)) }
    : { ...subject, ...(await createContentFromTasks(file)) };
}

type ViewContent = Omit<SynthesisView, "file" | "name">;

const createContentFromReport = (report: Report): ViewContent => ({
  from: "report",
  options: Object.entries(report.options).map(([name, value]) => [name, formatOption(value)]),
  attempts: report.attempts,
  accepted: report.accepted,
  transitions: addFilterStep(report.transitions, report.accepted),
  rejected: sortCounts(Object.entries(report.rejected)),
  composition: Object.entries(report.by).map(([name, counts]) => ({
    name,
    counts: sortCounts(Object.entries(counts)),
  })),
  diversity: flattenMeasures(report.diversity),
  shape: [
    ...(report.shape ? formatShape(report.shape) : []),
    ...(report.demands ? formatDemands(report.demands) : []),
  ],
  distances: formatDistances(report.distances),
});

function formatOption(value: unknown): string {
  if (!Array.isArray(value)) return String(value);
  return value.length > 6 ? `${value.length} servers` : value.join(", ");
}

async function createContentFromTasks(file: string): Promise<ViewContent> {
  const { entries } = await indexTasks(file);
  const rejected = await readRejected(file);
  const transitions = addRejections(await countTransitions(file, entries), rejected);
  const fields: readonly FilterField[] = ["server", "kind", "split", "info", "turns", "persona"];
  return {
    from: "tasks",
    options: [],
    attempts: entries.length + rejected.length,
    accepted: entries.length,
    transitions: addFilterStep(transitions, entries.length),
    rejected: countReasons(rejected),
    composition: await Promise.all(
      fields.map(async name => ({
        name,
        counts: sortCounts(await countFieldValues(name, entries)),
      })),
    ),
    diversity: [],
    shape: [],
    distances: formatDistances(),
  };
}

/** The rejected attempts of a tasks file that match a selection. */
export async function listRejected(
  file: string,
  { reason, from }: RejectedSelection,
): Promise<readonly RejectedEntry[]> {
  const selected: RejectedEntry[] = [];
  await forEachInSlices(await readRejected(file), it => {
    const hasReason = reason === undefined || it.reason === reason;
    if (hasReason && (from === undefined || it.from === from)) selected.push(it);
  });
  return selected;
}

async function readRejected(file: string): Promise<readonly RejectedEntry[]> {
  const rejectedFile = getRejectedFile(file);
  return existsSync(rejectedFile) ? (await indexRejected(rejectedFile)).entries : [];
}

function countReasons(rejected: readonly RejectedEntry[]): Tally {
  const counts = new Map<string, number>();
  for (const { reason } of rejected) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  return sortCounts([...counts]);
}

/** Numbers in ascending order, other names with the most frequent first. */
const sortCounts = (counts: Tally): Tally => {
  const areNumbers = counts.length > 0 && counts.every(([it]) => /^\d+$/.test(it));
  return counts.toSorted(([a, n], [b, m]) =>
    areNumbers ? Number(a) - Number(b) : m - n || (a < b ? -1 : 1),
  );
};

/** The numbers of a nested measure with the names of their parts, such as `distinct-1`. */
function flattenMeasures(measure: unknown, name = ""): readonly (readonly [string, string])[] {
  if (typeof measure === "number")
    return [[name, Number.isInteger(measure) ? measure.toLocaleString("en") : measure.toFixed(3)]];
  if (measure === null || typeof measure !== "object") return [];
  const parts = Array.isArray(measure)
    ? measure.map((it: unknown, i) => [`-${i + 1}`, it] as const)
    : Object.entries(measure).map(([key, it]) => [name ? ` ${key}` : key, it] as const);
  return parts.flatMap(([suffix, it]) => flattenMeasures(it, `${name}${suffix}`));
}

/** Counts so far, by the list of entries, so that only new tasks of a file are read. */
const countsByEntries = new WeakMap<
  readonly TaskEntry[],
  { counted: number; readonly counts: Map<string, TransitionCount> }
>();

/** Counts the transitions in the logs of tasks. */
async function countTransitions(
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
function addRejections(
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
function addFilterStep(
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
