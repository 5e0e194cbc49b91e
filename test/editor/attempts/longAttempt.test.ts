/** An attempt with 200 calls in the debugger: a step executes its own call, and no earlier one. */
import { join } from "node:path";
import type { DebugProtocol } from "@vscode/debugprotocol";
import { expect, test } from "vitest";
import { computeReward } from "../../../src/editor/attempts/attemptReward.ts";
import { openCatalog } from "../../../src/environment/catalog.ts";
import { paperProfile } from "../../../src/reward/profiles.ts";
import { loadServers } from "../../../src/servers/catalog.ts";
import { TrajectoryCursor } from "../../../src/trajectory/cursor.ts";
import { root } from "../../contracts/transports.ts";
import { balance, calling, goal, saying, taskOf, transfer } from "../../trajectory/sampleTasks.ts";
import { DebugClient, loadTarget } from "./debug/debugClient.ts";

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

/** The shipped servers, which count the calls that they execute. */
async function openCountingCatalog() {
  const executed = { calls: 0 };
  const servers = (await loadServers()).map(server => ({
    ...server,
    tools: new Map(
      [...server.tools].map(([name, tool]) => [
        name,
        {
          ...tool,
          run(...args: Parameters<typeof tool.run>) {
            executed.calls++;
            return tool.run(...args);
          },
        },
      ]),
    ),
  }));
  return { executed, catalog: openCatalog(servers, [join(root, "resources/servers")]) };
}

test("a step in an attempt of 200 calls executes one call, also with its reward", async () => {
  const task = await createLongTask();
  const { executed, catalog } = await openCountingCatalog();
  const target = {
    ...loadTarget(task),
    cursor: new TrajectoryCursor(catalog, task.trajectory),
    reward: computeReward(catalog, task, task.trajectory, paperProfile),
  };
  const editor = new DebugClient(() => Promise.resolve(target));
  await editor.start();
  let steps = 0;
  let before = executed.calls;
  while (editor.stop.description !== "At the end of the trajectory") {
    await editor.send("next", { threadId: 1 });
    // what the editor asks for after each stop
    await editor.send("stackTrace", { threadId: 1 });
    const { scopes } = (await editor.send("scopes", { frameId: 0 }))
      .body as DebugProtocol.ScopesResponse["body"];
    for (const { variablesReference } of scopes)
      await editor.send("variables", { variablesReference });
    await editor.watch("reward.total");
    steps++;
    expect(executed.calls - before, `step ${steps}`).toBeLessThanOrEqual(1);
    before = executed.calls;
  }
  expect(steps).toBeGreaterThan(200);
  expect(executed.calls).toBeGreaterThanOrEqual(200);
});
