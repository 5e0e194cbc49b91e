/**
 * Comparing policies by task: from the menu of several files and a run, with the attempts of a
 * cell, and a run that is deleted while the page is open.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseTask } from "../../src/trajectory/file.ts";
import { formatTrajectory, type Trajectory } from "../../src/trajectory/trajectory.ts";
import { readExample, synthesizeTasks } from "./taskFiles.ts";
import { checkVisible, Workbench } from "./workbench.ts";

let workbench: Workbench;
const tasks = synthesizeTasks(24, "banking")
  .trim()
  .split("\n")
  .map((it, i) => parseTask(JSON.parse(it), { file: "few.tasks.jsonl", line: i + 1 }));

/** The teacher's attempts under another name, without the calls at every n-th task. */
const attempt = (policy: string, n: number) =>
  tasks
    .map(({ trajectory }, i): Trajectory => {
      const header = { ...trajectory.header, id: `${trajectory.header.id}-${policy}`, policy };
      const events = trajectory.events.filter(it => it.kind !== "call" || i % n > 0);
      return { ...trajectory, header, events };
    })
    .map(formatTrajectory)
    .join("");

beforeAll(async () => {
  workbench = await Workbench.open({
    ...readExample(),
    "prove/tasks/few.tasks.jsonl": synthesizeTasks(24, "banking"),
    "prove/tasks/hasty.trajectory.jsonl": attempt("hasty", 2),
    "prove/tasks/steady.trajectory.jsonl": attempt("steady", 9),
  });
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Servers", "Runs");
});
afterAll(() => workbench.close());

test("several files and runs are compared from their menu", async () => {
  const rows = workbench.rows("Tasks");
  await workbench.expand(rows.filter({ hasText: /^\s*Attempts/ }));
  const hasty = rows.filter({ hasText: /^\s*hasty/ });
  await hasty.click({ modifiers: ["Control"] });
  await rows.filter({ hasText: /^\s*steady/ }).click({ modifiers: ["Control"] });
  await rows.filter({ hasText: /^\s*example\s*run/ }).click({ modifiers: ["Control"] });
  await hasty.click({ button: "right" });
  await workbench.chooseFromMenu("Compare Policies…");
  const page = workbench.webview();
  await checkVisible(
    page.getByText(/^\d+ tasks · the policies disagree on \d+ · profile prove-plus$/),
  );
  await checkVisible(page.getByRole("columnheader", { name: "steady" }));
  await checkVisible(page.getByText(/^\+\d+\.\d \[\+\d/).first());
  await workbench.takePicture("matrix");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
});

test("a cell opens the attempts of its policy at its task", async () => {
  const page = workbench.webview();
  await page
    .getByRole("button", { name: /^100% 1\/1 of steady at / })
    .first()
    .click();
  await checkVisible(workbench.tab("Attempts: steady"));
  await checkVisible(page.getByText(/^1 of 24 attempts/));
  await workbench.takePicture("matrix-attempts");
  await workbench.tab("Policies: ").click();
});

test("a run that is deleted says so, and the others stay", async () => {
  rmSync(join(workbench.folder, "prove/runs/example"), { recursive: true });
  const page = workbench.webview();
  await checkVisible(page.getByText("example: the run example was deleted").first());
  await checkVisible(page.getByRole("columnheader", { name: "steady" }));
  await workbench.page.setViewportSize({ width: 800, height: 700 });
  await workbench.takePicture("matrix-narrow");
  await workbench.page.setViewportSize({ width: 1400, height: 1050 });
  await workbench.closeEditors();
});

test("from the palette, the keyboard alone chooses what is compared", async () => {
  await workbench.runCommandByKeyboard("PROVE: Compare Policies…");
  await checkVisible(workbench.choice("steady.trajectory.jsonl"));
  await workbench.checkByKeyboard("hasty", "steady");
  const page = workbench.webview();
  await checkVisible(page.getByText(/^24 tasks · the policies disagree on/));
  const cell = page.getByRole("button", { name: /^0% 0\/1 of hasty at / }).first();
  await workbench.tabTo(cell);
  await workbench.page.keyboard.press("Enter");
  await checkVisible(workbench.tab("Attempts: hasty"));
});
