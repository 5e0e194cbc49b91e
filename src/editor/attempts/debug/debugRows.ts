/** Creates the rows of the debugger's Variables view: the step, the state and the reward. */
import type { Json } from "../../../environment/json.ts";
import type { Patch } from "../../../environment/outcome.ts";
import type { State } from "../../../environment/state.ts";
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import type { CallEvent } from "../../../trajectory/trajectory.ts";
import { formatCallLine } from "../../../trajectory/trajectoryLine.ts";
import { formatPatchPath, getValueAt, splitPointer } from "../../shared/jsonPointer.ts";
import { createCheckRow } from "./checkRows.ts";
import type { DebugTarget } from "./debugTarget.ts";
import { createRewardRows, createStepRewardRows } from "./rewardRows.ts";
import {
  appendKey,
  createChildRows,
  createValueRow,
  formatInline,
  type ValueRow,
} from "./valueRow.ts";

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
        ...patches.map(it => createPatchRow(it, position)),
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

function createPatchRow({ op, path, value }: Patch, { before }: CursorPosition): ValueRow {
  const hasChildren = value !== undefined && value !== null && typeof value === "object";
  const expression = pointerToPath(path);
  return {
    name: `Δ ${formatPatchPath(path)}`,
    text: formatChange(op, getValueAt(before, path), value),
    path: expression,
    ...(hasChildren ? { rows: () => createChildRows(value, expression) } : {}),
  };
}

function formatChange(op: Patch["op"], before: Json | undefined, after: Json | undefined): string {
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
