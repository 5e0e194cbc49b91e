/**
 * Puts the command-line program on the PATH of the editor's terminals. `resources/bin` has the
 * scripts that start it; the variables tell them with which Node.js.
 */
import { delimiter, join } from "node:path";
import {
  window,
  workspace,
  type EnvironmentVariableCollection,
  type ExtensionContext,
} from "vscode";
import { registerCommands } from "../shared/commands.ts";
import { findNode } from "../shared/program.ts";
import { reportRejection } from "../shared/report.ts";
import { getSetting } from "../shared/settings.ts";

export function registerTerminal(context: ExtensionContext): void {
  const bin = join(context.extensionUri.fsPath, "resources", "bin");
  const update = () => {
    // looking for Node.js starts programs
    if (workspace.isTrusted)
      reportRejection(addProgram(bin, context.environmentVariableCollection));
  };
  update();
  registerCommands(context, {
    openInTerminal: (commandLine: string) => openInTerminal(commandLine),
  });
  context.subscriptions.push(
    workspace.onDidGrantWorkspaceTrust(update),
    workspace.onDidChangeConfiguration(it => {
      if (it.affectsConfiguration("prove.node")) update();
    }),
  );
}

/** Writes a command line into a new terminal. The person runs it, or does not. */
function openInTerminal(commandLine: string): void {
  const terminal = window.createTerminal("PROVE");
  terminal.show();
  terminal.sendText(commandLine.replaceAll(/\p{Cc}/gu, " "), false);
}

async function addProgram(bin: string, variables: EnvironmentVariableCollection): Promise<void> {
  const node = await findNode(getSetting("node"));
  variables.description = "Adds the command-line program `prove-rl` to the PATH";
  // after the PATH of the user, who may have installed the program; and once more after the shell's
  // own start, which may set the PATH anew
  variables.append("PATH", delimiter + bin, {
    applyAtProcessCreation: true,
    applyAtShellIntegration: true,
  });
  variables.replace("PROVE_NODE", node.path);
  if (node.isElectron) variables.replace("PROVE_NODE_IS_ELECTRON", "1");
  else variables.delete("PROVE_NODE_IS_ELECTRON");
}
