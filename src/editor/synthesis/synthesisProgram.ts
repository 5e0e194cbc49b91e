/**
 * Runs a synthesis in the command-line program, and answers its requests for the editor's language
 * models.
 */
import type { SynthesisWork } from "../../protocol/work.ts";
import type { SynthesisResult } from "../../synthesis/pipeline/run/runSynthesis.ts";
import { formatProgress } from "../../synthesis/pipeline/report/report.ts";
import { runWork, type ProgramLocation } from "../shared/work.ts";
import { completeWithEditorModel } from "./languageModels.ts";

/**
 * Synthesizes tasks. Throws a `CancellationError` when the user cancels; what was written stays
 * valid.
 */
export const synthesizeInProgram = (
  request: SynthesisWork,
  title: string,
  location: ProgramLocation,
): Promise<SynthesisResult> =>
  runWork(title, location, ({ channel, progress, signal }) => {
    let reported = 0;
    channel.listen("progress", it => {
      const increment = (100 * (it.done - reported)) / Math.max(1, it.total);
      reported = it.done;
      progress.report({ message: formatProgress(it), increment });
    });
    channel.handle("complete", completeWithEditorModel);
    channel.open();
    return channel.request("synthesize", request, signal);
  });
