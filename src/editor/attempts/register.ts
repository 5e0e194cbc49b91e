/** Registers the tables of attempts and the pages of groups. */
import type { ExtensionContext, Uri } from "vscode";
import { registerCommands } from "../shared/commands.ts";
import { registerPageRestorer } from "../shared/page.ts";
import type { RunsNode } from "../runs/runsNode.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";
import { AttemptsPages, type AttemptsDependencies } from "./attemptsPages.ts";
import { GroupPages } from "./groupPages.ts";

export function registerAttempts(
  context: ExtensionContext,
  dependencies: Omit<AttemptsDependencies, "extensionUri" | "storageUri" | "groups">,
): void {
  const { extensionUri, storageUri } = context;
  const groups = new GroupPages(extensionUri);
  const pages = new AttemptsPages({ ...dependencies, extensionUri, storageUri, groups });
  context.subscriptions.push(
    pages,
    groups,
    registerPageRestorer("attempts", (panel, state) => pages.restore(panel, state["subject"])),
    registerPageRestorer("group", (panel, state) => groups.restore(panel, state["subject"])),
  );
  registerCommands(context, {
    showAttempts: (node?: TasksNode | RunsNode | Uri) => pages.open(node),
    showGroup: (node?: RunsNode) => groups.open(node),
  });
}
