// @vitest-environment happy-dom
/** The page of a run: status, buttons, key numbers, plots, evaluation and alarms. */
import { beforeAll, expect, test } from "vitest";
import type { RunPage, RunState, RunView, StepMetrics } from "../../../src/protocol/runPage.ts";
import { createRunConfig } from "../../../src/run/createRunConfig.ts";
import { openPage, press } from "../openPage.ts";

// a document without a browser has no layout, and a plot without a size is not drawn
beforeAll(() => {
  for (const [name, size] of [
    ["clientWidth", 600],
    ["clientHeight", 200],
  ] as const)
    Object.defineProperty(HTMLElement.prototype, name, { configurable: true, get: () => size });
});

const createStep = (step: number): StepMetrics => ({
  method: "grpo",
  step,
  loss: 0.1,
  gradientNorm: 1,
  learningRate: 1e-4,
  reward: { mean: 2 + step / 10, std: 0.5 },
  paper: 1.5,
  parts: { validity: 0.9, coverage: 0.5, efficiency: 0, name: 0.8, argument: 0.7 },
  success: step / 20,
  calls: 2,
  budget: 3,
  errors: { syntax: 0, tool: 0, arguments: 0.1, refused: 0.2 },
  cut: 0,
  zeroVariance: 0.25,
  attempts: 128,
  faults: 0,
  tokensPerRollout: 40,
  rolloutsPerSecond: 12.5,
  clipShare: 0,
  entropy: 0.6,
  seconds: { total: 4 },
});
const createSteps = (count: number) => Array.from({ length: count }, (_, i) => createStep(i + 1));

const view: RunView = {
  run: "first",
  folder: "/home/user/prove/runs/first",
  status: { state: "training", activity: "step 10 of 40", step: 10, steps: 40, elapsedSeconds: 65 },
  config: createRunConfig({
    startedAt: new Date(0),
    tasks: "/home/user/prove/tasks/few.tasks.jsonl",
  }),
  steps: createSteps(10),
  checkpoints: [5],
};
const open = (changes: Partial<RunView> = {}, results = {}) =>
  openPage<RunPage>("run", { load: { ...view, ...changes }, ...results });
const plotButtons = ["Draw Other Runs…", "Save Plots…"];

test("a training run shows its progress, its key numbers and its plots", async () => {
  const page = await open();
  expect(page.listNames("heading")).toEqual(["first", "Settings"]);
  expect(page.listNames("status")).toEqual(["training"]);
  expect(page.text).toContain("step 10 of 40 · 1 min 05 s");
  expect(page.find("progressbar", "Progress").getAttribute("aria-valuenow")).toBe("25");
  expect([...page.main.querySelectorAll("dl.key-numbers > div")].map(it => it.textContent)).toEqual(
    [
      "reward, last 5 steps2.800+0.500 since the start",
      "success, last 5 steps40.0%+25.0 since the start",
      "zero-variance groups25.0%",
      "tokens per rollout40.0",
      "rollouts per second12.5",
    ],
  );
  expect(page.listNames("img")).toContain(
    "Reward over 10 steps; last values: prove-plus 3.000, paper 1.500. Arrow keys move the cursor, Enter lists the attempts of the step, plus and minus zoom, 0 shows all.",
  );
  expect(page.state).toMatchObject({ folder: view.folder, smoothing: "auto" });
});

test.each<[RunState, readonly string[]]>([
  ["ready", ["Start"]],
  ["queued", ["Start Now", "Remove From Queue"]],
  ["starting", ["Stop"]],
  ["training", ["Pause", "Stop"]],
  ["paused", ["Resume", "Stop"]],
  ["stopping", []],
  ["stopped", ["Resume"]],
  ["interrupted", ["Resume"]],
  ["failed", ["Resume"]],
  ["finished", ["Train Longer…"]],
  ["unreadable", []],
])("a run that is %s has the buttons %j", async (state, buttons) => {
  const page = await open({ status: { ...view.status, state } });
  expect(page.listNames("button")).toEqual([...buttons, ...plotButtons]);
});

test("without a checkpoint, a stopped run cannot be resumed", async () => {
  const page = await open({ status: { ...view.status, state: "stopped" }, checkpoints: [] });
  expect(page.listNames("button")).toEqual(plotButtons);
});

