/** Registers the commands that open the documentation and the walkthrough, which ship. */
import { commands, Uri, type ExtensionContext } from "vscode";
import { registerCommands } from "../shared/commands.ts";

export function registerDocumentation(context: ExtensionContext): void {
  registerCommands(context, {
    openDocumentation: () =>
      commands.executeCommand(
        "markdown.showPreview",
        Uri.joinPath(context.extensionUri, "docs/README.md"),
      ),
    getStarted: () =>
      commands.executeCommand(
        "workbench.action.openWalkthrough",
        `${context.extension.id}#firstSteps`,
      ),
  });
}
