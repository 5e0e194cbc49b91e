/**
 * What the debugger can stop at without a breakpoint: calls that fail, results that differ in
 * replay, calls that serve no goal, and a reward that drops.
 */
import type { DebugProtocol } from "@vscode/debugprotocol";
import { describeCall } from "../../../reward/breakdownText.ts";
import { formatChange, formatPartChange, listPartChanges } from "../../../reward/partChanges.ts";
import { countPrefix } from "../../../reward/prefixReward.ts";
import type { CursorPosition } from "../../../trajectory/cursor.ts";
import { formatCall } from "../../../trajectory/transcript.ts";
import { getRewardStep, scoreShownPrefix } from "../attemptReward.ts";
import type { StopReason } from "./breakpoint.ts";
import { countCallsBefore, type DebugTarget } from "./debugTarget.ts";

interface ExceptionFilter {
  readonly filter: string;
  readonly label: string;
  readonly description: string;
  /** Undefined where there is nothing to stop at. */
  readonly describe: (target: DebugTarget, position: CursorPosition) => StopReason | undefined;
}

const filters: readonly ExceptionFilter[] = [
  {
    filter: "failed",
    label: "Calls That Fail",
    description: "Stops at calls that were refused or not understood",
    describe: describeFailure,
  },
  {
    filter: "differs",
    label: "Replay Differs",
    description: "Stops at calls whose replayed outcome differs from the recorded one",
    describe: describeDifference,
  },
  {
    filter: "no-goal",
    label: "Calls That Serve No Goal",
    description: "Stops at calls that serve none of the task's goals",
    describe: describeUnservedGoal,
  },
  {
    filter: "reward-drops",
    label: "Reward Drops",
    description: "Stops where the reward so far falls, under the profile on screen",
    describe: describeDrop,
  },
];

/** The filters as the editor lists them. */
export const exceptionFilters: readonly DebugProtocol.ExceptionBreakpointsFilter[] = filters.map(
  ({ filter, label, description }) => ({
    filter,
    label,
    description,
    default: false,
    supportsCondition: true,
    conditionDescription: 'An expression such as call.name == "banking_transfer"',
  }),
);

/** Describes what a filter stops at; undefined where it does not stop. */
export const describeException = (
  filter: string,
  target: DebugTarget,
  position: CursorPosition,
): StopReason | undefined => filters.find(it => it.filter === filter)?.describe(target, position);

function describeFailure(_: DebugTarget, { step }: CursorPosition): StopReason | undefined {
  if (!step || step.recorded.outcome.kind === "ok") return undefined;
  const { name, arguments: args, outcome } = step.recorded;
  const { kind, type, message, hint } = outcome;
  return {
    title: type ? `${kind} (${type})` : kind,
    details: [
      ...(message ? [message] : []),
      ...(hint ? [`Hint: ${hint}`] : []),
      `Call: ${formatCall(name, args)}`,
    ].join("\n"),
  };
}

function describeDifference(_: DebugTarget, { step }: CursorPosition): StopReason | undefined {
  if (!step || step.verdict === "same") return undefined;
  const { recorded, differingFields, verdict } = step;
  return {
    title: verdict === "differs" ? "replay differs" : verdict,
    details: `${formatCall(recorded.name, recorded.arguments)}\ngives another ${differingFields.join(", ")} than recorded`,
  };
}

function describeUnservedGoal(
  { reward, cursor }: DebugTarget,
  position: CursorPosition,
): StopReason | undefined {
  if ("unscorable" in reward || !position.step) return undefined;
  const { events } = cursor.trajectory;
  const [breakdown] = scoreShownPrefix(reward, countPrefix(events, position.position));
  const call = countCallsBefore(cursor, position);
  if (breakdown.calls[call]!.serves) return undefined;
  const { name, arguments: args } = position.step.recorded;
  return {
    title: "no goal",
    details: [describeCall(breakdown, call), `Call: ${formatCall(name, args)}`].join("\n"),
  };
}

function describeDrop(
  { reward, cursor }: DebugTarget,
  { position }: CursorPosition,
): StopReason | undefined {
  const { events } = cursor.trajectory;
  const step = getRewardStep(reward, events, position);
  if (!step || step.change >= -1e-9 || "unscorable" in reward) return undefined;
  const prefix = countPrefix(events, position);
  const [before] = scoreShownPrefix(reward, prefix - 1);
  const [after] = scoreShownPrefix(reward, prefix);
  return {
    title: "reward drops",
    details: [
      `${after.profile}: ${before.total.toFixed(4)} → ${after.total.toFixed(4)}, ${formatChange(step.change)}`,
      ...listPartChanges(before, after).map(formatPartChange),
    ].join("\n"),
  };
}
