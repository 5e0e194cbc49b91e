/** Four hundred tasks with realistic menus on all servers: menus, pairs, rules, tools that arrive. */
import { beforeAll, expect, test } from "vitest";
import { type Task, formatTaskLine } from "../../../src/trajectory/task.ts";
import { readSharedTasks, sharedSets, synthesizeTasks } from "../synthesizeTasks.ts";
import { testMenus } from "./menuTests.ts";
import { testPairs } from "./pairsTests.ts";
import { testPolicies } from "./policiesTests.ts";
import { testToolArrival } from "./toolArrivalTests.ts";

let tasks: readonly Task[];
beforeAll(async () => {
  ({ tasks } = await readSharedTasks("realistic"));
});

testMenus(() => tasks);
testPairs(() => tasks);
testPolicies(() => tasks);
testToolArrival(() => tasks);

test("the tasks are the same for the same seed", async () => {
  const again = await synthesizeTasks(20, sharedSets.realistic[1]);
  expect(again.tasks.map(formatTaskLine)).toEqual(tasks.slice(0, 20).map(formatTaskLine));
});

test("the student's preset has no pairs", async () => {
  const student = await readSharedTasks("student");
  expect(student.tasks.filter(it => it.knobs["pair"] !== undefined)).toEqual([]);
});
