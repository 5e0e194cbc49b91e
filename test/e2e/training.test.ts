/**
 * Training from the workbench: it is started, plotted, cancelled, resumed, stopped and evaluated,
 * and its run is compared, renamed and deleted. A second window has the same folder open.
 */
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { startBackend } from "../../src/compute/backend.ts";
import { readEvaluation } from "../../src/run/evaluation.ts";
import { listRuns } from "../../src/run/folder.ts";
import { readTrainerLock } from "../../src/run/locks.ts";
import type { Task } from "../../src/trajectory/task.ts";
import { programs } from "../compute/numbers.ts";
import { writeTinyModel } from "../model/huggingface/tinyModel.ts";
import { getDesk } from "./desk.ts";
import { repository } from "./packaged.ts";
import { synthesizeTasks } from "./taskFiles.ts";
import { checkGone, checkVisible, waitOptions, Workbench } from "./workbench.ts";

let workbench: Workbench;
/** Another window on the same folder. */
let second: Workbench;
const run = () => join(workbench.folder, "prove/runs/few-1");
const page = () => workbench.webview();
const state = (word: string) => page().getByRole("status").filter({ hasText: word });
/** The number of recorded steps: complete lines of the run's metrics. */
const countSteps = () =>
  existsSync(join(run(), "metrics.jsonl"))
    ? readFileSync(join(run(), "metrics.jsonl"), "utf8").split("\n").length - 1
    : 0;

/** A step makes over a hundred attempts, which takes seconds, or longer on busy cores. */
const stepTimeout = { timeout: 600_000, interval: 250 };

beforeAll(async () => {
  workbench = await Workbench.open({
    "prove/tasks/few.tasks.jsonl": chooseShortest(synthesizeTasks(60, "banking", "student")),
    "prove/tasks/crm.tasks.jsonl": synthesizeTasks(3, "crm", "student"),
  });
  await startBackend("wasm", { programs });
  const model = await writeTinyModel({ longest: 16_384 });
  cpSync(model, join(workbench.folder, "prove/models/tiny-qwen"), { recursive: true });
  rmSync(model, { recursive: true });
  await workbench.showContainer("PROVE");
  const address = `${getDesk().server}/?folder=${encodeURIComponent(workbench.folder)}`;
  second = await Workbench.visit(address, workbench.folder);
  await second.showContainer("PROVE");
});
afterAll(async () => {
  // a trainer outlives the window, so one that a failed test left running must be ended
  for (const folder of listRuns(join(workbench.folder, "prove/runs"))) {
    const trainer = readTrainerLock(folder);
    if (trainer) process.kill(trainer.pid, "SIGKILL");
  }
  await second.close();
  await workbench.close();
});

/** The tasks of one turn with the fewest calls, which are attempted soonest: 16, and 8 held out. */
function chooseShortest(text: string): string {
  const lines = text.trim().split("\n");
  const tasks = lines.map(line => ({ line, task: JSON.parse(line) as Task }));
  const short = tasks
    .filter(it => it.task.turns.length === 1)
    .toSorted((a, b) => a.task.budget.calls - b.task.budget.calls);
  const choose = (count: number, isOwn: (it: Task) => boolean) =>
    short.filter(it => isOwn(it.task)).slice(0, count);
  const chosen = [
    ...choose(16, it => it.split === "train"),
    ...choose(8, it => it.split !== "train"),
  ];
  return chosen.map(it => `${it.line}\n`).join("");
}

test("training starts from the palette, and its curve grows", async () => {
  // with the keyboard alone
  await workbench.runCommandByKeyboard("PROVE: Start Training…");
  await checkVisible(workbench.choice("A first training"));
  await workbench.takePicture("training-first");
  await workbench.chooseByKeyboard("Choose the settings…");
  await workbench.chooseByKeyboard("few");
  await checkVisible(workbench.choice("careless"));
  for (const it of ["tiny-qwen", "Choose Folder…"]) await checkVisible(workbench.choice(it));
  await workbench.takePicture("training-student");
  await workbench.page.keyboard.press("Enter");
  await workbench.chooseByKeyboard("GRPO");
  await workbench.chooseByKeyboard("A number of steps…");
  await workbench.answer("How many steps", "1000");
  await workbench.chooseByKeyboard("Automatic");
  await state("training").waitFor(stepTimeout);
  const curve = page().locator("figure svg path.line").first();
  await curve.waitFor(stepTimeout);
  const before = await curve.getAttribute("d");
  await vi.waitFor(async () => expect(await curve.getAttribute("d")).not.toBe(before), stepTimeout);
  await checkVisible(
    workbench.page.locator(".statusbar-item").filter({ hasText: /step \d+\/1000 · reward/ }),
  );
  await workbench.takePicture("run");
});

