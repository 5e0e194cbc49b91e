/**
 * What the conversation of an attempt has shown so far, for judging statements: the values of
 * results, arguments, refusals and rules, and of what the user said.
 */
import { isJsonObject, type Json } from "../environment/json.ts";
import { addDays } from "../environment/time.ts";
import type { Fact, Task } from "../trajectory/task.ts";
import type { Event } from "../trajectory/trajectory.ts";
import {
  foldWords,
  isRounded,
  listSpokenValues,
  toMinutes,
  type SpokenValue,
} from "./spokenValues.ts";

/** The plain values of a JSON value that statements may be about. */
interface ShownValues {
  readonly numbers: ReadonlySet<number>;
  readonly days: ReadonlySet<string>;
  readonly times: ReadonlySet<number>;
  readonly durations: ReadonlySet<number>;
  /** For each field, its plain values with the texts around them. */
  readonly fields: ReadonlyMap<string, readonly FieldValue[]>;
  /** The numbers of each object with plain numbers. */
  readonly rows: readonly (readonly number[])[];
  /** The parts with digits of its texts, in lower case. */
  readonly codes: ReadonlySet<string>;
}

interface FieldValue {
  readonly value: string | number;
  /** The texts of the object that it is in, and of those around it. */
  readonly around: readonly string[];
}

const shownValues = new WeakMap<object, ShownValues>();

export class KnownValues {
  readonly #now: string;
  readonly #numbers = new Set<number>();
  readonly #days = new Set<string>();
  readonly #times = new Set<number>();
  readonly #durations = new Set<number>();
  readonly #said = new Set<number>();
  readonly #saidDays = new Set<string>();
  readonly #saidTimes = new Set<number>();
  readonly #saidCodes = new Set<string>();
  readonly #codes = new Set<string>();
  readonly #shown: ShownValues[] = [];
  #computed = 0;
  #sorted: readonly number[] | undefined;

  constructor({ policy }: Task, now: string) {
    this.#now = now;
    this.#days.add(now.slice(0, 10));
    for (const { text, because } of policy?.rules ?? [])
      this.#readText(`${text} ${because}`, false);
    for (const it of policy?.page?.split("\n") ?? []) this.#readText(it, false);
  }

  readEvent(event: Event): void {
    if (event.kind === "user") this.#readText(event.text, true);
    if (event.kind !== "call") return;
    this.#readValue(event.arguments);
    if (event.outcome.kind === "ok") this.#readValue(event.outcome.value);
    else this.#readText(event.outcome.message ?? "", false);
  }

