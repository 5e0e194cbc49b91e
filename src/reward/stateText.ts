/**
 * Formats a world as text that is equal for equal worlds, whatever ids and times were generated. A
 * generated id gets a name that depends on the records that contain it, so that two worlds can be
 * compared without knowing which call created what: two sessions that make different calls
 * generate different ids for the same entity.
 */
import { computeDigest } from "../environment/digest.ts";
import type { Json } from "../environment/json.ts";
import type { ServerState, State } from "../environment/state.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import { listCalls } from "../trajectory/trajectory.ts";
import { listTextAliases } from "./freeText.ts";

/** What stands for the texts of one world, so that it can be compared with another. */
export interface TextNames {
  /** A name for each generated id. Equal names in two worlds mean the same entity. */
  readonly ids: ReadonlyMap<string, string>;
  /** Free texts, with what replaces them wherever they occur. */
  readonly aliases: ReadonlyMap<string, string>;
}

export const noNames: TextNames = { ids: new Map(), aliases: new Map() };

/**
 * Names the generated ids of a state: those that are neither in the start state nor mentioned by a
 * user or a goal. `aliases` are free texts with what replaces them.
 */
export function nameTexts(
  start: State,
  end: State,
  mentionedWords: ReadonlySet<string>,
  aliases: TextNames["aliases"],
): TextNames {
  const ids = new Map<string, string>();
  const names = { ids, aliases };
  const contexts: (IdContext & { times: ReadonlySet<string> })[] = [];
  const before = Object.values(start).map(it => findIds(it.world));
  for (const [server, { world, clock }] of Object.entries(end)) {
    const times = listMinutes(start[server]?.clock ?? clock, clock, mentionedWords);
    visitIds(world, start[server]?.world, [server], context => {
      if (mentionedWords.has(context.id) || before.some(it => it.has(context.id))) return;
      ids.set(context.id, getPrefix(context.id));
      contexts.push({ ...context, times });
    });
  }
  // each round includes references that are one step further away; names are stable once their
  // number no longer grows
  for (let nameCount = 0, round = 0; round < ids.size; round++) {
    const textsById = new Map<string, string[]>();
    for (const { id, path, role, holds, times } of contexts) {
      const texts = textsById.get(id) ?? textsById.set(id, []).get(id)!;
      texts.push(
        `${role} ${path.map(it => replaceTexts(it, names)).join("/")} ${formatCanonical(holds, names, times)}`,
      );
    }
    for (const [id, texts] of textsById)
      ids.set(id, `${getPrefix(id)}#${computeDigest(Object.freeze(texts.toSorted()))}`);
    const distinctCount = new Set(ids.values()).size;
    if (distinctCount === nameCount) break;
    nameCount = distinctCount;
  }
  return names;
}

const knownIds = new WeakMap<object, ReadonlySet<string>>();

/** The ids in a world. Cached, because many attempts start from the same world. */
function findIds(world: object): ReadonlySet<string> {
  let ids = knownIds.get(world);
  if (!ids) {
    const worldIds = new Set<string>();
    visitIds(world as Json, undefined, [], it => worldIds.add(it.id));
    knownIds.set(world, (ids = worldIds));
  }
  return ids;
}

/** Free texts of fewer characters may be part of other texts by chance. */
const minPartLength = 8;

/** Replaces the generated ids and the free texts in a text. */
export function replaceTexts(text: string, { ids, aliases }: TextNames): string {
  let replaced = aliases.get(text) ?? text;
  for (const [alias, goalText] of aliases)
    if (alias.length >= minPartLength && replaced !== goalText)
      replaced = replaced.replaceAll(alias, () => goalText);
  return replaced.replaceAll(idPattern, it => ids.get(it) ?? it);
}

/** Formats a world: ids by their names, generated times left out, keys sorted. */
export function formatWorld(
  state: ServerState,
  start: ServerState,
  names: TextNames,
  mentionedWords: ReadonlySet<string>,
): string {
  return formatCanonical(
    state.world,
    names,
    listMinutes(start.clock, state.clock, mentionedWords),
    start.world,
  );
}

const idPattern = /\b[A-Za-z]\w*_\d{4,}\b/g;

/** The part of an id that says what it identifies: `txn` of `txn_1098`. */
export const getPrefix = (id: string) => id.slice(0, id.lastIndexOf("_"));

interface IdContext {
  readonly id: string;
  readonly path: readonly string[];
  /** Whether the id is the key of `holds` or is mentioned in it. */
  readonly role: "key" | "mention";
  /** The value under the key, or the object or array that mentions it. */
  readonly holds: Json;
}

