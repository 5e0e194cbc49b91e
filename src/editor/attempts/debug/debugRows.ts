/**
 * Creates the rows of the debugger's Variables view: the step, the state and the reward. A row
 * loads its children when it is expanded.
 */
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { Patch } from "../../../environment/outcome.ts";
import type { State } from "../../../environment/state.ts";
import type { ArgumentEvidence, Breakdown, CallEvidence, Part } from "../../../reward/breakdown.ts";
import {
  describeAnswer,
  describeCall,
  hasNoPenalty,
  listPartChanges,
} from "../../../reward/breakdownText.ts";
import { countPrefix } from "../../../reward/prefixReward.ts";
import { describeReplaced } from "../../../trajectory/attempt.ts";
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { type CallEvent, formatCallLine } from "../../../trajectory/trajectory.ts";
import { formatPatchPath, getValueAt, splitPointer } from "../../shared/jsonValues.ts";
import { formatReward, formatRewardChange } from "../../shared/rewardText.ts";
import { getRewardStep, scoreShownPrefix, type ShownReward } from "../attemptReward.ts";
import { countCallsBefore, type DebugTarget } from "./debugTarget.ts";

/** The headings with their rows. They are always the same, so that they stay expanded. */
export const listHeadings = (
  target: DebugTarget,
  position: CursorPosition,
): readonly (readonly [string, readonly ValueRow[]])[] => [
  ["Step", [...createStepRows(position), ...createStepRewardRows(target, position)]],
  ["State", createStateRows(position)],
  ["Reward", createRewardRows(target, position)],
];

/** The event of the position; for a call also its changes to the state. */
export function createStepRows(position: CursorPosition): readonly ValueRow[] {
  const { event, patches } = position;
  switch (event?.kind) {
    case undefined:
      return [{ name: "start", text: "nothing has happened yet" }];
    case "user":
      return [
        { name: "user", text: event.text },
        ...(event.adds ? [{ name: "added tools", text: event.adds.join(", ") }] : []),
      ];
    case "assistant":
      return [{ name: event.kind, text: event.text }];
    case "ended": {
      const text = event.fault === undefined ? event.by : `${event.by}: ${event.fault}`;
      return [{ name: "ended by", text }];
    }
    case "call":
      return [
        ...createCallRows(event, position),
        // clock and random draws change with every write
        ...patches.filter(isOfWorld).map(it => createPatchRow(it, position)),
        ...patches.filter(it => !isOfWorld(it)).map(it => createPatchRow(it, position)),
      ];
    default:
      throw new Error(`no rows for ${JSON.stringify(event satisfies never)}`);
  }
}

function createCallRows(event: CallEvent, { step }: CursorPosition): readonly ValueRow[] {
  const { name, arguments: args, outcome, value, error, hint, type } = formatCallLine(event);
  const rows: ValueRow[] = [
    { name: "tool", text: name || "(not parsed)" },
    createValueRow("arguments", args, "arguments"),
    { name: "outcome", text: type ? `${outcome} (${type})` : outcome },
  ];
  if (value !== undefined) rows.push(createValueRow("result", value, "value"));
  if (error !== undefined) rows.push({ name: "message", text: error });
  if (hint !== undefined) rows.push({ name: "hint", text: hint });
  rows.push(createCheckRow(step ? { ...event, patches: step.replayed.patches ?? [] } : event));
  if (step && step.verdict !== "same")
    rows.push({
      name: "replay",
      text: `${step.verdict}: another ${step.differingFields.join(", ")}`,
      rows: () => {
        const replayed = formatCallLine(step.replayed);
        return step.differingFields.map(it => createValueRow(it, replayed[it] ?? null));
      },
    });
  return rows;
}

const isOfWorld = ({ path }: Patch) => splitPointer(path)[1] === "world";

function createPatchRow({ op, path, value }: Patch, { before }: CursorPosition): ValueRow {
  const hasChildren = value !== undefined && value !== null && typeof value === "object";
  const expression = pointerToPath(path);
  return {
    name: `Δ ${formatPatchPath(path)}`,
    text: formatPatch(op, getValueAt(before, path), value),
    path: expression,
    ...(hasChildren ? { rows: () => createChildRows(value, expression) } : {}),
  };
}

function formatPatch(op: Patch["op"], before: Json | undefined, after: Json | undefined): string {
  const [from, to] = [formatInline(before ?? null), formatInline(after ?? null)];
  if (op === "remove") return `${from} → (removed)`;
  return op === "add" && before === undefined ? `(added) ${to}` : `${from} → ${to}`;
}

