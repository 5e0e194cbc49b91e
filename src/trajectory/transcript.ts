/**
 * A trajectory as text that a person reads, and the way from its lines to its events and back, so
 * that a debugger can stand on them. Knows no editor; what it shows of a reward it is given.
 */
import type { Json } from "../environment/json.ts";
import type { Task } from "./task.ts";
import type { CallEvent, EndedEvent, Event, Trajectory } from "./trajectory.ts";
import { escapeInvisible, splitVisibleLines } from "./invisibleText.ts";

/** The lines of one event, from 0, the last one included. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

export interface Transcript {
  readonly text: string;
  /** By event index. */
  readonly ranges: readonly LineRange[];
  /** The event that a line belongs to; undefined on the lines between and around. */
  eventAt(line: number): number | undefined;
  /**
   * The first event at or after a line that one can stand on: where a breakpoint set there takes
   * hold.
   */
  eventFrom(line: number): number | undefined;
}

export interface TranscriptOptions {
  /** Adds what was asked for: the head line and the goals. */
  readonly task?: Task;
  /** A line under a call, by its position among the calls: what it earned. */
  readonly describeCall?: (call: number) => string | undefined;
  /** Lines at the end. */
  readonly closing?: readonly string[];
  /** Lines at the head, in place of what the header says. */
  readonly head?: readonly string[];
}

/** Writes a trajectory out. */
export function formatTranscript(
  trajectory: Trajectory,
  { task, describeCall, closing = [], head }: TranscriptOptions = {},
): Transcript {
  const lines = [...(head?.map(escapeInvisible) ?? formatHead(trajectory, task)), ""];
  const ranges: LineRange[] = [];
  let call = 0;
  for (const [i, event] of trajectory.events.entries()) {
    const silent = isCallOnlyMessage(trajectory.events, i);
    const body =
      event.kind === "call"
        ? formatCallEvent(event, describeCall?.(call++))
        : silent
          ? []
          : formatEvent(event);
    if (i > 0 && !belongsToPrevious(trajectory.events, i)) lines.push("");
    ranges.push({ first: lines.length, last: lines.length + Math.max(0, body.length - 1) });
    lines.push(...body);
  }
  if (task && task.goals.length > 0) lines.push("", ...formatGoals(task));
  if (closing.length > 0) lines.push("", ...closing.map(escapeInvisible));
  return {
    text: `${lines.join("\n")}\n`,
    ranges,
    eventAt: line => indexOf(ranges.findLastIndex(it => it.first <= line && line <= it.last)),
    eventFrom: line =>
      indexOf(
        ranges.findIndex((it, i) => it.last >= line && !isCallOnlyMessage(trajectory.events, i)),
      ),
  };
}

/** A message of calls alone: what is seen of it are its calls. */
export function isCallOnlyMessage(events: readonly Event[], index: number): boolean {
  const event = events[index];
  const next = events[index + 1];
  return (
    event?.kind === "assistant" &&
    event.text === "" &&
    next?.kind === "call" &&
    next.message === event.message
  );
}

/**
 * Calls of one message stand together, under a message of calls alone without so much as a blank
 * line.
 */
function belongsToPrevious(events: readonly Event[], index: number): boolean {
  const event = events[index];
  const before = events[index - 1];
  return (
    event?.kind === "call" &&
    ((before?.kind === "call" && before.message === event.message) ||
      isCallOnlyMessage(events, index - 1))
  );
}

const indexOf = (found: number) => (found < 0 ? undefined : found);

function formatHead({ header }: Trajectory, task: Task | undefined): string[] {
  const servers = header.servers.map(it => `${it.name} (${it.fixture})`).join(", ");
  const head = [`task ${header.task}`, servers, `seed ${header.seed}`];
  if (task) head.push(task.kind, task.split, `budget ${task.budget.calls} calls`);
  const lines = [
    head.join(" · "),
    `attempt ${header.id} · by ${header.policy}`,
    `on offer: ${formatNames(header.menu)}`,
  ];
  // what was taken away is why a task wants words instead of calls
  if (task && task.hidden.length > 0) lines.push(`taken away: ${task.hidden.join(", ")}`);
  return lines.map(escapeInvisible);
}

