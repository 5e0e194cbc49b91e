/** How fast work goes, as a notification says it. */
import { expect, test } from "vitest";
import { Pace } from "../../src/editor/pace.ts";

const check = (moments: readonly (readonly [done: number, seconds: number])[], words: string) => {
  const pace = new Pace();
  const told = moments.map(([done, seconds]) => pace.words(done, 13_517, "tasks", seconds * 1000));
  expect(told.at(-1)).toBe(words);
};

test("nothing is foretold of a single moment", () => check([[0, 0]], "0 of 13,517 tasks"));
test("the rate is told with the time that is left at it", () => check([[0, 0], [1204, 12]], "1,204 of 13,517 tasks · 100 a second · 2 min left"));
test("the rate is that of the last seconds: what was written before counts at once", () => check([[9000, 0], [9010, 10], [9020, 20], [9030, 30]], "9,030 of 13,517 tasks · 1.0 a second · 75 min left"));
test("a slow teacher's rate is told by the minute", () => check([[0, 0], [1, 10]], "1 of 13,517 tasks · 6.0 a minute · 37.5 h left"));
test("the end is seconds away", () => check([[13_417, 0], [13_517, 10]], "13,517 of 13,517 tasks · 10 a second · 1 s left"));
