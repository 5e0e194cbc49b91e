/**
 * Texts about runs: what an evaluation allows to say about a training, and how long a training
 * still takes.
 */
import type { RunStatus } from "../../protocol/runPage.ts";
import { type Estimate, getTrend, type RunEvaluation } from "../../run/evaluation.ts";
import { formatCount } from "../shared/text.ts";

/** Such as "success rose from 11% to 68% on 200 held-out tasks (change: +49 to +66 points)". */
export function describeEvaluation({ before, after, change, count }: RunEvaluation): string {
  const numbers = formatChange(before.success, after.success);
  const where = `on ${formatCount(count, "held-out task")} (${formatInterval(change.success)})`;
  switch (getTrend(change.success)) {
    case "higher":
      return `success rose: ${numbers} ${where}`;
    case "lower":
      return `success fell: ${numbers} ${where}`;
    case "unclear":
      return `no difference in success can be told: ${numbers} ${where}`;
  }
}

/** The success before and after, such as "11% → 68%". */
export const formatChange = (before: Estimate, after: Estimate): string =>
  `${formatPercent(before.mean)} → ${formatPercent(after.mean)}`;

/** A share with its interval, such as "11% (4% to 20%)". */
export const formatShare = ({ mean, low, high }: Estimate): string =>
  low === undefined || high === undefined
    ? formatPercent(mean)
    : `${formatPercent(mean)} (95% interval ${formatPercent(low)} to ${formatPercent(high)})`;

const formatInterval = ({ low, high }: Estimate): string =>
  low === undefined || high === undefined
    ? "too few sets of tools for an interval"
    : `95% interval of the change: ${formatPoints(low)} to ${formatPoints(high)} points`;

const formatPercent = (share: number): string => `${Math.round(100 * share)}%`;

function formatPoints(change: number): string {
  const points = Math.round(100 * change);
  return points > 0 ? `+${points}` : points < 0 ? `−${-points}` : "0";
}

/** Undefined before the first step of a run that is limited by steps only. */
export function estimateSecondsLeft(status: RunStatus): number | undefined {
  const { step, steps, elapsedSeconds: elapsed, limitSeconds } = status;
  if (elapsed === undefined) return undefined;
  const estimates = [
    ...(limitSeconds === undefined ? [] : [limitSeconds - elapsed]),
    ...(steps === undefined || step === 0 ? [] : [((steps - step) * elapsed) / step]),
  ];
  return estimates.length > 0 ? Math.max(0, Math.min(...estimates)) : undefined;
}

/** Seconds as "40 s", "3 min" or "2.5 h". */
export const formatTimeLeft = (seconds: number): string =>
  seconds < 60
    ? `${Math.ceil(seconds / 10) * 10} s`
    : seconds < 5400
      ? `${Math.ceil(seconds / 60)} min`
      : `${(seconds / 3600).toFixed(1)} h`;
