/** The alarms of a run, in a box that is changed only when there is a new one. */
import type { StepMetrics } from "../../src/protocol/runPage.ts";
import { element } from "../element.ts";
import { escapeInvisible } from "../text.ts";

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
