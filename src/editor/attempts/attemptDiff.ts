/** Shows the transcripts of two attempts beside each other in the editor's own diff. */
import { commands, Range, type Uri } from "vscode";
import { toPlainLine } from "../shared/text.ts";
import { getTranscriptTitle } from "./storedLocation.ts";

/** `line`: the line of the right transcript that is shown first, from 0. */
export async function openAttemptDiff(left: Uri, right: Uri, line = 0): Promise<void> {
  const title = `${getTranscriptTitle(left)} ↔ ${getTranscriptTitle(right)}`;
  const options = line > 0 ? [{ selection: new Range(line, 0, line, 0) }] : [];
  await commands.executeCommand("vscode.diff", left, right, toPlainLine(title), ...options);
}
