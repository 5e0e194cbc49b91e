/**
 * The head of a run's page: its name, how it stands, what can be done with it, and the last step's
 * key numbers.
 */
import type { RunStatus, RunView, StepMetrics } from "../../src/protocol/runPage.ts";
import { element } from "../element.ts";
import { counted, duration, fixed, percent, visible } from "../text.ts";

export interface Actions {
  readonly pause: () => void;
  readonly resume: () => void;
  readonly stop: () => void;
}

export function head(view: RunView, actions: Actions): HTMLElement {
  const { state, activity } = view.status;
  return element(
    "header",
    { class: "head" },
    element(
      "div",
      {},
      element("h1", {}, visible(view.run)),
      element(
        "p",
        {},
        element("span", { class: `state ${state}`, role: "status" }, state),
        element("span", { class: "quiet" }, ` ${visible(activity)}${timing(view.status)}`),
      ),
      progress(view.status),
    ),
    element("div", { class: "actions" }, ...buttons(state, actions)),
  );
}

const timing = ({ elapsedSeconds, limitSeconds }: RunStatus) =>
  elapsedSeconds === undefined
    ? ""
    : ` · ${duration(elapsedSeconds)}${limitSeconds === undefined ? "" : ` of ${duration(limitSeconds)}`}`;

function progress({
  step,
  steps,
  elapsedSeconds,
  limitSeconds,
  state,
}: RunStatus): HTMLElement | undefined {
  const share = Math.max(
    steps ? step / steps : 0,
    limitSeconds && elapsedSeconds ? elapsedSeconds / limitSeconds : 0,
  );
  if (!steps && !limitSeconds) return undefined;
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

function buttons(state: RunStatus["state"], { pause, resume, stop }: Actions): HTMLElement[] {
  const button = (text: string, appearance: string, act: () => void) => {
    const made = element("vscode-button", { appearance }, text);
    made.addEventListener("click", act);
    return made;
  };
  switch (state) {
    case "training":
      return [button("Pause", "secondary", pause), button("Stop", "secondary", stop)];
    case "paused":
      return [button("Resume", "primary", resume), button("Stop", "secondary", stop)];
    case "stopped":
    case "failed":
      return [button("Resume", "primary", resume)];
    case "starting":
      return [button("Stop", "secondary", stop)];
    case "stopping":
    case "finished":
      return [];
    default:
      throw new Error(`a run stands as ${JSON.stringify(state satisfies never)}`);
  }
}

/**
 * The numbers by which a person judges a run at a glance, each with its change since the first
 * step.
 */
export function keyNumbers(steps: readonly StepMetrics[]): HTMLElement {
  const [first, last] = [steps[0], steps.at(-1)];
  const list = element("dl", { class: "key-numbers" });
  const add = (name: string, value: string, change?: string) =>
    list.append(
      element(
        "div",
        {},
        element("dt", {}, name),
        element(
          "dd",
          {},
          element("span", { class: "big" }, value),
          change !== undefined && element("span", { class: "quiet change" }, change),
        ),
      ),
    );
  if (last?.method === "sft" && first?.method === "sft") {
    add("loss", fixed(last.loss), sinceFirst(last.loss - first.loss, 3));
    add(
      "tokens read",
      String(steps.reduce((sum, it) => sum + (it.method === "sft" ? it.tokens : 0), 0)),
    );
  } else if (last?.method === "grpo" && first?.method === "grpo") {
    const then = meanOf(steps.slice(0, 5));
    const now = meanOf(steps.slice(-5));
    // windows that overlap have no change to tell
    const isTold = steps.length >= 10;
    add("reward, last 5 steps", fixed(now.reward), sinceFirst(now.reward - then.reward, 3, isTold));
    add(
      "success, last 5 steps",
      percent(now.success),
      sinceFirst(100 * (now.success - then.success), 1, isTold),
    );
    add("zero-variance groups", percent(last.zeroVariance));
    add("tokens a rollout", fixed(last.tokensPerRollout, 1));
    add("rollouts a second", fixed(last.rolloutsPerSecond, 1));
  }
  return list;
}

const sinceFirst = (change: number, decimals: number, isTold = true) =>
  !isTold ? undefined : `${change >= 0 ? "+" : ""}${fixed(change, decimals)} since the start`;

function meanOf(steps: readonly StepMetrics[]): {
  readonly reward: number;
  readonly success: number;
} {
  const own = steps.filter(it => it.method === "grpo");
  const mean = (of: (it: (typeof own)[number]) => number) =>
    own.reduce((sum, it) => sum + of(it), 0) / Math.max(1, own.length);
  return { reward: mean(it => it.reward.mean), success: mean(it => it.success) };
}

export const settings = (view: RunView): HTMLElement =>
  element(
    "dl",
    { class: "settings" },
    ...[
      ...view.config,
      [
        "checkpoints",
        view.checkpoints.length ? counted(view.checkpoints.length, "checkpoint") : "none yet",
      ] as const,
    ].flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, visible(value))]),
  );
