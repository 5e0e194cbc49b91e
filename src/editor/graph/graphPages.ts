/**
 * The dependency graph pages, one per server: which tool needs the result of which other tool.
 */
import type { Disposable, Uri, WebviewPanel } from "vscode";
import type { Server } from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import type { GraphPage, GraphView } from "../../protocol/graphPage.ts";
import { findVerdict, type EdgeVerdicts } from "../../synthesis/graph/edgeVerdicts.ts";
import { getDependencyGraph } from "../../synthesis/graph/dependencyGraph.ts";
import type { Definitions } from "../servers/definitions.ts";
import { icons } from "../shared/icons.ts";
import { openPage, servePage, type Answers, type Page } from "../shared/page.ts";
import { pickOne } from "../shared/quickInput.ts";
import type { ServersNode } from "../servers/serversNode.ts";

export class GraphPages implements Disposable {
  readonly #extension: Uri;
  readonly #definitions: Definitions;
  readonly #open = new Map<string, Page<GraphPage>>();

  constructor(extension: Uri, definitions: Definitions) {
    this.#extension = extension;
    this.#definitions = definitions;
  }

  /** Shows the graph of the node's server, or of one that the person picks. */
  async open(node: ServersNode | undefined): Promise<void> {
    const server = node?.kind === "server" ? node.server.name : await this.#pickServer();
    const open = this.#open.get(server);
    if (open) open.panel.reveal();
    else
      this.#track(
        server,
        openPage<GraphPage>(this.#extension, pageOptions(server), this.#answers(server)),
      );
  }

  /** Fills a panel that was restored after the window was reloaded. */
  restore(panel: WebviewPanel, server: string): void {
    this.#track(
      server,
      servePage<GraphPage>(this.#extension, panel, pageOptions(server), this.#answers(server)),
    );
  }

  dispose(): void {
    for (const it of this.#open.values()) it.panel.dispose();
  }

  #track(server: string, page: Page<GraphPage>): void {
    this.#open.set(server, page);
    page.panel.onDidDispose(() => this.#open.delete(server));
  }

  #answers(name: string): Answers<GraphPage> {
    return {
      load: async () => {
        const server = (await this.#definitions.servers()).find(it => it.name === name);
        if (!server)
          throw new UserError(`there is no server ${name}`, "open the graph of another server");
        return createGraphView(server, await this.#definitions.audit());
      },
    };
  }

  async #pickServer(): Promise<string> {
    const items = (await this.#definitions.servers()).map(it => ({
      label: it.name,
      description: `${it.tools.size} tools · ${it.category}`,
      iconPath: icons.server,
    }));
    const question = { title: "Show Dependency Graph", text: "Which server" };
    return (await pickOne(items, question)).label;
  }
}

const pageOptions = (server: string) => ({
  name: "graph" as const,
  title: `Graph: ${server}`,
  icon: "graph.svg",
});

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
