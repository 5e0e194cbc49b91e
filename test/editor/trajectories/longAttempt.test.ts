/** An attempt with 200 calls in the debugger: a step stays quick. */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { expect, test } from "vitest";
import { balance, calling, goal, saying, taskOf, transfer } from "../../trajectory/sampleTasks.ts";
import { DebugClient, loadTarget } from "./debugClient.ts";

/** The teacher's transfers, each with a look at the balance. All of them are goals. */
async function createLongTask() {
  const calls = Array.from({ length: 200 }, (_, i) =>
    i % 2 === 1 ? balance : transfer("acc_108", 1 + (i % 10)),
  );
  const goals = calls.map((it, i) =>
    goal([it], i === 0 ? [] : [{ goal: i - 1, kind: "implicit" }]),
  );
  const teacher = [...calls.map(it => calling(it)), saying("All are done.")];
  return taskOf({ id: "t-long", users: ["Move all of it."], goals, teacher });
}

const readCpuTime = () => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
};

test("a step in an attempt of 200 calls takes less than 50 ms of processor time", async () => {
  const task = await createLongTask();
  const editor = new DebugClient(() => Promise.resolve(loadTarget(task)));
  await editor.start();
  const times: number[] = [];
  while (editor.stop.description !== "At the end of the trajectory") {
    const begin = readCpuTime();
    await editor.send("next", { threadId: 1 });
    // what the editor asks for after each stop
    await editor.send("stackTrace", { threadId: 1 });
    const { scopes } = (await editor.send("scopes", { frameId: 0 }))
      .body as DebugProtocol.ScopesResponse["body"];
    for (const { variablesReference } of scopes)
      await editor.send("variables", { variablesReference });
    await editor.watch("reward.total");
    times.push(readCpuTime() - begin);
  }
  expect(times.length).toBeGreaterThan(200);
  const sorted = times.toSorted((a, b) => a - b);
  expect(sorted[Math.floor(0.95 * sorted.length)]).toBeLessThan(50);
});
