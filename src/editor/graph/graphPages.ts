/**
 * The pages of dependency graphs: one a server, which tool's result another needs. Draws nothing.
 */
import { CancellationError, window, type Disposable, type Uri, type WebviewPanel } from "vscode";
import type { Server } from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import type { GraphPage, GraphView } from "../../protocol/graphPage.ts";
import { findVerdict, type EdgeVerdicts } from "../../synthesis/graph/edgeVerdicts.ts";
import { dependencyGraphOf } from "../../synthesis/graph/dependencyGraph.ts";
import type { Definitions } from "../servers/definitions.ts";
import { icons } from "../shared/icons.ts";
import { openPage, servePage, type Answers, type Page } from "../shared/page.ts";
import type { ServersNode } from "../servers/serversNode.ts";

export class GraphPages implements Disposable {
  readonly #extension: Uri;
  readonly #definitions: Definitions;
  readonly #open = new Map<string, Page<GraphPage>>();

  constructor(extension: Uri, definitions: Definitions) {
    this.#extension = extension;
    this.#definitions = definitions;
  }

  /** Shows the graph of a node's server, or of one that the person picks. */
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

  /** Fills a panel that the window kept over a reload. */
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
          throw new UserError(`there is no server ${name}`, "open the graph of another one");
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
    const chosen = await window.showQuickPick(items, {
      title: "Show Dependency Graph",
      placeHolder: "Of which server",
    });
    if (!chosen) throw new CancellationError();
    return chosen.label;
  }
}

const pageOptions = (server: string) => ({
  name: "graph" as const,
  title: `Graph: ${server}`,
  icon: "graph.svg",
});

function createGraphView(server: Server, audit: EdgeVerdicts): GraphView {
  const tools = [...server.tools.values()];
  const place = new Map(tools.map((it, i) => [it.name, i]));
  return {
    server: server.name,
    tools: tools.map(({ name, effect, summary }) => ({ name, effect, summary })),
    edges: dependencyGraphOf(server).edges.map(edge => {
      const { a, b, kind, via, confidence } = edge;
      const said = findVerdict(edge, audit);
      return {
        a: place.get(a)!,
        b: place.get(b)!,
        kind,
        confidence,
        ...(via ? { via: { output: via.output, input: via.input, entity: via.entity } } : {}),
        verified: said === undefined ? "untried" : said.verdict === "accept" ? "works" : "fails",
        ...(said?.verdict === "reject" ? { why: said.reason } : {}),
      };
    }),
  };
}
