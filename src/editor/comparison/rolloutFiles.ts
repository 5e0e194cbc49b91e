/**
 * Files of rollouts that other software wrote: their attempts in the place of an editor, read-only,
 * and a copy of them as trajectories.
 */
import { existsSync, mkdirSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import {
  type CancellationToken,
  type CustomDocument,
  type CustomReadonlyEditorProvider,
  type Disposable,
  TabInputCustom,
  TabInputText,
  Uri,
  type WebviewPanel,
  window,
} from "vscode";
import { findFormat } from "../../rollouts/formats.ts";
import { readPlacedRollouts, RowRemarks } from "../../rollouts/readRollouts.ts";
import { recognizeRollouts } from "../../rollouts/recognizeRollouts.ts";
import { showRollout } from "../../rollouts/rollout.ts";
import { LineWriter } from "../../storage/lineWriter.ts";
import { formatTrajectory } from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";
import { isRolloutFile } from "../attempts/attemptLocation.ts";
import { showInformation, showProgress, type ProgressReport } from "../shared/notifications.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import type { AttemptsPages } from "./attemptsPages.ts";

/** Archives open in it by themselves; other files only with **Reopen Editor With…**. */
const viewTypes = ["prove.archivedRollouts", "prove.rollouts"];

export class RolloutEditor implements CustomReadonlyEditorProvider {
  readonly #pages: AttemptsPages;

  constructor(pages: AttemptsPages) {
    this.#pages = pages;
  }

  register(): Disposable[] {
    return viewTypes.map(it => window.registerCustomEditorProvider(it, this));
  }

  openCustomDocument(uri: Uri): CustomDocument {
    return { uri, dispose() {} };
  }

  resolveCustomEditor({ uri }: CustomDocument, panel: WebviewPanel): Promise<void> {
    return this.#pages.fill(panel, uri);
  }
}

/** The file of the active editor. */
export function findActiveFile(): Uri {
  const input = window.tabGroups.activeTabGroup.activeTab?.input;
  const uri =
    input instanceof TabInputCustom || input instanceof TabInputText ? input.uri : undefined;
  if (uri && isRolloutFile(uri)) return uri;
  throw new UserError("no file of rollouts is open", "run the command on a file in the explorer");
}

/** Writes the attempts of a file as trajectories, and shows them. */
export async function importRollouts(
  from: Uri,
  folder: ProveFolder,
  pages: AttemptsPages,
): Promise<void> {
  const { name } = await recognizeRollouts(from.fsPath);
  const target = folder.getPart("tasks").fsPath;
  mkdirSync(target, { recursive: true });
  const file = findUnusedFile(target, basename(from.fsPath).replace(/\.\w+$/, ""));
  const notes: string[] = [];
  const remarks = new RowRemarks(note => notes.push(note));
  const count = await showProgress(`Importing ${basename(from.fsPath)}`, (progress, token) =>
    copyRollouts({ from: from.fsPath, format: name, file, remarks }, progress, token),
  );
  if (count === undefined) return;
  remarks.finish();
  void showInformation([`${count} attempts in ${basename(file)}.`, ...notes].join(" "));
  await pages.open(Uri.file(file));
}

interface RolloutCopy {
  readonly from: string;
  readonly format: string;
  readonly file: string;
  readonly remarks: RowRemarks;
}

/** The number of attempts; undefined if it was canceled. Leaves no file behind if it fails. */
async function copyRollouts(
  { from, format: name, file, remarks }: RolloutCopy,
  progress: ProgressReport,
  token: CancellationToken,
): Promise<number | undefined> {
  const format = findFormat(name);
  const writer = new LineWriter(file);
  let count = 0;
  try {
    for await (const { rollout } of readPlacedRollouts(from, format, remarks)) {
      if (token.isCancellationRequested) break;
      writer.append(formatTrajectory(showRollout(rollout, format)).trimEnd());
      if (++count % 50 > 0) continue;
      progress.report({ message: `${count} attempts`, increment: 0 });
      await setImmediate();
    }
    if (count === 0 && !token.isCancellationRequested)
      throw new UserError(`${from} holds no rollouts`, `check that ${format.writer} wrote it`);
  } catch (error) {
    writer.close();
    rmSync(file, { force: true });
    throw error;
  }
  writer.close();
  if (!token.isCancellationRequested) return count;
  rmSync(file, { force: true });
  return undefined;
}

/** The first file of this name, with a number if it exists already. */
function findUnusedFile(folder: string, name: string): string {
  const base = name.replaceAll(/[^\w.-]+/g, "-");
  for (let n = 1; ; n++) {
    const file = join(folder, `${base}${n === 1 ? "" : `-${n}`}.trajectory.jsonl`);
    if (!existsSync(file)) return file;
  }
}
