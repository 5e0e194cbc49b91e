/**
 * The page of one run: how it stands, its curves as they grow, and what it was asked to do. Draws
 * what it is told, once a frame at most.
 */
import type { RunPage, RunStatus, RunView } from "../../src/protocol/runPage.ts";
import { registerControls } from "../controls.ts";
import { element } from "../element.ts";
import { connect } from "../page.ts";
import { head, keyNumbers, settings, type Actions } from "./head.ts";
import { plotsFor } from "./plots.ts";

registerControls();
const channel = connect<RunPage>();
const page = document.getElementById("page")!;

channel
  .ask("load", null)
  .then(start, (refused: Error) =>
    page.replaceChildren(element("p", { class: "empty", role: "alert" }, `${refused.message}.`)),
  );

function start(loaded: RunView): void {
  let view = loaded;
  let isDue = false;
  // the editor finds the run again by this after a reload
  channel.keep({ folder: view.folder });
  const method = view.config.find(([name]) => name === "method")?.[1] === "sft" ? "sft" : "grpo";
  const plots = plotsFor(method, step => void channel.ask("openStep", { step }));
  const [top, numbers, curves, below] = [
    element("div"),
    element("div"),
    element("div", { class: "plots" }, ...plots.elements),
    element("section"),
  ];
  page.setAttribute("aria-busy", "false");
  page.replaceChildren(top, numbers, curves, below);
  const act = (name: "pause" | "resume" | "stop") => () => void channel.ask(name, null);
  const actions: Actions = { pause: act("pause"), resume: act("resume"), stop: act("stop") };
  const draw = () => {
    isDue = false;
    const hasSteps = view.steps.length > 0;
    top.replaceChildren(head(view, actions));
    numbers.replaceChildren(hasSteps ? keyNumbers(view.steps) : waiting(view.status));
    curves.hidden = !hasSteps;
    if (hasSteps) plots.show(view.steps, view.checkpoints);
    below.replaceChildren(element("h2", {}, "Settings"), settings(view));
  };
  const change = (by: Partial<RunView>) => {
    view = { ...view, ...by };
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(draw);
  };
  channel.on("statusChanged", status => change({ status }));
  channel.on("stepsDone", steps =>
    change({
      steps: [...view.steps.filter(it => it.step < (steps[0]?.step ?? Infinity)), ...steps],
    }),
  );
  channel.on("checkpointSaved", step =>
    change({ checkpoints: [...view.checkpoints.filter(it => it !== step), step] }),
  );
  draw();
}

/** What stands in the place of the curves before there are any. */
function waiting({ state }: RunStatus): HTMLElement {
  const isAtWork = state === "starting" || state === "training";
  return element(
    "p",
    { class: "empty waiting" },
    isAtWork && element("vscode-progress-ring"),
    isAtWork
      ? "The curves begin with the first step."
      : "No step was done, so there is nothing to draw.",
  );
}
