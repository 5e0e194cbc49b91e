/**
 * The ids of entities in a transcript: where each of them occurs, where an id in an argument came
 * from, and its entity as the state has it there. What is an id is taken from the tools' schemas
 * and the states, not from its spelling.
 */
import type { Catalog } from "../../../environment/catalog.ts";
import type { JsonObject } from "../../../environment/json.ts";
import { countPrefix, describePrefix } from "../../../reward/prefixReward.ts";
import { containsToken, listScalars } from "../../../trajectory/valueMatching.ts";
import { TrajectoryCursor } from "../../../trajectory/cursor.ts";
import { escapeInvisible } from "../../../trajectory/invisibleText.ts";
import {
  findEntityValues,
  findEntityPath,
  getEntity,
  hasEntity,
} from "../../../trajectory/entities.ts";
import type { Event, Trajectory } from "../../../trajectory/trajectory.ts";
import { isCallNote, type Transcript } from "../../../trajectory/transcript.ts";
import { UserError } from "../../../userError.ts";

/** `other`: not in an event, such as in the goals of the task. */
export type IdPlace = "user" | "assistant" | "argument" | "result" | "other";

export interface IdOccurrence {
  readonly id: string;
  /** Line and columns of the transcript, from 0; `end` is exclusive. */
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly place: IdPlace;
  /** The index of the event around it. */
  readonly event?: number;
}

/** A place in a transcript; `start` and `end` are absent for a whole line. */
export interface IdSource {
  readonly line: number;
  readonly start?: number;
  readonly end?: number;
}

/** An attempt as it is shown. */
interface ShownAttempt {
  readonly catalog: Catalog;
  readonly trajectory: Trajectory;
  readonly transcript: Transcript;
}

export interface TranscriptIds {
  readonly attempt: ShownAttempt;
  /** In the order of the transcript. */
  readonly occurrences: readonly IdOccurrence[];
  /** The kinds of the ids that a schema declares, such as `account`. */
  readonly kinds: ReadonlyMap<string, string>;
}

/** Finds the ids in a transcript. Takes some milliseconds. */
export function findTranscriptIds(attempt: ShownAttempt): TranscriptIds {
  const { catalog, trajectory, transcript } = attempt;
  const worlds = listStartWorlds(attempt).map(it => it.world);
  const kinds = new Map<string, string>();
  const ids = new Set<string>();
  for (const event of trajectory.events) {
    if (event.kind !== "call") continue;
    const tool = catalog.tools.get(event.name);
    const values = [
      [tool?.inputSchema, event.arguments],
      ...(event.outcome.kind === "ok" ? [[tool?.outputSchema, event.outcome.value] as const] : []),
    ] as const;
    for (const [schema, value] of values) {
      for (const { value: id, entity } of schema ? findEntityValues(schema, value).ids : []) {
        // a number is in the transcript for many other reasons
        if (typeof id !== "string") continue;
        ids.add(id);
        if (!kinds.has(id)) kinds.set(id, entity);
      }
      for (const it of listScalars(value))
        if (typeof it === "string" && worlds.some(world => hasEntity(world, it))) ids.add(it);
    }
  }
  return { attempt, occurrences: findOccurrences(ids, trajectory.events, transcript), kinds };
}

/** The states that an attempt starts from, of the servers whose fixtures can be read. */
export function listStartWorlds({
  catalog,
  trajectory,
}: Pick<ShownAttempt, "catalog" | "trajectory">): readonly {
  readonly server: string;
  readonly fixture: string;
  readonly world: JsonObject;
}[] {
  return trajectory.header.servers.flatMap(({ name, fixture }) => {
    try {
      return [{ server: name, fixture, world: catalog.getFixture(name, fixture).state }];
    } catch (error) {
      // the attempt is shown in any case, without links into this fixture
      if (error instanceof UserError) return [];
      throw error;
    }
  });
}

export const findOccurrenceAt = (
  { occurrences }: TranscriptIds,
  line: number,
  column: number,
): IdOccurrence | undefined =>
  occurrences.find(it => it.line === line && it.start <= column && column <= it.end);

/** The server of the call around an id. */
export function getServer(
  { attempt }: TranscriptIds,
  { event: index }: IdOccurrence,
): string | undefined {
  const event = index === undefined ? undefined : attempt.trajectory.events[index];
  return event?.kind === "call" ? attempt.catalog.tools.get(event.name)?.server : undefined;
}

/**
 * Where an id in an argument came from: the first message of the user or result before the call
 * that has it. Undefined for an id that nothing has shown before.
 */
export function findIdSource(
  { occurrences, attempt }: TranscriptIds,
  { id, event, place }: IdOccurrence,
): IdSource | undefined {
  if (place !== "argument") return undefined;
  const index = attempt.trajectory.events.slice(0, event).findIndex(it => showsId(it, id));
  if (index < 0) return undefined;
  const shown = occurrences.find(it => it.id === id && it.event === index && isShown(it));
  // of a long result, the last lines are left out
  return shown ?? { line: attempt.transcript.ranges[index]!.last };
}

const isShown = ({ place }: IdOccurrence) => place === "user" || place === "result";

function showsId(event: Event, id: string): boolean {
  if (event.kind === "user") return containsToken(event.text, id);
  return (
    event.kind === "call" &&
    event.outcome.kind === "ok" &&
    (listScalars(event.outcome.value).includes(id) || hasKey(event.outcome.value, id))
  );
}

