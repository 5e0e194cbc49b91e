/**
 * A newcomer's journey in an empty folder: trust, tasks, stepping, reward, and a training after
 * which success is higher. After trust it takes ten clicks and no typing.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Locator } from "playwright-core";
import { readEvaluation } from "../../src/run/evaluation.ts";
import { listRuns } from "../../src/run/folder.ts";
import { readTrainerLock } from "../../src/run/trainerLock.ts";
import { startCodeServer, type CodeServer } from "./codeServer.ts";
import { installHost } from "./host.ts";
import { printMeasure } from "./meter.ts";
import { findPackage } from "./packaged.ts";
import { testSettings } from "./settings.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let server: CodeServer;
let workbench: Workbench;
let clicks = 0;
const click = async (it: Locator) => {
  clicks++;
  await it.click();
};

beforeAll(async () => {
  server = await startCodeServer({
    host: await installHost(it => process.stderr.write(`${it}\n`)),
    extensions: [findPackage("vsix")],
    settings: {
      ...testSettings,
      "security.workspace.trust.enabled": true,
      "security.workspace.trust.startupPrompt": "always",
    },
    requiresTrust: true,
    graceSeconds: 3,
  });
  workbench = await Workbench.open({}, server.url);
});
afterAll(async () => {
  // a trainer outlives the window, so one that a failed test left running must be ended
  for (const folder of listRuns(join(workbench.folder, "prove/runs"))) {
    const trainer = readTrainerLock(folder);
    if (trainer) process.kill(trainer.pid, "SIGKILL");
  }
  await workbench.close();
  await server.stop();
});

test("success is higher after ten clicks in an empty folder", async () => {
  const dialog = workbench.page.locator(".monaco-dialog-box");
  await checkVisible(dialog);
  // at the size of the walkthrough's pictures
  await workbench.page.setViewportSize({ width: 1100, height: 760 });
  await workbench.takePicture("walkthrough-trust");
  await workbench.page.setViewportSize({ width: 1400, height: 1050 });
  await dialog.getByRole("button", { name: "Yes, I trust the authors" }).click();
  const begin = performance.now();

  await click(workbench.container("PROVE"));
  await click(workbench.pane("Tasks").getByText("Synthesize Tasks…"));
  await click(workbench.choice("Tasks for the student that ships"));
  const made = workbench.notification(/1,000 tasks in .*student/);
  await made.waitFor({ timeout: 150_000 });
  await workbench.takePicture("newcomer-tasks");

  await click(made.getByRole("button", { name: "Open First Task" }));
  await click(workbench.page.getByText("Step Through Trajectory").first());
  await checkVisible(workbench.variable("start"));
  await click(workbench.debugButton("step-over"));
  await checkVisible(workbench.variable("user"));
  await click(workbench.page.getByText(/Show Reward \(/).first());
  await checkVisible(workbench.webview().getByRole("row").filter({ hasText: "validity" }).first());
  await workbench.takePicture("newcomer-reward");

  await click(workbench.container("PROVE"));
  await click(workbench.pane("Runs").getByText("Start Training"));
  await click(workbench.choice("A first training"));
  const rose = workbench.notification(/student-1 has finished after 12 steps: success rose: /);
  await rose.waitFor({ timeout: 600_000 });
  const seconds = (performance.now() - begin) / 1000;
  printMeasure("the newcomer's journey after trust", `${seconds.toFixed(0)} s`);
  await checkVisible(workbench.webview().getByRole("heading", { name: "Held-Out Tasks" }));
  await workbench.takePicture("newcomer-trained");
  const { change } = readEvaluation(join(workbench.folder, "prove/runs/student-1"))!;
  expect(change.success.low).toBeGreaterThan(0);
  expect(clicks).toBeLessThanOrEqual(10);
}, 900_000);
