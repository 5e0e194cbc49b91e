/** `replay`: replays recorded attempts on fresh sessions and reports those that differ. */
import { resolve } from "node:path";
import { describeFailure, formatBug, UserError } from "../userError.ts";
import { readRecordedAttempts } from "../trajectory/file.ts";
import { checkReplay, type ReplayResult } from "../trajectory/replay.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { bugExitCode, defineCommand, flag, repeatedArgument, type CliContext } from "./command.ts";

export const replay = defineCommand({
  name: "replay",
  description:
    "Replay the attempts of tasks, trajectory or group files, or of folders of them, on fresh sessions. Prints a line for each attempt that differs, and exits with 1 if any does.",
  arguments: [repeatedArgument("<files...>", "files or folders to read", { required: "a file" })],
  options: { json: flag("--json", "print the lines as JSON Lines") },
  examples: ["replay my.tasks.jsonl", "replay prove/runs/first/groups --json"],
  async run(context, [files], { json }) {
    const { cwd, print, printNote, signal, showProgress } = context;
    const counts = { attempts: 0, calls: 0, different: 0, imported: 0, unreadable: 0, bugs: 0 };
    const onUserError = ({ what, remedy }: UserError) => {
      counts.unreadable++;
      printNote(`${escapeInvisible(what)}\n  ${escapeInvisible(remedy)}`);
    };
    for await (const { trajectory } of readRecordedAttempts(
      files.map(it => resolve(cwd, it)),
      { onTorn: printNote, onUserError, signal },
    )) {
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
        print(json ? JSON.stringify(toJson(trajectory, result)) : formatLine(trajectory, result));
      }
      showProgress(`replayed ${counts.attempts}, ${counts.different} differ`);
    }
    if (counts.imported > 0)
      printNote(`${counts.imported} imported attempts, whose calls other software executed`);
    if (counts.attempts > 0 || counts.imported === 0) printNote(summarize(counts));
    if (counts.bugs > 0) return bugExitCode;
    return counts.unreadable > 0 ? 2 : counts.different === 0 ? 0 : 1;
  },
});

function summarize({
  attempts,
  calls,
  different,
}: Readonly<Record<"attempts" | "calls" | "different", number>>): string {
  if (attempts === 0) return "no attempts in there";
  const verdict =
    different === 0 ? "all the same" : `${different} of them differ${different === 1 ? "s" : ""}`;
  return `${attempts} attempts, ${calls} calls: ${verdict}`;
}

/**
 * The result of a replay. It is `gone` if a server or fixture of the attempt no longer exists, and
 * `failed` if a bug of this program ended it.
 */
type Result =
  | ReplayResult
  | {
      readonly verdict: "gone" | "failed";
      readonly steps: 0;
      readonly what: string;
      readonly remedy: string;
      readonly first?: never;
    };

function replayAttempt(
  { catalog }: CliContext,
  trajectory: Trajectory,
  onBug: (error: unknown) => void,
): Result {
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

const toJson = ({ header }: Trajectory, { verdict, first, what, remedy }: Result) => ({
  id: header.id,
  verdict,
  ...(first ? { call: first.call, name: first.recorded.name, differs: first.differingFields } : {}),
  what,
  remedy,
});

function formatLine({ header }: Trajectory, { verdict, first, what, remedy }: Result): string {
  const place =
    first && verdict !== "differs"
      ? ` (seen first at call ${first.call + 1}, ${first.recorded.name})`
      : "";
  return escapeInvisible(`${header.id}  ${verdict}: ${what}${place}; ${remedy}`);
}