const hasKey = (value: unknown, key: string): boolean =>
  value !== null &&
  typeof value === "object" &&
  (Object.hasOwn(value, key) || Object.values(value).some(it => hasKey(it, key)));

const word = /[\p{L}\p{N}_]+/gu;

/** An id as the transcript spells it. */
interface Spelling {
  readonly id: string;
  readonly text: string;
  /** Where its first word begins. */
  readonly lead: number;
}

/** By their first word, the longest first. */
function listSpellings(ids: Iterable<string>): ReadonlyMap<string, readonly Spelling[]> {
  const spellings = new Map<string, Spelling[]>();
  for (const id of ids)
    for (const text of new Set([id, JSON.stringify(id).slice(1, -1)].map(escapeInvisible))) {
      const first = text.matchAll(word).next().value;
      if (!first) continue;
      const own = spellings.get(first[0]);
      if (own) own.push({ id, text, lead: first.index });
      else spellings.set(first[0], [{ id, text, lead: first.index }]);
    }
  for (const it of spellings.values()) it.sort((a, b) => b.text.length - a.text.length);
  return spellings;
}

function findOccurrences(
  ids: Iterable<string>,
  events: readonly Event[],
  transcript: Transcript,
): readonly IdOccurrence[] {
  const spellings = listSpellings(ids);
  return transcript.text.split("\n").flatMap((text, line) => {
    const event = transcript.eventAt(line);
    const place =
      event === undefined
        ? "other"
        : getPlace(events[event]!, text, transcript.ranges[event]!.first === line);
    const found: IdOccurrence[] = [];
    let end = 0;
    for (const { 0: first, index } of text.matchAll(word)) {
      const spelling = spellings.get(first)?.find(it => isAt(text, it, index, end));
      if (!spelling) continue;
      const start = index - spelling.lead;
      end = start + spelling.text.length;
      const { id } = spelling;
      found.push({ id, line, start, end, place, ...(event === undefined ? {} : { event }) });
    }
    return found;
  });
}

/** Whether an id stands in a line as a whole, after the end of the id before it. */
function isAt(text: string, { text: own, lead }: Spelling, index: number, end: number): boolean {
  const start = index - lead;
  return (
    start >= end &&
    text.startsWith(own, start) &&
    !/^[\p{L}\p{N}_]/u.test(text.slice(start + own.length, start + own.length + 2))
  );
}

function getPlace(event: Event, text: string, isFirstLine: boolean): IdPlace {
  if (event.kind === "user" || event.kind === "assistant") return event.kind;
  if (event.kind === "ended") return "other";
  if (isFirstLine) return "argument";
  return isCallNote(text) ? "other" : "result";
}

interface IdDescription {
  /** Such as `banking.accounts.acc_101, after call 2 of 3`. */
  readonly title: string;
  /** The entity as JSON. */
  readonly code?: string;
}

/**
 * The entity as a call with the id in its arguments finds it; elsewhere as it is after the event,
 * or at the end.
 */
export function describeEntityAt(ids: TranscriptIds, occurrence: IdOccurrence): IdDescription {
  const { id, event, place } = occurrence;
  const { trajectory } = ids.attempt;
  const position =
    event === undefined ? trajectory.events.length : place === "argument" ? event : event + 1;
  const when = describePrefix(trajectory, countPrefix(trajectory.events, position));
  const isMadeUp = place === "argument" && !findIdSource(ids, occurrence);
  const note = isMadeUp ? "\nNeither the user nor a result has shown this id before." : "";
  const entity = findEntity(ids, occurrence, position);
  if (!entity) return { title: `${id}: not in the state, ${when}${note}` };
  return { title: `${entity.name}, ${when}${note}`, code: limitLines(entity.text) };
}

function findEntity(
  ids: TranscriptIds,
  occurrence: IdOccurrence,
  position: number,
): { readonly name: string; readonly text: string } | undefined {
  const state = getCursor(ids.attempt)?.at(position).state;
  if (!state) return undefined;
  const first = getServer(ids, occurrence);
  const servers = Object.keys(state).toSorted((a, b) => Number(b === first) - Number(a === first));
  for (const server of servers) {
    const { world } = state[server]!;
    const path = findEntityPath(world, occurrence.id, ids.kinds.get(occurrence.id));
    if (path)
      return {
        name: [server, ...path].join("."),
        text: JSON.stringify(getEntity(world, path), null, 2),
      };
  }
  return undefined;
}

const cursors = new WeakMap<ShownAttempt, TrajectoryCursor>();

/** The cursor of an attempt, which keeps the states; undefined if it cannot be replayed. */
function getCursor(attempt: ShownAttempt): TrajectoryCursor | undefined {
  try {
    const cursor =
      cursors.get(attempt) ?? new TrajectoryCursor(attempt.catalog, attempt.trajectory);
    cursors.set(attempt, cursor);
    return cursor;
  } catch (error) {
    // a fixture is missing: the transcript says so where its reward would be
    if (error instanceof UserError) return undefined;
    throw error;
  }
}

const maxLines = 40;

function limitLines(text: string): string {
  const lines = text.split("\n");
  return lines.length <= maxLines
    ? text
    : [...lines.slice(0, maxLines), `… ${lines.length - maxLines} more lines`].join("\n");
}
