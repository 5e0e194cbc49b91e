/**
 * The evidence of a reward: the calls of the attempt, and the goals of the task with the calls that
 * serve them. Choosing a call shows it in the transcript.
 */
import type {
  AnswerEvidence,
  ArgumentEvidence,
  Breakdown,
  CallEvidence,
  CallLine,
  GoalEvidence,
  GoalLine,
  RewardView,
} from "../../src/protocol/rewardPage.ts";
import { createLink, element } from "../element.ts";
import { breakName, escapeInvisible, formatFixed } from "../text.ts";

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
  const name = createCallLink(line.name, () => reveal(evidence.call), `call-${evidence.call}`);
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
  const names = ["Argument", "Goal", "", "This call"];
  const head = element("tr", {}, ...names.map(it => element("th", { scope: "col" }, it)));
  return element(
    "table",
    { class: "comparison" },
    element("thead", {}, head),
    element("tbody", {}, ...rows),
  );
}

const formatValue = (value: unknown) => (value === undefined ? "(absent)" : JSON.stringify(value));

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
        createServedLink(evidence.calls[i] ?? null, reveal),
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

function createServedLink(call: number | null, reveal: (call: number) => void): HTMLElement {
  if (call === null) return element("span", { class: "quiet served" }, "no call");
  const attributes = { class: "link served", id: `served-${call}` };
  return createLink(() => reveal(call), attributes, `call ${call + 1}`);
}

/** What was to be told. Choosing an item shows the message in the transcript. */
export const createAnswerList = (
  answers: readonly AnswerEvidence[],
  reveal: (turn: number) => void,
): HTMLElement =>
  element(
    "ol",
    { class: "answers" },
    ...answers.map(({ turn, subject, wanted, isTold, note }, i) =>
      element(
        "li",
        {},
        element(
          "div",
          { class: "line" },
          createLink(
            () => reveal(turn),
            { title: "Show the message in the transcript", id: `answer-${i}` },
            escapeInvisible(subject),
          ),
          createMark(
            isTold ? "good" : "bad",
            escapeInvisible(isTold ? `told: ${wanted}` : (note ?? "not told")),
          ),
        ),
      ),
    ),
  );

/** The name of a call, which leads to it in the transcript. */
export const createCallLink = (name: string, open: () => void, id: string): HTMLElement =>
  createLink(open, { title: "Show in the transcript", id }, ...breakName(name || "(not parsed)"));