test("buttons follow the status, and the focus goes to the first new one", async () => {
  const page = await open();
  page.find("button", "Pause").focus();
  page.click("button", "Pause");
  await page.sendEvent("statusChanged", { ...view.status, state: "paused", activity: "paused" });
  expect(page.listNames("status")).toEqual(["paused"]);
  expect(document.activeElement).toBe(page.find("button", "Resume"));
  page.click("button", "Resume");
  expect(page.requests.map(it => it.name)).toEqual(["pause", "resume"]);
});

test("new steps replace those that the trainer takes again", async () => {
  const page = await open();
  await page.sendEvent("stepsDone", [createStep(10), createStep(11)]);
  expect(page.listNames("img")[0]).toMatch(/^Reward over 11 steps; last values: prove-plus 3\.100/);
});

test("arrow keys move a plot's cursor, and Enter lists the attempts of the step", async () => {
  const page = await open();
  const plot = page.find("img", /^Success over/);
  const readValues = () => plot.closest("figure")!.querySelector("output")!.textContent;
  expect(readValues()).toBe("50.0%");
  plot.focus();
  press("ArrowLeft");
  expect(readValues()).toBe("step 1050.0%");
  press("ArrowLeft");
  expect(readValues()).toBe("step 945.0%");
  press("Home");
  expect(readValues()).toBe("step 15.0%");
  press("Enter");
  expect(page.requests).toEqual([{ name: "openStep", params: { step: 1 } }]);
});

test("all plots show the values of the step that the cursor of one is at", async () => {
  const page = await open();
  const readValues = (title: RegExp) =>
    page.find("img", title).closest("figure")!.querySelector("output")!.textContent;
  page.find("img", /^Success over/).focus();
  press("Home");
  expect(readValues(/^Reward over/)).toBe("step 1prove-plus 2.100paper 1.500");
  expect(readValues(/^Loss over/)).toBe("step 10.1000");
  (document.activeElement as HTMLElement).blur();
  expect(readValues(/^Reward over/)).toBe("prove-plus 3.000paper 1.500");
});

test("how the optimizer does is drawn, and the seconds that were measured", async () => {
  const seconds = { sampling: 2, learning: 1.5, total: 4 };
  const page = await open({ steps: createSteps(10).map(it => ({ ...it, seconds })) });
  const plots = page.listNames("img").map(it => it.replace(/\. Arrow.*/, ""));
  expect(plots.slice(-5)).toEqual([
    "Loss over 10 steps; last values: loss 0.1000",
    "Gradient norm over 10 steps; last values: norm 1.00",
    "Clipped tokens over 10 steps; last values: share 0.0%",
    "Learning rate over 10 steps; last values: rate 1e-4",
    "Seconds per step over 10 steps; last values: whole step 4.0, sampling 2.0, learning 1.5",
  ]);
});

test("curves are smoothed as a person chooses, also after a reload", async () => {
  const page = await open();
  const countFaint = () => page.main.querySelectorAll(".line.faint").length;
  expect(countFaint()).toBe(0);
  const list = page.find("combobox", /^Smoothing/) as HTMLSelectElement;
  list.selectedIndex = [...list.options].findIndex(it => it.text === "mean of 5 steps");
  list.dispatchEvent(new Event("change"));
  await nextFrame();
  expect(countFaint()).toBeGreaterThan(0);
  await openPage<RunPage>("run", { load: view }, page.state);
  expect(document.querySelectorAll(".line.faint").length).toBeGreaterThan(0);
});

const listTicks = () => {
  const plot = document.querySelector(".plot:nth-child(2) svg")!;
  return [...plot.querySelectorAll("[text-anchor=middle]")].map(it => it.textContent);
};

const nextFrame = () => new Promise(resolve => requestAnimationFrame(() => setTimeout(resolve)));

