/**
 * Registers the dependency graph pages, one per server: which tools need the results of which other
 * tools.
 */
import type { Disposable, ExtensionContext, Uri, WebviewPanel } from "vscode";
import type { Server } from "../../environment/server.ts";
import type { GraphPage, GraphView } from "../../protocol/graphPage.ts";
import {
  getDependencyGraph,
  type EdgeVerdicts,
  findVerdict,
} from "../../synthesis/graph/dependencyGraph.ts";
import { UserError } from "../../userError.ts";
import type { ServersNode } from "../servers/serversTree.ts";
import { registerCommands } from "../shared/commands.ts";
import { icons } from "../shared/icons.ts";
import { PageCollection, type PageContent, registerPageRestorer } from "../shared/page.ts";
import { answerPlain } from "../shared/pageSecurity.ts";
import { pickOne } from "../shared/quickInput.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";

interface GraphDependencies {
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

class GraphPages implements Disposable {
  readonly #definitions: ServerDefinitions;
  /** By the name of the server. */
  readonly #pages: PageCollection<GraphPage>;

  constructor(extensionUri: Uri, definitions: ServerDefinitions) {
    this.#definitions = definitions;
    this.#pages = new PageCollection(extensionUri, it => this.#createContent(it));
  }

  /** Shows the graph of the node's server, or of one that the person picks. */
  async open(node: ServersNode | undefined): Promise<void> {
    this.#pages.show(node?.kind === "server" ? node.server.name : await this.#pickServer());
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, server: string): void {
    this.#pages.restore(panel, server);
  }

  dispose(): void {
    this.#pages.dispose();
  }

  #createContent(server: string): PageContent<GraphPage> {
    return {
      options: { name: "graph", title: `Graph: ${server}`, icon: "graph.svg" },
      answers: { load: answerPlain(() => this.#loadView(server)) },
    };
  }

  async #loadView(name: string): Promise<GraphView> {
    const server = (await this.#definitions.loadServers()).find(it => it.name === name);
    if (!server)
      throw new UserError(`there is no server ${name}`, "open the graph of another server");
    return createGraphView(server, await this.#definitions.readVerdicts());
  }

  async #pickServer(): Promise<string> {
    const items = (await this.#definitions.loadServers()).map(it => ({
      label: it.name,
      description: `${it.tools.size} tools · ${it.category}`,
      iconPath: icons.server,
    }));
    const question = { title: "Show Dependency Graph", text: "Which server" };
    return (await pickOne(items, question)).label;
  }
}

function createGraphView(server: Server, verdicts: EdgeVerdicts): GraphView {
  const tools = [...server.tools.values()];
  const indexes = new Map(tools.map((it, i) => [it.name, i]));
  return {
    server: server.name,
    tools: tools.map(({ name, effect, summary }) => ({ name, effect, summary })),
    edges: getDependencyGraph(server).edges.map(edge => {
      const { a, b, kind, via, confidence } = edge;
      const verdict = findVerdict(edge, verdicts);
      return {
        a: indexes.get(a)!,
        b: indexes.get(b)!,
        kind,
        confidence,
        ...(via ? { via: { output: via.output, input: via.input, entity: via.entity } } : {}),
        verified:
          verdict === undefined ? "untried" : verdict.verdict === "accept" ? "works" : "fails",
        ...(verdict?.verdict === "reject" ? { why: verdict.reason } : {}),
      };
    }),
  };
}
