/**
 * The page of one run: its status, its metrics as plots that grow with each step, and its settings.
 * Draws at most once per frame.
 */
import type { OtherRun, RunPage, RunStatus, RunView } from "../../src/protocol/runPage.ts";
import { registerControls } from "../controls.ts";
import { createButton, element } from "../element.ts";
import { loadView, openChannel } from "../channel.ts";
import { createAlarmBox, createHeader, type RunActions } from "./header.ts";
import { createEvaluation, createKeyNumbers, createSettings } from "./keyNumbers.ts";
import { formatPlots } from "./plotPicture.ts";
import { createPlots, type AxisName, type Smoothing } from "./plots.ts";

registerControls();
const channel = openChannel<RunPage>();
const page = document.getElementById("page")!;

/** What is restored after a reload; the editor finds the run by its folder. */
interface PageState {
  readonly folder: string;
  readonly smoothing: Smoothing;
  readonly axis: AxisName;
  readonly isLogarithmic: boolean;
}

loadView(channel, start);

function start(loaded: RunView): void {
  let view = loaded;
  let others: readonly OtherRun[] = [];
  let isDrawPending = false;
  const stored = channel.loadState() as Partial<PageState> | undefined;
  let drawing: Omit<PageState, "folder"> = {
    smoothing: stored?.smoothing ?? "auto",
    axis: stored?.axis ?? "steps",
    isLogarithmic: stored?.isLogarithmic ?? false,
  };
  const saveState = () =>
    channel.saveState({ folder: view.folder, ...drawing } satisfies PageState);
  saveState();
  const draws = (changes: Partial<typeof drawing>) => {
    drawing = { ...drawing, ...changes };
    saveState();
    change({});
  };
  const showAll = createButton("Show All Steps", () => plots.showAll());
  showAll.hidden = true;
  const plots = createPlots(view.config, {
    openStep: step => run(channel.request("openStep", { step })),
    zoomed: isPart => {
      showAll.hidden = !isPart;
    },
  });
  const alarms = createAlarmBox();
  const evaluation = element("section");
  const numbers = element("div");
  const curves = element("div", { class: "plots" }, ...plots.elements);
  const chooseOthers = () =>
    run(
      channel.request("chooseOthers", null).then(chosen => {
        if (!chosen) return;
        others = chosen;
        change({});
      }),
    );
  const savePlots = () =>
    run(channel.request("savePlots", { svg: formatPlots(view.run, plots.listDrawn()) }));
  const plotActions = element(
    "div",
    { class: "actions plot-actions" },
    createButton("Draw Other Runs…", chooseOthers),
    createButton("Save Plots…", savePlots),
    showAll,
    element(
      "div",
      { class: "choices" },
      createList("Over", axes, drawing.axis, axis => draws({ axis })),
      createList("Smoothing", smoothings, drawing.smoothing, it => draws({ smoothing: it })),
      createLogarithmicBox(drawing.isLogarithmic, it => draws({ isLogarithmic: it })),
    ),
  );
  const settings = element("section");
  const send = (name: keyof RunActions) => () => run(channel.request(name, null));
  const header = createHeader({
    pause: send("pause"),
    resume: send("resume"),
    stop: send("stop"),
    showLog: send("showLog"),
  });
  page.setAttribute("aria-busy", "false");
  const sections = [alarms.element, evaluation, numbers, plotActions, curves, settings];
  page.replaceChildren(header.element, ...sections);
  const draw = () => {
    isDrawPending = false;
    evaluation.replaceChildren(...createEvaluation(view.evaluation));
    const hasSteps = view.steps.length > 0;
    header.update(view);
    alarms.update(view.steps);
    numbers.replaceChildren(
      hasSteps ? createKeyNumbers(view.steps) : createPlaceholder(view.status),
    );
    curves.hidden = !hasSteps;
    plotActions.hidden = !hasSteps;
    if (hasSteps) plots.update({ ...view, others, ...drawing });
    settings.replaceChildren(element("h2", {}, "Settings"), createSettings(view));
  };
  const change = (changes: Partial<RunView>) => {
    view = { ...view, ...changes };
    if (isDrawPending) return;
    isDrawPending = true;
    requestAnimationFrame(draw);
  };
  channel.on("statusChanged", status => change({ status }));
  channel.on("stepsDone", steps => {
    const first = steps[0]?.step ?? Infinity;
    change({ steps: [...view.steps.filter(it => it.step < first), ...steps] });
  });
  channel.on("evaluated", it => change({ evaluation: it }));
  channel.on("checkpointSaved", step =>
    change({ checkpoints: [...view.checkpoints.filter(it => it !== step), step] }),
  );
  draw();
}

/** The editor has shown the error of a request that fails. */
const run = (request: Promise<unknown>): void => void request.catch(() => {});

/** Takes the place of the key numbers until the first step is done. */
function createPlaceholder({ state }: RunStatus): HTMLElement {
  const isTraining = state === "starting" || state === "training";
  return element(
    "p",
    { class: "empty waiting" },
    isTraining && element("vscode-progress-ring"),
    isTraining || state === "ready" || state === "queued"
      ? "The curves begin with the first step."
      : "No step was done, so there is nothing to draw.",
  );
}

interface Choice<T> {
  readonly label: string;
  readonly value: T;
}

const axes: readonly Choice<AxisName>[] = [
  { label: "steps", value: "steps" },
  { label: "time", value: "time" },
];

const smoothings: readonly Choice<Smoothing>[] = [
  { label: "automatic", value: "auto" },
  { label: "none", value: 1 },
  ...[3, 5, 10, 25, 50, 100].map(it => ({ label: `mean of ${it} steps`, value: it })),
];

function createList<T>(
  name: string,
  choices: readonly Choice<T>[],
  current: T,
  onChange: (chosen: T) => void,
): HTMLElement {
  const list = element(
    "select",
    { "aria-label": name },
    ...choices.map(it => element("option", { selected: it.value === current }, it.label)),
  );
  list.addEventListener("change", () => onChange(choices[list.selectedIndex]!.value));
  return element("label", {}, `${name} `, list);
}

function createLogarithmicBox(
  isChecked: boolean,
  onChange: (isChecked: boolean) => void,
): HTMLElement {
  const box = element("input", {
    type: "checkbox",
    checked: isChecked,
    "aria-label": "Log scale",
  });
  box.addEventListener("change", () => onChange(box.checked));
  const title = "Where all values of a plot are above 0";
  return element("label", { title }, box, " Log scale");
}
