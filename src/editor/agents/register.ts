/** Registers the offer of servers to the editor's own agents. */
import type { ExtensionContext } from "vscode";
import type { ServersNode } from "../servers/serversNode.ts";
import { registerCommands } from "../shared/commands.ts";
import { AgentOffer, type AgentDependencies } from "./agentOffer.ts";

export function registerAgents(context: ExtensionContext, dependencies: AgentDependencies): void {
  const offer = new AgentOffer(dependencies, context.extensionUri);
  context.subscriptions.push(offer);
  registerCommands(context, {
    offerServer: (node?: ServersNode) =>
      offer.chooseServers(node?.kind === "server" ? node.server.name : undefined),
  });
}
