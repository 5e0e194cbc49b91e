/** Estimates how long a training still takes. */
import type { RunStatus } from "../../protocol/runPage.ts";

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
