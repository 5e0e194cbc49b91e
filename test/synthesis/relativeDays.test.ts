import { expect, test } from "vitest";
import { createRandom } from "../../src/environment/random.ts";
import { addDays, getWeekday, weekdays } from "../../src/environment/time.ts";
import { formatValue } from "../../src/synthesis/text/formatValue.ts";

const now = "2026-03-09T09:00";
const today = now.slice(0, 10);
const numbers = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/** The next day of a name after a number of days from today. */
function findNext(name: string, from: number): string {
  for (let days = from; ; days++) {
    const date = addDays(today, days);
    if (weekdays[getWeekday(date)] === name) return date;
  }
}

/** The day that words mean as seen from today, read independently of how they are made. */
function readDay(words: string): string | undefined {
  const single: Record<string, number> = {
    today: 0,
    tomorrow: 1,
    yesterday: -1,
    "the day after tomorrow": 2,
    "the day before yesterday": -2,
  };
  if (words in single) return addDays(today, single[words]!);
  const counted = words.match(/^(\w+) (days?|weeks?) (ago|from (?:now|today))$/);
  if (counted) {
    const n = counted[1] === "a" ? 1 : numbers.indexOf(counted[1]!);
    const days = n * (counted[2]!.startsWith("week") ? 7 : 1);
    return addDays(today, counted[3] === "ago" ? -days : days);
  }
  const fromWeekday = words.match(/^(a week|two weeks) from (\w+day)$/);
  if (fromWeekday)
    return addDays(findNext(fromWeekday[2]!, 1), fromWeekday[1] === "a week" ? 7 : 14);
  const nextWeek = words.match(/^(\w+day) next week$/);
  if (nextWeek) return findNext(nextWeek[1]!, 7);
  const last = words.match(/^last (\w+day)$/);
  if (last) return findNext(last[1]!, -7);
  const coming = words.match(/^(?:this )?(\w+day)$/);
  return coming ? findNext(coming[1]!, 1) : undefined;
}

test("a day said by its distance from today can be read back from the words", () => {
  const said = new Set<string>();
  for (let days = -30; days <= 30; days++) {
    const date = addDays(today, days);
    for (let seed = 0; seed < 20; seed++) {
      const persona = { dates: "day-first", relativeShare: 1 } as const;
      const words = formatValue(date, { now, persona, random: createRandom(seed) });
      if (/^\d/.test(words)) continue;
      expect(readDay(words), words).toBe(date);
      said.add(words);
    }
  }
  expect(said.size).toBeGreaterThan(40);
});
