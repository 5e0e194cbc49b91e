/** The tools that were offered in an attempt, as a read-only document. */
import { window, workspace, type Uri } from "vscode";
import type { ReadOnlyFiles } from "../../shared/readOnlyFiles.ts";
import type { AttemptNode } from "../attemptLocation.ts";
import { formatOfferedTools } from "./offeredTools.ts";
import type { Transcripts } from "../transcripts.ts";

const [folder, extension] = ["/offered-tools/", ".tools.txt"];

/** Provides the documents; returns the command that shows the one of an attempt. */
export function provideOfferedTools(
  files: ReadOnlyFiles,
  transcripts: Transcripts,
): (attempt: AttemptNode | Uri | undefined) => Promise<void> {
  files.provide(folder, async uri => {
    const { catalog, trajectory, task } = await transcripts.read(toTranscript(uri));
    return formatOfferedTools(catalog, trajectory, task);
  });
  return async attempt => {
    const uri = fromTranscript(transcripts.resolveUri(attempt));
    await window.showTextDocument(await workspace.openTextDocument(uri));
  };
}

const fromTranscript = (uri: Uri) =>
  uri.with({ path: uri.path.replace("/transcripts/", folder).replace(/\.transcript$/, extension) });

const toTranscript = (uri: Uri) =>
  uri.with({
    path: uri.path.replace(folder, "/transcripts/").replace(/\.tools\.txt$/, ".transcript"),
  });
