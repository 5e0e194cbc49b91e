/**
 * Calendar arithmetic on a session's own time: days `YYYY-MM-DD` and minutes `YYYY-MM-DDTHH:MM`,
 * without zones. Knows no clock.
 */

const aMinute = 60_000;
const aDay = 86_400_000;

/** Minutes since 1970 of a minute, or of a day's first minute. */
export const toMinutes = (at: string): number =>
  Date.parse(at.length === 10 ? `${at}T00:00Z` : `${at}:00Z`) / aMinute;

/** The minute that is so many minutes later; earlier for fewer than none. */
export const addMinutes = (at: string, minutes: number): string =>
  new Date((toMinutes(at) + minutes) * aMinute).toISOString().slice(0, 16);

/** The day that is so many days after a day, or after a minute's day. */
export const addDays = (at: string, days: number): string =>
  new Date(Date.parse(at.slice(0, 10)) + days * aDay).toISOString().slice(0, 10);

export const minutesBetween = (from: string, to: string): number => toMinutes(to) - toMinutes(from);

/** Whole days from one day to another. */
export const daysBetween = (from: string, to: string): number =>
  (Date.parse(to.slice(0, 10)) - Date.parse(from.slice(0, 10))) / aDay;

/** 0 is Sunday. */
export const getWeekday = (at: string): number => new Date(at.slice(0, 10)).getUTCDay();

const weekdays = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

/** The English name of a moment's day of the week. */
export const getWeekdayName = (at: string): string => weekdays[getWeekday(at)]!;
