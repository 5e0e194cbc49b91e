/**
 * What the calls of an attempt do to the state, compared with what the goals do: which writes of
 * the goals were not done when they were due, which call did what a goal asks for, and which writes
 * changed something else or were undone. A place is an entity in a collection of a server's world;
 * in a tree of files it is a file or a folder.
 */
import { computeDigest } from "../environment/digest.ts";
import type { Json } from "../environment/json.ts";
import type { State } from "../environment/state.ts";
import type { Attempt, GoalStep, Step } from "../trajectory/attempt.ts";
import { countDueCalls, countGivenCalls } from "../trajectory/oneTurn.ts";
import { findDueTurn } from "../trajectory/task.ts";
import { listCalls } from "../trajectory/trajectory.ts";
import { listTextAliases } from "./freeText.ts";
import {
  formatCanonical,
  listMentionedWords,
  listMinutes,
  nameTexts,
  noNames,
  replaceTexts,
  type TextNames,
} from "./stateText.ts";

// Places.

/** The keys of an entity, after the server's: a collection and an id. */
interface Place {
  readonly server: string;
  readonly keys: readonly string[];
}

/** The key of a folder's files and folders, which are entities of their own. */
const entriesKey = "entries";

/** The places that a step changed. Counters that are no part of a world are none. */
function listPlaces({ patches, after }: Step): Place[] {
  const places = new Map<string, Place>();
  for (const { path } of patches) {
    const [server, part, ...keys] = path.slice(1).split("/").map(unescapeKey);
    if (part !== "world") continue;
    const place = { server: server!, keys: keys.slice(0, countPlaceKeys(after, server!, keys)) };
    places.set(formatPlace(place), place);
  }
  return [...places.values()];
}

function countPlaceKeys(state: State, server: string, keys: readonly string[]): number {
  if (Array.isArray(getValue(state, { server, keys: keys.slice(0, 1) }))) return 1;
  const entries = keys.lastIndexOf(entriesKey, keys.length - 2);
  return entries > 0 ? entries + 2 : 2;
}

const unescapeKey = (key: string) => key.replaceAll("~1", "/").replaceAll("~0", "~");

const formatPlace = ({ server, keys }: Place) => JSON.stringify([server, ...keys]);

function getValue(state: State, { server, keys }: Place): Json | undefined {
  let value: Json | undefined = state[server]?.world;
  for (const key of keys) value = getChild(value, key);
  return value;
}

function getChild(value: Json | undefined, key: string): Json | undefined {
  if (!isObject(value)) return undefined;
  if (Array.isArray(value)) return value.find(it => formatRow(it) === key);
  return Object.hasOwn(value, key) ? (value as Readonly<Record<string, Json>>)[key] : undefined;
}

/** The key of a row in a list, which is what it holds. */
const formatRow = (row: Json) => JSON.stringify(row);

const areSame = (one: Json | undefined, other: Json | undefined): boolean =>
  isObject(one) && isObject(other) ? computeDigest(one) === computeDigest(other) : one === other;

const isObject = (value: Json | undefined): value is Json & object =>
  value !== null && typeof value === "object";

// States of the goals and of the attempt, compared place by place.

/** A state with what stands for its generated ids and free texts, and its generated times. */
interface View {
  readonly state: State;
  readonly names: TextNames;
  readonly listTimes: (server: string) => ReadonlySet<string>;
}

function createView({ task, states }: Attempt, state: State, aliases: TextNames["aliases"]): View {
  const words = listMentionedWords(task);
  return {
    state,
    names: nameTexts(states.start, state, words, aliases),
    listTimes: it => listMinutes(states.start[it]!.clock, state[it]!.clock, words),
  };
}

/** Views of the states after goal calls, which attempts at the task share. */
const goalViews = new WeakMap<GoalStep, View>();

function getGoalView(attempt: Attempt, step: GoalStep): View {
  let view = goalViews.get(step);
  if (!view) goalViews.set(step, (view = createView(attempt, step.after, noNames.aliases)));
  return view;
}

/** A state of an attempt, which may have what goal calls lead to. */
class ReachedState {
  readonly #attempt: Attempt;
  readonly #state: State;
  #view: View | undefined;

  constructor(attempt: Attempt, state: State) {
    this.#attempt = attempt;
    this.#state = state;
  }

