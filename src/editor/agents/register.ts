/**
 * Offers servers to the editor's own agents over MCP. Each offered server has one session, listed
 * in the Servers view and reached over loopback HTTP with a token, or over stdio if no port can be
 * opened. The service starts when an agent first uses a server, and only in a trusted workspace.
 */
import { randomBytes } from "node:crypto";
import {
  commands,
  ConfigurationTarget,
  type Disposable,
  EventEmitter,
  type ExtensionContext,
  lm,
  McpHttpServerDefinition,
  type McpServerDefinition,
  type McpServerDefinitionProvider,
  McpStdioServerDefinition,
  Uri,
  workspace,
} from "vscode";
import type { Server } from "../../environment/server.ts";
import type { RunningHttpServer } from "../../service/httpServer.ts";
import { UserError } from "../../userError.ts";
import { version } from "../../version.ts";
import type { LiveSessions } from "../servers/liveSessions.ts";
import type { ServersNode } from "../servers/serversTree.ts";
import { registerInspectionTools } from "./inspectionTools.ts";
import { registerCommands } from "../shared/commands.ts";
import { icons } from "../shared/icons.ts";
import { showInformation } from "../shared/notifications.ts";
import { findNode } from "../shared/program.ts";
import { type ProveFolder, requireTrust } from "../shared/proveFolder.ts";
import { pickMany } from "../shared/quickInput.ts";
import { getLog, reportError, reportRejection } from "../shared/report.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { getSetting } from "../shared/settings.ts";

export function registerAgents(context: ExtensionContext, dependencies: AgentDependencies): void {
  const offer = new AgentOffer(dependencies, context.extensionUri);
  context.subscriptions.push(offer, ...registerInspectionTools(dependencies));
  registerCommands(context, {
    offerServer: (node?: ServersNode) =>
      offer.chooseServers(node?.kind === "server" ? node.server.name : undefined),
  });
}

/** The owner of the sessions that the editor's agents use. */
const agentOwner = "agent";

/** The fixture that an agent's session starts from; the workspace's copy takes precedence. */
const startFixture = "full";

const mcpLabel = (server: string) => `PROVE ${server}`;

interface AgentDependencies {
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
  readonly sessions: LiveSessions;
}

class AgentOffer implements McpServerDefinitionProvider, Disposable {
  readonly #dependencies: AgentDependencies;
  /** The folder of the built programs. */
  readonly #distFolder: string;
  readonly #token = randomBytes(32).toString("base64url");
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.#changed.event;
  readonly #subscriptions: Disposable[];
  #service: Promise<RunningHttpServer> | undefined;

  constructor(dependencies: AgentDependencies, extension: Uri) {
    this.#dependencies = dependencies;
    this.#distFolder = Uri.joinPath(extension, "dist").fsPath;
    this.#subscriptions = [
      this.#changed,
      workspace.onDidChangeConfiguration(
        it => it.affectsConfiguration("prove.agentServers") && this.#closeWithdrawn(),
      ),
      workspace.onDidGrantWorkspaceTrust(() => this.#changed.fire()),
      lm.registerMcpServerDefinitionProvider("prove.servers", this),
    ];
  }

