/** The calls of a session as text: arguments, results and changes to the state, newest first. */
import type { CompletedCall, Patch } from "../../environment/outcome.ts";
import type { State } from "../../environment/state.ts";
import { escapeInvisible } from "../../trajectory/invisibleText.ts";
import { formatCompletedCall, formatInline } from "../../trajectory/transcript.ts";
import { formatCount } from "../shared/text.ts";
import { formatPatchPath, getValueAt } from "../shared/jsonValues.ts";

/** A call; with its changes, if the state of its server can be read. */
export interface ListedCall extends CompletedCall {
  readonly patches?: readonly Patch[];
  readonly before?: State;
}

export interface CallList {
  readonly text: string;
  /** The first line of each call, counted from 0. */
  readonly lines: ReadonlyMap<ListedCall, number>;
}

/** Formats the calls of a session, given in the order in which they were made. */
export function formatCallList(title: string, calls: readonly ListedCall[]): CallList {
  const count = calls.length > 1 ? `${calls.length} calls, newest first` : undefined;
  const lines = [escapeInvisible(`${title} · ${count ?? formatCount(calls.length, "call")}`)];
  const starts = new Map<ListedCall, number>();
  for (const call of calls.toReversed()) {
    lines.push("");
    starts.set(call, lines.length);
    lines.push(...formatCompletedCall(call), ...listChanges(call));
  }
  return { text: `${lines.join("\n")}\n`, lines: starts };
}

const listChanges = ({ patches = [], before = {} }: ListedCall) =>
  patches.map(
    it => `    Δ ${escapeInvisible(`${formatPatchPath(it.path)}: ${formatChange(it, before)}`)}`,
  );

function formatChange({ op, path, value = null }: Patch, state: State): string {
  const before = getValueAt(state, path);
  const from = before === undefined ? "(added)" : `${formatInline(before)} →`;
  return `${from} ${op === "remove" ? "(removed)" : formatInline(value)}`;
}