  /**
   * The places that a goal call changed, where this state has them; undefined if one of them is
   * neither as that call left it nor as a later goal call did.
   */
  findEffect(index: number): Place[] | undefined {
    const { goalSteps } = this.#attempt;
    const found = listPlaces(goalSteps[index]!).map(place => {
      const later = goalSteps.slice(index);
      return later.some(it => areSame(getValue(it.after, place), getValue(this.#state, place)))
        ? place
        : later.map(it => this.#findPlace(place, it)).find(it => it !== undefined);
    });
    return found.includes(undefined) ? undefined : (found as Place[]);
  }

  /** The place that stands for a place after a goal call, if it holds the same. */
  #findPlace(place: Place, step: GoalStep): Place | undefined {
    const { server } = place;
    const value = getValue(step.after, place);
    const own = this.#translate(place, step);
    if (!own) return value === undefined ? place : undefined;
    const ownValue = getValue(this.#state, own);
    if (value === undefined || ownValue === undefined) return undefined;
    const [goals, reached] = [getGoalView(this.#attempt, step), this.#getView()];
    const isSame =
      formatCanonical(value, goals.names, goals.listTimes(server)) ===
      formatCanonical(ownValue, reached.names, reached.listTimes(server));
    return isSame ? own : undefined;
  }

  /** The place with the same names; undefined if there is none. */
  #translate({ server, keys }: Place, step: GoalStep): Place | undefined {
    const { names } = getGoalView(this.#attempt, step);
    const reached = this.#getView();
    let value: Json | undefined = this.#state[server]!.world;
    const own: string[] = [];
    for (const key of keys) {
      const name = replaceTexts(key, names);
      const found: string | undefined =
        isObject(value) && !Array.isArray(value)
          ? name === key && Object.hasOwn(value, key)
            ? key
            : Object.keys(value).find(it => replaceTexts(it, reached.names) === name)
          : undefined;
      if (found === undefined) return undefined;
      own.push(found);
      value = getChild(value, found);
    }
    return { server, keys: own };
  }

  #getView(): View {
    const { task, trajectory } = this.#attempt;
    return (this.#view ??= createView(
      this.#attempt,
      this.#state,
      listTextAliases(task, listCalls(trajectory)),
    ));
  }
}

/** The states of an attempt at the ends of turns. */
const reachedStates = new WeakMap<Attempt, Map<number, ReachedState>>();

/** The state after the first calls of an attempt. */
function getReachedState(attempt: Attempt, callCount: number): ReachedState {
  let states = reachedStates.get(attempt);
  if (!states) reachedStates.set(attempt, (states = new Map()));
  let reached = states.get(callCount);
  if (!reached) {
    const state =
      callCount === 0 ? attempt.states.start : attempt.listSteps()[callCount - 1]!.after;
    states.set(callCount, (reached = new ReachedState(attempt, state)));
  }
  return reached;
}

/** The position of the first call after the turn in which a goal is due. */
const findDueEnd = ({ task, trajectory }: Attempt, goal: number): number =>
  countDueCalls(task, trajectory.events, task.goals[goal]!.turn);

// What the goals ask for.

/**
 * Finds the goals' writes whose effect was not in the state at the end of the turn in which they
 * were due. What is due in the last turn is compared through the final state.
 */
export function findLateWrites(attempt: Attempt): GoalStep[] {
  const { task, goalSteps } = attempt;
  const last = task.turns.length - 1;
  return goalSteps.filter(
    ({ goal, patches }, i) =>
      patches.length > 0 &&
      findDueTurn(task, task.goals[goal]!.turn) < last &&
      !getReachedState(attempt, findDueEnd(attempt, goal)).findEffect(i),
  );
}

/**
 * Finds the call that did what a goal call asks for, if its effect is in the state when it is due.
 * A call that is marked as required must be made itself.
 */
export function findMaker(attempt: Attempt, goal: number, part: number): number | undefined {
  const { task, goalSteps } = attempt;
  const index = goalSteps.findIndex(it => it.goal === goal && it.part === part);
  if (task.goals[goal]!.calls[part]!.required || goalSteps[index]!.patches.length === 0)
    return undefined;
  const end = findDueEnd(attempt, goal);
  const places = getReachedState(attempt, end).findEffect(index);
  if (!places || places.length === 0) return undefined;
  const wanted = new Set(places.map(formatPlace));
  const maker = attempt
    .listSteps()
    .slice(0, end)
    .findLastIndex(it => listPlaces(it).some(place => wanted.has(formatPlace(place))));
  return maker < 0 ? undefined : maker;
}

// Other writes.

/** Whether a call is a write that the server accepted. */
export const isAcceptedWrite = (
  { name, outcome }: { readonly name: string; readonly outcome: { readonly kind: string } },
  tools: Attempt["tools"],
): boolean => outcome.kind === "ok" && tools.get(name)?.effect === "write";

/** Where an assistant stands, which is nothing that a user asks for. */
const navigation = formatPlace({ server: "filesystem", keys: ["cwd"] });

/**
 * Lists the calls of the attempt itself that changed something, without those that only moved to
 * another folder and those of a tool that an earlier refusal named as the way.
 */
function listWrites(attempt: Attempt): { readonly call: number; readonly places: Place[] }[] {
  const calls = listCalls(attempt.trajectory);
  const steps = attempt.listSteps();
  const writes: { call: number; places: Place[] }[] = [];
  let hints = "";
  for (let call = countGivenCalls(attempt.trajectory); call < calls.length; call++) {
    const { name, outcome } = calls[call]!;
    if (outcome.kind !== "ok") hints += ` ${outcome.message ?? ""} ${outcome.hint ?? ""}`;
    else if (!hints.includes(name)) {
      const places = listPlaces(steps[call]!).filter(it => formatPlace(it) !== navigation);
      if (places.length > 0) writes.push({ call, places });
    }
  }
  return writes;
}

/** The calls that changed an entity that no goal changes, whether that was undone or not. */
export function findOtherWrites(attempt: Attempt): number[] {
  const { goalSteps, states } = attempt;
  const steps = attempt.listSteps();
  const listEntities = (places: readonly Place[], all: readonly Step[], index: number) =>
    places
      .flatMap(it => divide(it, all[index - 1]?.after ?? states.start, all[index]!.after))
      .map(it => generalize(it, states.start));
  const wanted = goalSteps.flatMap((it, i) => listEntities(listPlaces(it), goalSteps, i));
  return listWrites(attempt).flatMap(({ call, places }) =>
    listEntities(places, steps, call).every(own => wanted.some(it => areNested(it, own)))
      ? []
      : [call],
  );
}

/** The keys of an entity in what is observed of a server that runs elsewhere: a file has them. */
const observedKeys = 4;

/**
 * What differs in a place between two states. On a server that runs elsewhere, a place is a file
 * or the result of a read, which is divided into its entities: the values of objects, and rows.
 */
function divide(place: Place, before: State, after: State): Place[] {
  const { server, keys } = place;
  if (before[server]?.history === undefined) return [place];
  const [old, now] = [getValue(before, place), getValue(after, place)];
  const join = (key: string): Place => ({ server, keys: [...keys, key] });
  if (Array.isArray(old) && Array.isArray(now)) {
    const [oldRows, rows] = [new Set(old.map(formatRow)), new Set(now.map(formatRow))];
    const removed = [...oldRows].filter(it => !rows.has(it));
    return [...removed, ...[...rows].filter(it => !oldRows.has(it))].map(join);
  }
  const isWhole = [old, now].some(it => !isObject(it) || Array.isArray(it));
  if (isWhole || keys.length >= observedKeys) return [place];
  return Array.from(new Set([old, now].flatMap(it => Object.keys(it!))), join)
    .filter(it => !areSame(getValue(before, it), getValue(after, it)))
    .flatMap(it => divide(it, before, after));
}

/**
 * The place, with one key for all entities that were not there at the start; in a list, for all
 * rows with the same keys, because a file may have rows of several kinds.
 */
function generalize({ server, keys }: Place, start: State): Place {
  const known = keys.findIndex(
    (_, i) => getValue(start, { server, keys: keys.slice(0, i + 1) }) === undefined,
  );
  if (known < 0) return { server, keys };
  const shared = keys.slice(0, known);
  const isRow = Array.isArray(getValue(start, { server, keys: shared }));
  const row = isRow ? (JSON.parse(keys[known]!) as Json) : null;
  return { server, keys: [...shared, isObject(row) ? `* ${Object.keys(row).join(" ")}` : "*"] };
}

const areNested = (one: Place, other: Place): boolean =>
  one.server === other.server &&
  one.keys.slice(0, other.keys.length).every((it, i) => it === other.keys[i]);

/**
 * Counts the writes that a later write undid, of the first calls. `serving` are the calls that
 * serve a goal, which are none of them.
 */
export function countUndoneWrites(
  attempt: Attempt,
  serving: ReadonlySet<number>,
  callCount: number,
): number {
  const writes = listWrites(attempt).filter(it => it.call < callCount);
  const steps = attempt.listSteps();
  return writes.filter(({ call, places }, i) => {
    if (serving.has(call)) return false;
    const before = call === 0 ? attempt.states.start : steps[call - 1]!.after;
    return writes
      .slice(i + 1)
      .some(later =>
        places.every(it => areSame(getValue(before, it), getValue(steps[later.call]!.after, it))),
      );
  }).length;
}
