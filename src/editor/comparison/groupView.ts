/**
 * Creates the content of a group's page: the attempts side by side, their calls aligned, and which
 * of their sampled tokens carried a gradient of the reward.
 */
import { canonicalJson, isJsonObject, type Json } from "../../environment/json.ts";
import type {
  GroupCell,
  GroupColumn,
  GroupRow,
  GroupView,
  SampledTokens,
} from "../../protocol/groupPage.ts";
import { describeAnswer } from "../../reward/breakdownText.ts";
import type { GroupLine } from "../../run/group.ts";
import { countGivenCalls, countGivenEvents } from "../../trajectory/oneTurn.ts";
import { startsTurn } from "../../trajectory/trajectory.ts";

interface GroupPlace {
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

/**
 * The calls of an attempt and its messages without a call, in order. The last one of a turn has
 * what was to be told by the end of the turn.
 */
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
      arguments: listArguments(event.arguments),
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
  return items.map((it, i) => {
    if (items.findLastIndex(({ turn }) => turn === it.turn) !== i) return it;
    const due = line.breakdown.answers?.filter(({ turn }) => turn === it.turn) ?? [];
    if (due.length === 0) return it;
    const answers = due.map(fact => ({ isTold: fact.isTold, text: describeAnswer(fact) }));
    return { ...it, cell: { ...it.cell, answers } };
  });
}

const listArguments = (args: Json): NonNullable<GroupCell["arguments"]> =>
  isJsonObject(args)
    ? Object.entries(args).map(([name, value]) => [name, canonicalJson(value)])
    : [];

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

export interface AlignedItem {
  /** Only items of one name share a row. */
  readonly name: string;
  readonly goal?: number;
  readonly text: string;
}

/** The position of an item in each list, or null for a list without an item in this row. */
type AlignedRow = readonly (number | null)[];

/**
 * Progressive alignment: each list is aligned with the rows of the lists before it, the longest
 * list first. Each list's items keep their order.
 */
export function alignAttempts(lists: readonly (readonly AlignedItem[])[]): readonly AlignedRow[] {
  const byLength = [...lists.keys()].toSorted((a, b) => lists[b]!.length - lists[a]!.length);
  let rows: (number | null)[][] = [];
  for (const list of byLength) {
    const matches = alignList(rows, lists, lists[list]!);
    rows = mergeRows(rows, matches, { list, lists: lists.length });
  }
  return rows;
}

/** The row of each item of a list, or undefined for an item that needs a row of its own. */
function alignList(
  rows: readonly AlignedRow[],
  lists: readonly (readonly AlignedItem[])[],
  items: readonly AlignedItem[],
): readonly (number | undefined)[] {
  const members = rows.map(row =>
    row.flatMap((it, list) => (it === null ? [] : lists[list]![it]!)),
  );
  const score = (row: number, item: number) =>
    Math.max(0, ...members[row]!.map(it => scorePair(it, items[item]!)));
  // best[r][i] is the highest score of the rows from r and the items from i on
  const best = Array.from({ length: rows.length + 1 }, () =>
    Array.from<number>({ length: items.length + 1 }).fill(0),
  );
  for (let r = rows.length - 1; r >= 0; r--)
    for (let i = items.length - 1; i >= 0; i--) {
      const own = score(r, i);
      best[r]![i] = Math.max(
        best[r + 1]![i]!,
        best[r]![i + 1]!,
        own > 0 ? own + best[r + 1]![i + 1]! : 0,
      );
    }
  const matches: (number | undefined)[] = items.map(() => undefined);
  for (let r = 0, i = 0; r < rows.length && i < items.length;) {
    const own = score(r, i);
    if (own > 0 && best[r]![i] === own + best[r + 1]![i + 1]!) matches[i++] = r++;
    else if (best[r]![i] === best[r + 1]![i]) r++;
    else i++;
  }
  return matches;
}

/** How well two items fit in one row; 0 for items that cannot share one. */
function scorePair(a: AlignedItem, b: AlignedItem): number {
  if (a.name !== b.name) return 0;
  return 4 + (a.goal !== undefined && a.goal === b.goal ? 2 : 0) + (a.text === b.text ? 1 : 0);
}

/** The rows with the items of one more list; unmatched items get rows before the next match. */
function mergeRows(
  rows: readonly (readonly (number | null)[])[],
  matches: readonly (number | undefined)[],
  { list, lists }: { readonly list: number; readonly lists: number },
): (number | null)[][] {
  const merged: (number | null)[][] = [];
  let next = 0;
  const takeUntil = (end: number) => {
    for (; next < end; next++) merged.push([...rows[next]!]);
  };
  for (const [item, row] of matches.entries()) {
    if (row === undefined) {
      const own = Array.from<number | null>({ length: lists }).fill(null);
      own[list] = item;
      merged.push(own);
      continue;
    }
    takeUntil(row);
    const shared = [...rows[row]!];
    shared[list] = item;
    merged.push(shared);
    next = row + 1;
  }
  takeUntil(rows.length);
  return merged;
}
