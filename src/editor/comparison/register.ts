/** Registers the tables of attempts, the pages of groups, and comparing attempts. */
import type { ExtensionContext, Uri } from "vscode";
import { registerCommands } from "../shared/commands.ts";
import { registerPageRestorer } from "../shared/page.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import type { AttemptNode } from "../attempts/attemptLocation.ts";
import type { AttemptsNode } from "../tasks/attemptNodes.ts";
import type { TasksNode } from "../tasks/tasksTree.ts";
import { AttemptsPages, type AttemptsDependencies } from "./attemptsPages.ts";
import { Comparison } from "./comparison.ts";
import { GroupPages } from "./groupPages.ts";
import { MatrixPages } from "./matrixPages.ts";
import { findActiveFile, importRollouts, RolloutEditor } from "./rolloutFiles.ts";

export function registerAttempts(
  context: ExtensionContext,
  dependencies: Omit<AttemptsDependencies, "extensionUri" | "storageUri" | "groups" | "comparison">,
): void {
  const { extensionUri, storageUri } = context;
  const comparison = new Comparison(dependencies.tasks, dependencies.transcripts);
  const groups = new GroupPages(extensionUri, comparison);
  const pages = new AttemptsPages({
    ...dependencies,
    extensionUri,
    storageUri,
    groups,
    comparison,
  });
  const matrices = new MatrixPages({ ...dependencies, extensionUri, storageUri, attempts: pages });
  context.subscriptions.push(
    comparison,
    pages,
    matrices,
    groups,
    ...new RolloutEditor(pages).register(),
    registerPageRestorer("attempts", (panel, state) => pages.restore(panel, state["subject"])),
    registerPageRestorer("matrix", (panel, state) => matrices.restore(panel, state["subject"])),
    registerPageRestorer("group", (panel, state) => groups.restore(panel, state["subject"])),
  );
  registerCommands(context, {
    showAttempts: (node?: TasksNode | AttemptsNode | RunsNode | Uri) => pages.open(node),
    comparePolicies: (...nodes: Parameters<MatrixPages["open"]>) => matrices.open(...nodes),
    importRollouts: (file?: Uri) =>
      importRollouts(file ?? findActiveFile(), dependencies.folder, pages),
    showGroup: (node?: Parameters<GroupPages["open"]>[0]) => groups.open(node),
    selectForCompare: (attempt?: AttemptNode | Uri) => comparison.select(attempt),
    compareWithSelected: (attempt?: AttemptNode | Uri) => comparison.compareWithSelected(attempt),
    compareWithTeacher: (attempt?: AttemptNode | Uri) => comparison.compareWithTeacher(attempt),
  });
}
