/** `replay`: replays recorded attempts on fresh sessions and reports those that differ. */
import { resolve } from "node:path";
import { replayAttempts, type AttemptReplay } from "../app/replay.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { bugExitCode, defineCommand, flag, repeatedArgument } from "./command.ts";

export const replay = defineCommand({
  name: "replay",
  description:
    "Replay the attempts of tasks, trajectory or group files, or of folders of them, on fresh sessions. Prints a line for each attempt that differs, and exits with 1 if any does.",
  arguments: [repeatedArgument("<files...>", "files or folders to read", { required: "a file" })],
  options: { json: flag("--json", "print the lines as JSON Lines") },
  examples: ["replay my.tasks.jsonl", "replay prove/runs/first/groups --json"],
  async run(context, [files], { json }) {
    const { cwd, print, printNote } = context;
    let unreadable = 0;
    const counts = await replayAttempts(
      files.map(it => resolve(cwd, it)),
      {
        onUserError({ what, remedy }) {
          unreadable++;
          printNote(`${escapeInvisible(what)}\n  ${escapeInvisible(remedy)}`);
        },
        onDifference: (trajectory, result) =>
          print(json ? JSON.stringify(toJson(trajectory, result)) : formatLine(trajectory, result)),
      },
      context,
    );
    if (counts.imported > 0)
      printNote(`${counts.imported} imported attempts, whose calls other software executed`);
    if (counts.attempts > 0 || counts.imported === 0) printNote(summarize(counts));
    if (counts.bugs > 0) return bugExitCode;
    return unreadable > 0 ? 2 : counts.different === 0 ? 0 : 1;
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

const toJson = ({ header }: Trajectory, { verdict, first, what, remedy }: AttemptReplay) => ({
  id: header.id,
  verdict,
  ...(first ? { call: first.call, name: first.recorded.name, differs: first.differingFields } : {}),
  what,
  remedy,
});

function formatLine(
  { header }: Trajectory,
  { verdict, first, what, remedy }: AttemptReplay,
): string {
  const place =
    first && verdict !== "differs"
      ? ` (seen first at call ${first.call + 1}, ${first.recorded.name})`
      : "";
  return escapeInvisible(`${header.id}  ${verdict}: ${what}${place}; ${remedy}`);
}