test("a second training is queued behind the first one, and removed from it in another window", async () => {
  await workbench.runCommand("PROVE: Start Training…");
  await workbench.choice("The last training again").click();
  await checkVisible(workbench.choice("Stop few-1"));
  await workbench.takePicture("training-queue-question");
  await workbench.choice("Add to the queue").click();
  const row = workbench.rows("Runs").filter({ hasText: "few-2" });
  await checkVisible(row.filter({ hasText: "queued · starts when the training before it" }));
  await checkVisible(workbench.page.locator(".statusbar-item").filter({ hasText: /1 queued/ }));
  await row.click();
  await checkVisible(state("queued"));
  await workbench.takePicture("run-queued");
  const other = second.rows("Runs").filter({ hasText: "few-2" });
  await checkVisible(other.filter({ hasText: "queued · starts when the training before it" }));
  await checkVisible(second.rows("Runs").filter({ hasText: /few-1.*training/ }));
  await other.click();
  await second.webview().getByText("Remove From Queue").click();
  for (const it of [row, other]) await checkVisible(it.filter({ hasText: "ready" }));
  await workbench.rows("Runs").filter({ hasText: "few-1" }).click();
});

test("after a reload, the training is followed again", async () => {
  await workbench.page.reload({ waitUntil: "domcontentloaded" });
  await workbench.rows("Runs").filter({ hasText: "few-1" }).click();
  await checkVisible(state("training"));
});

test("stopping keeps the files of a training, which no notification has covered", async () => {
  await checkGone(workbench.notification("few-1"));
  await page().getByText("Stop", { exact: true }).click();
  await checkVisible(state("stopped"));
  await checkVisible(workbench.rows("Runs").filter({ hasText: /few-1.*stopped/ }));
  expect(countSteps()).toBeGreaterThanOrEqual(2);
  for (const line of readFileSync(join(run(), "metrics.jsonl"), "utf8").trim().split("\n"))
    expect(JSON.parse(line)).toMatchObject({ method: "grpo" });
  await workbench.takePicture("run-stopped");
});

test("a training from a file is queued, and starts when the one before it has ended", async () => {
  const recorded = countSteps();
  await page().getByText("Resume").click();
  await checkVisible(state("training"));
  await workbench.runCommand("PROVE: Create Training File…");
  await workbench.choice("Choose the settings…").click();
  // the answers of the last training come first
  for (const question of ["Which tasks", "Which student", "Which objective", "How long"])
    await workbench.answer(question, "");
  await workbench.answer("How many steps", "1");
  await workbench.answer("Which backend", "");
  await checkVisible(workbench.tab("few.train.json"));
  await workbench.takePicture("training-file");
  await workbench.runCommand("PROVE: Start Training From File…");
  await workbench.choice("Add to the queue").click();
  await checkVisible(workbench.rows("Runs").filter({ hasText: /few-3.*queued/ }));
  await workbench.rows("Runs").filter({ hasText: "few-1" }).click();
  await checkVisible(state("training"));
  // the keyboard alone stops it: the button keeps the focus while steps are drawn
  await workbench.runCommandByKeyboard("View: Focus Active Editor Group");
  const focused = page().locator("vscode-button:focus");
  await vi.waitFor(async () => {
    await workbench.page.keyboard.press("Tab");
    expect(await focused.textContent({ timeout: 1000 })).toBe("Stop");
  }, waitOptions);
  await vi.waitFor(() => expect(countSteps()).toBeGreaterThan(recorded), stepTimeout);
  await workbench.page.keyboard.press("Enter");
  await checkVisible(workbench.notification(/few-1 .*few-3 is next\./));
  await checkVisible(workbench.rows("Runs").filter({ hasText: /few-1.*stopped/ }));
  // the page of the next training opens in front of this one at once
});

