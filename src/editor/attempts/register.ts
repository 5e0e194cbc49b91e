/** Registers the tables of attempts. */
import type { ExtensionContext, Uri } from "vscode";
import { registerCommands } from "../shared/commands.ts";
import { registerPageRestorer } from "../shared/page.ts";
import type { RunsNode } from "../runs/runsNode.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";
import { AttemptsPages, type AttemptsDependencies } from "./attemptsPages.ts";

export function registerAttempts(
  context: ExtensionContext,
  dependencies: Omit<AttemptsDependencies, "extensionUri" | "storageUri">,
): void {
  const { extensionUri, storageUri } = context;
  const pages = new AttemptsPages({ ...dependencies, extensionUri, storageUri });
  context.subscriptions.push(
    pages,
    registerPageRestorer("attempts", (panel, state) => pages.restore(panel, state["subject"])),
  );
  registerCommands(context, {
    showAttempts: (node?: TasksNode | RunsNode | Uri) => pages.open(node),
  });
}
