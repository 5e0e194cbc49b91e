/** What is said can be read back: a reader who knows the talk's day finds the value in the words. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { chanceOf } from "../../src/environment/chance.ts";
import { dayAfter, said, type DateStyle } from "../../src/synthesis/said.ts";

const now = "2026-03-09T09:00";
const styles: readonly DateStyle[] = ["plain", "day-first", "month-first", "relative"];
const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** A person reading a day. */
function dayIn(text: string): string {
  if (/^\d{4}-/.test(text)) return text;
  if (text === "today") return now.slice(0, 10);
  if (text === "tomorrow") return dayAfter(now.slice(0, 10), 1);
  const weekday = weekdays.indexOf(text.replace("this ", ""));
  if (weekday >= 0) return dayAfter(now.slice(0, 10), (weekday - new Date(now.slice(0, 10)).getUTCDay() + 7) % 7);
  const month = months.findIndex(it => text.includes(it)) + 1;
  const [day = "", year = "2026"] = text.match(/\d+/g)!;
  return `${year}-${String(month).padStart(2, "0")}-${day.padStart(2, "0")}`;
}

test("days, in every style", () => {
  fc.assert(
    fc.property(fc.integer({ min: -500, max: 700 }), fc.constantFrom(...styles), fc.integer(), (days, style, seed) => {
      const day = dayAfter(now.slice(0, 10), days);
      expect(dayIn(said(day, now, style, chanceOf(seed)))).toBe(day);
    }),
  );
});

const cases: [value: string | number | boolean, style: DateStyle, words: string][] = [
  ["2026-03-12", "day-first", "12 March"],
  ["2026-03-12", "month-first", "March 12"],
  ["2027-03-12", "month-first", "March 12, 2027"],
  ["2026-03-10", "relative", "tomorrow"],
  ["2026-03-30", "relative", "30 March"],
  ["2026-03-12T14:30", "day-first", "12 March at 14:30"],
  ["2026-02", "plain", "February"],
  ["2025-12", "plain", "December 2025"],
  [1200, "plain", "1200"],
  [49.5, "plain", "49.50"],
  [0.125, "plain", "0.125"],
  ["Emma", "plain", "Emma"],
  [true, "plain", "yes"],
];
test.each(cases)("%s, %s: %s", (value, style, words) => {
  expect(said(value, now, style, chanceOf(1))).toBe(words);
});
