/** The tree items of the Tasks view. */
import { basename } from "node:path";
import { TreeItemCollapsibleState, type TreeItem } from "vscode";
import { formatCount } from "../shared/count.ts";
import { icons } from "../shared/icons.ts";
import { createTreeItem } from "../shared/treeItem.ts";
import type { TaskFilter } from "./taskFilter.ts";
import type { TaskEntry, TaskIndex } from "./taskIndex.ts";
import type { TasksNode } from "./tasksNode.ts";

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

type NodeOf<Kind extends TasksNode["kind"]> = Extract<TasksNode, { kind: Kind }>;

export function createFileItem(
  { file }: NodeOf<"taskFile">,
  { entries, skipped }: TaskIndex,
  matching: readonly TaskEntry[],
  filter: TaskFilter,
): TreeItem {
  const matchingCount = filter.text ? `${formatNumber(matching.length)} of ` : "";
  const skippedCount = skipped.length ? `, ${formatNumber(skipped.length)} skipped` : "";
  const item = createTreeItem(
    basename(file.fsPath, ".tasks.jsonl"),
    filter.text ? Expanded : Collapsed,
    {
      icon: icons.taskFile,
      description: `${matchingCount}${formatNumber(entries.length)} tasks${skippedCount}`,
      context: "taskFile",
      tooltip: file.fsPath,
    },
  );
  item.id = `${file.toString()}?${filter.text}`;
  item.resourceUri = file;
  return item;
}

/** The row of a file that cannot be read. */
export function createUnreadableItem({ file }: NodeOf<"taskFile">, reason: string): TreeItem {
  const item = createTreeItem(basename(file.fsPath, ".tasks.jsonl"), None, {
    icon: icons.warning,
    description: reason,
    context: "skipped",
    tooltip: reason,
  });
  item.id = `${file.toString()}?unreadable`;
  return item;
}

export function createRangeItem(
  { file, from, size, entries }: NodeOf<"range">,
  filter: TaskFilter,
): TreeItem {
  const label = `${formatNumber(from + 1)}–${formatNumber(from + entries.length)}`;
  const item = createTreeItem(label, Collapsed, { context: "range" });
  // the id does not depend on the end, so that the item stays expanded while the file grows
  item.id = `${file.toString()}?${filter.text}#${from}/${size}`;
  return item;
}

export function createTaskItem(node: NodeOf<"task">): TreeItem {
  const { request, id, kind, split, servers, goals, offset } = node.entry;
  const label = request.length > 90 ? `${request.slice(0, 89)}…` : request;
  const detail = goals.length ? formatCount(goals.length, "call") : kind;
  const item = createTreeItem(label, None, {
    icon: goals.length ? icons.task : icons.abstention,
    description: `${servers.join(", ")} · ${detail}`,
    tooltip: `${request}\n\n${id}, ${kind}, ${split}\n${goals.join(" → ")}`,
    context: "task",
  });
  item.id = `${node.file.toString()}#${offset}`;
  item.command = { command: "prove.openTranscript", title: "Open Transcript", arguments: [node] };
  return item;
}

export function createSkippedItem({ file, line, reason }: NodeOf<"skipped">): TreeItem {
  const item = createTreeItem(`Line ${line} skipped`, None, {
    icon: icons.warning,
    description: reason,
    context: "skipped",
    tooltip: reason,
  });
  item.command = { command: "vscode.open", title: "Open File", arguments: [file] };
  return item;
}

const formatNumber = (n: number) => n.toLocaleString("en");
