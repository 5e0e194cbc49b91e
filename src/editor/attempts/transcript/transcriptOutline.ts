/** The outline of a transcript: its turns with their messages and calls; and what can be folded. */
import { formatCall } from "../../../trajectory/transcript.ts";
import type { LineRange, Transcript } from "../../../trajectory/transcript.ts";
import { startsTurn, type Event, type Trajectory } from "../../../trajectory/trajectory.ts";

export type OutlineKind = "turn" | "user" | "assistant" | "call" | "refusal" | "end";

export interface OutlineNode {
  readonly kind: OutlineKind;
  readonly name: string;
  readonly detail: string;
  /** With its children. */
  readonly lines: LineRange;
  readonly children: readonly OutlineNode[];
}

/** The turns of an attempt; what comes before the first turn, and the end, stand beside them. */
export function listOutline(
  { events }: Trajectory,
  { ranges }: Transcript,
): readonly OutlineNode[] {
  const nodes: OutlineNode[] = [];
  let turn: { start: number; text: string; children: OutlineNode[] } | undefined;
  let turns = 0;
  const closeTurn = (next: number) => {
    if (!turn) return;
    const { start, text, children } = turn;
    const lines = { first: ranges[start]!.first, last: ranges[next - 1]!.last };
    nodes.push({ kind: "turn", name: `turn ${++turns}`, detail: text, lines, children });
    turn = undefined;
  };
  for (const [index, event] of events.entries()) {
    if (startsTurn(event)) {
      closeTurn(index);
      turn = { start: index, text: event.text, children: [] };
      continue;
    }
    if (event.kind === "ended") closeTurn(index);
    const node = createNode(event, ranges[index]!);
    if (node) (turn?.children ?? nodes).push(node);
  }
  closeTurn(events.length);
  return nodes;
}

function createNode(event: Event, lines: LineRange): OutlineNode | undefined {
  const children: readonly OutlineNode[] = [];
  switch (event.kind) {
    case "user":
      return { kind: "user", name: "user", detail: event.text, lines, children };
    case "assistant":
      return event.text === ""
        ? undefined
        : { kind: "assistant", name: "assistant", detail: event.text, lines, children };
    case "call": {
      const { name, outcome } = event;
      const isOk = outcome.kind === "ok";
      return {
        kind: isOk ? "call" : "refusal",
        name: `${isOk ? "" : "✗ "}${name || "(not parsed)"}`,
        detail: isOk ? formatArguments(event) : (outcome.message ?? outcome.kind),
        lines,
        children,
      };
    }
    case "ended":
      return { kind: "end", name: "end", detail: event.by, lines, children };
    default:
      throw new Error(`no outline for ${JSON.stringify(event satisfies never)}`);
  }
}

const formatArguments = ({ name, arguments: args }: Extract<Event, { kind: "call" }>) =>
  formatCall(name, args).slice(name.length);

/**
 * What can be folded: turns, events, and before and after them each line that is followed by
 * indented ones, such as the goals.
 */
export function listFolds(trajectory: Trajectory, transcript: Transcript): readonly LineRange[] {
  const turns = listOutline(trajectory, transcript).filter(it => it.kind === "turn");
  const isInEvent = (line: number) => transcript.eventAt(line) !== undefined;
  return [
    ...turns.map(it => it.lines),
    ...transcript.ranges,
    ...listIndentedBlocks(transcript.text.split("\n"), isInEvent),
  ].filter(it => it.last > it.first);
}

function listIndentedBlocks(
  lines: readonly string[],
  isLeftOut: (line: number) => boolean,
): readonly LineRange[] {
  const isIndented = (line: number) => lines[line]!.startsWith(" ") && !isLeftOut(line);
  return lines.flatMap((text, first) => {
    if (text === "" || text.startsWith(" ") || isLeftOut(first)) return [];
    let last = first;
    while (last + 1 < lines.length && isIndented(last + 1)) last++;
    return [{ first, last }];
  });
}
