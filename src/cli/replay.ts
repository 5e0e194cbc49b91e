/** `replay`: recorded attempts run again on fresh sessions, and what differs. */
import { resolve } from "node:path";
import { UserError } from "../userError.ts";
import { readRecordedAttempts } from "../trajectory/recordedAttempts.ts";
import { checkReplay, type ReplayResult } from "../trajectory/replay.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import type { CliCommand, CliContext } from "./command.ts";

export const replay: CliCommand = {
  usage: "replay F… [--json]",
  summary:
    "Replay the attempts of tasks, trajectory or group files, or of folders of them, on fresh sessions; a line for each that differs.",
  options: { json: { type: "boolean" } },
  async run(terminal, files, values) {
    const { cwd, printNote: say, signal, showProgress: progress } = terminal;
    if (files.length === 0)
      throw new UserError("replay needs a file", `usage: prove-rl ${replay.usage}`);
    let attempts = 0;
    let steps = 0;
    let different = 0;
    let unreadable = 0;
    const onUserError = ({ what, remedy }: UserError) => {
      unreadable++;
      say(`${what}\n  ${remedy}`);
    };
    for await (const { trajectory } of readRecordedAttempts(
      files.map(it => resolve(cwd, it)),
      { onTorn: say, onUserError, signal },
    )) {
      signal.throwIfAborted();
      const result = run(terminal, trajectory);
      attempts++;
      steps += result.steps;
      if (result.verdict !== "same") {
        different++;
        terminal.print(
          values["json"] ? JSON.stringify(jsonOf(trajectory, result)) : textOf(trajectory, result),
        );
      }
      progress(`replayed ${attempts}, ${different} differ`);
    }
    if (attempts === 0) say("no attempts in there");
    else
      say(
        `${attempts} attempts, ${steps} calls: ${different === 0 ? "all the same" : `${different} of them differ${different === 1 ? "s" : ""}`}`,
      );
    return unreadable > 0 ? 2 : different === 0 ? 0 : 1;
  },
};

/** What a replay came to; one whose server or fixture is gone could not be run, and says so. */
type Result =
  | ReplayResult
  | {
      readonly verdict: "gone";
      readonly steps: 0;
      readonly what: string;
      readonly remedy: string;
      readonly first?: never;
    };

function run({ catalog }: CliContext, trajectory: Trajectory): Result {
  try {
    return checkReplay(catalog, trajectory);
  } catch (error) {
    // one that cannot be run does not stop the others
    if (error instanceof UserError)
      return { verdict: "gone", steps: 0, what: error.what, remedy: error.remedy };
    throw error;
  }
}

const jsonOf = ({ header }: Trajectory, { verdict, first, what, remedy }: Result) => ({
  id: header.id,
  verdict,
  ...(first ? { call: first.call, name: first.recorded.name, differs: first.differingFields } : {}),
  what,
  remedy,
});

const textOf = ({ header }: Trajectory, { verdict, first, what, remedy }: Result) => {
  const where =
    first && verdict !== "differs"
      ? ` (seen first at call ${first.call + 1}, ${first.recorded.name})`
      : "";
  return escapeInvisible(`${header.id}  ${verdict}: ${what}${where}; ${remedy}`);
};
