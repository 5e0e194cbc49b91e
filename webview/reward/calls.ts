/**
 * The attempt's calls, each with what it earned and why. Choosing one shows it in the transcript.
 */
import type {
  ArgumentEvidence,
  Breakdown,
  CallEvidence,
  CallLine,
  RewardView,
} from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { fixed, visible } from "../text.ts";

const rungs = ["on the menu", "arguments fit", "accepted"] as const;

export function createCallList(
  view: RewardView,
  breakdown: Breakdown,
  reveal: (call: number) => void,
): HTMLElement {
  if (view.calls.length === 0) return element("p", { class: "empty" }, "No call was made.");
  return element(
    "ol",
    { class: "calls" },
    ...breakdown.calls.map(it => item(it, view.calls[it.call]!, reveal)),
  );
}

function item(evidence: CallEvidence, line: CallLine, reveal: (call: number) => void): HTMLElement {
  const name = element(
    "button",
    { class: "link", type: "button", title: "Show in the transcript" },
    visible(line.name || "(not parsed)"),
  );
  name.addEventListener("click", () => reveal(evidence.call));
  const differing = evidence.arguments.filter(it => !it.equal && !it.masked);
  return element(
    "li",
    { class: `outcome-${line.outcome}` },
    element(
      "div",
      { class: "line" },
      element("span", { class: "ordinal" }, String(evidence.call + 1)),
      name,
      element("code", {}, visible(line.arguments)),
      ladder(evidence),
    ),
    element(
      "div",
      { class: "evidence" },
      ...(evidence.message === undefined
        ? []
        : [mark("bad", `${line.outcome}: ${visible(evidence.message)}`)]),
      evidence.serves
        ? mark(
            differing.length ? "half" : "good",
            `serves goal ${evidence.serves.goal + 1}${differing.length ? `, ${equalShare(evidence.arguments)}` : ""}`,
          )
        : mark(
            "quiet",
            evidence.named
              ? "serves no goal, though a goal names its tool"
              : "serves no goal, and no goal names its tool",
          ),
      evidence.overBudget && mark("half", "beyond the budget"),
    ),
    differing.length > 0 && comparison(evidence.arguments),
  );
}

const mark = (kind: "good" | "bad" | "half" | "quiet", text: string) =>
  element(
    "span",
    { class: `mark ${kind}` },
    `${{ good: "✓", bad: "✗", half: "◐", quiet: "·" }[kind]} ${text}`,
  );

const equalShare = (all: readonly ArgumentEvidence[]) => {
  const counting = all.filter(it => !it.masked);
  return `${counting.filter(it => it.equal).length} of ${counting.length} arguments equal`;
};

/** Three steps, filled as far as the call came. */
function ladder({ validity }: CallEvidence): HTMLElement {
  const reached = Math.round(validity * 3);
  const label = reached === 3 ? "known, fitting, accepted" : `stopped before: ${rungs[reached]!}`;
  const steps = rungs.map((it, i) =>
    element("i", { class: i < reached ? "rung on" : "rung", title: it }),
  );
  return element(
    "span",
    {
      class: "ladder",
      role: "img",
      "aria-label": `validity ${fixed(validity, 2)}, ${label}`,
      title: label,
    },
    ...steps,
    element("span", { class: "number quiet" }, fixed(validity, 2)),
  );
}

function comparison(all: readonly ArgumentEvidence[]): HTMLElement {
  const rows = all.map(it =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, visible(it.key)),
      element("td", {}, element("code", {}, visible(textOf(it.goal)))),
      element(
        "td",
        { class: it.equal ? "good" : it.masked ? "quiet" : "bad" },
        it.masked ? "not compared" : it.equal ? "=" : "≠",
      ),
      element("td", {}, element("code", {}, visible(textOf(it.model)))),
    ),
  );
  const head = element(
    "tr",
    {},
    ...["Argument", "Goal", "", "This call"].map(it => element("th", { scope: "col" }, it)),
  );
  return element(
    "table",
    { class: "comparison" },
    element("thead", {}, head),
    element("tbody", {}, ...rows),
  );
}

const textOf = (value: unknown) => (value === undefined ? "(absent)" : JSON.stringify(value));
