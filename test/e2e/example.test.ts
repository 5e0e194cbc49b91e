/**
 * What a newcomer tries on the example: a student on its tasks, and a training, for which it has
 * too few tasks, and which is killed and resumed.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listRuns } from "../../src/run/folder.ts";
import { readTrainerLock } from "../../src/run/locks.ts";
import { readExample } from "./taskFiles.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;
const getRun = (name: string) => join(workbench.folder, "prove/runs", name);
const row = (name: string) => workbench.rows("Runs").filter({ hasText: name });

/** A step makes over a hundred attempts, which takes seconds, or longer on busy cores. */
const stepTimeout = { timeout: 150_000, interval: 250 };

beforeAll(async () => {
  workbench = await Workbench.open(readExample());
  await workbench.showContainer("PROVE");
});
afterAll(async () => {
  // a trainer outlives the window, so one that a failed test left running must be ended
  for (const folder of listRuns(join(workbench.folder, "prove/runs"))) {
    const trainer = readTrainerLock(folder);
    if (trainer) process.kill(trainer.pid, "SIGKILL");
  }
  await workbench.close();
});

/** Neither words of the command line nor absolute paths were shown. */
async function checkTexts(): Promise<void> {
  const texts = await workbench.page.locator(".notification-list-item-message").allTextContents();
  for (const it of texts) {
    expect(it).not.toMatch(/prove-rl [a-z]|--[a-z]/);
    expect(it).not.toContain(workbench.folder);
    expect(it).not.toContain("/extensions/");
  }
}

test("a student tries a task of the example that it was trained on, and goes on with it", async () => {
  const file = workbench.rows("Tasks").filter({ hasText: /before-payday/ });
  await workbench.expand(file);
  await workbench.rows("Tasks").filter({ hasText: "banking" }).first().click();
  await checkVisible(workbench.tab(".transcript"));
  await workbench.runCommand("PROVE: Try Student on This Task…");
  await workbench.choice("careless").click();
  await checkVisible(workbench.tab(/careless-1\.transcript/));
  await checkVisible(
    workbench.lines.filter({ hasText: /note:.the.student.was.trained.on/ }).first(),
  );
  await workbench.takePicture("student-trained-on-task");
  await workbench.runCommand("PROVE: Step Through Trajectory");
  await checkVisible(workbench.variable("start"));
  await workbench.debugButton("step-over").click();
  await checkVisible(workbench.variable("user"));
  await workbench.runCommand("PROVE: Fork From Here…");
  await workbench.choice("A student…").click();
  await workbench.choice("careless").click();
  await checkVisible(workbench.tab(/↔.*careless-fork-1/));
  await checkTexts();
  await workbench.debugButton("stop").click();
  await workbench.closeEditors();
}, 240_000);

test("the run of the example cannot be trained longer, which is said at once", async () => {
  await workbench.showContainer("PROVE");
  await workbench.runCommand("PROVE: Train Longer…");
  await checkVisible(workbench.notification("No training has ended that could go on"));
  await checkTexts();
});

test("the first choice of Start Training makes tasks, and trains on them", async () => {
  await workbench.runCommand("PROVE: Start Training…");
  await checkVisible(workbench.choice("A first training").filter({ hasText: /held out/ }));
  const first = workbench.page.locator(".quick-input-list .monaco-list-row.focused");
  await checkVisible(first.filter({ hasText: "Make 1,000 tasks, then train" }));
  await workbench.takePicture("training-few-tasks");
  await workbench.page.keyboard.press("Enter");
  await row("student-2-1").waitFor({ timeout: 300_000 });
  await row("student-2-1").filter({ hasText: "training" }).waitFor(stepTimeout);
}, 480_000);

test("a trainer that is killed says so, and its training is resumed", async () => {
  process.kill(readTrainerLock(getRun("student-2-1"))!.pid, "SIGKILL");
  const died = workbench.notification(
    /The training of student-2-1 ended .* was killed \(SIGKILL\)/,
  );
  await checkVisible(died);
  await checkVisible(row("student-2-1").filter({ hasText: "interrupted" }));
  await checkVisible(workbench.webview().getByRole("status").filter({ hasText: "interrupted" }));
  await checkTexts();
  await workbench.takePicture("training-killed");
  await died.getByRole("button", { name: "Resume" }).click();
  await row("student-2-1").filter({ hasText: "training" }).waitFor(stepTimeout);
  await workbench.runCommand("PROVE: Stop Training");
  await checkVisible(row("student-2-1").filter({ hasText: "stopped" }));
}, 480_000);
