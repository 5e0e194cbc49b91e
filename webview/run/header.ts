/** The header of the run page: the run's name, its status and progress, and its buttons. */
import type { RunState, RunStatus, RunView } from "../../src/protocol/runPage.ts";
import { element } from "../element.ts";
import { formatDuration, escapeInvisible } from "../text.ts";

export interface RunActions {
  readonly pause: () => void;
  readonly resume: () => void;
  readonly stop: () => void;
  readonly showLog: () => void;
}

export function createHeader({ run, status, config }: RunView, actions: RunActions): HTMLElement {
  const { state, activity } = status;
  return element(
    "header",
    { class: "head" },
    element(
      "div",
      {},
      element("h1", {}, escapeInvisible(run)),
      element(
        "p",
        {},
        element("span", { class: `state ${state}`, role: "status" }, state),
        element("span", { class: "quiet" }, ` ${escapeInvisible(activity)}${formatTime(status)}`),
      ),
      createProgressBar(status),
    ),
    element(
      "div",
      { class: "actions" },
      ...(config.engine === undefined
        ? createButtons(state, actions)
        : createEngineButtons(state, actions)),
    ),
  );
}

function formatTime({ elapsedSeconds, limitSeconds }: RunStatus): string {
  if (elapsedSeconds === undefined) return "";
  const limit = limitSeconds === undefined ? "" : ` of ${formatDuration(limitSeconds)}`;
  return ` · ${formatDuration(elapsedSeconds)}${limit}`;
}

function createProgressBar(status: RunStatus): HTMLElement | undefined {
  const { step, steps, elapsedSeconds, limitSeconds, state } = status;
  // how far a training got that has ended says its step; a bar would look like one that waits
  const isIdle = !["starting", "training", "paused", "stopping"].includes(state);
  if (isIdle || (!steps && !limitSeconds)) return undefined;
  const share = Math.max(
    steps ? step / steps : 0,
    limitSeconds && elapsedSeconds ? elapsedSeconds / limitSeconds : 0,
  );
  const filling = element("span", { class: "filling" });
  filling.style.width = `${Math.min(100, share * 100).toFixed(1)}%`;
  return element(
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
}

function createButtons(state: RunState, { pause, resume, stop }: RunActions): HTMLElement[] {
  switch (state) {
    case "queued":
      return [
        createButton("Start Now", "primary", resume),
        createButton("Remove From Queue", "secondary", stop),
      ];
    case "training":
      return [createButton("Pause", "secondary", pause), createButton("Stop", "secondary", stop)];
    case "paused":
      return [createButton("Resume", "primary", resume), createButton("Stop", "secondary", stop)];
    case "stopped":
    case "failed":
      return [createButton("Resume", "primary", resume)];
    case "starting":
      return [createButton("Stop", "secondary", stop)];
    case "stopping":
    case "finished":
    case "unreadable":
      return [];
    default:
      throw new Error(`unknown run state ${JSON.stringify(state satisfies never)}`);
  }
}

/** Those of a run of another engine, which cannot be paused or queued. */
function createEngineButtons(
  state: RunState,
  { resume, stop, showLog }: RunActions,
): HTMLElement[] {
  const log = createButton("Show Log", "secondary", showLog);
  if (state === "unreadable") return [];
  if (state === "starting" || state === "training")
    return [createButton("Stop", "secondary", stop), log];
  if (state === "stopping" || state === "finished") return [log];
  return [createButton("Start Here", "primary", resume), log];
}

function createButton(
  label: string,
  appearance: "primary" | "secondary",
  action: () => void,
): HTMLElement {
  const button = element("vscode-button", { appearance }, label);
  button.addEventListener("click", action);
  return button;
}
