/** Calendar arithmetic over the ends of hours, days, months and years. */
import { expect, test } from "vitest";
import { Refusal } from "../../src/environment/server.ts";
import {
  addDays,
  daysBetween,
  addMinutes,
  minutesBetween,
  toMinutes,
  getWeekday,
} from "../../src/environment/time.ts";

test("adding a minute crosses midnight, the end of a month and of a year", () => {
  expect(addMinutes("2026-03-09T23:59", 1)).toBe("2026-03-10T00:00");
  expect(addMinutes("2026-12-31T23:30", 45)).toBe("2027-01-01T00:15");
  expect(addMinutes("2026-03-01T00:10", -20)).toBe("2026-02-28T23:50");
});

test("adding a day handles leap days, from a day or a minute", () => {
  expect(addDays("2028-02-28", 1)).toBe("2028-02-29");
  expect(addDays("2026-02-28", 1)).toBe("2026-03-01");
  expect(addDays("2026-03-09T09:00", -9)).toBe("2026-02-28");
});

test("spans are signed and ignore daylight saving time", () => {
  expect(minutesBetween("2026-03-28T12:00", "2026-03-29T12:00")).toBe(1440);
  expect(minutesBetween("2026-03-09T09:30", "2026-03-09T09:00")).toBe(-30);
  expect(daysBetween("2026-03-09T23:00", "2026-03-10T01:00")).toBe(1);
  expect(daysBetween("2026-04-01", "2026-03-09")).toBe(-23);
});

test("a day starts at its first minute, and 9 March 2026 is a Monday", () => {
  expect(toMinutes("2026-03-09")).toBe(toMinutes("2026-03-09T00:00"));
  expect([getWeekday("2026-03-09"), getWeekday("2026-03-08T22:00")]).toEqual([1, 0]);
});

test("a time that four digits cannot name is refused, not written with six", () => {
  expect(() => addMinutes("9999-12-31T23:59", 1)).toThrow(Refusal);
  expect(() => addDays("9999-12-31", 1)).toThrow("outside the years 0000 to 9999");
  expect(() => addDays("2026-01-01", -1e6)).toThrow("outside the years 0000 to 9999");
  expect(addMinutes("9999-12-31T23:58", 1)).toBe("9999-12-31T23:59");
});
