/** Expands a repeating event into its occurrences. Times are minutes since 1970. */
import { z } from "zod";
import { day, minute } from "../../environment/fieldSchemas.ts";
import { toMinutes } from "../../environment/time.ts";

const minutesPerHour = 60;
export const minutesPerDay = 24 * minutesPerHour;

export const getStartOfDay = (date: string): number => toMinutes(`${date}T00:00`);
export const formatMinute = (minutes: number): string =>
  new Date(minutes * 60_000).toISOString().slice(0, 16);
export const formatDay = (minutes: number): string => formatMinute(minutes).slice(0, 10);
export const formatTime = (minutes: number): string => formatMinute(minutes).slice(11);
export const getMinuteOfDay = (minutes: number): number =>
  ((minutes % minutesPerDay) + minutesPerDay) % minutesPerDay;

/** 1 January 1970 was a Thursday. */
export const isWeekend = (minutes: number): boolean =>
  [2, 3].includes(((Math.floor(minutes / minutesPerDay) % 7) + 7) % 7);

/** The longest series: a year of weekdays. */
export const maxSeriesLength = 262;

export const recurrenceIntervals = [
  "daily",
  "weekdays",
  "weekly",
  "every_two_weeks",
  "monthly",
] as const;

export const RecurrenceRule = z.strictObject({
  every: z.enum(recurrenceIntervals),
  count: z.int().min(1).max(maxSeriesLength).optional(),
  /** Last day on which an occurrence may start. */
  until: day().optional(),
});
export type RecurrenceRule = z.infer<typeof RecurrenceRule>;

/** By the day on which an occurrence would start: cancelled, or the start that replaces it. */
export const Exceptions = z.record(day(), z.union([z.literal("cancelled"), minute()]));
export type Exceptions = z.infer<typeof Exceptions>;

interface RecurringTime {
  start: string;
  minutes: number;
  repeats?: RecurrenceRule | undefined;
  exceptions?: Exceptions | undefined;
}

export interface Occurrence {
  /** The day that the rule gives; it identifies the occurrence, also after it was moved. */
  readonly date: string;
  readonly start: number;
  readonly end: number;
}

/** Generates the starts that a rule gives, in order, without exceptions. */
function* generateStarts(start: string, rule?: RecurrenceRule): Generator<number> {
  const first = toMinutes(start);
  if (!rule) return yield first;
  const last = rule.until === undefined ? Infinity : getStartOfDay(rule.until) + minutesPerDay - 1;
  let remaining = Math.min(rule.count ?? maxSeriesLength, maxSeriesLength);
  for (let n = 0; remaining > 0; n++) {
    const at = computeNthStart(first, rule.every, n);
    if (at > last) return;
    if (rule.every === "weekdays" && isWeekend(at)) continue;
    yield at;
    remaining--;
  }
}

function computeNthStart(first: number, every: RecurrenceRule["every"], n: number): number {
  switch (every) {
    case "daily":
    case "weekdays":
      return first + n * minutesPerDay;
    case "weekly":
      return first + n * 7 * minutesPerDay;
    case "every_two_weeks":
      return first + n * 14 * minutesPerDay;
    case "monthly":
      return addMonths(first, n);
  }
}

/**
 * The same day of a later month, or the last day of a shorter month: 31 January, 28 February,
 * 31 March.
 */
function addMonths(first: number, n: number): number {
  const from = new Date(first * 60_000);
  const month = from.getUTCMonth() + n;
  const daysInMonth = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
  const date = Math.min(from.getUTCDate(), daysInMonth);
  return Date.UTC(from.getUTCFullYear(), month, date) / 60_000 + getMinuteOfDay(first);
}

/** The occurrences that overlap `[from, to)`, sorted by start. */
export function expandOccurrences(it: RecurringTime, from: number, to: number): Occurrence[] {
  return (Object.isFrozen(it) ? getCachedOccurrences(it) : computeOccurrences(it)).filter(
    occurrence => occurrence.start < to && occurrence.end > from,
  );
}

/** The occurrences of frozen events, which every session that shares them expands again. */
const occurrenceCache = new WeakMap<RecurringTime, readonly Occurrence[]>();

function getCachedOccurrences(it: RecurringTime): readonly Occurrence[] {
  let occurrences = occurrenceCache.get(it);
  if (!occurrences) occurrenceCache.set(it, (occurrences = computeOccurrences(it)));
  return occurrences;
}

function computeOccurrences({
  start,
  minutes,
  repeats,
  exceptions,
}: RecurringTime): readonly Occurrence[] {
  const changed = new Map(
    Object.entries(exceptions ?? {}).map(([date, it]) => [getStartOfDay(date) / minutesPerDay, it]),
  );
  const occurrences: Occurrence[] = [];
  for (const planned of generateStarts(start, repeats)) {
    const exception = changed.get(Math.floor(planned / minutesPerDay));
    if (exception === "cancelled") continue;
    const at = exception === undefined ? planned : toMinutes(exception);
    occurrences.push({ date: formatDay(planned), start: at, end: at + minutes });
  }
  return occurrences.sort((a, b) => a.start - b.start);
}

export const listAllOccurrences = (it: RecurringTime): Occurrence[] =>
  expandOccurrences(it, -Infinity, Infinity);
