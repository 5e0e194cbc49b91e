/** Writes an attempt to a file as one HTML page. */
import { Uri, env, window, workspace } from "vscode";
import { createAttemptPage } from "../../reward/attemptPage.ts";
import { showInformation } from "../shared/notifications.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import { getTranscriptTitle } from "../attempts/storedLocation.ts";
import type { OpenAttempt, Transcripts } from "../attempts/transcripts.ts";

/** Asks where to write the attempt of a node or a transcript, or of the active transcript. */
export async function exportAttempt(
  transcripts: Transcripts,
  target: AttemptNode | Uri | undefined,
): Promise<void> {
  const uri = transcripts.resolveUri(target);
  const attempt = await transcripts.read(uri);
  const folder = workspace.workspaceFolders?.[0]?.uri;
  const name = `${getTranscriptTitle(uri)}.html`;
  const file = await window.showSaveDialog({
    title: "Export Attempt",
    filters: { "Web page": ["html"] },
    ...(folder ? { defaultUri: Uri.joinPath(folder, name) } : {}),
  });
  if (!file) return;
  await workspace.fs.writeFile(file, new TextEncoder().encode(createPage(attempt)));
  const answer = await showInformation(`The attempt was exported to ${file.fsPath}.`, "Open");
  if (answer !== undefined) await env.openExternal(file);
}

function createPage({ trajectory, task, reward }: OpenAttempt): string {
  return createAttemptPage({
    trajectory,
    task,
    reward:
      "unscorable" in reward
        ? reward
        : { breakdown: reward.breakdowns[0], success: reward.success },
  });
}
