/** Tasks in memory that the threads of a training share. */
import { expect, test } from "vitest";
import { openSharedTasks, SharedTasksBuilder } from "../../src/train/trainingSet.ts";
import { moveFifty } from "../trajectory/sampleTasks.ts";

test("another thread gets the same tasks, without a copy of their memory", async () => {
  const first = await moveFifty();
  const second = { ...first, id: "Zoë’s task 🧾" };
  const builder = new SharedTasksBuilder();
  builder.add(first);
  builder.add(second);
  const shared = builder.build();
  const sent = structuredClone(shared);
  const tasks = openSharedTasks(sent);
  expect([...tasks]).toEqual([first, second]);
  expect(tasks.length).toBe(2);
  expect([tasks.at(1), tasks.at(-2), tasks.at(2)]).toEqual([second, first, undefined]);
  shared.bytes[0] = 0;
  expect(sent.bytes[0]).toBe(0);
});

test("there may be none", () => {
  const tasks = openSharedTasks(new SharedTasksBuilder().build());
  expect(tasks.length).toBe(0);
  expect([...tasks]).toEqual([]);
});
