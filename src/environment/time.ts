/**
 * Calendar arithmetic on a session's own time: days `YYYY-MM-DD` and minutes `YYYY-MM-DDTHH:MM`,
 * without time zones.
 */

import { refuse } from "./server.ts";

const minuteMs = 60_000;
const dayMs = 86_400_000;

export const weekdays = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;
type Weekday = (typeof weekdays)[number];

export const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
] as const;

/** Minutes since 1970 until a minute, or until the first minute of a day. */
export const toMinutes = (time: string): number =>
  Date.parse(time.length === 10 ? `${time}T00:00Z` : `${time}:00Z`) / minuteMs;

/**
 * The minute this many minutes later, or earlier if the number is negative. Refuses the call where
 * the result is outside the years 0000 to 9999.
 */
export const addMinutes = (time: string, minutes: number): string =>
  formatTime((toMinutes(time) + minutes) * minuteMs).slice(0, 16);

/**
 * The day this many days after a day, or after the day of a minute. Refuses as `addMinutes` does.
 */
export const addDays = (time: string, days: number): string =>
  formatTime(Date.parse(time.slice(0, 10)) + days * dayMs).slice(0, 10);

const [minTime, maxTime] = [Date.parse("0000-01-01"), Date.parse("9999-12-31T23:59:59.999Z")];

function formatTime(milliseconds: number): string {
  // the format has four digits for the year
  if (milliseconds < minTime || milliseconds > maxTime)
    refuse("invalid_params", "the date would be outside the years 0000 to 9999");
  return new Date(milliseconds).toISOString();
}

export const minutesBetween = (from: string, to: string): number => toMinutes(to) - toMinutes(from);

/** Whole days from one day to another. */
export const daysBetween = (from: string, to: string): number =>
  (Date.parse(to.slice(0, 10)) - Date.parse(from.slice(0, 10))) / dayMs;

/** The day of the week, where 0 is Sunday. */
export const getWeekday = (time: string): number => new Date(time.slice(0, 10)).getUTCDay();

/** The English name of the day of the week. */
export const getWeekdayName = (time: string): Weekday => weekdays[getWeekday(time)]!;
