/**
 * The nodes of the Test Explorer: tasks files with their tasks, and runs with the attempts of their
 * recorded steps. A node's children are listed when it is expanded or run.
 */
import { basename } from "node:path";
import { getGroupsFile } from "../../run/folder.ts";
import { indexGroups } from "../attempts/groupIndex.ts";
import { getRunName, type Runs } from "../runs/runs.ts";
import { listRecordedSteps, type RunsNode } from "../runs/runsNode.ts";
import { createRows, type TasksNode } from "../tasks/tasksNode.ts";
import type { TasksTree } from "../tasks/tasksTree.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";

export type TestNode =
  | Exclude<TasksNode, { kind: "skipped" | "taskGroup" }>
  | Extract<RunsNode, { kind: "run" | "step" | "group" | "attempt" }>;

export interface TestNodeSources {
  readonly tasks: TasksTree;
  readonly runs: Runs;
}

export const isAttempt = (node: TestNode): node is TestNode & AttemptNode =>
  node.kind === "task" || node.kind === "attempt";

/** The tasks files and the runs with recorded attempts. */
export async function listRoots({ tasks, runs }: TestNodeSources): Promise<TestNode[]> {
  const files = await tasks.listFiles();
  return [
    ...files.map(file => ({ kind: "taskFile" as const, file })),
    ...runs
      .list()
      .filter(it => listRecordedSteps(it.folder).length > 0)
      .map(monitor => ({ kind: "run" as const, monitor })),
  ];
}

/** Throws a `UserError` if a file cannot be read. */
export async function listChildren(
  node: TestNode,
  { tasks }: TestNodeSources,
): Promise<readonly TestNode[]> {
  switch (node.kind) {
    case "taskFile":
      return createTaskNodes(createRows(node.file, (await tasks.readIndex(node.file)).entries, 0));
    case "range":
      return createTaskNodes(createRows(node.file, node.entries, node.from));
    case "run":
      return listRecordedSteps(node.monitor.folder).map(step => ({ ...node, kind: "step", step }));
    case "step": {
      const { groups } = await indexGroups(getGroupsFile(node.monitor.folder, node.step));
      return groups.map(group => ({ ...node, kind: "group", group }));
    }
    case "group":
      return node.group.entries.map(entry => ({ ...node, kind: "attempt", entry }));
    case "task":
    case "attempt":
      return [];
    default:
      throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
  }
}

const createTaskNodes = (nodes: readonly TasksNode[]): TestNode[] =>
  nodes.filter(it => it.kind !== "skipped" && it.kind !== "taskGroup");

/** What an item shows, and its id among its siblings. */
export interface TestLabel {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
}

export function describeNode(node: TestNode): TestLabel {
  switch (node.kind) {
    case "taskFile":
      return { id: node.file.toString(), label: basename(node.file.fsPath, ".tasks.jsonl") };
    case "range": {
      const first = node.from + 1;
      return {
        id: `${node.from}/${node.size}`,
        label: `${first}–${node.from + node.entries.length}`,
      };
    }
    case "task": {
      const { id, number, request, kind, servers } = node.entry;
      return {
        id: `${id}:${number}`,
        label: request,
        description: [...servers, kind].join(" · "),
      };
    }
    case "run":
      return { id: node.monitor.folder, label: getRunName(node.monitor), description: "run" };
    case "step":
      return { id: String(node.step), label: `Step ${node.step}` };
    case "group":
      return { id: node.group.task, label: node.group.task };
    case "attempt":
      return { id: String(node.entry.offset), label: `Attempt ${node.entry.attempt + 1}` };
    default:
      throw new Error(`no label of ${JSON.stringify(node satisfies never)}`);
  }
}
