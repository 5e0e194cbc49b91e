/** The packaged extension in an empty workbench, and how long a person waits for what it does. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Locator } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { loadServers } from "../../src/servers/catalog.ts";
import { beginMeter, endMeter, measureActivation, printMeasure, settleHost } from "./meter.ts";
import { synthesizeTasks } from "./taskFiles.ts";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

const catalog = await loadServers();

let workbench: Workbench;
beforeAll(async () => {
  workbench = await Workbench.open();
});
afterAll(() => workbench.close());

test("its container shows servers, tasks and runs", async () => {
  await settleHost(workbench);
  await beginMeter(workbench);
  printMeasure("activation", `${(await measureActivation(workbench)).toFixed(0)} ms`);
  await workbench.showContainer("PROVE");
  const servers = workbench.rows("Servers");
  await checkVisible(servers.filter({ hasText: "banking" }));
  await checkVisible(workbench.pane("Tasks").getByText("Copy Example"));
  await checkVisible(workbench.pane("Runs").getByText("Start Training"));
  await workbench.takePicture("views");
  await workbench.collapseViews("Tasks", "Runs");
  await vi.waitFor(async () => expect(await servers.count()).toBe(catalog.length), waitOptions);
  const { block } = await endMeter(workbench);
  printMeasure(
    "longest block of the extension host while the extension and the servers load",
    `${block.toFixed(0)} ms`,
  );
});

test("transcripts open and steps move the highlight; the times are printed", async () => {
  const file = join(workbench.folder, "prove/tasks/few.tasks.jsonl");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, synthesizeTasks(6, "banking"));
  await workbench.showContainer("PROVE");
  await workbench.collapseViews("Servers");
  await workbench.pane("Tasks").locator(".pane-header").click();
  await workbench.expand(workbench.rows("Tasks").filter({ hasText: /^\s*few\s*6/ }));
  const tasks = workbench.rows("Tasks").filter({ hasText: /reward \d/ });
  const first = await measureOpening(tasks.first());
  printMeasure("time from the click on the first task to its transcript", `${first.toFixed(0)} ms`);
  const opening: number[] = [];
  for (let n = 1; n < 6; n++) opening.push(await measureOpening(tasks.nth(n)));
  printMeasure("time from the click on another task to its transcript", describeTimes(opening));
  await workbench.runCommand("PROVE: Step Through Trajectory");
  await checkVisible(workbench.variable("start"));
  const steps: number[] = [];
  for (let n = 0; n < 5; n++) steps.push(await workbench.page.evaluate(measureStep));
  printMeasure("time from a step's button to the highlighted line", describeTimes(steps));
  await workbench.debugButton("stop").click();
  await checkGone(workbench.debugButton("stop"));
});

test("copying the example keeps a tasks file of the same name", async () => {
  const file = join(workbench.folder, "prove/tasks/student.tasks.jsonl");
  const own = synthesizeTasks(3, "banking");
  writeFileSync(file, own);
  await workbench.runCommand("PROVE: Copy Example");
  const example = join(workbench.folder, "prove/tasks/example.tasks.jsonl");
  await vi.waitFor(() => expect(existsSync(example)).toBe(true), waitOptions);
  // the run is copied after the tasks
  const attempts = join(workbench.folder, "prove/runs");
  await vi.waitFor(() => expect(existsSync(attempts)).toBe(true), waitOptions);
  expect(readFileSync(file, "utf8")).toBe(own);
});

/** Milliseconds from the click on a task's row to the frame with its transcript. */
async function measureOpening(row: Locator): Promise<number> {
  const opened = workbench.page.evaluateHandle(() => {
    const readTitle = () => document.querySelector(".tabs-container .tab.active")?.textContent;
    const before = readTitle();
    const isShown = () => {
      const title = readTitle();
      const id = title?.replace(/\.transcript.*/s, "");
      const [line] = document.querySelectorAll(".editor-instance .view-line");
      return title !== before && !!id && line?.textContent.includes(id);
    };
    const result = new Promise<number>(resolve => {
      const begin = () => {
        const start = performance.now();
        const check = () =>
          isShown() ? resolve(performance.now() - start) : requestAnimationFrame(check);
        check();
      };
      addEventListener("click", begin, { once: true, capture: true });
    });
    return { result };
  });
  const handle = await opened;
  await row.click();
  return handle.evaluate(it => it.result);
}

/** Milliseconds from the click on the button to the frame with the moved highlight. */
async function measureStep(): Promise<number> {
  const readTop = () =>
    document.querySelector(".debug-top-stack-frame-line")?.getBoundingClientRect().top;
  const before = readTop();
  // the button ignores a click until it knows that the step before has ended
  for (;;) {
    const start = performance.now();
    document.querySelector<HTMLElement>("a.action-label.codicon-debug-step-over")!.click();
    while (performance.now() - start < 2000) {
      await new Promise(resolve => requestAnimationFrame(resolve));
      const top = readTop();
      if (top !== before && top !== undefined) return performance.now() - start;
    }
  }
}

const describeTimes = (times: readonly number[]): string => {
  const sorted = times.toSorted((a, b) => a - b);
  return `median ${sorted[sorted.length >> 1]!.toFixed(0)} ms, longest ${sorted.at(-1)!.toFixed(0)} ms`;
};
