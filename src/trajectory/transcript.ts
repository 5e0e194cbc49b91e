/**
 * Formats a trajectory as text for people, and maps its lines to events and back, which the
 * debugger needs. What is shown about rewards is passed in.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import type { Task } from "./task.ts";
import { escapeInvisible, splitVisibleLines } from "./invisibleText.ts";
import {
  noTask,
  type CallEvent,
  type EndedEvent,
  type Event,
  type Trajectory,
} from "./trajectory.ts";

/** The first and last line of an event, counted from 0. */
export interface LineRange {
  readonly first: number;
  readonly last: number;
}

export interface Transcript {
  readonly text: string;
  /** By event index. */
  readonly ranges: readonly LineRange[];
  /** The index of the event that a line belongs to, or undefined for a line between events. */
  eventAt(line: number): number | undefined;
  /** The index of the first event at or after a line at which a debugger can stop. */
  eventFrom(line: number): number | undefined;
}

export interface TranscriptOptions {
  /** The attempted task, whose properties and goals are added. */
  readonly task?: Task;
  /** A note under a call, by its position among the calls, such as its part of the reward. */
  readonly describeCall?: (call: number) => string | undefined;
  /** Lines at the end. */
  readonly closing?: readonly string[];
  /** Lines at the beginning, instead of those from the header. */
  readonly head?: readonly string[];
}

/** Formats a trajectory. */
export function formatTranscript(
  trajectory: Trajectory,
  { task, describeCall, closing = [], head }: TranscriptOptions = {},
): Transcript {
  const lines = [...(head?.map(escapeInvisible) ?? formatHead(trajectory, task)), ""];
  const ranges: LineRange[] = [];
  let call = 0;
  for (const [i, event] of trajectory.events.entries()) {
    const body =
      event.kind === "call"
        ? formatCallEvent(event, describeCall?.(call++))
        : isCallOnlyMessage(trajectory.events, i)
          ? []
          : formatEvent(event);
    if (i > 0 && !belongsToPrevious(trajectory.events, i)) lines.push("");
    ranges.push({ first: lines.length, last: lines.length + Math.max(0, body.length - 1) });
    for (const it of body) lines.push(it);
  }
  if (task && task.goals.length > 0) lines.push("", ...formatGoals(task));
  if (closing.length > 0) lines.push("", ...closing.map(escapeInvisible));
  return {
    text: `${lines.join("\n")}\n`,
    ranges,
    eventAt: line => toIndex(ranges.findLastIndex(it => it.first <= line && line <= it.last)),
    eventFrom: line =>
      toIndex(
        ranges.findIndex((it, i) => it.last >= line && !isCallOnlyMessage(trajectory.events, i)),
      ),
  };
}

/** Whether an event is a message without text, of which only the calls are shown. */
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

/** Whether an event follows without a blank line: calls of one message are shown together. */
function belongsToPrevious(events: readonly Event[], index: number): boolean {
  const event = events[index];
  const before = events[index - 1];
  return (
    event?.kind === "call" &&
    ((before?.kind === "call" && before.message === event.message) ||
      isCallOnlyMessage(events, index - 1))
  );
}

const toIndex = (index: number) => (index < 0 ? undefined : index);

function formatHead({ header }: Trajectory, task: Task | undefined): string[] {
  const servers = header.servers.map(it => `${it.name} (${it.fixture})`).join(", ");
  const head = header.imported
    ? [`imported (${header.imported.format})`]
    : [
        header.task === noTask ? "session without a task" : `task ${header.task}`,
        servers,
        `seed ${header.seed}`,
      ];
  if (task) head.push(task.kind, task.split, `budget ${task.budget.calls} calls`);
  const lines = [
    head.join(" · "),
    `attempt ${header.id} · by ${header.policy}`,
    `on offer: ${formatNames(header.menu)}`,
  ];
  if (header.trainedOn !== undefined)
    lines.push(`note: the student was trained on ${header.trainedOn}`);
  // tools that were removed from the menu explain why the right answer makes no calls
  if (task && task.hidden.length > 0) lines.push(`taken away: ${task.hidden.join(", ")}`);
  if (task?.policy?.page !== undefined)
    for (const it of task.policy.page.split("\n")) lines.push(`policy: ${it}`);
  else for (const { text } of task?.policy?.rules ?? []) lines.push(`rule: ${text}`);
  return lines.map(escapeInvisible);
}

/** The first eight names, and how many more there are. */
const formatNames = (names: readonly string[]) =>
  `${names.slice(0, 8).join(", ")}${names.length > 8 ? ` and ${names.length - 8} more` : ""}`;

function formatEvent(event: Exclude<Event, CallEvent>): string[] {
  switch (event.kind) {
    case "user":
      return [
        "user",
        ...indent(splitVisibleLines(event.text)),
        ...(event.adds ? indent([escapeInvisible(`now on offer: ${event.adds.join(", ")}`)]) : []),
      ];
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
  const lines = formatCompletedCall(event, maxValueLines);
  return note === undefined ? lines : [...lines, ...indent([`= ${escapeInvisible(note)}`])];
}

/** A call and its outcome as the lines of a transcript. A longer result is cut off. */
export function formatCompletedCall(
  { name, arguments: args, outcome }: Pick<CallEvent, "name" | "arguments" | "outcome">,
  maxLines = Infinity,
): string[] {
  const lines = [`${outcomeSigns[outcome.kind]} ${escapeInvisible(formatCall(name, args))}`];
  if (outcome.kind === "ok") lines.push(...indent(formatValue(outcome.value, maxLines)));
  else {
    const { kind, type, message, hint } = outcome;
    const what = kind === "refused" && type ? `refused (${type})` : kind;
    const reason = name === "" ? "this block is not a call" : message;
    lines.push(...indent([reason ? `${what}: ${escapeInvisible(reason)}` : what]));
    if (hint) lines.push(...indent([`hint: ${escapeInvisible(hint)}`]));
  }
  return lines;
}

/** Whether the last line of a call is the note on it. */
export const isCallNote = (line: string): boolean => line.startsWith(indent(["= "])[0]!);

/** A call as a person would write it. */
export function formatCall(name: string, args: Json): string {
  if (name === "") return `(not parsed) ${typeof args === "string" ? args : JSON.stringify(args)}`;
  if (!isJsonObject(args)) return `${name}(${JSON.stringify(args)})`;
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

/** A value in few lines; a part that fits on one line is not split. */
function formatValue(value: Json, maxLines: number): string[] {
  const lines = formatValueLines(value, "", "");
  return lines.length <= maxLines
    ? lines
    : [...lines.slice(0, maxLines - 1), `… ${lines.length - maxLines + 1} more lines`];
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

/** JSON with spaces between its parts and without quotes around keys. */
export function formatInline(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(formatInline).join(", ")}]`;
  const entries = Object.entries<Json>(value).map(([key, it]) => `${key}: ${formatInline(it)}`);
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
