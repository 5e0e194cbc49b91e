/** Registers the pages that show dependency graphs. */
import type { ExtensionContext } from "vscode";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import type { ServersNode } from "../servers/serversNode.ts";
import { registerCommands } from "../shared/commands.ts";
import { registerPageRestorer } from "../shared/page.ts";
import { GraphPages } from "./graphPages.ts";

export interface GraphDependencies {
  readonly definitions: ServerDefinitions;
}

export function registerGraph(context: ExtensionContext, { definitions }: GraphDependencies): void {
  const pages = new GraphPages(context.extensionUri, definitions);
  context.subscriptions.push(
    pages,
    registerPageRestorer("graph", (panel, state) => pages.restore(panel, String(state["server"]))),
  );
  registerCommands(context, { showGraph: (node?: ServersNode) => pages.open(node) });
}