/** Names in a line: eight, and how many more there are. */
const formatNames = (names: readonly string[]) =>
  `${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;

function formatEvent(event: Exclude<Event, CallEvent>): string[] {
  switch (event.kind) {
    case "user":
      return ["user", ...indent(splitVisibleLines(event.text))];
    case "assistant":
      return [
        "assistant",
        ...indent(event.text === "" ? ["(no words)"] : splitVisibleLines(event.text)),
      ];
    case "ended":
      return [formatEnd(event)];
    default:
      return event satisfies never;
  }
}

const endTexts = {
  policy: "ended: the policy had nothing more to say",
  limit: "ended by a limit",
  fault: "ended by a fault",
} as const;

const formatEnd = ({ by, fault }: EndedEvent) =>
  fault === undefined ? endTexts[by] : `${endTexts[by]}: ${escapeInvisible(fault)}`;

const outcomeSigns = {
  ok: "✓",
  refused: "✗",
  "bad-arguments": "✗",
  "unknown-tool": "✗",
  broken: "‼",
} as const;

function formatCallEvent(event: CallEvent, note: string | undefined): string[] {
  const { outcome } = event;
  const lines = [
    `${outcomeSigns[outcome.kind]} ${escapeInvisible(formatCall(event.name, event.arguments))}`,
  ];
  if (outcome.kind === "ok") lines.push(...indent(formatValue(outcome.value)));
  else {
    const { kind, type, message, hint } = outcome;
    const what = kind === "refused" && type ? `refused (${type})` : kind;
    const reason = event.name === "" ? "this block is not a call" : message;
    lines.push(...indent([reason ? `${what}: ${escapeInvisible(reason)}` : what]));
    if (hint) lines.push(...indent([`hint: ${escapeInvisible(hint)}`]));
  }
  if (note !== undefined) lines.push(...indent([`= ${escapeInvisible(note)}`]));
  return lines;
}

/** A call as a person would write it. */
export function formatCall(name: string, args: Json): string {
  if (name === "") return `(not parsed) ${typeof args === "string" ? args : JSON.stringify(args)}`;
  if (args === null || typeof args !== "object" || Array.isArray(args))
    return `${name}(${JSON.stringify(args)})`;
  return `${name}(${Object.entries(args)
    .map(([key, it]) => `${key}: ${JSON.stringify(it)}`)
    .join(", ")})`;
}

function formatGoals(task: Task): string[] {
  const lines = ["goals"];
  for (const [g, { calls, after }] of task.goals.entries()) {
    const edges = after.map(it => `${it.goal + 1}${it.via ? ` (${it.via})` : ""}`).join(", ");
    for (const [i, call] of calls.entries()) {
      const number = i === 0 ? String(g + 1) : "";
      lines.push(
        `  ${number.padStart(2)} ${escapeInvisible(formatCall(call.name, call.arguments))}${i === 0 && edges ? `  after ${escapeInvisible(edges)}` : ""}`,
      );
    }
  }
  return lines;
}

const indent = (lines: readonly string[]) => lines.map(it => `    ${it}`);

const maxWidth = 100;
const maxValueLines = 60;

/** A value in few lines: what fits on one stays on one. */
function formatValue(value: Json): string[] {
  const lines = formatValueLines(value, "", "");
  return lines.length <= maxValueLines
    ? lines
    : [...lines.slice(0, maxValueLines - 1), `… ${lines.length - maxValueLines + 1} more lines`];
}

function formatValueLines(value: Json, lead: string, margin: string): string[] {
  if (typeof value === "string" && value.includes("\n"))
    return [`${margin}${lead}|`, ...splitVisibleLines(value).map(it => `${margin}  ${it}`)];
  const flat = escapeInvisible(formatInline(value));
  if (
    (margin.length + lead.length + flat.length <= maxWidth && !flat.includes("\\n")) ||
    value === null ||
    typeof value !== "object"
  )
    return [`${margin}${lead}${flat}`];
  const isList = Array.isArray(value);
  const entries: [string, Json][] = isList
    ? (value as readonly Json[]).map(it => ["", it])
    : Object.entries(value).map(([key, it]) => [`${escapeInvisible(key)}: `, it]);
  return [
    `${margin}${lead}${isList ? "[" : "{"}`,
    ...entries.flatMap(([key, it]) => formatValueLines(it, key, `${margin}  `)),
    `${margin}${isList ? "]" : "}"}`,
  ];
}

/** JSON with room to read, and without quotes around keys. */
function formatInline(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(formatInline).join(", ")}]`;
  const entries = Object.entries<Json>(value).map(([key, it]) => `${key}: ${formatInline(it)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
