/**
 * The attempts that synthesis turned down: an index of their file for lists, and one of them in
 * words, with the way it took through the state machine. Knows no editor.
 */
import { parseStateLog } from "../../synthesis/pipeline/stateLog.ts";
import { rejectedFormat, type RejectedAttempt } from "../../synthesis/pipeline/report.ts";
import type { TranscriptOptions } from "../../trajectory/transcript.ts";
import type { LineRange } from "../../storage/lineRange.ts";
import { LineIndexes, type IndexedLines } from "../../storage/lineIndex.ts";

export interface RejectedEntry extends LineRange {
  readonly id: string;
  readonly servers: string;
  readonly reason: string;
  readonly why: string;
  readonly chain: string;
  /** What the user said first; empty where nothing was said. */
  readonly request: string;
  /** The state that it was turned down in; empty where it never began. */
  readonly from: string;
}

const indexes = new LineIndexes(createEntry, 8);

/** The rejections of a file as it is now; a file that grew is read on. */
export const indexRejected = (file: string): Promise<IndexedLines<RejectedEntry>> =>
  indexes.read(file);

function createEntry(text: string, { number, offset, bytes }: LineRange): RejectedEntry | string {
  let line: Partial<RejectedAttempt> | null;
  try {
    line = JSON.parse(text) as Partial<RejectedAttempt> | null;
  } catch (error) {
    return `the line is not JSON (${(error as Error).message})`;
  }
  if (line?.format !== rejectedFormat)
    return `its format is ${String(line?.format)}, and this version reads ${rejectedFormat}`;
  const { id, servers, reason, why = "", chain = [], events = [], log = [] } = line;
  if (!id || !servers || !reason) return "it lacks what every rejected attempt has";
  const asked = events.find(it => it.kind === "user");
  const last = parseStateLog(log.slice(-1)).at(-1);
  return {
    id,
    number,
    offset,
    bytes,
    servers: servers.join(", "),
    reason,
    why: truncate(why),
    chain: chain.join(" → "),
    request: truncate(asked?.kind === "user" ? asked.text : ""),
    from: last === undefined ? "" : last.to === "reject" ? last.from : last.to,
  };
}

const truncate = (text: string) => (text.length > 300 ? `${text.slice(0, 299)}…` : text);

/**
 * What stands around the talk of an attempt that was turned down: which one it is, and why, with
 * its log step by step.
 */
export function describeRejectedAttempt({
  id,
  servers,
  kind,
  chain,
  reason,
  why,
  log,
}: RejectedAttempt): Pick<TranscriptOptions, "head" | "closing"> {
  const steps = parseStateLog(log);
  const from = Math.max(0, ...steps.map(it => formatState(it).length));
  const event = Math.max(0, ...steps.map(it => it.event.length));
  const turns = [...new Set(steps.map(it => it.t))];
  return {
    head: [
      `attempt ${id} · ${servers.join(", ")} · ${kind} · turned down`,
      `reason: ${reason}`,
      `chain: ${chain.join(" → ") || "none"}`,
    ],
    closing: [
      `turned down: ${reason === why ? reason : `${reason}, ${why}`}`,
      ...turns.flatMap(t => [
        "",
        `log of turn ${t}`,
        ...steps
          .filter(it => it.t === t)
          .map(it => `    ${formatState(it).padEnd(from)}  ${it.event.padEnd(event)} → ${it.to}`),
      ]),
    ],
  };
}

const formatState = ({ from, attempt }: { readonly from: string; readonly attempt: number }) =>
  attempt > 1 ? `${from} (attempt ${attempt})` : from;
