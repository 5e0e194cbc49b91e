/**
 * A newcomer's journey in an empty folder: trust, tasks, stepping, reward, and a training after
 * which success is higher. After trust it takes ten clicks, or, as here, ten presses of a key on
 * the controls that one would click, which have the focus.
 */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readEvaluation } from "../../src/run/evaluation.ts";
import { listRuns } from "../../src/run/folder.ts";
import { readTrainerLock } from "../../src/run/locks.ts";
import { startCodeServer, type CodeServer } from "./codeServer.ts";
import { installHost } from "./host.ts";
import { printMeasure } from "./meter.ts";
import { findPackage } from "./packaged.ts";
import { testSettings } from "./settings.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let server: CodeServer;
let workbench: Workbench;
/** What would be a click: everything else only moves the focus. */
let presses = 0;
const press = async (key = "Enter") => {
  presses++;
  await workbench.page.keyboard.press(key);
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

test("success is higher after ten clicks in an empty folder, with the keyboard alone", async () => {
  const dialog = workbench.page.locator(".monaco-dialog-box");
  await checkVisible(dialog);
  // at the size of the walkthrough's pictures
  await workbench.page.setViewportSize({ width: 1100, height: 760 });
  await workbench.takePicture("walkthrough-trust");
  await workbench.page.setViewportSize({ width: 1400, height: 1050 });
  const trust = dialog.getByRole("button", { name: "Yes, I trust the authors" });
  await checkVisible(trust.and(workbench.page.locator(":focus")));
  await workbench.page.keyboard.press("Enter");
  const begin = performance.now();

  await workbench.focusContainer("PROVE");
  await press();
  const button = (view: string) => workbench.pane(view).locator("a.monaco-button");
  const choice = workbench.page.locator(".quick-input-list .monaco-list-row.focused");
  await workbench.tabTo(button("Tasks").filter({ hasText: "Synthesize Tasks…" }));
  await press();
  await checkVisible(choice.filter({ hasText: "Tasks for the student that ships" }));
  await press();
  const made = workbench.notification(/1,000 tasks in .*student/);
  await made.waitFor({ timeout: 600_000 });
  await workbench.takePicture("newcomer-tasks");

  await workbench.focusInNotification(made, "Open First Task");
  await press();
  await workbench.focusLens("Step Through Trajectory");
  await press();
  await checkVisible(workbench.variable("start"));
  await press("F10");
  await checkVisible(workbench.variable("user"));
  await workbench.focusLens("Show Reward");
  await press();
  await checkVisible(workbench.webview().getByRole("row").filter({ hasText: "validity" }).first());
  await workbench.takePicture("newcomer-reward");

  await workbench.focusContainer("PROVE");
  await press();
  await workbench.tabTo(button("Runs").filter({ hasText: "Start Training" }));
  await press();
  await checkVisible(choice.filter({ hasText: "A first training" }));
  await recordRunRows();
  await press();
  const rose = workbench.notification(/student-1 has finished after 12 steps: success rose: /);
  await rose.waitFor({ timeout: 600_000 });
  const seconds = (performance.now() - begin) / 1000;
  printMeasure("the newcomer's journey after trust", `${seconds.toFixed(0)} s`);
  await checkVisible(workbench.webview().getByRole("heading", { name: "Held-Out Tasks" }));
  await workbench.takePicture("newcomer-trained");
  const { change } = readEvaluation(join(workbench.folder, "prove/runs/student-1"))!;
  expect(change.success.low).toBeGreaterThan(0);
  expect(presses).toBeLessThanOrEqual(10);
  const states = await listRecordedStates("student-1");
  expect(states).toContain("starting");
  expect(states).toContain("training");
  expect(states.at(-1)).toBe("finished");
  for (const it of ["stopped", "interrupted", "unknown"]) expect(states).not.toContain(it);
});

/** Records every text that a row of the Runs view shows from now on. */
const recordRunRows = () =>
  workbench.pane("Runs").evaluate(pane => {
    const seen: string[] = [];
    Object.assign(window, { seenRows: seen });
    new MutationObserver(() => {
      for (const it of pane.querySelectorAll(".monaco-list-row"))
        if (seen.at(-1) !== it.textContent) seen.push(it.textContent);
    }).observe(pane, { childList: true, subtree: true, characterData: true });
  });

/** The states that a run was shown in, in order. */
async function listRecordedStates(name: string): Promise<readonly string[]> {
  const rows = await workbench.page.evaluate(
    () => (window as unknown as { readonly seenRows: readonly string[] }).seenRows,
  );
  return rows.flatMap(it => new RegExp(`${name}.* ([a-z]+)$`).exec(it)?.[1] ?? []);
}
