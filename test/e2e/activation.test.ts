/** The packaged extension in the workbench: its views and its activation time. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { printMeasure } from "./meter.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
});
afterAll(() => workbench.close());

test("its container shows servers, tasks and runs", async () => {
  await workbench.showContainer("PROVE");
  await checkVisible(workbench.rows("Servers").filter({ hasText: "banking" }));
  expect(await workbench.rows("Servers").count()).toBeGreaterThan(2);
  await checkVisible(workbench.pane("Tasks").getByText("Copy Example"));
  await checkVisible(workbench.pane("Runs").getByText("Start Training"));
  await workbench.takePicture("views");
});

test("the activation time is measured", async () => {
  await workbench.runCommand("Developer: Show Running Extensions");
  const row = workbench.page
    .locator(".runtime-extensions-editor .monaco-list-row")
    .filter({ hasText: "PROVE" });
  const [time] = /\d+ms/.exec(await row.locator(".activation-time").innerText()) ?? [];
  expect(time).toBeDefined();
  printMeasure("activation", time!);
  await workbench.page.keyboard.press("Escape");
});
