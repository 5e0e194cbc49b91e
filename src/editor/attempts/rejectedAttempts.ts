/** The attempts that synthesis rejected: an index of their file, and each one as a transcript. */
import { describeTooDeep, isTooDeep } from "../../storage/jsonDepth.ts";
import { LineIndexes, type IndexedLines, type LineRange } from "../../storage/lineIndex.ts";
import { rejectedFormat, type RejectedAttempt } from "../../synthesis/pipeline/report/report.ts";
import { parseStateLog, type Transition } from "../../synthesis/pipeline/conversation/stateLog.ts";
import type { TranscriptOptions } from "../../trajectory/transcript.ts";

export interface RejectedEntry extends LineRange {
  readonly id: string;
  readonly servers: string;
  readonly reason: string;
  readonly why: string;
  readonly chain: string;
  /** The first message of the user; empty if there is none. */
  readonly request: string;
  /** The state in which it was rejected; empty if the conversation did not begin. */
  readonly from: string;
}

/** The index of a file of rejected attempts. Only new lines are read. */
export const indexRejected = (file: string): Promise<IndexedLines<RejectedEntry>> =>
  indexes.read(file);

function createEntry(text: string, { number, offset, bytes }: LineRange): RejectedEntry | string {
  let line: Partial<RejectedAttempt> | null;
  try {
    line = JSON.parse(text) as Partial<RejectedAttempt> | null;
  } catch (error) {
    return `the line is not JSON (${(error as Error).message})`;
  }
  if (isTooDeep(line, "document")) return `it is ${describeTooDeep("document")}`;
  if (line?.format !== rejectedFormat)
    return `its format is ${String(line?.format)}, and this version reads ${rejectedFormat}`;
  const { id, servers, reason, why = "", chain = [], events = [], log = [] } = line;
  if (!id || !servers || !reason) return "it lacks a field that every rejected attempt has";
  const request = events.find(it => it.kind === "user")?.text ?? "";
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
    request: truncate(request),
    from: last === undefined ? "" : last.to === "reject" ? last.from : last.to,
  };
}

const indexes = new LineIndexes(createEntry, 8);

const truncate = (text: string) => (text.length > 300 ? `${text.slice(0, 299)}…` : text);

/** The first and last lines of a rejected attempt's transcript: its reason and its state log. */
export function describeRejectedAttempt({
  id,
  servers,
  kind,
  chain,
  reason,
  why,
  log,
}: RejectedAttempt): Pick<TranscriptOptions, "head" | "closing"> {
  return {
    head: [
      `attempt ${id} · ${servers.join(", ")} · ${kind} · rejected`,
      `reason: ${reason}`,
      `chain: ${chain.join(" → ") || "none"}`,
    ],
    closing: [`rejected: ${reason === why ? reason : `${reason}, ${why}`}`, ...formatLog(log)],
  };
}

/** The transitions of each turn in columns. */
function formatLog(log: RejectedAttempt["log"]): readonly string[] {
  const transitions = parseStateLog(log);
  const fromWidth = Math.max(0, ...transitions.map(it => formatState(it).length));
  const eventWidth = Math.max(0, ...transitions.map(it => it.event.length));
  const turns = [...new Set(transitions.map(it => it.t))];
  return turns.flatMap(turn => [
    "",
    `log of turn ${turn}`,
    ...transitions
      .filter(it => it.t === turn)
      .map(it => {
        const from = formatState(it).padEnd(fromWidth);
        return `    ${from}  ${it.event.padEnd(eventWidth)} → ${it.to}`;
      }),
  ]);
}

const formatState = ({ from, attempt }: Pick<Transition, "from" | "attempt">) =>
  attempt > 1 ? `${from} (attempt ${attempt})` : from;