test("curves are drawn over the time of training, also after a reload", async () => {
  const page = await open();
  expect(listTicks().at(-1)).toBe("10");
  const list = page.find("combobox", /^Over/) as HTMLSelectElement;
  list.selectedIndex = [...list.options].findIndex(it => it.text === "time");
  list.dispatchEvent(new Event("change"));
  await nextFrame();
  expect(listTicks().at(-1)).toMatch(/^\d+(\.\d+)? (s|min|h)$/);
  await openPage<RunPage>("run", { load: view }, page.state);
  expect(listTicks().at(-1)).toMatch(/ (s|min|h)$/);
});

test("the keys zoom all plots around the cursor, and a button shows all steps again", async () => {
  const page = await open();
  expect(page.listNames("button")).not.toContain("Show All Steps");
  const all = listTicks();
  page.find("img", /^Success over/).focus();
  press("Home");
  press("+");
  expect(page.listNames("button")).toContain("Show All Steps");
  expect(listTicks()).not.toEqual(all);
  expect(Number(listTicks().at(-1))).toBeLessThan(7);
  page.click("button", "Show All Steps");
  expect(listTicks()).toEqual(all);
});

test("values above 0 are drawn on a logarithmic scale, and others as before", async () => {
  const steps = createSteps(10).map((it, i) => ({
    ...it,
    learningRate: 10 ** -(i + 1),
    kl: -1 + i,
  }));
  const page = await open({ steps });
  const listRows = (title: string) => {
    const figure = [...document.querySelectorAll("figure")].find(it =>
      it.textContent.startsWith(title),
    )!;
    return [...figure.querySelectorAll("[text-anchor=end]")].map(it => it.textContent);
  };
  const before = [listRows("Learning rate"), listRows("KL")];
  const box = page.find("checkbox", /Log scale/) as HTMLInputElement;
  box.checked = true;
  box.dispatchEvent(new Event("change"));
  await nextFrame();
  expect(listRows("Learning rate")).not.toEqual(before[0]);
  expect(listRows("Learning rate").every(it => /^1e-\d+$/.test(it))).toBe(true);
  expect(listRows("KL")).toEqual(before[1]);
});

test("a plot has room for the steps of all runs, also where the other runs are not drawn", async () => {
  const readLastTick = () => listTicks().at(-1);
  const page = await open({}, { chooseOthers: [{ run: "second", steps: createSteps(30) }] });
  expect(readLastTick()).toBe("10");
  page.click("button", "Draw Other Runs…");
  await nextFrame();
  expect(readLastTick()).toBe("30");
});

test("other runs are drawn with their names", async () => {
  const page = await open({}, { chooseOthers: [{ run: "second", steps: createSteps(3) }] });
  page.click("button", "Draw Other Runs…");
  await nextFrame();
  expect(page.find("img", /^Reward over/).getAttribute("aria-label")).toContain("second 2.300");
});

test("the plots are saved as one picture", async () => {
  const page = await open();
  page.click("button", "Save Plots…");
  const { svg } = page.requests[0]!.params as { readonly svg: string };
  expect(svg).toMatch(/^<svg[^]*<title>first<\/title>[^]*Zero-variance groups[^]*<\/svg>\n$/);
  expect(svg).not.toContain("class=");
});

test("before the first step there is nothing to draw", async () => {
  const waiting = await open({ steps: [] });
  expect(waiting.text).toContain("The curves begin with the first step.");
  expect(waiting.listNames("button")).toEqual(["Pause", "Stop"]);
  const ended = await open({ steps: [], status: { ...view.status, state: "failed" } });
  expect(ended.text).toContain("No step was done, so there is nothing to draw.");
});

test("an alarm is announced once", async () => {
  const page = await open();
  expect(page.list("alert")).toEqual([]);
  const alarms = [{ kind: "entropy", text: "the entropy is close to 0" }] as never;
  await page.sendEvent("stepsDone", [{ ...createStep(11), alarms }]);
  const [box] = page.list("alert");
  const [announced] = box!.children;
  expect(box!.textContent).toBe("Step 11: the entropy is close to 0.");
  await page.sendEvent("stepsDone", [createStep(12)]);
  expect(box!.children[0]).toBe(announced);
});

test("a run that cannot be read says why", async () => {
  const page = await openPage<RunPage>("run", { load: new Error("the run was deleted") });
  expect(page.listNames("alert")).toEqual(["the run was deleted."]);
});
