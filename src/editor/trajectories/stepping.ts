/**
 * An attempt as one steps through it: where one stands, what is to be seen there, and what a watch
 * can name. Knows no debug protocol and no editor.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Patch } from "../../environment/outcome.ts";
import type { State } from "../../environment/session.ts";
import { describeCall } from "../../reward/words.ts";
import type { TrajectoryCursor, CursorPosition } from "../../trajectory/cursor.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Transcript } from "../../trajectory/transcript.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import { formatCallLine } from "../../trajectory/trajectoryLine.ts";
import { formatCallEvidence } from "../../reward/breakdown.ts";
import type { AttemptReward } from "./attemptReward.ts";
import type { Variables } from "./expression.ts";

export interface DebugTarget {
  /** The address of the transcript. */
  readonly source: string;
  readonly title: string;
  readonly cursor: TrajectoryCursor;
  readonly transcript: Transcript;
  readonly task?: Task;
  readonly reward: AttemptReward;
}

/** One row of a tree of values. Its own rows are asked for when it is opened. */
export interface ValueRow {
  readonly name: string;
  readonly text: string;
  readonly rows?: () => readonly ValueRow[];
  /** How a watch names it. */
  readonly path?: string;
  readonly value?: Json;
}

export interface StackFrame {
  readonly name: string;
  /** Line of the transcript, from 0. */
  readonly line: number;
}

/** Turn, message and call, the innermost first. */
export function listFrames(
  { transcript, cursor, title }: DebugTarget,
  place: CursorPosition,
): readonly StackFrame[] {
  const { events } = cursor.trajectory;
  if (place.index === undefined) return [{ name: `start of ${title}`, line: 0 }];
  const lineOf = (index: number) => transcript.ranges[index]!.first;
  const { event, index } = place as Required<CursorPosition>;
  const frames: StackFrame[] = [];
  if (event.kind === "call") {
    const nth = events.slice(0, index + 1).filter(it => it.kind === "call").length;
    frames.push({ name: `call ${nth}: ${event.name || "(not parsed)"}`, line: lineOf(index) });
  }
  if (event.kind === "ended") frames.push({ name: "end", line: lineOf(index) });
  if (event.kind === "call" || event.kind === "assistant") {
    const at = events.findIndex(it => it.kind === "assistant" && it.message === event.message);
    frames.push({ name: `message ${event.message + 1}`, line: lineOf(at < 0 ? index : at) });
  }
  const turn = events.slice(0, index + 1).findLastIndex(it => it.kind === "user");
  const said = events[turn];
  if (said?.kind === "user")
    frames.push({
      name: `turn ${events.slice(0, turn + 1).filter(it => it.kind === "user").length}: ${truncate(said.text, 60)}`,
      line: lineOf(turn),
    });
  return frames;
}

/**
 * What is to be seen at a place, one tree a heading: always the same headings, so that what is open
 * stays open.
 */
export const listHeadings = (
  stepping: DebugTarget,
  place: CursorPosition,
): readonly (readonly [string, readonly ValueRow[]])[] => [
  ["Step", createStepRows(place)],
  ["State", createStateRows(place)],
  ["Reward", createRewardRows(stepping, place)],
];

/** What a watch, a hover or a condition can name at a place. */
export function createVariables({ reward, cursor }: DebugTarget, place: CursorPosition): Variables {
  const { event, state } = place;
  const evidence =
    event?.kind === "call" && "breakdowns" in reward
      ? reward.breakdowns[0]?.calls[countCallsBefore(cursor, place)]
      : undefined;
  const call =
    event?.kind === "call"
      ? (({ name, arguments: args, outcome, value, error }) => ({
          name,
          arguments: args,
          outcome,
          value: value ?? null,
          error: error ?? null,
        }))(formatCallLine(event))
      : undefined;
  return {
    ...(state as unknown as JsonObject),
    ...(call ? { call, arguments: call.arguments, outcome: call.outcome, value: call.value } : {}),
    ...(evidence
      ? { evidence: JSON.parse(JSON.stringify(formatCallEvidence(evidence))) as Json }
      : {}),
    position: place.position,
  };
}