test("a training that ran to its end is evaluated, which its page shows", async () => {
  const ended = /few-3 has finished after 1 step: .*success.* \d+% → \d+% on \d+ held-out tasks/;
  await workbench.notification(ended).waitFor(stepTimeout);
  await checkVisible(page().getByRole("heading", { name: "Held-Out Tasks" }));
  await checkVisible(page().getByRole("cell", { name: "success", exact: true }));
  const folder = join(workbench.folder, "prove/runs/few-3");
  const first = readEvaluation(folder)!;
  expect(first).toMatchObject({ before: { step: 0 }, after: { step: 1 } });
  const getTime = () => page().locator("section time").getAttribute("datetime");
  expect(await getTime()).toBe(first.evaluatedAt);
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await workbench.takePicture("run-evaluated");
  // from the keyboard alone, from the command to the page with the result
  rmSync(join(folder, "evaluation.json"));
  // not from the page: the workbench gives it the focus back late, and a list that is open loses it
  await workbench.focusSideBar();
  await workbench.runCommandByKeyboard("PROVE: Evaluate…");
  await workbench.chooseByKeyboard("few-3");
  await vi.waitFor(() => expect(readEvaluation(folder)).toBeDefined(), stepTimeout);
  const { evaluatedAt } = readEvaluation(folder)!;
  expect(evaluatedAt).not.toBe(first.evaluatedAt);
  await vi.waitFor(async () => expect(await getTime()).toBe(evaluatedAt), waitOptions);
  await checkVisible(page().getByRole("heading", { name: "Held-Out Tasks" }));
  await workbench.page.keyboard.press("Tab");
  await checkVisible(page().locator(":focus").first());
  await workbench.rows("Runs").filter({ hasText: "few-1" }).click();
  await checkVisible(state("stopped"));
  await checkVisible(page().getByText("Resume"));
});

test("the plots of another run are drawn beside, and saved as one picture", async () => {
  const folder = join(workbench.folder, "prove/runs");
  cpSync(run(), join(folder, "other"), { recursive: true });
  await checkVisible(workbench.rows("Runs").filter({ hasText: /other.*stopped/ }));
  // a run of one step is drawn as a point
  const lines = page().locator("figure.wide svg path[class*=other-]");
  await page().getByText("Draw Other Runs…").click();
  await workbench.page.locator(".quick-input-widget .monaco-checkbox").last().click();
  await workbench.page.locator(".quick-input-widget").getByRole("button", { name: "OK" }).click();
  await checkVisible(lines.last());
  await workbench.takePicture("run-compared");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await page().getByText("Save Plots…").click();
  await workbench.saveAs("Save Plots", "few-1", join(workbench.folder, "few-1.svg"));
  const saved = () => readFileSync(join(workbench.folder, "few-1.svg"), "utf8");
  await vi.waitFor(
    () => expect(saved()).toMatch(/^<svg .*Reward[\s\S]*Rollouts per second[\s\S]*<\/svg>\n$/),
    waitOptions,
  );
});

test("a run is renamed and deleted from the palette", async () => {
  const row = (name: string) => workbench.rows("Runs").filter({ hasText: name });
  await second.rows("Runs").filter({ hasText: "other" }).click();
  await checkVisible(second.webview().getByRole("heading", { name: "other" }));
  await workbench.runCommand("PROVE: Rename Run…");
  await workbench.choice("other").click();
  await workbench.answer("New name of other", "second");
  await checkVisible(row("second"));
  expect(existsSync(join(workbench.folder, "prove/runs/other"))).toBe(false);
  // the other window keeps what it has read
  await checkVisible(second.webview().getByText(/its folder was deleted or moved; what is shown/));
  await second.takePicture("run-renamed-elsewhere");
  await second.closeEditors();
  await workbench.runCommand("PROVE: Delete Run…");
  await workbench.choice("second").click();
  await workbench.page.getByRole("button", { name: "Move to Trash" }).click();
  // the workbench runs on a remote host, which has no trash
  await workbench.page.getByRole("button", { name: "Delete Permanently" }).click();
  await checkGone(row("second"));
  expect(existsSync(run())).toBe(true);
});

test("a run that has ended is trained longer", async () => {
  await workbench.closeEditors();
  await workbench.rows("Runs").filter({ hasText: "few-3" }).click();
  await checkVisible(state("finished"));
  await page().getByText("Train Longer…").click();
  await workbench.choice("A number of steps…").click();
  await workbench.answer("How many steps", "1000");
  const progress = workbench.page.locator(".statusbar-item").filter({ hasText: /step \d+\/1001/ });
  await progress.waitFor(stepTimeout);
  await workbench.takePicture("run-trained-longer");
  await workbench.runCommand("PROVE: Stop Training");
  await checkVisible(workbench.rows("Runs").filter({ hasText: /few-3.*stopped/ }));
});

test("a failing attempt is shown with its reward, and a student tries its task again", async () => {
  await workbench.closeEditors();
  await workbench.runCommand("PROVE: Show Me a Failing Attempt");
  await checkVisible(workbench.tab(/attempt \d+\.transcript/));
  await checkVisible(page().getByRole("heading").first());
  await workbench.takePicture("failing-attempt");
  // the page of the reward is active now, not the transcript
  await workbench.runCommand("PROVE: Try Student on This Task…");
  await workbench.choice("small").click();
  await checkVisible(workbench.tab(/small-1\.transcript/));
  await workbench.takePicture("student-attempt");
});