/** The rows of the only server, or one row for each server. */
function createStateRows({ state }: CursorPosition): readonly ValueRow[] {
  const servers = Object.entries(state).map(([server, it]) => createServerRow(server, it));
  return servers.length === 1 ? servers[0]!.rows!() : servers;
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
      { name: "random draws", text: String(state.draws), path: `${server}.draws` },
    ],
  };
}

const pointerToPath = (pointer: string) => {
  const [server, ...keys] = splitPointer(pointer);
  return keys.reduce(appendKey, server!);
};

/** The check that an outcome fails, in the order in which they are made. */
const failedChecks = {
  "unknown-tool": 0,
  "bad-arguments": 1,
  refused: 2,
  broken: 3,
  ok: 4,
} as const;

/** The checks of a call; those after the one that failed were not reached. */
function createCheckRow({ name, outcome, patches = [] }: CallEvent): ValueRow {
  const failed = name === "" ? 0 : failedChecks[outcome.kind];
  const changes = patches.length === 1 ? "1 change" : `${patches.length} changes`;
  const checks = [
    { name: "name", passed: "the tool is offered" },
    { name: "arguments", passed: "they have the types and the required keys of the schema" },
    { name: "rules", passed: "the schema's limits and the server's rules allow it" },
    { name: "execution", passed: patches.length === 0 ? "done, no changes" : `done, ${changes}` },
  ];
  const message = outcome.kind === "ok" ? undefined : outcome.message;
  return {
    name: "checks",
    text: failed === checks.length ? "all passed" : `failed: ${checks[failed]!.name}`,
    rows: () =>
      checks.map((it, i) => {
        if (i > failed) return { name: it.name, text: "not reached" };
        return { name: it.name, text: i < failed ? `✓ ${it.passed}` : `✗ ${message ?? "failed"}` };
      }),
  };
}

function createRewardRows(target: DebugTarget, position: CursorPosition): readonly ValueRow[] {
  const { reward, cursor } = target;
  if ("unscorable" in reward) return [{ name: "no reward", text: reward.unscorable }];
  const prefix = countPrefix(cursor.trajectory.events, position.position);
  const breakdowns = scoreShownPrefix(reward, prefix);
  const note = describeReplaced(reward.attempt);
  const hasChanged = position.event?.kind === "call" || position.event?.kind === "ended";
  return [
    ...(position.event?.kind === "call"
      ? [createCallRow(breakdowns[0], countCallsBefore(cursor, position))]
      : []),
    ...(hasChanged ? [createChangeRow(target, reward, position, prefix)] : []),
    ...breakdowns.map((it, i) => createTotalRow(it, i === 0)),
    ...createAnswerRows(breakdowns[0]),
    createSuccessRow(reward, position),
    ...(note === undefined ? [] : [{ name: "note", text: note }]),
  ];
}

/** The reward beside the event that changed it, under the profile on screen. */
function createStepRewardRows(
  { reward, cursor }: DebugTarget,
  { position, event }: CursorPosition,
): readonly ValueRow[] {
  const step = getRewardStep(reward, cursor.trajectory.events, position);
  if (!step || "unscorable" in reward || (event?.kind !== "call" && event?.kind !== "ended"))
    return [];
  const { total, change } = step;
  return [{ name: "reward", text: `${formatReward(total)} (${formatRewardChange(change)})` }];
}

/** What the last event changed under the profile on screen. */
function createChangeRow(
  { cursor }: DebugTarget,
  reward: ShownReward,
  { position }: CursorPosition,
  prefix: number,
): ValueRow {
  const { change } = getRewardStep(reward, cursor.trajectory.events, position)!;
  const [before] = scoreShownPrefix(reward, prefix - 1);
  const [after] = scoreShownPrefix(reward, prefix);
  const changes = listPartChanges(before, after);
  return {
    name: "change",
    text: formatRewardChange(change),
    ...(changes.length > 0
      ? {
          rows: () =>
            changes.map(it => ({
              name: it.name,
              text: `${formatReward(it.before)} → ${formatReward(it.after)}, ${formatRewardChange(it.change)}`,
            })),
        }
      : {}),
  };
}

