/** Registers the Tasks view with its filter and search. */
import { commands, type ExtensionContext } from "vscode";
import { registerCommands } from "../shared/commands.ts";
import { createTree } from "../shared/treeView.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { TasksTree } from "./tasksTree.ts";

export interface TaskDependencies {
  readonly folder: ProveFolder;
}

export function registerTasks(context: ExtensionContext, { folder }: TaskDependencies): TasksTree {
  const tree = new TasksTree(folder);
  context.subscriptions.push(
    tree,
    createTree("prove.tasks", tree),
    folder.onDidChange(part => {
      if (part === "tasks") tree.refresh();
    }),
  );
  registerCommands(context, {
    filterTasks: () => tree.promptForFilter(),
    searchTasks: async () =>
      commands.executeCommand("prove.openTranscript", await tree.promptForSearch()),
  });
  return tree;
}