test("a file whose tasks do not fit the student is refused with what to do", async () => {
  await workbench.runCommand("PROVE: Start Training…");
  await workbench.choice("Choose the settings…").click();
  await workbench.choice("crm").click();
  await workbench.choice("careless").click();
  await checkVisible(workbench.notification(/None of the \d+ tasks in crm.* fits careless/));
  await workbench.takePicture("training-refused");
});

test("the training of a large model asks for adapters, and says what it needs", async () => {
  await workbench.runCommand("PROVE: Start Training…");
  await workbench.choice("Choose the settings…").click();
  await workbench.choice("few").click();
  await workbench.choice("tiny-qwen").click();
  await checkVisible(workbench.choice("All weights"));
  await workbench.takePicture("training-adapters");
  await workbench.choice("LoRA adapters of rank 8").click();
  await workbench.choice("GRPO").click();
  await workbench.choice("12 steps").click();
  await workbench.choice("Automatic").click();
  await checkVisible(workbench.choice("Show Details"));
  await workbench.takePicture("training-plan");
  await workbench.choice("Show Details").click();
  await checkVisible(workbench.lines.filter({ hasText: /memory/ }).first());
  await workbench.takePicture("training-plan-details");
  // without a question about saving it
  await workbench.page.keyboard.press("Control+W");
  await checkGone(workbench.tab("training-plan.txt"));
});

test("a run for another training framework is prepared, and its start says which packages are missing", async () => {
  await workbench.runCommand("PROVE: Train with TRL or verl…");
  await workbench.choice("TRL").click();
  await workbench.choice("few").click();
  await workbench.choice("Qwen/Qwen3-4B-Instruct-2507").click();
  await workbench.answer("How many GPUs", "0");
  await workbench.answer("Rank of LoRA adapters", "8");
  await workbench.answer("Name of the run", "qwen-trl");
  const ready = workbench.notification("qwen-trl is ready to be trained with TRL.");
  await checkVisible(ready);
  await checkVisible(page().getByText("Start Here"));
  const config = readFileSync(join(workbench.folder, "prove/runs/qwen-trl/config.json"), "utf8");
  expect(JSON.parse(config)).toMatchObject({ lora: { r: 8 }, grpo: { use_cpu: true } });
  await workbench.takePicture("engine-ready");
  await ready.getByRole("button", { name: "Start Here" }).click();
  const missing =
    /python has no trl, .*pip install -r .*requirements\.txt|cannot be used as Python/;
  await checkVisible(workbench.notification(missing));
});

test("two windows do not start the training of an engine twice, and both can stop it", async () => {
  const folder = join(workbench.folder, "prove/runs/qwen-trl");
  replacePython(folder);
  const start = (it: Workbench) => it.webview().getByText("Start Here");
  await second.rows("Runs").filter({ hasText: "qwen-trl" }).click();
  await checkVisible(start(second));
  await start(workbench).click();
  await checkVisible(state("training"));
  await checkVisible(page().locator("figure svg path.line").first());
  await workbench.takePicture("engine-training");
  expect(await workbench.findAccessibilityProblems()).toEqual([]);
  await checkVisible(second.webview().getByText(/trained by process \d+ of another window/));
  await second.takePicture("engine-training-elsewhere");
  await second.webview().getByText("Stop", { exact: true }).click();
  for (const it of [workbench, second])
    await checkVisible(it.rows("Runs").filter({ hasText: /qwen-trl.*8.* · stopped/ }));
});

/** Makes Python a program that has all packages, and records the steps of another run. */
function replacePython(folder: string): void {
  const names = readFileSync(join(folder, "requirements.txt"), "utf8").matchAll(
    /^([\w.-]+)(?:\[([\w,-]+)\])?(?:==(\S+))?/gm,
  );
  const found = Object.fromEntries(
    [...names].flatMap(([, name, extras = "", version = "1"]) => [
      [name, version],
      ...extras.split(",").map(it => [it, "1"]),
    ]),
  ) as object;
  const answer = JSON.stringify({ version: "3.11.2", isNew: true, found });
  const metrics = join(repository, "resources/example/prove/runs/example/metrics.jsonl");
  writeFileSync(
    getDesk().python,
    `#!/bin/sh\n[ "$1" = launch.py ] || { echo '${answer}'; exit; }\nhead -n 8 '${metrics}' > metrics.jsonl\nexec sleep 600\n`,
  );
}