/**
 * The entity of that id, wherever it is in the worlds: what a pointer rests on in the transcript.
 */
export function findEntity(
  state: State,
  id: string,
): { readonly path: string; readonly value: Json } | undefined {
  for (const [server, { world }] of Object.entries(state))
    for (const [name, collection] of Object.entries(world))
      if (collection !== null && typeof collection === "object" && Object.hasOwn(collection, id))
        return { path: `${server}.world.${name}.${id}`, value: (collection as JsonObject)[id]! };
  return undefined;
}

const countCallsBefore = (cursor: TrajectoryCursor, { index = 0 }: CursorPosition) =>
  cursor.trajectory.events.slice(0, index).filter(it => it.kind === "call").length;

/** What happened, and for a call what it changed. */
function createStepRows(place: CursorPosition): readonly ValueRow[] {
  const { event } = place;
  switch (event?.kind) {
    case undefined:
      return [{ name: "start", text: "nothing has happened yet" }];
    case "user":
    case "assistant":
      return [{ name: event.kind, text: event.text }];
    case "ended":
      return [
        {
          name: "ended by",
          text: event.fault === undefined ? event.by : `${event.by}: ${event.fault}`,
        },
      ];
    case "call":
      return [
        ...createCallRows(event, place),
        ...place.patches.map(it => createPatchRow(it, place)),
      ];
    default:
      throw new Error(`no rows for ${JSON.stringify(event satisfies never)}`);
  }
}

function createCallRows(event: CallEvent, { step }: CursorPosition): readonly ValueRow[] {
  const { name, arguments: args, outcome, value, error, hint, type } = formatCallLine(event);
  return [
    { name: "tool", text: name || "(not parsed)" },
    createValueRow("arguments", args, "arguments"),
    { name: "outcome", text: type ? `${outcome} (${type})` : outcome },
    ...(value === undefined ? [] : [createValueRow("result", value, "value")]),
    ...(error === undefined ? [] : [{ name: "why", text: error }]),
    ...(hint === undefined ? [] : [{ name: "hint", text: hint }]),
    ...(step && step.verdict !== "same"
      ? [
          {
            name: "replay",
            text: `${step.verdict}: another ${step.differingFields.join(", ")}`,
            rows: () => {
              const replayed = formatCallLine(step.replayed);
              return step.differingFields.map(it => createValueRow(it, replayed[it] ?? null));
            },
          },
        ]
      : []),
  ];
}

/** One server's state directly, several by name. */
function createStateRows({ state }: CursorPosition): readonly ValueRow[] {
  const servers = Object.entries(state).map(([server, it]) => createServerRow(server, it));
  return servers.length === 1 ? servers[0]!.rows!() : servers;
}

function createPatchRow({ op, path, value }: Patch, { before }: CursorPosition): ValueRow {
  const name = `Δ ${path
    .slice(1)
    .replace(/^[^/]+\/world\//, "")
    .replaceAll("/", ".")}`;
  const was = getValueAt(before, path);
  const rows =
    value !== undefined && value !== null && typeof value === "object"
      ? { rows: () => createChildRows(value, undefined) }
      : {};
  const text =
    op === "remove"
      ? `${formatInline(was ?? null)} → (removed)`
      : op === "add" && was === undefined
        ? `(added) ${formatInline(value ?? null)}`
        : `${formatInline(was ?? null)} → ${formatInline(value ?? null)}`;
  return { name, text, ...rows };
}

function createServerRow(server: string, state: State[string]): ValueRow {
  return {
    name: server,
    text: state.clock,
    path: server,
    value: state as unknown as Json,
    rows: () => [
      ...createChildRows(state.world, `${server}.world`),
      { name: "clock", text: state.clock, path: `${server}.clock` },
      { name: "ids given", text: String(state.draws), path: `${server}.draws` },
    ],
  };
}

