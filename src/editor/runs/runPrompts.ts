/** Asks which run a command is about. */
import type { RunState } from "../../protocol/runPage.ts";
import { toEditorText } from "../shared/editorText.ts";
import { pickOne } from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName, type Runs } from "./runs.ts";

/** Why there is nothing to choose from, and the states that a run may be in. */
export interface RunChoice {
  readonly states: readonly RunState[];
  readonly whenNone: string;
  /** Leaves out runs that the command is not for. */
  readonly isPossible?: (monitor: RunMonitor) => boolean;
}

/** The chosen run, or the only one. Throws a `UserError` if there is none. */
export async function pickRun(
  runs: Runs,
  question: string,
  choice?: RunChoice,
): Promise<RunMonitor> {
  const candidates = runs
    .list()
    .filter(it => choice === undefined || choice.states.includes(it.status.state))
    .filter(it => choice?.isPossible?.(it) ?? true);
  if (candidates.length === 0)
    throw new ActionableError(choice?.whenNone ?? "there is no run yet", "start one", {
      title: "Start Training",
      command: "prove.startTraining",
    });
  if (candidates.length === 1) return candidates[0]!;
  const items = candidates.map(monitor => ({
    label: getRunName(monitor),
    description: toEditorText(monitor.status.activity),
    monitor,
  }));
  // with a title, the question survives a page that takes the focus
  return (await pickOne(items, { title: "Runs", text: question })).monitor;
}
