/**
 * The paper's number of tasks in the workbench: they are listed, filtered, searched, opened and
 * stepped through without blocking the extension host.
 */
import type { FrameLocator } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Task } from "../../src/trajectory/task.ts";
import { createManyTasks } from "../editor/manyTasks.ts";
import { beginMeter, endMeter, printMeasure } from "./meter.ts";
import { checkVisible, Workbench } from "./workbench.ts";

const text = createManyTasks(13_517);
const tasks = text
  .trimEnd()
  .split("\n")
  .map(it => JSON.parse(it) as Task);
const calendar = tasks.filter(it => it.servers.some(({ name }) => name === "calendar")).length;
/** The first words of a banking task, which few other tasks contain. */
const words = tasks
  .find(it => it.servers[0]!.name === "banking")!
  .turns[0]!.user.split(" ")
  .slice(0, 5)
  .join(" ");

let workbench: Workbench;
const searchResult = () =>
  workbench.page.locator(".quick-input-list .monaco-list-row").filter({ hasText: words }).first();
const rows = () => workbench.rows("Tasks");
const exact = { exact: true };

beforeAll(async () => {
  workbench = await Workbench.open({ "prove/tasks/many.tasks.jsonl": text });
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Servers", "Runs");
});
afterAll(() => workbench.close());

test("the tasks are indexed, filtered and searched without blocking the extension host", async () => {
  await checkVisible(rows().filter({ hasText: "13,517 tasks" }));
  await beginMeter(workbench);
  await workbench.runCommand("PROVE: Filter Tasks…");
  await workbench.type("Words that occur", "server:");
  await checkVisible(workbench.choice("calendar"));
  await workbench.takePicture("tasks-offers");
  await workbench.choice("calendar").click();
  await checkVisible(workbench.choice(`Show ${calendar} of 13,517 tasks`));
  await workbench.page.keyboard.press("Enter");
  await checkVisible(rows().filter({ hasText: `${calendar} of 13,517 tasks` }));
  await workbench.takePicture("tasks-filtered");
  await checkVisible(workbench.pane("Tasks").getByText("Filter: server:calendar"));
  await workbench.runCommand("PROVE: Clear Filter");
  await workbench.expand(rows().filter({ hasText: /^\s*many\s*13,517 tasks/ }));
  await workbench.expand(rows().filter({ hasText: /^\s*13,001–13,517/ }));
  await workbench.expand(rows().filter({ hasText: /^\s*13,001–13,100/ }));
  await checkVisible(
    rows()
      .filter({ hasText: /reward \d/ })
      .first(),
  );
  await workbench.takePicture("tasks");
  await workbench.runCommand("PROVE: Search Tasks…");
  await workbench.type("Words in anything", `server:banking "${words}"`);
  await checkVisible(searchResult());
  await workbench.takePicture("tasks-search");
  const { block, spent, memory } = await endMeter(workbench);
  printMeasure("longest block of the extension host over 13,517 tasks", `${block.toFixed(0)} ms`);
  printMeasure("computing time of the extension host meanwhile", `${spent.toFixed(0)} ms`);
  printMeasure("memory of the extension host with 13,517 tasks", `${memory.toFixed(0)} MB`);
  expect(memory).toBeGreaterThan(0);
  expect(block).toBeGreaterThan(0);
});

