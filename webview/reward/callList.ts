/** The calls of the attempt with their evidence. Choosing a call shows it in the transcript. */
import type {
  ArgumentEvidence,
  Breakdown,
  CallEvidence,
  CallLine,
  RewardView,
} from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { breakName, formatFixed, escapeInvisible } from "../text.ts";

const validityLevels = ["known tool", "valid arguments", "accepted"] as const;

export function createCallList(
  view: RewardView,
  breakdown: Breakdown,
  reveal: (call: number) => void,
): HTMLElement {
  if (view.calls.length === 0) return element("p", { class: "empty" }, "No call was made.");
  return element(
    "ol",
    { class: "calls" },
    ...breakdown.calls.map(it => createCallItem(it, view.calls[it.call]!, reveal)),
  );
}

function createCallItem(
  evidence: CallEvidence,
  line: CallLine,
  reveal: (call: number) => void,
): HTMLElement {
  const name = element(
    "button",
    {
      class: "link",
      type: "button",
      title: "Show in the transcript",
      id: `call-${evidence.call}`,
    },
    ...breakName(line.name || "(not parsed)"),
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
      element("code", {}, escapeInvisible(line.arguments)),
      createValidityLadder(evidence),
    ),
    element(
      "div",
      { class: "evidence" },
      evidence.message !== undefined &&
        createMark("bad", `${line.outcome}: ${escapeInvisible(evidence.message)}`),
      createGoalMark(evidence, differing.length > 0),
      evidence.overBudget && createMark("half", "over the budget"),
    ),
    differing.length > 0 && createArgumentTable(evidence.arguments),
  );
}

function createGoalMark(evidence: CallEvidence, hasDifferences: boolean): HTMLElement {
  if (evidence.given) return createMark("quiet", "the teacher's, before the attempted turn");
  if (evidence.serves) {
    const goal = `serves goal ${evidence.serves.goal + 1}`;
    return hasDifferences
      ? createMark("half", `${goal}, ${formatEqualCount(evidence.arguments)}`)
      : createMark("good", goal);
  }
  return createMark(
    "quiet",
    evidence.named
      ? "serves no goal, although a goal uses its tool"
      : "serves no goal, and no goal uses its tool",
  );
}

const createMark = (kind: "good" | "bad" | "half" | "quiet", text: string) =>
  element(
    "span",
    { class: `mark ${kind}` },
    `${{ good: "✓", bad: "✗", half: "◐", quiet: "·" }[kind]} ${text}`,
  );

const formatEqualCount = (all: readonly ArgumentEvidence[]) => {
  const compared = all.filter(it => !it.masked);
  return `${compared.filter(it => it.equal).length} of ${compared.length} arguments equal`;
};

/** Three bars, filled up to the level that the call reached. */
function createValidityLadder({ validity }: CallEvidence): HTMLElement {
  const reached = Math.round(validity * 3);
  const label =
    reached === 3
      ? "known tool, valid arguments, accepted"
      : `not reached: ${validityLevels[reached]!}`;
  const steps = validityLevels.map((it, i) =>
    element("i", { class: i < reached ? "rung on" : "rung", title: it }),
  );
  return element(
    "span",
    {
      class: "ladder",
      role: "img",
      "aria-label": `validity ${formatFixed(validity, 2)}, ${label}`,
      title: label,
    },
    ...steps,
    element("span", { class: "number quiet" }, formatFixed(validity, 2)),
  );
}

function createArgumentTable(all: readonly ArgumentEvidence[]): HTMLElement {
  const rows = all.map(it =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, escapeInvisible(it.key)),
      element("td", {}, element("code", {}, escapeInvisible(formatValue(it.goal)))),
      element(
        "td",
        { class: it.equal ? "good" : it.masked ? "quiet" : "bad" },
        it.masked ? "not compared" : it.equal ? "=" : "≠",
      ),
      element("td", {}, element("code", {}, escapeInvisible(formatValue(it.model)))),
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

const formatValue = (value: unknown) => (value === undefined ? "(absent)" : JSON.stringify(value));