/** Visits each id in a value, except in parts that are unchanged since `start`. */
function visitIds(
  value: Json | undefined,
  start: Json | undefined,
  path: readonly string[],
  visit: (context: IdContext) => void,
  holder?: Json,
): void {
  if (typeof value === "string") {
    for (const id of value.match(idPattern) ?? [])
      visit({ id, path, role: "mention", holds: holder ?? value });
    return;
  }
  if (
    value === undefined ||
    value === null ||
    typeof value !== "object" ||
    isUnchanged(value, start)
  )
    return;
  for (const [key, it] of Object.entries<Json>(value)) {
    for (const id of key.match(idPattern) ?? []) visit({ id, path, role: "key", holds: it });
    visitIds(it, getChild(start, key), [...path, Array.isArray(value) ? "*" : key], visit, value);
  }
}

/**
 * Canonical text, with `=` for parts that are unchanged since `start`. The items of a list are
 * sorted: their order is that of the calls, and independent goals may run in any order. No world
 * has a list whose order a user asks for.
 */
export function formatCanonical(
  value: Json,
  names: TextNames,
  times: ReadonlySet<string>,
  start?: Json,
): string {
  if (typeof value === "string")
    return times.has(value) ? "time" : JSON.stringify(replaceTexts(value, names));
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (isUnchanged(value, start)) return "=";
  if (Array.isArray(value)) {
    // without the start: an item that was put back stands at another place
    const texts = (value as readonly Json[]).map(it => formatCanonical(it, names, times));
    return `[${texts.toSorted().join(",")}]`;
  }
  const entries = Object.entries(value).map(
    ([key, it]) =>
      `${JSON.stringify(replaceTexts(key, names))}:${formatCanonical(it, names, times, getChild(start, key))}`,
  );
  return `{${entries.toSorted().join(",")}}`;
}

/** Cheap, because states share the parts that no call has changed and cache their digests. */
export const isUnchanged = (value: object, start: Json | undefined): boolean =>
  value === start ||
  (start !== null && typeof start === "object" && computeDigest(value) === computeDigest(start));

function getChild(value: Json | undefined, key: string): Json | undefined {
  if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, Json>)[key];
}

/** The minutes of a session, except those that a user or a goal mentions. */
export function listMinutes(
  from: string,
  to: string,
  mentionedWords: ReadonlySet<string>,
): ReadonlySet<string> {
  const times = new Set<string>();
  for (let at = Date.parse(`${from}:00Z`); at <= Date.parse(`${to}:00Z`); at += 60_000) {
    const minute = new Date(at).toISOString().slice(0, 16);
    if (!mentionedWords.has(minute)) times.add(minute);
  }
  return times;
}

/** What stands for the texts of the goals' state and of the attempt's final state. */
interface StateNames {
  readonly goal: TextNames;
  readonly reached: TextNames;
}

const namesByAttempt = new WeakMap<Attempt, StateNames>();

/** Cached, because many attempts share a task. */
const goalNamesByTask = new WeakMap<Task, TextNames>();
const mentionedWordsByTask = new WeakMap<Task, ReadonlySet<string>>();

/** The names of an attempt; none if it ends in the goals' state. */
export function getStateNames(attempt: Attempt): StateNames {
  let names = namesByAttempt.get(attempt);
  if (!names) namesByAttempt.set(attempt, (names = nameStates(attempt)));
  return names;
}

function nameStates({ task, trajectory, states }: Attempt): StateNames {
  const { start, goal, final } = states;
  if (computeDigest(goal) === computeDigest(final)) return { goal: noNames, reached: noNames };
  const mentionedWords = listMentionedWords(task);
  let goalNames = goalNamesByTask.get(task);
  if (!goalNames) {
    goalNames = nameTexts(start, goal, mentionedWords, noNames.aliases);
    goalNamesByTask.set(task, goalNames);
  }
  return {
    goal: goalNames,
    reached: nameTexts(start, final, mentionedWords, listTextAliases(task, listCalls(trajectory))),
  };
}

/** The goals' ids by those of the attempt, where they differ. */
export function listIdAliases(attempt: Attempt): ReadonlyMap<string, string> {
  const { goal, reached } = getStateNames(attempt);
  const goalIds = new Map([...goal.ids].map(([id, name]) => [name, id]));
  return new Map(
    [...reached.ids].flatMap(([id, name]): [string, string][] => {
      const goalId = goalIds.get(name);
      return goalId === undefined || goalId === id ? [] : [[id, goalId]];
    }),
  );
}

/**
 * The words of the user and the times in goals. They were not generated by a call, even if they
 * look like it; ids in the arguments of goals may have been.
 */
export function listMentionedWords(task: Task): ReadonlySet<string> {
  let words = mentionedWordsByTask.get(task);
  if (!words) mentionedWordsByTask.set(task, (words = findMentionedWords(task)));
  return words;
}

function findMentionedWords(task: Task): ReadonlySet<string> {
  const words = task.turns.flatMap(it => it.user.match(/[\w:-]+/g) ?? []);
  const times: string[] = [];
  const collect = (value: Json): void => {
    if (typeof value === "string") {
      if (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(value)) times.push(value);
    } else if (value !== null && typeof value === "object") Object.values(value).forEach(collect);
  };
  for (const goal of task.goals) for (const call of goal.calls) collect(call.arguments);
  return new Set([...words, ...times]);
}