function createRewardRows(
  { reward, cursor }: DebugTarget,
  place: CursorPosition,
): readonly ValueRow[] {
  if ("unscorable" in reward) return [{ name: "no reward", text: reward.unscorable }];
  const [paper] = reward.breakdowns;
  const totals = reward.breakdowns.map(it => ({
    name: it.profile,
    text: it.total.toFixed(4),
    rows: () =>
      Object.entries({ ...it.parts, ...it.extras }).map(([name, part]) => ({
        name,
        text: `${part.score.toFixed(4)} × ${part.weight} = ${part.value.toFixed(4)}`,
      })),
  }));
  const success = {
    name: "success",
    text: reward.success.achieved ? "yes" : `no: ${reward.success.reasons.join("; ")}`,
  };
  if (place.event?.kind !== "call" || !paper) return [...totals, success];
  const call = countCallsBefore(cursor, place);
  const evidence = paper.calls[call]!;
  const own: readonly ValueRow[] = [
    {
      name: "validity",
      text: `${evidence.validity.toFixed(2)}${evidence.message ? `, ${evidence.message}` : ", known, fitting, accepted"}`,
    },
    {
      name: "serves",
      text: evidence.serves
        ? `goal ${evidence.serves.goal + 1}`
        : evidence.named
          ? "no goal, though one names its tool"
          : "no goal",
    },
    ...(evidence.arguments.length
      ? [
          {
            name: "arguments",
            text: `${evidence.arguments.filter(it => it.equal).length} of ${evidence.arguments.length} equal`,
            rows: () => evidence.arguments.map(createArgumentRow),
          },
        ]
      : []),
    ...(evidence.overBudget ? [{ name: "budget", text: `beyond ${paper.budget} calls` }] : []),
  ];
  return [
    { name: "this call", text: describeCall(paper, call) ?? "", rows: () => own },
    ...totals,
    success,
  ];
}

const createArgumentRow = ({
  key,
  goal,
  model,
  equal,
  masked,
}: {
  key: string;
  goal: unknown;
  model: unknown;
  equal: boolean;
  masked: boolean;
}): ValueRow => ({
  name: key,
  text: masked
    ? "not compared"
    : equal
      ? `= ${JSON.stringify(goal)}`
      : `${JSON.stringify(model)} ≠ ${JSON.stringify(goal)}`,
});

/** A value as a row that opens out. */
export function createValueRow(name: string, value: Json, path?: string): ValueRow {
  const isOpen = value !== null && typeof value === "object" && Object.keys(value).length > 0;
  return {
    name,
    text: formatInline(value),
    value,
    ...(path === undefined ? {} : { path }),
    ...(isOpen ? { rows: () => createChildRows(value, path) } : {}),
  };
}

const createChildRows = (value: Json, path: string | undefined): readonly ValueRow[] =>
  Object.entries(value as JsonObject).map(([key, it]) =>
    createValueRow(
      key,
      it,
      path === undefined
        ? undefined
        : `${path}${/^[\w-]+$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`}`,
    ),
  );

/** A value in one line: text in quotes, entities by their first values. */
function formatInline(value: Json): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value);
  const isCollection =
    entries.length > 1 &&
    entries.every(([, it]) => it !== null && typeof it === "object" && !Array.isArray(it));
  if (isCollection || entries.length === 0) return `${entries.length} entries`;
  const inner = (it: Json) =>
    Array.isArray(it)
      ? `[${it.length}]`
      : it !== null && typeof it === "object"
        ? "{…}"
        : JSON.stringify(it);
  return truncate(`{ ${entries.map(([key, it]) => `${key}: ${inner(it)}`).join(", ")} }`, 120);
}

function getValueAt(state: State, path: string): Json | undefined {
  let value: Json | undefined = state as unknown as Json;
  for (const part of path.slice(1).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
    value =
      value !== null && typeof value === "object" && Object.hasOwn(value, key)
        ? (value as JsonObject)[key]
        : undefined;
  }
  return value;
}

const truncate = (text: string, most: number) =>
  text.length > most ? `${text.slice(0, most - 1)}…` : text;
