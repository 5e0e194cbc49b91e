/** Training from the workbench: it is started, plotted, cancelled, resumed and stopped. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readTrainerLock } from "../../src/run/trainerLock.ts";
import { synthesizeTasks } from "./taskFiles.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;
const run = () => join(workbench.folder, "prove/runs/few-1");
const page = () => workbench.webview();
const state = (word: string) => page().getByRole("status").filter({ hasText: word });
/** The number of recorded steps: complete lines of the run's metrics. */
const countSteps = () =>
  existsSync(join(run(), "metrics.jsonl"))
    ? readFileSync(join(run(), "metrics.jsonl"), "utf8").split("\n").length - 1
    : 0;

/** A step makes over a hundred attempts, which takes seconds, or longer on busy cores. */
const stepTimeout = { timeout: 150_000, interval: 250 };

beforeAll(async () => {
  workbench = await Workbench.open({
    "prove/tasks/few.tasks.jsonl": synthesizeTasks(24, "banking"),
  });
  await workbench.showContainer("PROVE");
});
afterAll(async () => {
  // a trainer outlives the window, so one that a failed test left running must be ended
  const trainer = readTrainerLock(run());
  if (trainer) process.kill(trainer.pid, "SIGKILL");
  await workbench.close();
});

test("training starts from the palette, and its curve grows", async () => {
  await workbench.runCommand("PROVE: Start Training");
  await workbench.choice("few").click();
  await workbench.answer("How many steps", "1000");
  await checkVisible(workbench.notification("Training few-1"));
  await checkVisible(state("training"));
  const curve = page().locator("figure svg path.line").first();
  await curve.waitFor(stepTimeout);
  const before = await curve.getAttribute("d");
  await vi.waitFor(async () => expect(await curve.getAttribute("d")).not.toBe(before), stepTimeout);
  await workbench.takePicture("run");
}, 360_000);

test("cancelling the notification stops the training and keeps its files", async () => {
  await workbench.notification("Training few-1").getByRole("button", { name: "Cancel" }).click();
  await checkVisible(state("stopped"));
  await checkVisible(workbench.rows("Runs").filter({ hasText: /few-1.*stopped/ }));
  expect(countSteps()).toBeGreaterThanOrEqual(2);
  for (const line of readFileSync(join(run(), "metrics.jsonl"), "utf8").trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ method: "grpo" });
  await workbench.takePicture("run-stopped");
});

test("training is resumed and stopped from its page", async () => {
  const recorded = countSteps();
  await page().getByText("Resume").click();
  await checkVisible(state("training"));
  await vi.waitFor(() => expect(countSteps()).toBeGreaterThan(recorded), stepTimeout);
  await page().getByText("Stop", { exact: true }).click();
  await checkVisible(state("stopped"));
}, 240_000);
