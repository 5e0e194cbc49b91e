/**
 * The walkthrough on the example: what its steps do, photographed at the size of its pictures, and
 * that each step has one.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { repository } from "./packaged.ts";
import { readExample } from "./taskFiles.ts";
import { checkVisible, waitOptions, Workbench } from "./workbench.ts";

const manifest = JSON.parse(readFileSync(join(repository, "package.json"), "utf8")) as {
  readonly contributes: {
    readonly walkthroughs: readonly [{ readonly steps: readonly { readonly title: string }[] }];
  };
};

let workbench: Workbench;

beforeAll(async () => {
  workbench = await Workbench.open(readExample());
  await workbench.page.setViewportSize({ width: 1100, height: 760 });
  await workbench.showContainer("PROVE");
});
afterAll(() => workbench.close());

test("a call of a live server shows what it changed", async () => {
  await workbench.collapseViews("Tasks", "Runs");
  await workbench.runCommand("PROVE: Open Session…");
  await workbench.choice("banking · small").click();
  await checkVisible(workbench.rows("Servers").filter({ hasText: "Session 1 on small" }));
  await workbench.runCommand("PROVE: Call Tool…");
  await workbench.answer("Which tool to call", "banking_transfer");
  await workbench.answer("from_account", "Everyday");
  await workbench.answer("to_account", "Savings");
  await workbench.answer("amount", "12.5");
  await checkVisible(workbench.lines.filter({ hasText: "acc_101.balance" }).first());
  await workbench.takePicture("walkthrough-servers");
  await workbench.closeEditors();
});

test("a transcript has its lenses at once, also where the focus goes on to another editor", async () => {
  const { page } = workbench;
  const lens = (group: number) =>
    page
      .locator(".editor-group-container")
      .nth(group)
      .locator(".codelens-decoration a", { hasText: "Step Through Trajectory" });
  // an editor waits for 250 ms before it asks for lenses, and on a slow machine for longer
  const setTimeout = await page.evaluateHandle(() => window.setTimeout);
  await page.evaluate(it => {
    const slow = (run: () => void, ms = 0) => it(run, ms < 200 || ms > 1000 ? ms : ms + 3000);
    window.setTimeout = slow as typeof window.setTimeout;
  }, setTimeout);
  await workbench.runCommand("PROVE: Show Me a Failing Attempt");
  await checkVisible(workbench.webview().getByText("Reward after each call"));
  await checkVisible(lens(0));
  // it has kept the focus, so that its title has its actions
  const title = page.locator(".editor-group-container.active .editor-actions");
  await checkVisible(title.locator('[aria-label^="Step Through Trajectory"]'));
  await workbench.closeEditors();
  await workbench.collapseViews("Servers", "Runs");
  await workbench.runCommand("PROVE: Focus on Tasks View");
  const tasks = workbench.rows("Tasks");
  await workbench.expand(tasks.filter({ hasText: "2 tasks" }).filter({ hasText: "student" }));
  await tasks.filter({ hasText: "my calendar is a mess" }).first().click({ button: "right" });
  await workbench.chooseFromMenu("Try Student on This Task…");
  await workbench.choice("careless").click();
  await checkVisible(workbench.tab(/careless-1\.transcript/));
  await checkVisible(lens(0));
  await checkVisible(lens(1));
  await page.evaluate(it => void (window.setTimeout = it), setTimeout);
  await workbench.closeEditors();
});

test("a failing attempt is shown with its reward, and stepped through", async () => {
  await workbench.runCommand("View: Toggle Primary Side Bar Visibility");
  await workbench.runCommand("PROVE: Show Me a Failing Attempt");
  await checkVisible(workbench.webview().getByText("Reward after each call"));
  await workbench.takePicture("walkthrough-failing");
  await workbench.runCommand("PROVE: Step Through Trajectory");
  await checkVisible(workbench.variable("start"));
  await workbench.runCommand("View: Close Editors in Other Groups");
  await workbench.collapseViews("Watch", "Call Stack", "Breakpoints");
  for (let n = 0; n < 2; n++) await workbench.debugButton("step-over").click();
  await checkVisible(workbench.variable("tool"));
  await workbench.takePicture("walkthrough-stepping");
  await workbench.debugButton("stop").click();
  await workbench.closeEditors();
});

test("tasks and a finished run are listed and shown", async () => {
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Servers");
  await workbench.runCommand("PROVE: Focus on Tasks View");
  await workbench.expand(workbench.rows("Tasks").filter({ hasText: "40 tasks" }));
  await workbench
    .rows("Tasks")
    .filter({ hasText: /reward \d/ })
    .first()
    .click();
  await checkVisible(workbench.tab(".transcript"));
  await workbench.takePicture("walkthrough-tasks");
  await workbench.runCommand("PROVE: Show Run");
  await checkVisible(workbench.webview().getByRole("heading", { name: "Held-Out Tasks" }));
  await workbench.takePicture("walkthrough-training");
  await workbench.closeEditors();
});

test("each step of the walkthrough shows a picture", async () => {
  await workbench.page.setViewportSize({ width: 1400, height: 1050 });
  await workbench.runCommand("Welcome: Open Walkthrough...");
  await workbench.answer("", "First Steps with PROVE");
  const picture = workbench.page.locator(".getting-started-media img");
  for (const { title } of manifest.contributes.walkthroughs[0].steps) {
    await workbench.page.getByRole("heading", { name: title }).click();
    await vi.waitFor(async () => {
      const width = await picture.evaluate(it => (it as HTMLImageElement).naturalWidth);
      expect(width).toBeGreaterThan(0);
    }, waitOptions);
    expect(await picture.getAttribute("alt")).toMatch(/\w/);
  }
  await workbench.takePicture("walkthrough");
});
