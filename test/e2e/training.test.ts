/** Training from the workbench: it is started, plotted, cancelled, resumed and stopped. */
import { cpSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { readTrainerLock } from "../../src/run/trainerLock.ts";
import { synthesizeTasks } from "./taskFiles.ts";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

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

test("the plots of another run are drawn beside, and saved as one picture", async () => {
  const folder = join(workbench.folder, "prove/runs");
  cpSync(run(), join(folder, "other"), { recursive: true });
  await checkVisible(workbench.rows("Runs").filter({ hasText: /other.*stopped/ }));
  const lines = page().locator("figure.wide svg path.other-1");
  await page().getByText("Draw Other Runs…").click();
  await workbench.page.locator(".quick-input-widget .monaco-checkbox").last().click();
  await workbench.page.locator(".quick-input-widget").getByRole("button", { name: "OK" }).click();
  await checkVisible(lines.first());
  await workbench.takePicture("run-compared");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await page().getByText("Save Plots…").click();
  await workbench.answer("Save Plots", join(workbench.folder, "few-1.svg"));
  const saved = () => readFileSync(join(workbench.folder, "few-1.svg"), "utf8");
  await vi.waitFor(
    () => expect(saved()).toMatch(/^<svg .*Reward[\s\S]*Rollouts per second[\s\S]*<\/svg>\n$/),
    waitOptions,
  );
});

test("a run is renamed and deleted from the palette", async () => {
  const row = (name: string) => workbench.rows("Runs").filter({ hasText: name });
  await workbench.runCommand("PROVE: Rename Run…");
  await workbench.choice("other").click();
  await workbench.answer("New name of other", "second");
  await checkVisible(row("second"));
  expect(existsSync(join(workbench.folder, "prove/runs/other"))).toBe(false);
  await workbench.runCommand("PROVE: Delete Run…");
  await workbench.choice("second").click();
  await workbench.page.getByRole("button", { name: "Move to Trash" }).click();
  // the workbench runs on a remote host, which has no trash
  await workbench.page.getByRole("button", { name: "Delete Permanently" }).click();
  await checkGone(row("second"));
  expect(existsSync(run())).toBe(true);
});