  /** Whether the user said a value. */
  isSaid({ numbers, days, times }: SpokenValue): boolean {
    return (
      numbers.some(it => this.#said.has(it)) ||
      days.some(it => this.#saidDays.has(it)) ||
      times.some(it => this.#saidTimes.has(it))
    );
  }

  /** Whether the user said an id. */
  isSaidCode(code: string): boolean {
    return listCodeParts(code).every(it => this.#saidCodes.has(it));
  }

  /**
   * Whether something shows a value, or it follows from what is shown: rounded, as a part of a day,
   * or as a sum, difference, product or share of shown values.
   */
  supports({ numbers, days, times, durations }: SpokenValue): boolean {
    return (
      days.some(it => this.#hasDay(it)) ||
      times.some(it => this.#times.has(it) || this.#isTimeLater(it)) ||
      durations.some(it => this.#durations.has(it) || this.#isTimeDifference(it)) ||
      numbers.some(it => this.#hasNumber(it) || this.#isComputed(it))
    );
  }

  /** Whether a number was shown for what a fact is about, as before or after another write. */
  isShownFor({ numbers }: SpokenValue, { entity, field }: Fact): boolean {
    return this.#shown.some(({ fields }) =>
      fields
        .get(field ?? "")
        ?.some(
          ({ value, around }) =>
            typeof value === "number" &&
            numbers.includes(Math.abs(value)) &&
            around.includes(entity ?? ""),
        ),
    );
  }

  /**
   * The name of what a value belongs to if it is the same field of something else than is due, and
   * the text does not name that: "the balance is 320" where 320 is on another account.
   */
  findOtherOwner(
    { numbers, days, times }: SpokenValue,
    { field, entity }: Fact,
    words: string,
  ): string | undefined {
    // a value that other fields have, too, may be meant in their sense
    let owner: string | undefined;
    for (const { fields } of this.#shown)
      for (const [name, values] of fields)
        for (const { value, around } of values) {
          const isMeant =
            typeof value === "number"
              ? numbers.includes(Math.abs(value))
              : days.some(it => value.startsWith(it)) && times.length === 0;
          if (!isMeant) continue;
          if (name !== field || (entity !== undefined && around.includes(entity))) return undefined;
          const isNamed = around.some(it => it.length > 2 && words.includes(` ${foldWords(it)} `));
          if (isNamed) return undefined;
          owner ??= around.find(it => it !== String(value)) ?? "something else";
        }
    return owner;
  }

  /** The texts of a field. */
  listTexts(field: string | undefined): string[] {
    return this.#shown.flatMap(({ fields }) =>
      [...fields].flatMap(([name, values]) =>
        field === undefined || name === field
          ? values.flatMap(it => (typeof it.value === "string" ? [it.value] : []))
          : [],
      ),
    );
  }

  /** Whether an id or another word with digits was shown or said. */
  hasCode(code: string): boolean {
    return listCodeParts(code).every(
      it => this.#codes.has(it) || this.#numbers.has(Number(it.replaceAll(/\D/g, ""))),
    );
  }

  #readText(text: string, isSaid: boolean): void {
    // of what the user says, words for numbers and days count, too
    if (!isSaid && !/\d/.test(text)) return;
    for (const it of listCodeParts(text)) {
      this.#codes.add(it);
      if (isSaid) this.#saidCodes.add(it);
    }
    for (const { numbers, days, times, durations } of listSpokenValues(text, this.#now)) {
      for (const it of numbers) this.#numbers.add(it);
      for (const it of days) this.#days.add(it);
      for (const it of times) this.#times.add(it);
      for (const it of durations) this.#durations.add(it);
      if (!isSaid) continue;
      for (const it of numbers) this.#said.add(it);
      for (const it of days) this.#saidDays.add(it);
      for (const it of times) this.#saidTimes.add(it);
    }
    this.#sorted = undefined;
  }

  #readValue(value: Json): void {
    if (value === null || typeof value !== "object") {
      if (typeof value === "number") this.#numbers.add(Math.abs(value));
      else if (typeof value === "string") this.#readText(value, false);
      return;
    }
    let shown = shownValues.get(value);
    if (!shown) shownValues.set(value, (shown = collectValues(value, this.#now)));
    this.#shown.push(shown);
    for (const it of shown.numbers) this.#numbers.add(it);
    for (const it of shown.days) this.#days.add(it);
    for (const it of shown.times) this.#times.add(it);
    for (const it of shown.durations) this.#durations.add(it);
    for (const it of shown.codes) this.#codes.add(it);
    this.#sorted = undefined;
  }

  #hasDay(day: string): boolean {
    if (this.#days.has(day)) return true;
    if (day.length === 7) return [...this.#days].some(it => it.startsWith(day));
    // so many days or nights after a day that was shown
    const spans = this.#shown.flatMap(({ fields }) =>
      [...fields].flatMap(([name, values]) =>
        /day|night|week/.test(name)
          ? values.flatMap(it => (typeof it.value === "number" ? [it.value] : []))
          : [],
      ),
    );
    return spans.some(
      it =>
        Math.abs(it) < 400 &&
        (this.#days.has(addDays(day, -it)) || this.#days.has(addDays(day, it))),
    );
  }

  #isTimeLater(time: number): boolean {
    return [...this.#durations].some(
      it =>
        it < 1440 &&
        (this.#times.has((time - it + 1440) % 1440) || this.#times.has((time + it) % 1440)),
    );
  }

  #isTimeDifference(minutes: number): boolean {
    return [...this.#times].some(it => this.#times.has(it + minutes));
  }

  #hasNumber(number: number): boolean {
    if (this.#numbers.has(number)) return true;
    const sorted = (this.#sorted ??= [...this.#numbers].sort((a, b) => a - b));
    // the nearest known number may be rounded to this one
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (sorted[middle]! < number) low = middle + 1;
      else high = middle;
    }
    return [sorted[low - 1], sorted[low]].some(
      it => it !== undefined && !Number.isInteger(it) && isRounded(number, it),
    );
  }

  /** Whether a number is a sum, difference, product or share of numbers that belong together. */
  #isComputed(number: number): boolean {
    if (++this.#computed > maxComputations) return false;
    const isResult = (it: number) => Math.abs(number - Math.abs(it)) < 1e-6;
    const said = [...this.#said].slice(0, maxComputed);
    return this.#shown.some(({ fields, rows }) => {
      for (const values of fields.values()) {
        const own = values.flatMap(it => (typeof it.value === "number" ? [it.value] : []));
        if (own.length === 0) continue;
        const sum = own.reduce((a, b) => a + b, 0);
        const isMean = own.length > 1 && isRounded(number, Math.abs(sum / own.length));
        if (isMean || isRounded(number, Math.abs(sum))) return true;
        if (own.length > maxComputed) continue;
        const others = [...own, ...said];
        if (own.some(a => others.some(b => isResult(a - b) || isResult(a + b)))) return true;
      }
      return rows.some(row =>
        row.some(
          (a, i) =>
            said.some(b => isResult(a * b)) ||
            row.some(
              (b, j) =>
                i !== j && (isResult(a - b) || (b !== 0 && isResult(Math.round((a / b) * 100)))),
            ),
        ),
      );
    });
  }
}

/** The most values of a field that numbers are computed from, and the most such numbers. */
const [maxComputed, maxComputations] = [12, 100];

/** The parts with digits of a text, such as `8637` of `inv_8637`, in lower case. */
const listCodeParts = (text: string): string[] =>
  (text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []).filter(it => /\p{N}/u.test(it));

function collectValues(value: Json & object, now: string): ShownValues {
  const numbers = new Set<number>();
  const [days, times, durations] = [new Set<string>(), new Set<number>(), new Set<number>()];
  const fields = new Map<string, FieldValue[]>();
  const rows: number[][] = [];
  const codes = new Set<string>();
  const readScalar = (scalar: Json, field: string, around: readonly string[]): void => {
    if (typeof scalar === "number") {
      numbers.add(Math.abs(scalar));
      const minutes = toMinutes(scalar, field);
      if (minutes !== undefined) durations.add(minutes);
    } else if (typeof scalar === "string" && /\d/.test(scalar)) {
      for (const it of listCodeParts(scalar)) codes.add(it);
      for (const it of listSpokenValues(scalar, now)) {
        for (const own of it.numbers) numbers.add(own);
        for (const own of it.times) times.add(own);
        for (const own of it.durations) durations.add(own);
        for (const day of it.days) {
          days.add(day);
          // "the 12th" and "12 and 13 March"
          if (day.length === 10) numbers.add(Number(day.slice(8)));
          numbers.add(Number(day.slice(0, 4)));
        }
      }
    }
    if (typeof scalar !== "string" && typeof scalar !== "number") return;
    const own = fields.get(field);
    if (own) own.push({ value: scalar, around });
    else fields.set(field, [{ value: scalar, around }]);
  };
  const visit = (it: Json, field: string, around: readonly string[]): void => {
    if (it === null || typeof it !== "object") return readScalar(it, field, around);
    if (!isJsonObject(it)) {
      numbers.add(it.length);
      for (const item of it) visit(item, field, around);
      return;
    }
    const texts = Object.values(it).filter(of => typeof of === "string");
    const own = Object.values(it).filter(of => typeof of === "number");
    if (own.length > 1) rows.push(own.slice(0, 12));
    const inner = [...around, ...texts];
    for (const [key, of] of Object.entries(it)) visit(of, key, inner);
  };
  visit(value, "", []);
  return { numbers, days, times, durations, fields, rows, codes };
}