/** The total of a profile and its parts. Expressions can use those of the profile on screen. */
function createTotalRow(
  { profile, total, parts, extras }: Breakdown,
  isOnScreen: boolean,
): ValueRow {
  const pathOf = (name: string) => (isOnScreen ? { path: `reward.${name}` } : {});
  return {
    name: profile,
    text: formatReward(total),
    ...pathOf("total"),
    rows: () =>
      Object.entries({ ...parts, ...extras }).map(([name, part]) => ({
        name,
        text: formatPart(name, part),
        ...pathOf(name),
      })),
  };
}

/** What was to be told, at the end. */
function createAnswerRows({ answers }: Breakdown): readonly ValueRow[] {
  if (!answers) return [];
  const right = answers.filter(it => it.isTold).length;
  return [
    {
      name: "answers",
      text: `${right} of ${answers.length} right`,
      rows: () => answers.map((it, i) => ({ name: String(i + 1), text: describeAnswer(it) })),
    },
  ];
}

function formatPart(name: string, part: Part): string {
  if (hasNoPenalty(name, part)) return "no penalty";
  return `${formatReward(part.score)} × ${part.weight} = ${formatReward(part.value)}`;
}

function createSuccessRow({ success }: ShownReward, { event }: CursorPosition): ValueRow {
  if (event?.kind !== "ended") return { name: "success", text: "decided at the end" };
  return {
    name: "success",
    text: success.achieved ? "yes" : `no: ${success.reasons.join("; ")}`,
  };
}

const createCallRow = (breakdown: Breakdown, call: number): ValueRow => ({
  name: "this call",
  text: describeCall(breakdown, call) ?? "",
  rows: () => createEvidenceRows(breakdown.calls[call]!, breakdown.budget),
});

function createEvidenceRows(evidence: CallEvidence, budget: number): readonly ValueRow[] {
  const reason = evidence.message || "known tool, valid arguments, accepted";
  const rows: ValueRow[] = [
    { name: "validity", text: `${evidence.validity.toFixed(2)}, ${reason}` },
    { name: "serves", text: formatServedGoal(evidence) },
  ];
  const { arguments: args } = evidence;
  if (args.length)
    rows.push({
      name: "arguments",
      text: `${args.filter(it => it.equal).length} of ${args.length} equal`,
      rows: () => args.map(createArgumentRow),
    });
  if (evidence.overBudget)
    rows.push({ name: "budget", text: `over the budget of ${budget} calls` });
  return rows;
}

function formatServedGoal({ serves, named }: CallEvidence): string {
  if (serves) return `goal ${serves.goal + 1}`;
  return named ? "no goal, although a goal uses its tool" : "no goal";
}

function createArgumentRow({ key, goal, model, equal, masked }: ArgumentEvidence): ValueRow {
  if (masked) return { name: key, text: "not compared" };
  const expected = JSON.stringify(goal);
  return { name: key, text: equal ? `= ${expected}` : `${JSON.stringify(model)} ≠ ${expected}` };
}

export interface ValueRow {
  readonly name: string;
  readonly text: string;
  readonly rows?: () => readonly ValueRow[];
  /** The expression that evaluates to the value. */
  readonly path?: string;
  readonly value?: Json;
}

/** A row for a value; objects and lists can be expanded. */
export function createValueRow(name: string, value: Json, path?: string): ValueRow {
  const hasChildren = value !== null && typeof value === "object" && Object.keys(value).length > 0;
  return {
    name,
    text: formatInline(value),
    value,
    ...(path === undefined ? {} : { path }),
    ...(hasChildren ? { rows: () => createChildRows(value, path) } : {}),
  };
}

const createChildRows = (value: Json, path: string | undefined): readonly ValueRow[] =>
  Object.entries(value as JsonObject).map(([key, it]) =>
    createValueRow(key, it, path === undefined ? undefined : appendKey(path, key)),
  );

/** The expression for a key of the value at a path. */
const appendKey = (path: string, key: string): string =>
  /^[\w-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

/** A value on one line; a collection is shown by its size, an entity by its first fields. */
export function formatInline(value: Json): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  const entries = Object.entries(value);
  const isCollection =
    entries.length > 1 &&
    entries.every(([, it]) => it !== null && typeof it === "object" && !Array.isArray(it));
  if (isCollection || entries.length === 0) return `${entries.length} entries`;
  return truncate(
    `{ ${entries.map(([key, it]) => `${key}: ${formatField(it)}`).join(", ")} }`,
    120,
  );
}

function formatField(value: Json): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  return value !== null && typeof value === "object" ? "{…}" : JSON.stringify(value);
}

export const truncate = (text: string, maxLength: number): string =>
  text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text;
