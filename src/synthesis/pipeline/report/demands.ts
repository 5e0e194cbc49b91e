/**
 * Measures what tasks demand of a reader: where the values of the teacher's calls come from, how
 * many hits look-ups have, how long users speak, and whether rules decide anything. It reads the
 * tasks alone, not the tools.
 */
import { canonicalJson, isJsonObject } from "../../../environment/json.ts";
import type { Task } from "../../../trajectory/task.ts";
import { getCallValue, type CallEvent } from "../../../trajectory/trajectory.ts";
import {
  containsToken,
  listScalars,
  normalizeText,
  type Scalar,
} from "../../../trajectory/valueMatching.ts";

/** Shares, except for the number of words. */
export interface TaskDemands {
  /**
   * Shares of the plain values in the arguments of goal calls, by the first that applies: the user
   * has said the value as it is; an earlier result or call has it; it is a date, a time, a flag, a
   * word of a fixed set, or a text that the user has said in other letters or order; or none of
   * these, so that it was computed or inferred. A day that nobody has named by its number in the
   * month, such as "a week from Friday", is computed.
   */
  readonly verbatim: number;
  readonly lookedUp: number;
  readonly normalized: number;
  readonly computed: number;
  /** Turns with three or more writes. */
  readonly turnsWithThreeWrites: number;
  /** Look-ups with arguments, by the rows of their list: one, several or none. */
  readonly oneHit: number;
  readonly severalHits: number;
  readonly noHit: number;
  /** Words of a user turn. */
  readonly wordsPerTurn: number;
  /** Tasks with a turn of 25 words or more. */
  readonly longTurns: number;
  /** Turns with a day that depends on today, such as "tomorrow" or "next Friday". */
  readonly relativeDates: number;
  /** Tasks with a policy that wants a call confirmed or proven, or forbids one. */
  readonly decidingPolicy: number;
  /** The same among the normal tasks, and those in which the policy decides the outcome. */
  readonly normalDecided: number;
  readonly normalOutcomes: number;
  /** Normal tasks by their difficulty. */
  readonly easy: number;
  readonly medium: number;
  readonly hard: number;
}

/**
 * How the rules of a task matter. `forbids`: a request is refused; `unproven`: it is refused
 * because the user does not say what a rule accepts; `alternative`: the user gets what they want in
 * that case; `proven`: the user says what a rule wants to know; `confirm`: a call is confirmed;
 * `kept`: not at all.
 */
export type PolicyEffect = "forbids" | "unproven" | "alternative" | "proven" | "confirm" | "kept";

const outcomes: readonly unknown[] = ["forbids", "unproven", "alternative", "proven"];

/** Whether an effect is more than that the user is asked for a yes. */
export const decidesOutcome = (effect: unknown): boolean => outcomes.includes(effect);

export const difficulties = ["easy", "medium", "hard"] as const;

/** How much a task asks of a model. */
export type Difficulty = (typeof difficulties)[number];

type Source = "verbatim" | "lookedUp" | "normalized" | "computed";
type Hits = "oneHit" | "severalHits" | "noHit";

const relativeDate =
  /\b(?:today|tonight|tomorrow|yesterday|(?:next|this|last|coming) (?:\w+day|week|month|weekend)|(?:in|within) (?:\w+) (?:days?|weeks?|months?)|(?:days?|weeks?|months?) (?:ago|from (?:now|\w+day)|later|earlier)|\w+day next week)\b/i;

const month =
  "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:tember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const dayOfMonth = String.raw`(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? ${month}|${month} \d{1,2}|\d{4}-\d{2}-\d{2})`;
const plainDates = new RegExp(String.raw`\b${dayOfMonth}\b`, "gi");

