/** Calendar arithmetic in whole minutes, and how a repeating event falls on days. */
import { z } from "zod";
import { day, minute } from "../../environment/fieldSchemas.ts";
import { toMinutes } from "../../environment/time.ts";

export const hour = 60;
export const aDay = 24 * hour;

export const startOfDay = (date: string): number => toMinutes(`${date}T00:00`);
export const textOf = (minutes: number): string =>
  new Date(minutes * 60_000).toISOString().slice(0, 16);
export const dateOf = (minutes: number): string => textOf(minutes).slice(0, 10);
export const timeOf = (minutes: number): string => textOf(minutes).slice(11);
export const minuteOfDay = (minutes: number): number => ((minutes % aDay) + aDay) % aDay;

/** 1 January 1970 was a Thursday. */
export const isWeekend = (minutes: number): boolean =>
  [2, 3].includes(((Math.floor(minutes / aDay) % 7) + 7) % 7);

/** No series is longer: a year of weekdays. */
export const longestSeries = 262;

export const rhythms = ["daily", "weekdays", "weekly", "every_two_weeks", "monthly"] as const;

export const Rule = z.strictObject({
  every: z.enum(rhythms),
  count: z.int().min(1).max(longestSeries).optional(),
  /** Last day on which an occurrence may start. */
  until: day().optional(),
});
export type Rule = z.infer<typeof Rule>;

/** By the day on which an occurrence would start: that it is off, or when it starts instead. */
export const Exceptions = z.record(day(), z.union([z.literal("cancelled"), minute()]));
export type Exceptions = z.infer<typeof Exceptions>;

export interface Timed {
  start: string;
  minutes: number;
  repeats?: Rule | undefined;
  exceptions?: Exceptions | undefined;
}

export interface Occurrence {
  /** The day that the rule gives it; it stays its name when the occurrence is moved. */
  readonly date: string;
  readonly start: number;
  readonly end: number;
}

/** The starts that a rule gives, before exceptions, in order. */
export function* startsOf(start: string, rule?: Rule): Generator<number> {
  const first = toMinutes(start);
  if (!rule) return yield first;
  const last = rule.until === undefined ? Infinity : startOfDay(rule.until) + aDay - 1;
  let left = Math.min(rule.count ?? longestSeries, longestSeries);
  for (let n = 0; left > 0; n++) {
    const at = nth(first, rule.every, n);
    if (at > last) return;
    if (rule.every === "weekdays" && isWeekend(at)) continue;
    yield at;
    left--;
  }
}

function nth(first: number, every: Rule["every"], n: number): number {
  switch (every) {
    case "daily":
    case "weekdays":
      return first + n * aDay;
    case "weekly":
      return first + n * 7 * aDay;
    case "every_two_weeks":
      return first + n * 14 * aDay;
    case "monthly":
      return monthsLater(first, n);
  }
}

/**
 * The same day of a later month, or that month's last day where it is shorter: 31 January, 28
 * February, 31 March.
 */
function monthsLater(first: number, n: number): number {
  const from = new Date(first * 60_000);
  const month = from.getUTCMonth() + n;
  const daysInMonth = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const date = Math.min(from.getUTCDate(), daysInMonth);
  return Date.UTC(from.getUTCFullYear(), month, date) / 60_000 + minuteOfDay(first);
}

/** The occurrences that overlap `[from, to)`, in order of start. */
export function occurrencesOf(it: Timed, from: number, to: number): Occurrence[] {
  return (Object.isFrozen(it) ? remembered(it) : occurring(it)).filter(
    occurrence => occurrence.start < to && occurrence.end > from,
  );
}

/** A frozen event is asked again and again, in every session that shares it. */
const known = new WeakMap<Timed, readonly Occurrence[]>();

function remembered(it: Timed): readonly Occurrence[] {
  let all = known.get(it);
  if (!all) known.set(it, (all = occurring(it)));
  return all;
}

function occurring({ start, minutes, repeats, exceptions }: Timed): readonly Occurrence[] {
  const changed = new Map(
    Object.entries(exceptions ?? {}).map(([date, it]) => [startOfDay(date) / aDay, it]),
  );
  const found: Occurrence[] = [];
  for (const planned of startsOf(start, repeats)) {
    const exception = changed.get(Math.floor(planned / aDay));
    if (exception === "cancelled") continue;
    const at = exception === undefined ? planned : toMinutes(exception);
    found.push({ date: dateOf(planned), start: at, end: at + minutes });
  }
  return found.sort((a, b) => a.start - b.start);
}

export const allOccurrences = (it: Timed): Occurrence[] => occurrencesOf(it, -Infinity, Infinity);
