/**
 * Creates the rows under the debugger's Reward heading: the current call and what it changed, the
 * totals so far, and at the end success.
 */
import type { ArgumentEvidence, Breakdown, CallEvidence, Part } from "../../../reward/breakdown.ts";
import { describeCall, hasNoPenalty } from "../../../reward/breakdownText.ts";
import { formatChange, listPartChanges } from "../../../reward/partChanges.ts";
import { countPrefix } from "../../../reward/prefixReward.ts";
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { getRewardStep, scoreShownPrefix, type ShownReward } from "../attemptReward.ts";
import { countCallsBefore, type DebugTarget } from "./debugTarget.ts";
import type { ValueRow } from "./valueRow.ts";

export function createRewardRows(
  target: DebugTarget,
  position: CursorPosition,
): readonly ValueRow[] {
  const { reward, cursor } = target;
  if ("unscorable" in reward) return [{ name: "no reward", text: reward.unscorable }];
  const prefix = countPrefix(cursor.trajectory.events, position.position);
  const breakdowns = scoreShownPrefix(reward, prefix);
  const hasChanged = position.event?.kind === "call" || position.event?.kind === "ended";
  return [
    ...(position.event?.kind === "call"
      ? [createCallRow(breakdowns[0], countCallsBefore(cursor, position))]
      : []),
    ...(hasChanged ? [createChangeRow(target, reward, position, prefix)] : []),
    ...breakdowns.map((it, i) => createTotalRow(it, i === 0)),
    createSuccessRow(reward, position),
  ];
}

/** The reward beside the event that changed it, under the profile on screen. */
export function createStepRewardRows(
  { reward, cursor }: DebugTarget,
  { position, event }: CursorPosition,
): readonly ValueRow[] {
  const step = getRewardStep(reward, cursor.trajectory.events, position);
  if (!step || "unscorable" in reward || (event?.kind !== "call" && event?.kind !== "ended"))
    return [];
  const { total, change } = step;
  return [{ name: "reward", text: `${total.toFixed(4)} (${formatChange(change)})` }];
}

/** What the last event changed under the profile on screen. */
function createChangeRow(
  { cursor }: DebugTarget,
  reward: ShownReward,
  { position }: CursorPosition,
  prefix: number,
): ValueRow {
  const { change } = getRewardStep(reward, cursor.trajectory.events, position)!;
  const [before] = scoreShownPrefix(reward, prefix - 1);
  const [after] = scoreShownPrefix(reward, prefix);
  const changes = listPartChanges(before, after);
  return {
    name: "change",
    text: formatChange(change),
    ...(changes.length > 0
      ? {
          rows: () =>
            changes.map(it => ({
              name: it.name,
              text: `${it.before.toFixed(4)} → ${it.after.toFixed(4)}, ${formatChange(it.change)}`,
            })),
        }
      : {}),
  };
}

/** The total of a profile and its parts. Expressions can use those of the profile on screen. */
function createTotalRow(
  { profile, total, parts, extras }: Breakdown,
  isOnScreen: boolean,
): ValueRow {
  const pathOf = (name: string) => (isOnScreen ? { path: `reward.${name}` } : {});
  return {
    name: profile,
    text: total.toFixed(4),
    ...pathOf("total"),
    rows: () =>
      Object.entries({ ...parts, ...extras }).map(([name, part]) => ({
        name,
        text: formatPart(name, part),
        ...pathOf(name),
      })),
  };
}

function formatPart(name: string, part: Part): string {
  if (hasNoPenalty(name, part)) return "no penalty";
  return `${part.score.toFixed(4)} × ${part.weight} = ${part.value.toFixed(4)}`;
}

function createSuccessRow({ success }: ShownReward, { event }: CursorPosition): ValueRow {
  if (event?.kind !== "ended") return { name: "success", text: "decided at the end" };
  return {
    name: "success",
    text: success.achieved ? "yes" : `no: ${success.reasons.join("; ")}`,
  };
}

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
