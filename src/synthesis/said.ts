/**
 * How plain values are said, so that the value can be read back from the words: `2026-03-12` as `12 March`, `2026-02` as
 * `February`. Dates leave out the year only where the reader has it from the talk's own day. Knows no tools.
 */
import type { Json } from "../environment/json.ts";
import type { Chance } from "../environment/chance.ts";

const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** How a persona says days. */
export type DateStyle = "plain" | "day-first" | "month-first" | "relative";

const pattern = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  minute: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/,
  month: /^\d{4}-(0[1-9]|1[0-2])$/,
};

/** The words for a value. `now` is the talk's time. */
export function said(value: Json, now: string, style: DateStyle, chance: Chance): string {
  if (typeof value === "number") return number(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "string") return JSON.stringify(value);
  if (pattern.minute.test(value)) return `${saidDate(value.slice(0, 10), now, style, chance)} at ${value.slice(11)}`;
  if (pattern.date.test(value)) return saidDate(value, now, style, chance);
  if (pattern.month.test(value)) return saidMonth(value, now);
  return value;
}

/** A value in a reply: days and times as words, all else as it is. */
export const replied = (value: Json, now: string, chance: Chance): string => said(value, now, "day-first", chance);

/** Cents where there are any: 49.5 is 49.50. */
const number = (value: number) => (Number.isInteger(value) || !Number.isInteger(Math.round(value * 1000) / 10) ? String(value) : value.toFixed(2));

function saidDate(date: string, now: string, style: DateStyle, chance: Chance): string {
  const away = (Date.parse(date) - Date.parse(now.slice(0, 10))) / 86_400_000;
  if (style === "plain") return date;
  if (style === "relative") {
    if (away === 0) return "today";
    if (away === 1) return "tomorrow";
    if (away > 1 && away < 7) return chance.pick([weekdays[new Date(`${date}T00:00Z`).getUTCDay()]!, `this ${weekdays[new Date(`${date}T00:00Z`).getUTCDay()]!}`]);
  }
  const day = String(Number(date.slice(8)));
  const month = months[Number(date.slice(5, 7)) - 1]!;
  const year = date.slice(0, 4) === now.slice(0, 4) ? "" : date.slice(0, 4);
  return style === "month-first" ? `${month} ${day}${year && `, ${year}`}` : `${day} ${month}${year && ` ${year}`}`;
}

function saidMonth(month: string, now: string): string {
  const name = months[Number(month.slice(5)) - 1]!;
  return month.slice(0, 4) === now.slice(0, 4) ? name : `${name} ${month.slice(0, 4)}`;
}

/** A day some days after another. */
export const dayAfter = (date: string, days: number): string => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
