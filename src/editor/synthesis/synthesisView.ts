/**
 * What the synthesis page shows of a tasks file: read off its report, or counted from the tasks'
 * own logs while there is none. Knows no editor and draws nothing.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import type { SynthesisView, Tally, TransitionCount } from "../../protocol/synthesisPage.ts";
import { parseStateLog } from "../../synthesis/pipeline/stateLog.ts";
import {
  readReport,
  rejectedFileFor,
  reportFileFor,
  type Report,
} from "../../synthesis/pipeline/report.ts";
import type { Task } from "../../trajectory/task.ts";
import { migrateTaskLine } from "../../trajectory/taskLine.ts";
import { readTextsAt } from "../../storage/lineRange.ts";
import type { IndexedLines } from "../../storage/lineIndex.ts";
import { indexRejected, type RejectedEntry } from "./rejectedAttempts.ts";
import { forEachInSlices } from "../shared/timeSlices.ts";
import { countFieldValues, type FilterField } from "../tasks/taskFilter.ts";
import { indexTasks, type TaskEntry } from "../tasks/taskIndex.ts";

/** The view of a tasks file as its files are now. Throws a `Mistake` where one cannot be read. */
export async function createSynthesisView(file: string): Promise<SynthesisView> {
  const about = { file, name: basename(file, ".tasks.jsonl") };
  const report = reportFileFor(file);
  return existsSync(report)
    ? { ...about, ...readReportContent(readReport(report)) }
    : { ...about, ...(await countTasksContent(file)) };
}

type ViewContent = Omit<SynthesisView, "file" | "name">;

function readReportContent({
  options,
  attempts,
  accepted,
  by,
  rejected,
  transitions,
  diversity,
}: Report): ViewContent {
  return {
    from: "report",
    options: Object.entries(options).map(
      ([name, value]) =>
        [
          name,
          Array.isArray(value)
            ? value.length > 6
              ? `${value.length} servers`
              : value.join(", ")
            : String(value),
        ] as const,
    ),
    attempts,
    accepted,
    transitions: addFilterStep(transitions, accepted),
    rejected: sortCounts(Object.entries(rejected)),
    composition: Object.entries(by).map(([name, counts]) => ({
      name,
      counts: sortCounts(Object.entries(counts)),
    })),
    diversity: flattenMeasures(diversity),
  };
}

async function countTasksContent(file: string): Promise<ViewContent> {
  const { entries } = await indexTasks(file);
  const beside = rejectedFileFor(file);
  const rejected = existsSync(beside) ? (await indexRejected(beside)).entries : [];
  const steps = await countSteps(file, entries);
  const fields: readonly FilterField[] = ["server", "kind", "split", "info", "turns", "persona"];
  return {
    from: "tasks",
    options: [],
    attempts: entries.length + rejected.length,
    accepted: entries.length,
    transitions: addFilterStep(addRejections(steps, rejected), entries.length),
    rejected: countNames(rejected.map(it => it.reason)),
    composition: await Promise.all(
      fields.map(async name => ({
        name,
        counts: sortCounts(await countFieldValues(name, entries)),
      })),
    ),
    diversity: [],
  };
}

/**
 * The last state is followed by the screen, which keeps what replays, is told apart from the
 * others, and so on.
 */
function addFilterStep(
  transitions: readonly TransitionCount[],
  accepted: number,
): readonly TransitionCount[] {
  const finished = transitions.reduce((sum, it) => sum + (it.to === "finish" ? it.n : 0), 0);
  const screened = finished - accepted;
  return [
    ...transitions,
    ...(accepted > 0 ? [{ from: "finish", event: "kept", to: "accept", n: accepted }] : []),
    ...(screened > 0 ? [{ from: "finish", event: "screened", to: "reject", n: screened }] : []),
  ];
}

/**
 * Without a report only the last step of a rejection is counted: its file may be larger than that
 * of the tasks.
 */
function addRejections(
  steps: readonly TransitionCount[],
  rejected: readonly RejectedEntry[],
): readonly TransitionCount[] {
  const last = countNames(rejected.map(it => it.from).filter(it => it !== ""));
  return [
    ...steps,
    ...last.map(([from, n]) =>
      from === "finish"
        ? { from: "continue", event: "end", to: "finish", n }
        : { from, event: "turned down", to: "reject", n },
    ),
  ];
}

/**
 * Steps of tasks that are counted already, by the list they are of: a file that grows is counted
 * on.
 */
const countedSteps = new WeakMap<
  readonly TaskEntry[],
  { seen: number; readonly counts: Map<string, TransitionCount> }
>();

async function countSteps(
  file: string,
  entries: readonly TaskEntry[],
): Promise<readonly TransitionCount[]> {
  const known = countedSteps.get(entries) ?? {
    seen: 0,
    counts: new Map<string, TransitionCount>(),
  };
  countedSteps.set(entries, known);
  const fresh = entries.slice(known.seen);
  known.seen = entries.length;
  for await (const { text } of readTextsAt(file, fresh)) {
    const log =
      (migrateTaskLine(JSON.parse(text)) as Partial<Task> | undefined)?.provenance?.log ?? [];
    for (const { from, event, to } of parseStateLog(log)) {
      const key = `${from} ${to} ${event}`;
      known.counts.set(key, { from, event, to, n: (known.counts.get(key)?.n ?? 0) + 1 });
    }
  }
  return [...known.counts.values()];
}

/** The rejections of a tasks file that a person asks for. */
export async function listRejected(
  file: string,
  { reason, from }: { readonly reason?: string; readonly from?: string },
): Promise<{ readonly file: string; readonly entries: readonly RejectedEntry[] }> {
  const beside = rejectedFileFor(file);
  if (!existsSync(beside)) return { file: beside, entries: [] };
  const index: IndexedLines<RejectedEntry> = await indexRejected(beside);
  const chosen: RejectedEntry[] = [];
  await forEachInSlices(index.entries, it => {
    if ((reason === undefined || it.reason === reason) && (from === undefined || it.from === from))
      chosen.push(it);
  });
  return { file: beside, entries: chosen };
}

const countNames = (names: readonly string[]): Tally => {
  const counts = new Map<string, number>();
  for (const it of names) counts.set(it, (counts.get(it) ?? 0) + 1);
  return sortCounts([...counts]);
};

/** Numbers in their order, names with the commonest first. */
const sortCounts = (counts: Tally): Tally => {
  const areNumbers = counts.length > 0 && counts.every(([it]) => /^\d+$/.test(it));
  return counts.toSorted(([a, n], [b, m]) =>
    areNumbers ? Number(a) - Number(b) : m - n || (a < b ? -1 : 1),
  );
};

/** The numbers of a measure, those of its parts under their names: `distinct-1`. */
function flattenMeasures(measure: unknown, path = ""): readonly (readonly [string, string])[] {
  if (typeof measure === "number")
    return [[path, Number.isInteger(measure) ? measure.toLocaleString("en") : measure.toFixed(3)]];
  if (measure === null || typeof measure !== "object") return [];
  const parts = Array.isArray(measure)
    ? measure.map((it: unknown, i) => [`-${i + 1}`, it] as const)
    : Object.entries(measure).map(([name, it]) => [path ? ` ${name}` : name, it] as const);
  return parts.flatMap(([name, it]) => flattenMeasures(it, `${path}${name}`));
}
