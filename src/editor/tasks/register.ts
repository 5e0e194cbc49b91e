/** Registers the Tasks view with its filter, its groups and its search. */
import { commands, type ExtensionContext, type TreeView } from "vscode";
import { registerCommands } from "../shared/commands.ts";
import { toPlainLine } from "../shared/text.ts";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { reportRejection } from "../shared/report.ts";
import { onDidChangeRewardProfile } from "../shared/settings.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { createTree } from "../shared/treeView.ts";
import { deleteFile, openFile, renameFile, revealFile } from "./fileCommands.ts";
import { promptForGrouping } from "./taskPrompts.ts";
import { groupings, type Grouping } from "./taskGroups.ts";
import { TaskScores } from "./taskScores.ts";
import { TasksTree } from "./tasksTree.ts";

interface TaskDependencies {
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
}

/** The key of the grouping in the state of the workspace. */
const groupingKey = "tasks.grouping";

export function registerTasks(
  context: ExtensionContext,
  { folder, definitions }: TaskDependencies,
): TasksTree {
  const { extensionUri, storageUri, workspaceState } = context;
  const scores = new TaskScores({ extensionUri, storageUri, folder, definitions });
  const saved = workspaceState.get<Grouping>(groupingKey);
  const grouping = saved !== undefined && groupings.includes(saved) ? saved : "none";
  const tree = new TasksTree(folder, scores, grouping);
  const view = createTree("prove.tasks", tree, { canSelectMany: true });
  reportRejection(showState(view, tree));
  context.subscriptions.push(
    tree,
    scores,
    view,
    tree.onDidChangeTreeData(() => reportRejection(showState(view, tree))),
    folder.onDidChange(part => {
      if (part === "tasks") tree.refresh();
      if (part === "runs") reportRejection(tree.refreshAttempts());
      if (part === "fixtures") tree.refreshScores();
    }),
    onDidChangeRewardProfile(() => tree.refreshScores()),
  );
  registerCommands(context, {
    filterTasks: () => tree.promptForFilter(),
    clearTaskFilter: () => tree.filter(""),
    groupTasks: async () => {
      tree.group(await promptForGrouping(tree.grouping));
      await workspaceState.update(groupingKey, tree.grouping);
    },
    openFile: (node: Parameters<typeof openFile>[0]) => openFile(node),
    revealFile: (node: Parameters<typeof revealFile>[0]) => revealFile(node),
    renameFile: (node: Parameters<typeof renameFile>[1]) => renameFile(folder, node),
    deleteFile: (node: Parameters<typeof deleteFile>[1]) => deleteFile(folder, node),
    searchTasks: async () =>
      commands.executeCommand("prove.openTranscript", await tree.promptForSearch()),
  });
  return tree;
}

/** Shows the grouping beside the view's title, and the filter above the tasks. */
async function showState(view: TreeView<unknown>, tree: TasksTree): Promise<void> {
  const { filterText, grouping } = tree;
  view.description = grouping === "none" ? "" : `by ${grouping}`;
  // without tasks, the view says that none matches, but only if it has no message
  const isShown = filterText !== "" && (await tree.hasMatches());
  if (tree.filterText === filterText)
    view.message = isShown ? `Filter: ${toPlainLine(filterText)}` : "";
}
