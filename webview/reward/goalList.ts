/** The goals of the task: the calls that serve each goal, and violations of their order. */
import type {
  Breakdown,
  GoalEvidence,
  GoalLine,
  RewardView,
} from "../../src/protocol/rewardPage.ts";
import { element } from "../element.ts";
import { escapeInvisible } from "../text.ts";

export function createGoalList(
  view: RewardView,
  breakdown: Breakdown,
  reveal: (call: number) => void,
): HTMLElement {
  if (view.goals.length === 0)
    return element(
      "p",
      { class: "empty" },
      "The task has no goals: the correct answer makes no call.",
    );
  return element(
    "ol",
    { class: "goals" },
    ...breakdown.goals.map(it => createGoalItem(it, view.goals[it.goal]!, reveal)),
  );
}

function createGoalItem(
  evidence: GoalEvidence,
  line: GoalLine,
  reveal: (call: number) => void,
): HTMLElement {
  const [kind, mark] = getMark(evidence);
  const after = line.after.length
    ? `after goal ${line.after.map(it => it + 1).join(", ")}`
    : "in any order";
  return element(
    "li",
    {},
    ...line.calls.map((call, i) =>
      element(
        "div",
        { class: "line" },
        element("span", { class: "ordinal" }, i === 0 ? String(evidence.goal + 1) : ""),
        element("span", { class: "tool" }, escapeInvisible(call.name)),
        element("code", {}, escapeInvisible(call.arguments)),
        createCallLink(evidence.calls[i] ?? null, reveal),
      ),
    ),
    element(
      "div",
      { class: "evidence" },
      element("span", { class: `mark ${kind}` }, mark),
      element("span", { class: "mark quiet" }, after),
      evidence.broken.length > 0 &&
        element(
          "span",
          { class: "mark bad" },
          `goal ${evidence.broken.map(it => it + 1).join(", ")} should have come before`,
        ),
      ...(evidence.notes ?? []).map(it =>
        element("span", { class: "mark quiet" }, escapeInvisible(it)),
      ),
    ),
  );
}

function getMark({
  matched,
  needed,
  otherArguments,
  broken,
}: GoalEvidence): readonly [kind: "good" | "half" | "bad", text: string] {
  if (needed === false) return ["good", "✓ not needed"];
  if (!matched) return ["bad", "✗ not reached"];
  if (broken.length > 0) return ["bad", "✗ reached out of order"];
  return otherArguments ? ["half", "◐ called with other arguments"] : ["good", "✓ reached"];
}

function createCallLink(call: number | null, reveal: (call: number) => void): HTMLElement {
  if (call === null) return element("span", { class: "quiet served" }, "no call");
  const attributes = { class: "link served", type: "button", id: `served-${call}` };
  const link = element("button", attributes, `call ${call + 1}`);
  link.addEventListener("click", () => reveal(call));
  return link;
}
