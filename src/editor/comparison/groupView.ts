/**
 * Creates the content of a group's page: the attempts side by side, their calls aligned, and which
 * of their sampled tokens carried a gradient of the reward.
 */
import { canonicalJson } from "../../environment/json.ts";
import type {
  GroupCell,
  GroupColumn,
  GroupRow,
  GroupView,
  SampledTokens,
} from "../../protocol/groupPage.ts";
import type { GroupLine } from "../../run/group.ts";
import { countGivenCalls, countGivenEvents } from "../../trajectory/oneTurn.ts";
import { startsTurn } from "../../trajectory/trajectory.ts";
import { alignAttempts, type AlignedItem } from "./alignAttempts.ts";

export interface GroupPlace {
  readonly subject: string;
  readonly run: string;
  readonly step: number;
}

/** `attempts` are those of one group, in the order of the columns. */
export function createGroupView(place: GroupPlace, attempts: readonly GroupLine[]): GroupView {
  const lists = attempts.map(listItems);
  const [first] = attempts;
  const turns = attempts.map(it => it.trajectory.events.filter(startsTurn).map(({ text }) => text));
  const longest = turns.reduce((a, b) => (b.length > a.length ? b : a), []);
  return {
    ...place,
    task: first?.task ?? "",
    profile: first?.breakdown.profile ?? "",
    columns: attempts.map(createColumn),
    turns: longest.map((user, turn) => ({
      user,
      rows: createRows(lists.map(list => list.filter(it => it.turn === turn))),
    })),
  };
}

interface Item extends AlignedItem {
  readonly turn: number;
  readonly cell: GroupCell;
}

const createRows = (lists: readonly (readonly Item[])[]): readonly GroupRow[] =>
  alignAttempts(lists).map(row => {
    const items = row.map((it, list) => (it === null ? undefined : lists[list]![it]!));
    return {
      tool: items.find(it => it !== undefined)?.name ?? "",
      cells: items.map(it => it?.cell ?? null),
    };
  });

/** The calls of an attempt and its messages without a call, in order. */
function listItems(line: GroupLine): readonly Item[] {
  const { events } = line.trajectory;
  const given = countGivenCalls(line.trajectory);
  const tokens = listSampledTokens(line);
  const items: Item[] = [];
  let call = 0;
  let turn = -1;
  const add = (name: string, cell: GroupCell) =>
    items.push({
      name,
      text: cell.text,
      ...(cell.goal === undefined ? {} : { goal: cell.goal }),
      turn: Math.max(0, turn),
      cell,
    });
  for (const [i, event] of events.entries()) {
    if (startsTurn(event)) turn++;
    const next = events[i + 1];
    if (event.kind === "assistant" && next?.kind !== "call")
      add("", { text: event.text, ...takeTokens(tokens, event.message) });
    if (event.kind !== "call") continue;
    const { outcome } = event;
    const goal = line.breakdown.calls[call]?.serves?.goal;
    add(event.name || "unparsed call", {
      text: canonicalJson(event.arguments),
      call,
      outcome: outcome.kind,
      ...(outcome.kind === "ok" || outcome.message === undefined
        ? {}
        : { message: outcome.message }),
      ...(goal === undefined ? {} : { goal }),
      ...(call < given ? { isGiven: true as const } : {}),
      ...takeTokens(tokens, event.message),
    });
    call++;
  }
  return items;
}

/** The tokens of a message, for the first item of the message only. */
function takeTokens(
  tokens: Map<number, SampledTokens>,
  message: number,
): { readonly tokens?: SampledTokens } {
  const own = tokens.get(message);
  tokens.delete(message);
  return own ? { tokens: own } : {};
}

/** The sampled tokens of each message, by its number. */
function listSampledTokens({
  trajectory,
  clipped,
  advantage,
  credits,
}: GroupLine): Map<number, SampledTokens> {
  const given = countGivenEvents(trajectory);
  const tokens = new Map<number, SampledTokens>();
  const positions = [...new Set(clipped)].toSorted((a, b) => a - b);
  let start = 0;
  let call = 0;
  for (const [i, event] of trajectory.events.entries()) {
    if (event.kind === "call") call++;
    if (event.kind !== "assistant" || !event.tokens || i < given) continue;
    const { length } = event.tokens;
    const own = positions.filter(it => it >= start && it < start + length).map(it => it - start);
    tokens.set(event.message, {
      count: length,
      clipped: own,
      // credit per call: that of the message's first call
      advantage: advantage + (credits?.[call] ?? 0),
    });
    start += length;
  }
  return tokens;
}

function createColumn(line: GroupLine): GroupColumn {
  const { attempt, advantage, success, breakdown } = line;
  const tokens = [...listSampledTokens(line).values()];
  return {
    attempt,
    total: breakdown.total,
    advantage,
    success,
    calls: breakdown.n,
    budget: breakdown.budget,
    tokens: tokens.reduce((sum, it) => sum + it.count, 0),
    withGradient: tokens.reduce((sum, it) => sum + countWithGradient(it), 0),
  };
}

/** A clipped token carries no gradient, and neither does one without an advantage. */
const countWithGradient = ({ count, clipped, advantage }: SampledTokens): number =>
  advantage === 0 ? 0 : count - clipped.length;