export class DemandCounts {
  #tasks = 0;
  #turns = 0;
  #words = 0;
  #relative = 0;
  #long = 0;
  #threeWrites = 0;
  #deciding = 0;
  #normal = 0;
  #normalDeciding = 0;
  #outcomes = 0;
  readonly #sources: Record<Source, number> = {
    verbatim: 0,
    lookedUp: 0,
    normalized: 0,
    computed: 0,
  };
  readonly #hits: Record<Hits, number> = { oneHit: 0, severalHits: 0, noHit: 0 };
  readonly #difficulties: Record<Difficulty, number> = { easy: 0, medium: 0, hard: 0 };

  add(task: Task): void {
    if (task.kind === "normal") this.#difficulties[DemandCounts.measureDifficulty(task)]++;
    this.#add(task);
  }

  /**
   * The difficulty of a task, by how many of these hold: five calls or more; nine or more; two
   * look-ups or more; a look-up with several hits or none; a value that is computed or inferred; a
   * turn with three writes or more; a policy that decides; several servers; something that the
   * assistant has to recover from.
   */
  static measureDifficulty(task: Task): Difficulty {
    const own = new DemandCounts();
    own.#add(task);
    const calls = task.goals.flatMap(it => it.calls);
    const points = [
      calls.length >= 5,
      calls.length >= 9,
      calls.filter(it => it.for !== undefined).length >= 2,
      own.#hits.severalHits + own.#hits.noHit > 0,
      own.#sources.computed > 0,
      own.#threeWrites > 0,
      own.#deciding > 0,
      task.servers.filter(({ name }) => calls.some(it => it.name.startsWith(`${name}_`))).length >
        1,
      task.knobs["recovery"] !== undefined,
    ].filter(Boolean).length;
    return points < 2 ? "easy" : points < 4 ? "medium" : "hard";
  }

  #add(task: Task): void {
    const { turns, goals, knobs } = task;
    this.#tasks++;
    if (turns.some(it => countWords(it.user) >= 25)) this.#long++;
    const { policy } = knobs;
    const isDeciding = decidesOutcome(policy) || policy === "confirm";
    if (isDeciding) this.#deciding++;
    if (task.kind === "normal") {
      this.#normal++;
      if (isDeciding) this.#normalDeciding++;
      if (decidesOutcome(policy)) this.#outcomes++;
    }
    for (const [i, { user }] of turns.entries()) {
      this.#turns++;
      this.#words += countWords(user);
      if (relativeDate.test(user)) this.#relative++;
      const writes = goals
        .filter(it => it.turn === i)
        .flatMap(it => it.calls.filter(call => call.for === undefined));
      if (writes.length > 2) this.#threeWrites++;
    }
    this.#addCalls(task);
  }

  #addCalls({ goals, trajectory }: Task): void {
    const wanted = goals.flatMap(it => it.calls);
    const calls = new Map(wanted.map(it => [formatCall(it), it]));
    let said = "";
    const seen = new Set<Scalar>();
    for (const it of trajectory?.events ?? []) {
      if (it.kind === "user") said += `\n${it.text.toLowerCase()}`;
      if (it.kind !== "call" || it.outcome.kind !== "ok") continue;
      const goal = calls.get(formatCall(it));
      if (goal) {
        for (const value of listScalars(it.arguments))
          this.#sources[findSource(value, said, seen)]++;
        if (goal.for !== undefined) this.#addHits(it);
      }
      for (const value of listScalars(it.arguments)) seen.add(value);
      for (const value of listScalars(getCallValue(it) ?? null)) seen.add(value);
    }
  }

  #addHits(call: CallEvent): void {
    const value = getCallValue(call) ?? null;
    const keys = Object.keys(call.arguments as object).filter(it => it !== "limit");
    if (keys.length === 0 || !isJsonObject(value)) return;
    const { total } = value;
    // all lists have it, and a single thing with a list of its own has not
    if (typeof total !== "number") return;
    this.#hits[total === 0 ? "noHit" : total === 1 ? "oneHit" : "severalHits"]++;
  }

  measure(): TaskDemands {
    return {
      ...toShares(this.#sources),
      turnsWithThreeWrites: divide(this.#threeWrites, this.#turns),
      ...toShares(this.#hits),
      wordsPerTurn: divide(this.#words, this.#turns),
      longTurns: divide(this.#long, this.#tasks),
      relativeDates: divide(this.#relative, this.#turns),
      decidingPolicy: divide(this.#deciding, this.#tasks),
      normalDecided: divide(this.#normalDeciding, this.#normal),
      normalOutcomes: divide(this.#outcomes, this.#normal),
      ...toShares(this.#difficulties),
    };
  }
}

const countWords = (text: string): number => text.split(/\s+/).filter(it => it !== "").length;

const formatCall = ({ name, arguments: args }: Pick<CallEvent, "name" | "arguments">): string =>
  `${name} ${canonicalJson(args)}`;

function findSource(value: Scalar, said: string, seen: ReadonlySet<Scalar>): Source {
  const own = String(value).toLowerCase();
  const texts = typeof value === "number" ? [own, value.toFixed(2)] : [own];
  if (typeof value !== "boolean" && texts.some(it => containsToken(said, it))) return "verbatim";
  if (typeof value !== "boolean" && seen.has(value)) return "lookedUp";
  if (typeof value === "boolean") return "normalized";
  if (typeof value === "number") return "computed";
  const day = value.match(/^\d{4}-\d{2}-(\d{2})/)?.[1];
  if (day !== undefined && !namesDay(said, Number(day))) return "computed";
  const isFixed = /^[a-z][a-z_]*$/.test(value) || /^\d{4}-\d{2}|^\d{2}:\d{2}$/.test(value);
  const heard = new Set(normalizeText(said).split(" "));
  return isFixed ||
    normalizeText(value)
      .split(" ")
      .every(it => heard.has(it))
    ? "normalized"
    : "computed";
}

/** Whether the user has named a day by its number in a month. */
const namesDay = (said: string, day: number): boolean =>
  (said.match(plainDates) ?? []).some(it => it.match(/\d+/g)?.some(n => Number(n) === day));

function toShares<K extends string>(counts: Readonly<Record<K, number>>): Record<K, number> {
  const values = Object.entries<number>(counts);
  const all = values.reduce((sum, [, n]) => sum + n, 0);
  return Object.fromEntries(values.map(([key, n]) => [key, divide(n, all)])) as Record<K, number>;
}

const divide = (part: number, whole: number): number =>
  whole === 0 ? 0 : Math.round((part / whole) * 10_000) / 10_000;
