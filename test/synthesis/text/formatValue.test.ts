/** Formatted values can be read back by a reader who knows the day of the conversation. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { createRandom } from "../../../src/environment/random.ts";
import { addDays, months } from "../../../src/environment/time.ts";
import { isMoney, formatValue, type DateStyle } from "../../../src/synthesis/text/formatValue.ts";

const now = "2026-03-09T09:00";
const styles: readonly DateStyle[] = [
  "plain",
  "day-first",
  "month-first",
  "relative",
  "short",
  "long",
  "weekday",
];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** Reads a formatted day as a person would. */
function parseDay(text: string): string {
  if (/^\d{4}-/.test(text)) return text;
  if (text === "today") return now.slice(0, 10);
  const ahead = {
    yesterday: -1,
    tomorrow: 1,
    "the day after tomorrow": 2,
    "two weeks from today": 14,
  }[text];
  if (ahead !== undefined) return addDays(now.slice(0, 10), ahead);
  const weekday = weekdays.indexOf(text.replace(/this | next week/g, ""));
  if (text.endsWith("next week")) return addDays(now.slice(0, 10), 7 + ((weekday + 6) % 7));
  if (weekday >= 0)
    return addDays(now.slice(0, 10), (weekday - new Date(now.slice(0, 10)).getUTCDay() + 7) % 7);
  const month =
    months.findIndex(
      it =>
        text.includes(it.slice(0, 3) === "Mar" ? " Mar" : it.slice(0, 3)) || text.startsWith(it),
    ) + 1;
  const [day = "", year = "2026"] = text.match(/\d+/g)!;
  return `${year}-${String(month).padStart(2, "0")}-${day.padStart(2, "0")}`;
}

test("the bound of a span is not said by its distance: since nine days ago", () => {
  const say = (days: number, isBound: boolean, seed: number) =>
    formatValue(addDays(now.slice(0, 10), days), {
      now,
      persona: { dates: "day-first", relativeShare: 1, isBound },
      random: createRandom(seed),
    });
  const distance = /\b(ago|from (now|(?!today)\w+day))$/;
  fc.assert(
    fc.property(fc.integer({ min: -28, max: 28 }), fc.integer(), (days, seed) => {
      expect(say(days, true, seed)).not.toMatch(distance);
    }),
  );
  expect(say(-9, false, 1)).toMatch(distance);
});

test("days can be read back in every style", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: -500, max: 700 }),
      fc.constantFrom(...styles),
      fc.integer(),
      (days, style, seed) => {
        const day = addDays(now.slice(0, 10), days);
        expect(
          parseDay(
            formatValue(day, { now, persona: { dates: style }, random: createRandom(seed) }),
          ),
        ).toBe(day);
      },
    ),
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
  [49.5, "plain", "49.5"],
  [0.125, "plain", "0.125"],
  ["Emma", "plain", "Emma"],
  [true, "plain", "yes"],
];
test.each(cases)("%s in the style %s is %s", (value, style, words) => {
  expect(formatValue(value, { now, persona: { dates: style }, random: createRandom(1) })).toBe(
    words,
  );
});

test("money is formatted with cents, and times for a twelve-hour clock where the persona has one", () => {
  expect(
    [45.5, 45, 3.999].map(it =>
      formatValue(it, { now, persona: { dates: "plain" }, random: createRandom(1) }, true),
    ),
  ).toEqual(["45.50", "45", "4.00"]);
  expect(
    ["2026-03-12T16:15", "2026-03-12T00:00", "2026-03-12T12:30"].map(it =>
      formatValue(it, {
        now,
        persona: { dates: "month-first", clock: 12 },
        random: createRandom(1),
      }),
    ),
  ).toEqual(["March 12 at 4:15 pm", "March 12 at 12 am", "March 12 at 12:30 pm"]);
  expect(
    ["balance", "money_in", "rating", "amount", "distance_km"].map(it => isMoney(it, undefined)),
  ).toEqual([true, true, false, true, false]);
  expect(isMoney("limit", { description: "Limit a month, in euros" })).toBe(true);
});
