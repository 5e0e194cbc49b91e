/** Opens an attempt that was chosen on a page. */
import { commands, type Uri } from "vscode";
import { z } from "zod";
import type { AttemptView } from "../../protocol/attemptsPage.ts";

const openCommands: Readonly<Record<AttemptView, string>> = {
  transcript: "prove.openTranscript",
  debugger: "prove.stepTrajectory",
  reward: "prove.showReward",
};

export const viewSchema = z.enum(["transcript", "debugger", "reward"]);

/** Opens the attempt of a transcript's address; the command shows its own errors. */
export async function openAttemptIn(uri: Uri, view: AttemptView): Promise<null> {
  await commands.executeCommand(openCommands[view], uri);
  return null;
}
