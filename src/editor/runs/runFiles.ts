/**
 * Writes, renames and deletes files of runs at a person's request, and asks which run a command is
 * about.
 */
import { existsSync } from "node:fs";
import { rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { commands, Uri, window, workspace } from "vscode";
import type { RunState } from "../../protocol/runPage.ts";
import { formatMetricsCsv } from "../../run/metrics.ts";
import { readTrainerLock } from "../../run/locks.ts";
import { writeFileAtomically } from "../../storage/atomicWrite.ts";
import { UserError } from "../../userError.ts";
import { toEditorText } from "../shared/editorText.ts";
import { confirm, moveToTrash, showInformation } from "../shared/notifications.ts";
import { askText, pickOne } from "../shared/quickInput.ts";
import { ActionableError } from "../shared/report.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunsNode } from "./runsTree.ts";

/** The states in which no trainer works on a run. */
const idleStates: readonly RunState[] = [
  "ready",
  "stopped",
  "interrupted",
  "finished",
  "failed",
  "unknown",
];

const idleRuns = { states: idleStates, whenNone: "there is no run that is not training" };

/** Saves the metrics of a run as comma-separated values. */
export async function exportMetrics(runs: Runs, node: RunsNode | undefined): Promise<void> {
  const monitor = node?.monitor ?? (await pickRun(runs, "Which run's metrics to export"));
  if (monitor.steps.length === 0)
    throw new UserError(`${getRunName(monitor)} has no metrics`, "train it for a step first");
  await saveAs(
    { name: `${getRunName(monitor)}.csv`, kind: "CSV", extension: "csv", title: "Export Metrics" },
    formatMetricsCsv(monitor.steps),
  );
}

/** Saves the plots of a run's page. */
export const savePlots = (monitor: RunMonitor, svg: string): Promise<void> =>
  saveAs(
    { name: `${getRunName(monitor)}.svg`, kind: "SVG", extension: "svg", title: "Save Plots" },
    svg,
  );

interface SaveOptions {
  /** The suggested name of the file. */
  readonly name: string;
  readonly kind: string;
  readonly extension: string;
  /** The title of the dialog. */
  readonly title: string;
}

async function saveAs(
  { name, kind, extension, title }: SaveOptions,
  content: string,
): Promise<void> {
  const root = workspace.workspaceFolders?.[0]?.uri;
  const file = await window.showSaveDialog({
    title,
    filters: { [kind]: [extension] },
    ...(root ? { defaultUri: Uri.joinPath(root, name) } : {}),
  });
  if (!file) return;
  await writeFileAtomically(file.fsPath, content);
  const answer = await showInformation(`Saved ${file.fsPath}.`, "Open");
  if (answer !== undefined) await commands.executeCommand("vscode.open", file);
}

/** Renames a run's folder. */
export async function renameRun(runs: Runs, node: RunsNode | undefined): Promise<void> {
  const monitor = node?.monitor ?? (await pickRun(runs, "Which run to rename", idleRuns));
  checkIdle(monitor, "renamed");
  const name = getRunName(monitor);
  const parent = dirname(monitor.folder);
  const chosen = await askText(
    { text: `New name of ${name}` },
    {
      value: name,
      validate: text => {
        if (!/^[\w.-]*\w[\w.-]*$/.test(text))
          return "use letters, digits, dots, dashes and underscores";
        return text !== name && existsSync(join(parent, text))
          ? `there is a run ${text}`
          : undefined;
      },
    },
  );
  if (chosen === name) return;
  // it may have been resumed meanwhile
  checkIdle(monitor, "renamed");
  await rename(monitor.folder, join(parent, chosen));
  runs.refresh();
}

/** Moves a run's folder to the trash, after a question. */
export async function deleteRun(runs: Runs, node: RunsNode | undefined): Promise<void> {
  const monitor = node?.monitor ?? (await pickRun(runs, "Which run to delete", idleRuns));
  checkIdle(monitor, "deleted");
  const name = getRunName(monitor);
  const agreed = await confirm({
    question: `Delete the run ${name}?`,
    detail: `Its checkpoints, metrics and recorded attempts are moved to the trash: ${monitor.folder}`,
    button: "Move to Trash",
  });
  if (!agreed) return;
  checkIdle(monitor, "deleted");
  await moveToTrash(Uri.file(monitor.folder), name);
  runs.refresh();
}

function checkIdle(monitor: RunMonitor, what: string): void {
  if (idleStates.includes(monitor.status.state) && !readTrainerLock(monitor.folder)) return;
  const name = getRunName(monitor);
  throw monitor.status.state === "queued"
    ? new UserError(`${name} is queued and cannot be ${what}`, "remove it from the queue first")
    : new UserError(`${name} is training and cannot be ${what}`, "stop its training first");
}

/** Why there is nothing to choose from, and the states that a run may be in; any if left out. */
export interface RunChoice {
  readonly states?: readonly RunState[] | undefined;
  readonly whenNone: string;
  /** Asks for the run even if there is only one: the person may have meant another. */
  readonly isAlwaysAsked?: boolean;
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
    .filter(it => choice?.states?.includes(it.status.state) ?? true)
    .filter(it => choice?.isPossible?.(it) ?? true);
  if (candidates.length === 0)
    throw new ActionableError(choice?.whenNone ?? "there is no run yet", "start one", {
      title: "Start Training",
      command: "prove.startTraining",
    });
  if (candidates.length === 1 && choice?.isAlwaysAsked !== true) return candidates[0]!;
  const items = candidates.map(monitor => ({
    label: getRunName(monitor),
    description: toEditorText(monitor.status.activity),
    monitor,
  }));
  // with a title, the question survives a page that takes the focus
  return (await pickOne(items, { title: "Runs", text: question })).monitor;
}
