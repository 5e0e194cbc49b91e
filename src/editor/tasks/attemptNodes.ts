/**
 * The rows below "Attempts" in the Tasks view: the trajectory files, which students, forks and
 * sessions write, and the runs whose attempts were recorded.
 */
import { statSync } from "node:fs";
import { basename } from "node:path";
import { type TreeItem, TreeItemCollapsibleState, type Uri } from "vscode";
import { listRuns, listRecordedSteps } from "../../run/folder.ts";
import { readLines } from "../../storage/jsonLines.ts";
import { UserError } from "../../userError.ts";
import { getFileUri } from "../attempts/attemptLocation.ts";
import { toEditorText } from "../shared/editorText.ts";
import { icons } from "../shared/icons.ts";
import { listFiles, type ProveFolder } from "../shared/proveFolder.ts";
import { formatCount } from "../shared/text.ts";
import { createOpenCommand, createTreeItem } from "../shared/treeView.ts";

export type AttemptsNode =
  | { readonly kind: "attempts"; readonly children: readonly AttemptsNode[] }
  | { readonly kind: "trajectoryFile"; readonly file: Uri }
  | { readonly kind: "recordedRun"; readonly run: string; readonly steps: number };

/** The node of all attempts; none if there are none. */
export async function listAttemptsNodes(folder: ProveFolder): Promise<AttemptsNode[]> {
  if (!folder.uri) return [];
  const files = await listFiles(folder.getPart("tasks"), ".trajectory.jsonl");
  const runs = listRuns(folder.getPart("runs").fsPath)
    .map(run => ({ kind: "recordedRun" as const, run, steps: listRecordedSteps(run).length }))
    .filter(it => it.steps > 0);
  const children = [...files.map(file => ({ kind: "trajectoryFile" as const, file })), ...runs];
  return children.length > 0 ? [{ kind: "attempts", children }] : [];
}

const { Collapsed, None } = TreeItemCollapsibleState;

export async function createAttemptsItem(node: AttemptsNode): Promise<TreeItem> {
  switch (node.kind) {
    case "attempts": {
      const { length } = node.children;
      const item = createTreeItem("Attempts", Collapsed, {
        icon: icons.attempts,
        description: length === 1 ? "1 file or run" : `${length} files and runs`,
        context: "attempts",
      });
      item.id = "attempts";
      return item;
    }
    case "trajectoryFile":
      return createFileItem(node.file);
    case "recordedRun": {
      const item = createTreeItem(basename(node.run), None, {
        icon: icons.group,
        description: `run · ${formatCount(node.steps, "recorded step")}`,
        context: "recordedRun",
        tooltip: node.run,
      });
      item.id = `attempts#${node.run}`;
      item.command = createTableCommand(node);
      return item;
    }
    default:
      throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
  }
}

/** A single attempt opens as its transcript, several as a table. */
async function createFileItem(file: Uri): Promise<TreeItem> {
  const name = basename(file.fsPath).replace(/(\.trajectory\.jsonl)+$/, "");
  const count = await countTrajectories(file.fsPath);
  const item = createTreeItem(name, None, {
    icon: typeof count === "string" ? icons.warning : icons.trajectory,
    description: typeof count === "string" ? count : formatCount(count, "attempt"),
    context: "trajectoryFile",
    tooltip: file.fsPath,
  });
  item.id = file.toString();
  item.resourceUri = file;
  item.command =
    count === 1
      ? createOpenCommand(getFileUri(file))
      : createTableCommand({ kind: "trajectoryFile", file });
  return item;
}

const createTableCommand = (node: AttemptsNode) => ({
  command: "prove.showAttempts",
  title: "Show Attempts",
  arguments: [node],
});

/** By the path of the file, for its size and time. */
const counts = new Map<string, { readonly version: string; readonly count: number }>();

/** The number of attempts in a trajectory file, or why it cannot be read. */
export async function countTrajectories(file: string): Promise<number | string> {
  const stat = statSync(file, { throwIfNoEntry: false });
  const version = stat ? `${stat.size} ${stat.mtimeMs}` : "missing";
  const known = counts.get(file);
  if (known?.version === version) return known.count;
  try {
    let count = 0;
    for await (const { text } of readLines(file)) if (isHeader(text)) count++;
    counts.set(file, { version, count });
    return count;
  } catch (error) {
    if (error instanceof UserError) return toEditorText(error.message);
    throw error;
  }
}

/** Only a line that may be the header of an attempt is parsed. */
function isHeader(text: string): boolean {
  if (!text.includes('"header"')) return false;
  try {
    return (JSON.parse(text) as { kind?: unknown } | null)?.kind === "header";
  } catch {
    return false;
  }
}
