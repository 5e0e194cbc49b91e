/** Replays recorded attempts on fresh sessions, and counts those that differ. */
import { readRecordedAttempts } from "../trajectory/file.ts";
import { checkReplay, type ReplayResult } from "../trajectory/replay.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { describeFailure, formatBug, UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";

interface ReplayOptions {
  readonly onUserError: (error: UserError) => void;
  readonly onDifference: (trajectory: Trajectory, result: AttemptReplay) => void;
}

/** Replays the attempts of files and folders. Imported ones are counted only. */
export async function replayAttempts(
  files: readonly string[],
  { onUserError, onDifference }: ReplayOptions,
  context: Pick<AppContext, "catalog" | "printNote" | "showProgress" | "signal">,
) {
  const { printNote, showProgress, signal } = context;
  const counts = { attempts: 0, calls: 0, different: 0, imported: 0, bugs: 0 };
  const options = { onTorn: printNote, onUserError, signal };
  for await (const { trajectory } of readRecordedAttempts(files, options)) {
    signal.throwIfAborted();
    if (trajectory.header.imported) {
      counts.imported++;
      continue;
    }
    const result = replayAttempt(context, trajectory, error => {
      counts.bugs++;
      printNote(formatBug(error));
    });
    counts.attempts++;
    counts.calls += result.steps;
    if (result.verdict !== "same") {
      counts.different++;
      onDifference(trajectory, result);
    }
    showProgress(`replayed ${counts.attempts}, ${counts.different} differ`);
  }
  return counts;
}

/**
 * The result of a replay. It is `gone` if a server or fixture of the attempt no longer exists, and
 * `failed` if a bug of this program ended it.
 */
export type AttemptReplay =
  | ReplayResult
  | {
      readonly verdict: "gone" | "failed";
      readonly steps: 0;
      readonly what: string;
      readonly remedy: string;
      readonly first?: never;
    };

function replayAttempt(
  { catalog }: Pick<AppContext, "catalog">,
  trajectory: Trajectory,
  onBug: (error: unknown) => void,
): AttemptReplay {
  try {
    return checkReplay(catalog, trajectory);
  } catch (error) {
    // an attempt that cannot be replayed does not stop the others
    if (error instanceof UserError)
      return { verdict: "gone", steps: 0, what: error.what, remedy: error.remedy };
    onBug(error);
    return {
      verdict: "failed",
      steps: 0,
      what: describeFailure(error),
      remedy: "replay the others without it",
    };
  }
}
