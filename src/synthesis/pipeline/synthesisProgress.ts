/** How far a synthesis is, as data and as text. */

export interface SynthesisProgress {
  /** Tasks accepted so far. */
  readonly done: number;
  /** Tasks asked for. */
  readonly total: number;
  /** Absent during the first second, when there is too little to estimate it from. */
  readonly pace?: {
    readonly tasksPerSecond: number;
    readonly secondsLeft: number;
  };
}

export function measureProgress(
  done: number,
  total: number,
  milliseconds: number,
): SynthesisProgress {
  if (milliseconds < 1000) return { done, total };
  const tasksPerSecond = (1000 * done) / milliseconds;
  const secondsLeft = Math.ceil((total - done) / tasksPerSecond);
  return { done, total, pace: { tasksPerSecond, secondsLeft } };
}

/** `12 of 300 tasks, 210 a second, 1 min 2 s left`. */
export function formatProgress({ done, total, pace }: SynthesisProgress): string {
  const counts = `${formatCount(done)} of ${formatCount(total)} tasks`;
  if (!pace) return counts;
  const { tasksPerSecond, secondsLeft } = pace;
  const rate = tasksPerSecond < 10 ? tasksPerSecond.toFixed(1) : Math.round(tasksPerSecond);
  return `${counts}, ${rate} a second, ${formatDuration(secondsLeft)} left`;
}

function formatDuration(seconds: number): string {
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** A whole number with commas between groups of three digits. */
const formatCount = (count: number): string => String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
