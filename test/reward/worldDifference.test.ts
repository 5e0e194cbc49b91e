/** What is said of two worlds that differ: the first difference that matters. */
import { describe, expect, test } from "vitest";
import { deepFreeze } from "../../src/environment/digest.ts";
import type { JsonObject } from "../../src/environment/json.ts";
import { listMinutes, nameTexts } from "../../src/reward/stateText.ts";
import {
  findDifference,
  formatPointer,
  type NamedWorld,
} from "../../src/reward/worldDifference.ts";

const [began, ended] = ["2026-03-09T09:00", "2026-03-09T09:05"] as const;

function nameWorld(world: JsonObject): NamedWorld {
  const start = deepFreeze({ test: { world: {}, clock: began, draws: 0 } });
  const end = deepFreeze({ test: { world, clock: ended, draws: 4 } });
  const names = nameTexts(start, end, new Set(), new Map());
  return { world: end.test.world, names, times: listMinutes(began, ended, new Set()) };
}

/** The difference as a pointer and what was found or wanted there. */
function compare(goal: JsonObject, reached: JsonObject): string | undefined {
  const difference = findDifference(nameWorld(goal), nameWorld(reached));
  if (!difference) return undefined;
  const { path, found, wanted, isNew } = difference;
  const at = formatPointer("test", path).replace("/test/world", "");
  if (isNew) return `${at} lacks ${JSON.stringify(wanted)}`;
  if (found === undefined) return `${at} is missing`;
  if (wanted === undefined) return `${at} should not be there`;
  return `${at} is ${JSON.stringify(found)}, not ${JSON.stringify(wanted)}`;
}

describe("entities that calls have made", () => {
  const events = { evt_1001: { title: "Lunch" }, evt_1002: { title: "Call" } };
  const swapped = { evt_1001: { title: "Call" }, evt_1002: { title: "Lunch" } };

  test("may have each other's ids", () => {
    const goal = { events, reminders: { rem_1003: { event_id: "evt_1001" } } };
    const reached = { events: swapped, reminders: { rem_1003: { event_id: "evt_1002" } } };
    expect(compare(goal, reached)).toBeUndefined();
  });

  test("a wrong one is mentioned: both are shown by their ids in the attempt", () => {
    const goal = { events, reminders: { rem_1003: { event_id: "evt_1001" } } };
    const reached = { events: swapped, reminders: { rem_1003: { event_id: "evt_1001" } } };
    expect(compare(goal, reached)).toBe(
      '/reminders/rem_1003/event_id is "evt_1001", not "evt_1002"',
    );
  });

  test("are shown if they are missing", () => {
    expect(compare({ events }, { events: { evt_1001: { title: "Call" } } })).toBe(
      '/events lacks {"title":"Lunch"}',
    );
  });

  test("are found by their ids if they hold a wrong value", () => {
    const reached = { events: { evt_1001: { title: "Call" }, evt_1002: { title: "Launch" } } };
    expect(compare({ events }, reached)).toBe('/events/evt_1002/title is "Launch", not "Lunch"');
  });
});

test("the time of a call does not matter, another one does", () => {
  const at = (minute: string) => ({ card: { frozen_at: minute, limit: 5 } });
  expect(compare(at(began), at(ended))).toBeUndefined();
  expect(compare(at(began), { card: { frozen_at: ended, limit: 6 } })).toBe(
    "/card/limit is 6, not 5",
  );
  expect(compare(at(began), at("2026-03-20T09:00"))).toBe(
    `/card/frozen_at is "2026-03-20T09:00", not "${began}"`,
  );
});

describe("lists of objects", () => {
  const [bread, cake, tea] = [
    { dish: "bread", count: 1 },
    { dish: "cake", count: 2 },
    { dish: "tea", count: 1 },
  ];
  test.each([
    [[cake, { dish: "bread", count: 3 }], "/lines/1/count is 3, not 1"],
    [[cake], '/lines lacks {"dish":"bread","count":1}'],
    [[bread, cake, tea], "/lines/2 should not be there"],
    [[], '/lines lacks {"dish":"bread","count":1}'],
  ])("%j", (lines, difference) => {
    expect(compare({ lines: [bread, cake] }, { lines })).toBe(difference);
  });

  test("in another order are equal", () =>
    expect(compare({ lines: [bread, cake] }, { lines: [cake, bread] })).toBeUndefined());
});

test("the order of a list does not matter", () =>
  expect(compare({ members: ["a", "b"] }, { members: ["b", "a"] })).toBeUndefined());

test("a list of values is shown as a whole", () => {
  expect(compare({ tags: ["a", "b"] }, { tags: ["a"] })).toBe('/tags is ["a"], not ["a","b"]');
});
