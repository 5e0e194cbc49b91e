/** Four hundred tasks with realistic menus on all servers: menus, pairs, rules, tools that arrive. */
import { beforeAll, expect, test } from "vitest";
import type { SynthesisOptions } from "../../../src/synthesis/pipeline/synthesisOptions.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { formatTaskLine } from "../../../src/trajectory/taskLine.ts";
import { catalog } from "../../contracts/transports.ts";
import { synthesizeTasks } from "../synthesizeTasks.ts";
import { testMenus } from "./menuTests.ts";
import { testPairs } from "./pairsTests.ts";
import { testPolicies } from "./policiesTests.ts";
import { testToolArrival } from "./toolArrivalTests.ts";

const count = 400;
const options: Partial<SynthesisOptions> = {
  seed: 4,
  servers: [...catalog.servers.keys()],
  preset: "paper",
  menu: "realistic",
  count,
};
let tasks: readonly Task[];
beforeAll(async () => {
  ({ tasks } = await synthesizeTasks(count, options));
});

testMenus(() => tasks);
testPairs(() => tasks);
testPolicies(() => tasks);
testToolArrival(() => tasks);

test("the tasks are the same for the same seed", async () => {
  const again = await synthesizeTasks(60, options);
  expect(again.tasks.map(formatTaskLine)).toEqual(tasks.slice(0, 60).map(formatTaskLine));
});

test("the student's preset has no pairs", async () => {
  const student = await synthesizeTasks(40, { preset: "student", menu: "chain", count: 40 });
  expect(student.tasks.filter(it => it.knobs["pair"] !== undefined)).toEqual([]);
});
