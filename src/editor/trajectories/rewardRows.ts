/**
 * Creates the rows under the debugger's Reward heading: the current call, the totals and success.
 */
import type { ArgumentEvidence, Breakdown, CallEvidence } from "../../reward/breakdown.ts";
import { describeCall } from "../../reward/breakdownText.ts";
import type { CursorPosition } from "../../trajectory/cursor.ts";
import { countCallsBefore, type DebugTarget } from "./debugTarget.ts";
import type { ValueRow } from "./valueRow.ts";

export function createRewardRows(
  { reward, cursor }: DebugTarget,
  position: CursorPosition,
): readonly ValueRow[] {
  if ("unscorable" in reward) return [{ name: "no reward", text: reward.unscorable }];
  const { breakdowns, success } = reward;
  const rows = [
    ...breakdowns.map(createTotalRow),
    {
      name: "success",
      text: success.achieved ? "yes" : `no: ${success.reasons.join("; ")}`,
    },
  ];
  const [paper] = breakdowns;
  if (position.event?.kind !== "call" || !paper) return rows;
  return [createCallRow(paper, countCallsBefore(cursor, position)), ...rows];
}

const createTotalRow = ({ profile, total, parts, extras }: Breakdown): ValueRow => ({
  name: profile,
  text: total.toFixed(4),
  rows: () =>
    Object.entries({ ...parts, ...extras }).map(([name, { score, weight, value }]) => ({
      name,
      text: `${score.toFixed(4)} × ${weight} = ${value.toFixed(4)}`,
    })),
});

const createCallRow = (breakdown: Breakdown, call: number): ValueRow => ({
  name: "this call",
  text: describeCall(breakdown, call) ?? "",
  rows: () => createEvidenceRows(breakdown.calls[call]!, breakdown.budget),
});

function createEvidenceRows(evidence: CallEvidence, budget: number): readonly ValueRow[] {
  const reason = evidence.message || "known tool, valid arguments, accepted";
  const rows: ValueRow[] = [
    { name: "validity", text: `${evidence.validity.toFixed(2)}, ${reason}` },
    { name: "serves", text: formatServedGoal(evidence) },
  ];
  const { arguments: args } = evidence;
  if (args.length)
    rows.push({
      name: "arguments",
      text: `${args.filter(it => it.equal).length} of ${args.length} equal`,
      rows: () => args.map(createArgumentRow),
    });
  if (evidence.overBudget)
    rows.push({ name: "budget", text: `over the budget of ${budget} calls` });
  return rows;
}

function formatServedGoal({ serves, named }: CallEvidence): string {
  if (serves) return `goal ${serves.goal + 1}`;
  return named ? "no goal, although a goal uses its tool" : "no goal";
}

function createArgumentRow({ key, goal, model, equal, masked }: ArgumentEvidence): ValueRow {
  if (masked) return { name: key, text: "not compared" };
  const expected = JSON.stringify(goal);
  return { name: key, text: equal ? `= ${expected}` : `${JSON.stringify(model)} ≠ ${expected}` };
}
