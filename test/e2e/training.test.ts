/**
 * Training from the workbench: started from the palette, seen to move, cancelled, gone on with, and
 * left as files that stand.
 */
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
/** The steps that are written down: whole lines of the run's metrics. */
const steps = () =>
  existsSync(join(run(), "metrics.jsonl"))
    ? readFileSync(join(run(), "metrics.jsonl"), "utf8").split("\n").length - 1
    : 0;

/**
 * A step is over a hundred attempts and what is learned from them: seconds, or longer where others
 * want the cores, too.
 */
const aStep = { timeout: 150_000, interval: 250 };

beforeAll(async () => {
  workbench = await Workbench.open({
    "prove/tasks/few.tasks.jsonl": synthesizeTasks(24, "banking"),
  });
  await workbench.showContainer("PROVE");
});
afterAll(async () => {
  // a trainer outlives the window: one that a failed test left behind would go on
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
  await curve.waitFor(aStep);
  const before = await curve.getAttribute("d");
  await vi.waitFor(async () => expect(await curve.getAttribute("d")).not.toBe(before), aStep);
  await workbench.takePicture("run");
}, 360_000);

test("cancelling the notification stops it and keeps its files", async () => {
  await workbench.notification("Training few-1").getByRole("button", { name: "Cancel" }).click();
  await checkVisible(state("stopped"));
  await checkVisible(workbench.rows("Runs").filter({ hasText: /few-1.*stopped/ }));
  expect(steps()).toBeGreaterThanOrEqual(2);
  for (const line of readFileSync(join(run(), "metrics.jsonl"), "utf8").trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ method: "grpo" });
  await workbench.takePicture("run-stopped");
});

test("it is resumed and stopped from its page", async () => {
  const written = steps();
  await page().getByText("Resume").click();
  await checkVisible(state("training"));
  await vi.waitFor(() => expect(steps()).toBeGreaterThan(written), aStep);
  await page().getByText("Stop", { exact: true }).click();
  await checkVisible(state("stopped"));
}, 240_000);
