/**
 * Recognizes values in a text that a model wrote: numbers, days and times in any wording that means
 * exactly the value, other texts as they are.
 */
import type { Json } from "../../environment/json.ts";
import { daysBetween, getWeekdayName } from "../../environment/time.ts";

/** Whether a value can be read from the text. `words` is how the template said it. */
export function saysValue(text: string, value: Json, words: string, now: string): boolean {
  if (includesText(text, words) || value === null || typeof value === "boolean") return true;
  if (Array.isArray(value))
    return (value as readonly Json[]).every(it =>
      saysValue(text, it, typeof it === "string" ? it : JSON.stringify(it), now),
    );
  if (typeof value === "number")
    return (
      listNumbers(text).includes(value) ||
      (Number.isInteger(value) && includesText(text, numberWords[value] ?? "\0"))
    );
  if (typeof value !== "string") return false;
  if (/^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/.test(value))
    return (
      saysDay(text, value.slice(0, 10), now) &&
      (value.length < 11 || saysTime(text, value.slice(11)))
    );
  if (/^\d\d:\d\d$/.test(value)) return saysTime(text, value);
  return includesText(text, value);
}

/** Whether a text includes words, apart from differences that do not matter. */
export const includesText = (text: string, words: string): boolean =>
  normalizeText(text).includes(normalizeText(words));

/** The text without case, kinds of quotes, thousands separators and repeated spaces. */
export const normalizeText = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[’‘]/g, "'")
    .replaceAll(/[“”„"]/g, "")
    .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();

const numberWords = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

export const listNumbers = (text: string): number[] =>
  [...normalizeText(text).matchAll(/\d+(?:\.\d+)?/g)].map(([it]) => Number(it));

/** Whether a text names a day: by its date, or by its weekday or "tomorrow" where that is clear. */
export function saysDay(text: string, date: string, now: string): boolean {
  const day = `${Number(date.slice(8))}(st|nd|rd|th)?`;
  const month = monthPrefixes[Number(date.slice(5, 7)) - 1]!;
  const daysAhead = daysBetween(now, date);
  const normalized = normalizeText(text);
  const withMonth = new RegExp(
    `\\b(${day}( of)? ${month}[a-z]*|${month}[a-z]*\\.? (the )?${day})\\b`,
  );
  return (
    normalized.includes(date) ||
    withMonth.test(normalized) ||
    (nearDays[daysAhead]?.test(normalized) ?? false) ||
    (Math.abs(daysAhead) < 14 && normalized.includes(getWeekdayName(date).toLowerCase()))
  );
}

/** Words for days by their distance from today. */
const nearDays: Readonly<Record<number, RegExp>> = {
  0: /\b(today|tonight|this (morning|afternoon|evening))\b/,
  1: /\btomorrow\b/,
  [-1]: /\b(yesterday|last night)\b/,
};

const monthPrefixes = [
  "jan",
  "feb",
  "mar",
  "apr",
  "may",
  "jun",
  "jul",
  "aug",
  "sep",
  "oct",
  "nov",
  "dec",
];

function saysTime(text: string, time: string): boolean {
  const [hours, minutes] = [Number(time.slice(0, 2)), time.slice(3)];
  const twelve = `${hours % 12 || 12}${minutes === "00" ? "(:00)?" : `[:.]${minutes}`} ?(${hours < 12 ? "am|a\\.m\\." : "pm|p\\.m\\."})`;
  const named = time === "12:00" ? "|noon|midday" : time === "00:00" ? "|midnight" : "";
  return new RegExp(`(^|[^\\d:])(0?${hours}[:.]${minutes}|${twelve}${named})(?![\\d:])`, "i").test(
    text,
  );
}
