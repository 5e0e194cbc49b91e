/**
 * The header of the run page: the run's name, its status and progress, its buttons, and its alarms.
 */
import type { RunState, RunStatus, RunView, StepMetrics } from "../../src/protocol/runPage.ts";
import { createButton, element } from "../element.ts";
import { giveFocus, hasFocused } from "../focus.ts";
import { escapeInvisible, formatDuration } from "../text.ts";

export type RunActions = Readonly<Record<"pause" | "resume" | "stop" | "showLog", () => void>>;

/**
 * The header is changed in place: it changes with each step, and a button that is replaced would
 * lose the focus.
 */
export function createHeader(actions: RunActions): {
  readonly element: HTMLElement;
  readonly update: (view: RunView) => void;
} {
  const title = element("h1", { tabindex: "-1" });
  const state = element("span", { role: "status" });
  const activity = element("span", { class: "quiet" });
  const progress = element("div");
  const buttons = element("div", { class: "actions" });
  let drawnState: RunState | undefined;
  const update = ({ run, status, config, checkpoints }: RunView) => {
    title.textContent = escapeInvisible(run);
    activity.textContent = ` ${escapeInvisible(status.activity)}${formatTime(status)}`;
    progress.replaceChildren(...createProgressBar(status));
    if (status.state === drawnState) return;
    drawnState = status.state;
    state.className = `state ${drawnState}`;
    state.textContent = drawnState;
    const created =
      config.engine === undefined
        ? createButtons(drawnState, actions, checkpoints.length > 0)
        : createEngineButtons(drawnState, actions);
    replaceButtons(buttons, created, title);
  };
  const text = element("div", {}, title, element("p", {}, state, activity), progress);
  return { element: element("header", { class: "head" }, text, buttons), update };
}

/** Replaces buttons. If one had the focus, the first new one has it then, or else the title. */
function replaceButtons(
  parent: HTMLElement,
  buttons: readonly HTMLElement[],
  title: HTMLElement,
): void {
  const hadFocus = hasFocused(parent);
  parent.replaceChildren(...buttons);
  if (hadFocus) giveFocus(buttons[0] ?? title);
}

function formatTime({ elapsedSeconds, limitSeconds }: RunStatus): string {
  if (elapsedSeconds === undefined) return "";
  const limit = limitSeconds === undefined ? "" : ` of ${formatDuration(limitSeconds)}`;
  return ` · ${formatDuration(elapsedSeconds)}${limit}`;
}

function createProgressBar(status: RunStatus): HTMLElement[] {
  const { step, steps, elapsedSeconds, limitSeconds, state } = status;
  // how far a training got that has ended says its step; a bar would look like one that waits
  const isIdle = !["starting", "training", "paused", "stopping"].includes(state);
  if (isIdle || (!steps && !limitSeconds)) return [];
  const share = Math.max(
    steps ? step / steps : 0,
    limitSeconds && elapsedSeconds ? elapsedSeconds / limitSeconds : 0,
  );
  const filling = element("span", { class: "filling" });
  filling.style.width = `${Math.min(100, share * 100).toFixed(1)}%`;
  const bar = element(
    "div",
    {
      class: `progress ${state}`,
      role: "progressbar",
      "aria-label": "Progress",
      "aria-valuenow": (share * 100).toFixed(0),
      "aria-valuemin": "0",
      "aria-valuemax": "100",
    },
    filling,
  );
  return [bar];
}

/** `canGoOn`: whether there is a checkpoint to go on from. */
function createButtons(
  state: RunState,
  { pause, resume, stop }: RunActions,
  canGoOn: boolean,
): HTMLElement[] {
  switch (state) {
    case "ready":
      return canGoOn ? [createButton("Start", resume, { appearance: "primary" })] : [];
    case "queued":
      return [
        createButton("Start Now", resume, { appearance: "primary" }),
        createButton("Remove From Queue", stop),
      ];
    case "training":
      return [createButton("Pause", pause), createButton("Stop", stop)];
    case "paused":
      return [
        createButton("Resume", resume, { appearance: "primary" }),
        createButton("Stop", stop),
      ];
    case "stopped":
    case "interrupted":
    case "failed":
      return canGoOn ? [createButton("Resume", resume, { appearance: "primary" })] : [];
    case "starting":
      return [createButton("Stop", stop)];
    case "finished":
      return canGoOn ? [createButton("Train Longer…", resume)] : [];
    case "stopping":
    case "unknown":
    case "unreadable":
      return [];
    default:
      throw new Error(`unknown run state ${JSON.stringify(state satisfies never)}`);
  }
}

/** Those of a run of TRL or verl, which cannot be paused or queued. */
function createEngineButtons(
  state: RunState,
  { resume, stop, showLog }: RunActions,
): HTMLElement[] {
  const log = createButton("Show Log", showLog);
  if (state === "unreadable") return [];
  if (state === "starting" || state === "training") return [createButton("Stop", stop), log];
  if (state === "stopping" || state === "finished") return [log];
  return [createButton("Start Here", resume, { appearance: "primary" }), log];
}

/**
 * The box is an alert, which screen readers read out when its content changes: it must not be drawn
 * again with each step.
 */
export function createAlarmBox(): {
  readonly element: HTMLElement;
  update(steps: readonly StepMetrics[]): void;
} {
  const box = element("div", { class: "alarms", role: "alert" });
  let shown = "";
  box.hidden = true;
  return {
    element: box,
    update(steps) {
      const alarms = steps.flatMap(({ step, alarms = [] }) =>
        alarms.map(({ text }) => ({ step: `Step ${step}:`, text: escapeInvisible(text) })),
      );
      const content = JSON.stringify(alarms);
      if (content === shown) return;
      shown = content;
      box.hidden = alarms.length === 0;
      box.replaceChildren(
        ...alarms.map(it => element("p", {}, element("strong", {}, it.step), ` ${it.text}.`)),
      );
    },
  };
}
