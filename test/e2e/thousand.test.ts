/** A thousand tasks in the workbench: listed, filtered, opened and stepped through, while the extension host stays small and awake. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { beginMeter, endMeter, say } from "./meter.ts";
import { synthesized } from "./tasks.ts";
import { checkSeen, Workbench } from "./workbench.ts";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open({ "prove/tasks/many.tasks.jsonl": synthesized(1000, "banking,calendar,filesystem") });
  await workbench.show("PROVE");
  await workbench.fold("Servers", "Runs");
});
afterAll(() => workbench.close());

test("a thousand tasks are listed, filtered, opened, stepped through and scored", async () => {
  const rows = workbench.rows("Tasks");
  await checkSeen(rows.filter({ hasText: "1000 tasks" }));
  await beginMeter(workbench);
  await workbench.command("PROVE: Filter Tasks…");
  await workbench.answer("Words that occur", "calendar_create_event");
  await checkSeen(rows.filter({ hasText: /\d+ of 1000 tasks/ }));
  await workbench.picture("tasks-filtered");
  await workbench.command("PROVE: Filter Tasks…");
  await workbench.answer("Words that occur", "");
  await workbench.expand(rows.filter({ hasText: /^\s*many\s*1000 tasks/ }));
  await workbench.expand(rows.filter({ hasText: /^\s*1–100/ }));
  await workbench.picture("tasks");
  await rows.nth(5).click();
  await checkSeen(workbench.tab(".transcript"));
  await workbench.command("PROVE: Step Through Trajectory");
  await checkSeen(workbench.variable("start"));
  await workbench.debugButton("continue").click();
  await checkSeen(workbench.variable("ended by"));
  await workbench.debugButton("stop").click();
  await workbench.command("PROVE: Show Reward");
  await checkSeen(workbench.webview().getByText("validity").first());
  const { block, memory } = await endMeter(workbench);
  expect(block).toBeGreaterThan(0);
  expect(memory).toBeGreaterThan(0);
  say("longest block of the extension host", `${block.toFixed(0)} ms`);
  say("memory of the extension host with 1,000 tasks", `${memory.toFixed(0)} MB`);
});
