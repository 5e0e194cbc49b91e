/** The tree items of the Tasks view. */
import { basename } from "node:path";
import { TreeItemCollapsibleState, type TreeItem } from "vscode";
import { formatCount } from "../shared/count.ts";
import { icons, outcomeIcon } from "../shared/icons.ts";
import { createOpenCommand, createTreeItem } from "../shared/treeItem.ts";
import { getNodeUri } from "../attempts/attemptLocation.ts";
import type { TaskFilter } from "./taskFilter.ts";
import type { TaskEntry, TaskIndex } from "../attempts/taskIndex.ts";
import type { TaskScore } from "./taskScores.ts";
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
      description: `${matchingCount}${formatCount(entries.length, "task")}${skippedCount}`,
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
  { file, from, size, entries, group }: NodeOf<"range">,
  filter: TaskFilter,
): TreeItem {
  const label = `${formatNumber(from + 1)}–${formatNumber(from + entries.length)}`;
  const item = createTreeItem(label, Collapsed, { context: "range" });
  // the id does not depend on the end, so that the item stays expanded while the file grows
  item.id = `${file.toString()}?${filter.text}#${from}/${size}${formatGroup(group)}`;
  return item;
}

export function createGroupItem(
  { file, group, entries }: NodeOf<"taskGroup">,
  filter: TaskFilter,
): TreeItem {
  const item = createTreeItem(group, Collapsed, {
    icon: icons.group,
    description: formatCount(entries.length, "task"),
    context: "taskGroup",
  });
  item.id = `${file.toString()}?${filter.text}${formatGroup(group)}`;
  return item;
}

/** The row of a task: servers, kind, length, and the reward of the teacher once it is known. */
export function createTaskItem(node: NodeOf<"task">, score: TaskScore | undefined): TreeItem {
  const { request, id, kind, split, servers, goals, turns, offset } = node.entry;
  const label = request.length > 90 ? `${request.slice(0, 89)}…` : request;
  const facts = [
    servers.join(", "),
    kind,
    formatCount(goals.length, "call"),
    ...(turns > 1 ? [formatCount(turns, "turn")] : []),
    ...(score?.total === undefined ? [] : [`reward ${score.total.toFixed(2)}`]),
    ...(score?.success === false ? ["no success"] : []),
  ];
  const item = createTreeItem(label, None, {
    icon:
      score?.success === false ? outcomeIcon.refused : goals.length ? icons.task : icons.abstention,
    description: facts.filter(it => it !== "").join(" · "),
    tooltip: `${request}\n\n${facts.join(", ")}\n${id}, ${split}\n${goals.join(" → ")}`,
    context: "task",
  });
  item.id = `${node.file.toString()}#${offset}${formatGroup(node.group)}`;
  item.command = createOpenCommand(getNodeUri(node));
  return item;
}

/** Tells rows of one task in several groups apart. */
const formatGroup = (group: string | undefined) => (group === undefined ? "" : `&${group}`);

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