test("the table lists the attempts of all tasks, sorted and filtered, and opens them", async () => {
  await beginMeter(workbench);
  const begin = performance.now();
  await workbench.runCommand("PROVE: Show Attempts");
  await workbench.answer("Which attempts to list", "many");
  const page = workbench.webview();
  // half a minute of work for one core, which others share
  await checkVisible(page.locator("tr[data-position]").first());
  const firstRows = (performance.now() - begin) / 1000;
  const finished = page.getByText("13,517 attempts · 0 failures · profile paper", exact);
  await finished.waitFor({ timeout: 600_000 });
  const seconds = (performance.now() - begin) / 1000;
  await page.getByRole("button", { name: "Reward", exact: true }).click();
  await checkVisible(page.locator("th[aria-sort=ascending]").filter({ hasText: "Reward" }));
  await page.getByText("Reward Weights").click();
  const slider = await measureSlider(page);
  await page.getByRole("button", { name: "Reset", exact: true }).click();
  await workbench.takePicture("attempts");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await page.getByRole("searchbox").fill("server:calendar");
  await checkVisible(page.getByText(`${calendar} of 13,517 attempts`));
  await page
    .getByRole("button", { name: /^Open the transcript of/ })
    .first()
    .click();
  await checkVisible(workbench.tab(".transcript"));
  await workbench.tab("Attempts: many").click();
  await checkVisible(page.getByText(`${calendar} of 13,517 attempts`));
  await page
    .getByRole("button", { name: /^Select .* for compare$/ })
    .nth(1)
    .hover();
  // the table is drawn again between the press and the release, as when rows arrive
  await workbench.page.mouse.down();
  await page.getByRole("searchbox").dispatchEvent("input");
  await workbench.page.mouse.up();
  await page
    .getByRole("button", { name: /^Compare .* with the selected$/ })
    .nth(3)
    .click();
  await checkVisible(workbench.tab("↔"));
  await workbench.takePicture("attempts-compared");
  const { block, memory } = await endMeter(workbench);
  await workbench.closeEditors();
  const beginAgain = performance.now();
  await workbench.runCommand("PROVE: Show Attempts");
  await workbench.answer("Which attempts to list", "many");
  await checkVisible(finished);
  const again = (performance.now() - beginAgain) / 1000;
  printMeasure("time until the first of 13,517 attempts are listed", `${firstRows.toFixed(1)} s`);
  printMeasure("time until 13,517 attempts are scored and listed", `${seconds.toFixed(1)} s`);
  printMeasure("time until they are listed again", `${again.toFixed(1)} s`);
  printMeasure("time from a moved weight to the table of 13,517", `${slider.toFixed(0)} ms`);
  printMeasure("longest block of the extension host meanwhile", `${block.toFixed(0)} ms`);
  printMeasure("memory of the extension host after it", `${memory.toFixed(0)} MB`);
  await workbench.closeEditors();
});

/** Milliseconds from the input event of a moved slider to the frame with the new table. */
const measureSlider = (page: FrameLocator) =>
  page.locator("input[data-part=validity]").evaluate(async input => {
    const begin = performance.now();
    (input as HTMLInputElement).value = "0.4";
    const table = document.querySelector("tbody")!;
    const before = table.textContent;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    const nextFrame = () => new Promise(resolve => requestAnimationFrame(resolve));
    while (table.textContent === before) await nextFrame();
    await nextFrame();
    return performance.now() - begin;
  });

test("tasks are grouped by a field, which the view says", async () => {
  await workbench.runCommand("PROVE: Group Tasks By…");
  await workbench.answer("By what to group the tasks", "Server");
  await checkVisible(rows().filter({ hasText: /^\s*calendar\s*[\d,]+ tasks/ }));
  await workbench.takePicture("tasks-grouped");
  await workbench.runCommand("PROVE: Group Tasks By…");
  await workbench.answer("By what to group the tasks", "No groups");
});

test("a search result opens as a transcript with its debugger and its reward", async () => {
  await beginMeter(workbench);
  await workbench.runCommand("PROVE: Search Tasks…");
  await workbench.type("Words in anything", `server:banking "${words}"`);
  await searchResult().click();
  await checkVisible(workbench.tab(".transcript"));
  await workbench.runCommand("PROVE: Step Through Trajectory");
  await checkVisible(workbench.variable("start"));
  await workbench.debugButton("continue").click();
  await checkVisible(workbench.variable("ended by"));
  await workbench.debugButton("stop").click();
  await workbench.runCommand("PROVE: Show Reward");
  const part = workbench.webview().getByRole("row").filter({ hasText: "validity" });
  await checkVisible(part.first());
  const { block } = await endMeter(workbench);
  printMeasure(
    "longest block of the extension host while a task is opened, stepped and scored",
    `${block.toFixed(0)} ms`,
  );
  await workbench.closeEditors();
});
