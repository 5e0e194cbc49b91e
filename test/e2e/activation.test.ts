/** The packaged extension in the workbench: it is there, shows its views, and is quick about it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { say } from "./meter.ts";
import { checkSeen, Workbench } from "./workbench.ts";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
});
afterAll(() => workbench.close());

test("its container shows servers, tasks and runs", async () => {
  await workbench.show("PROVE");
  await checkSeen(workbench.rows("Servers").filter({ hasText: "banking" }));
  expect(await workbench.rows("Servers").count()).toBeGreaterThan(2);
  await checkSeen(workbench.pane("Tasks").getByText("Copy Example Tasks"));
  await checkSeen(workbench.pane("Runs").getByText("Start Training"));
  await workbench.picture("views");
});

test("it activates, and the workbench knows how long that took", async () => {
  await workbench.command("Developer: Show Running Extensions");
  const row = workbench.page
    .locator(".runtime-extensions-editor .monaco-list-row")
    .filter({ hasText: "PROVE" });
  const [time] = /\d+ms/.exec(await row.locator(".activation-time").innerText()) ?? [];
  expect(time).toBeDefined();
  say("activation", time!);
  await workbench.page.keyboard.press("Escape");
});
