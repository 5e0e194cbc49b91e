/** Registers the tests: tasks files and runs in the editor's Test Explorer. */
import type { ExtensionContext } from "vscode";
import type { ProveFolder } from "../shared/proveFolder.ts";
import { reportRejection } from "../shared/report.ts";
import { TestExplorer, type TestExplorerDependencies } from "./testExplorer.ts";

export function registerTestExplorer(
  context: ExtensionContext,
  { folder, ...dependencies }: TestExplorerDependencies & { readonly folder: ProveFolder },
): void {
  const explorer = new TestExplorer(dependencies);
  context.subscriptions.push(
    explorer,
    folder.onDidChange(part => {
      if (part === "tasks" || part === "runs") reportRejection(explorer.updateRoots());
    }),
  );
}