  /** The servers that the setting offers; unknown names are ignored. */
  async listOffered(): Promise<readonly Server[]> {
    const names = new Set(getSetting("agentServers"));
    // loading the definitions takes time
    return names.size === 0
      ? []
      : (await this.#dependencies.definitions.loadShipped()).filter(it => names.has(it.name));
  }

  /** Lists what is offered; the port is only known when the service runs. */
  async provideMcpServerDefinitions(): Promise<McpServerDefinition[]> {
    if (!workspace.isTrusted) return [];
    return (await this.listOffered()).map(
      it =>
        new McpHttpServerDefinition(
          mcpLabel(it.name),
          Uri.parse(`http://127.0.0.1/${it.name}/mcp`),
          {},
          version,
        ),
    );
  }

  /** Starts the service and opens the session when an agent is about to use a server. */
  async resolveMcpServerDefinition({ label }: McpServerDefinition): Promise<McpServerDefinition> {
    requireTrust("offering a server to agents");
    const server = (await this.listOffered()).find(it => mcpLabel(it.name) === label);
    if (!server)
      throw new UserError(
        `${label} is no longer offered`,
        "offer it again with PROVE: Offer Server to Agents…",
      );
    let service: RunningHttpServer;
    try {
      service = await this.#getService();
    } catch (error) {
      getLog().warn(
        `${label} is offered over stdio and not listed in the Servers view: ${(error as Error).message}`,
      );
      return this.#createStdioDefinition(server.name);
    }
    const { session } =
      this.#findSession(server.name) ??
      (await this.#dependencies.sessions.open(server.name, startFixture, agentOwner));
    const address = Uri.parse(`${service.url}${service.mcpPath(session.id, server.name)}`);
    return new McpHttpServerDefinition(
      label,
      address,
      { Authorization: `Bearer ${this.#token}` },
      version,
    );
  }

  /** Asks the person which servers agents may use, and stores the answer in the settings. */
  async chooseServers(preferred?: string): Promise<void> {
    requireTrust("offering a server to agents");
    const current = getSetting("agentServers");
    const items = (await this.#dependencies.definitions.loadShipped()).map(server => ({
      label: server.name,
      description: `${server.tools.size} tools · ${server.category}`,
      detail: server.summary,
      iconPath: icons.server,
      server,
    }));
    const chosen = await pickMany(
      items,
      {
        title: "Offer Server to Agents",
        text: "Which servers the editor's agents may use (choose none to withdraw the offer)",
      },
      {
        selected: items.filter(
          ({ server }) => server.name === preferred || current.includes(server.name),
        ),
      },
    );
    await workspace
      .getConfiguration("prove")
      .update(
        "agentServers",
        chosen.length ? chosen.map(it => it.label) : undefined,
        workspace.workspaceFolders ? ConfigurationTarget.Workspace : ConfigurationTarget.Global,
      );
    if (chosen.length === 0) return;
    const tools = chosen.reduce((sum, { server }) => sum + server.tools.size, 0);
    const names = chosen.map(it => it.label).join(", ");
    const button = showInformation(
      `Agents may use ${names}: ${tools} tools. Each server gets its own session, listed in the Servers view when an agent first uses it.`,
      "List MCP Servers",
    );
    reportRejection(button.then(it => it && commands.executeCommand("workbench.mcp.listServer")));
  }

  dispose(): void {
    for (const it of this.#subscriptions) it.dispose();
    void this.#service?.then(it => it.close()).catch(reportError);
  }

  /** Closes the sessions of servers that are no longer offered. */
  #closeWithdrawn(): void {
    const names = new Set(getSetting("agentServers"));
    for (const live of this.#dependencies.sessions.all)
      if (
        live.session.owner === agentOwner &&
        live.session.servers.every(it => !names.has(it.name))
      )
        reportRejection(this.#dependencies.sessions.close(live));
    this.#changed.fire();
  }

  #findSession(server: string) {
    return this.#dependencies.sessions
      .listByServer(server)
      .find(it => it.session.owner === agentOwner);
  }

  #getService(): Promise<RunningHttpServer> {
    if (!this.#service) {
      this.#service = this.#startService();
      // the next request tries again
      this.#service.catch(() => (this.#service = undefined));
    }
    return this.#service;
  }

  async #startService(): Promise<RunningHttpServer> {
    const { definitions, sessions } = this.#dependencies;
    const [{ startHttpServer }, catalog, table] = await Promise.all([
      import("../../service/httpServer.ts"),
      definitions.openLiveCatalog(),
      sessions.openTable(),
    ]);
    return startHttpServer({ catalog, sessions: table, token: this.#token, onBug: reportError });
  }

  async #createStdioDefinition(server: string): Promise<McpStdioServerDefinition> {
    const node = await findNode(getSetting("node"));
    const definition = new McpStdioServerDefinition(
      mcpLabel(server),
      node.path,
      [`${this.#distFolder}/cli.js`, "stdio", server, "--fixture", startFixture],
      node.isElectron ? { ELECTRON_RUN_AS_NODE: "1" } : {},
      version,
    );
    definition.cwd = workspace.workspaceFolders?.[0]?.uri ?? Uri.file(this.#distFolder);
    return definition;
  }
}
