/**
 * Offers servers to the editor's own agents over MCP. Each server that is offered has one session,
 * which is in the Servers view as the agent's and is reached over loopback HTTP with a token; where
 * nothing can listen, over stdio. Nothing is started before an agent asks, and nothing at all in an
 * untrusted workspace.
 */
import {
  ConfigurationTarget,
  EventEmitter,
  McpHttpServerDefinition,
  McpStdioServerDefinition,
  Uri,
  commands,
  lm,
  window,
  workspace,
  type Disposable,
  type McpServerDefinition,
  type McpServerDefinitionProvider,
} from "vscode";
import { randomBytes } from "node:crypto";
import type { Server } from "../../environment/server.ts";
import { UserError } from "../../userError.ts";
import type { Serving } from "../../service/serve.ts";
import { version } from "../../version.ts";
import type { Definitions } from "../servers/definitions.ts";
import type { LiveSessions } from "../servers/liveSessions.ts";
import { icons } from "../shared/icons.ts";
import { findNode } from "../shared/program.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { pickMany } from "../shared/quickInput.ts";
import { reportError, reportRejection, getLog } from "../shared/report.ts";
import { getSetting } from "../shared/settings.ts";

/** The owner of the sessions that the editor's agents act in. */
export const agent = "agent";

/** The fixture that an agent's session starts from; the workspace's copy wins as everywhere. */
const fixture = "full";

const labelOf = (server: string) => `PROVE ${server}`;

export interface AgentDependencies {
  readonly definitions: Definitions;
  readonly sessions: LiveSessions;
}

export class AgentOffer implements McpServerDefinitionProvider, Disposable {
  readonly #dependencies: AgentDependencies;
  /** The folder of the built programs. */
  readonly #dist: string;
  readonly #token = randomBytes(32).toString("base64url");
  readonly #changed = new EventEmitter<void>();
  readonly onDidChangeMcpServerDefinitions = this.#changed.event;
  readonly #always: Disposable[];
  #serving: Promise<Serving> | undefined;

  constructor(dependencies: AgentDependencies, extension: Uri) {
    this.#dependencies = dependencies;
    this.#dist = Uri.joinPath(extension, "dist").fsPath;
    this.#always = [
      this.#changed,
      workspace.onDidChangeConfiguration(
        it => it.affectsConfiguration("prove.agentServers") && this.#change(),
      ),
      workspace.onDidGrantWorkspaceTrust(() => this.#changed.fire()),
      lm.registerMcpServerDefinitionProvider("prove.servers", this),
    ];
  }

  /** The names of the servers on offer; those only that there are. */
  async offered(): Promise<readonly Server[]> {
    const names = new Set(getSetting("agentServers"));
    return names.size === 0
      ? []
      : (await this.#dependencies.definitions.servers()).filter(it => names.has(it.name));
  }

  /** What there is to start; where it is reached is known once something listens. */
  async provideMcpServerDefinitions(): Promise<McpServerDefinition[]> {
    if (!workspace.isTrusted) return [];
    return (await this.offered()).map(
      it =>
        new McpHttpServerDefinition(
          labelOf(it.name),
          Uri.parse(`http://127.0.0.1/${it.name}/mcp`),
          {},
          version,
        ),
    );
  }

  /** An agent is about to use a server: from here on something listens, and the session is open. */
  async resolveMcpServerDefinition({ label }: McpServerDefinition): Promise<McpServerDefinition> {
    requireTrust("offering a server to agents");
    const server = (await this.offered()).find(it => labelOf(it.name) === label);
    if (!server)
      throw new UserError(
        `${label} is no longer offered`,
        "offer it again with PROVE: Offer Server to Agents…",
      );
    let serving: Serving;
    try {
      serving = await this.#listen();
    } catch (error) {
      getLog().warn(
        `${label} is offered over stdio, out of sight of the Servers view: ${(error as Error).message}`,
      );
      return this.#overStdio(server.name);
    }
    const { held } =
      this.#sessionOf(server.name) ??
      (await this.#dependencies.sessions.open(server.name, fixture, agent));
    const address = Uri.parse(`${serving.url}${serving.mcpPath(held.id, server.name)}`);
    return new McpHttpServerDefinition(
      label,
      address,
      { Authorization: `Bearer ${this.#token}` },
      version,
    );
  }

  /** Asks which servers agents may use. */
  async ask(preferred?: string): Promise<void> {
    requireTrust("offering a server to agents");
    const current = getSetting("agentServers");
    const items = (await this.#dependencies.definitions.servers()).map(server => ({
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
        text: "Which servers the editor's agents may use; none withdraws the offer",
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
    const told = window.showInformationMessage(
      `Agents may use ${names}: ${tools} tools. Each has a session of its own, which the Servers view shows once an agent has begun.`,
      "List MCP Servers",
    );
    reportRejection(
      Promise.resolve(told).then(
        button => button && commands.executeCommand("workbench.mcp.listServer"),
      ),
    );
  }

  dispose(): void {
    for (const it of this.#always) it.dispose();
    void this.#serving?.then(it => it.close()).catch(reportError);
  }

  /** What is no longer offered is closed. */
  #change(): void {
    const names = new Set(getSetting("agentServers"));
    for (const live of this.#dependencies.sessions.all)
      if (live.held.owner === agent && live.held.servers.every(it => !names.has(it.name)))
        reportRejection(this.#dependencies.sessions.close(live));
    this.#changed.fire();
  }

  #sessionOf(server: string) {
    return this.#dependencies.sessions.of(server).find(it => it.held.owner === agent);
  }

  #listen(): Promise<Serving> {
    if (!this.#serving) {
      this.#serving = this.#serve();
      // what failed once may work when it is asked for again
      this.#serving.catch(() => (this.#serving = undefined));
    }
    return this.#serving;
  }

  async #serve(): Promise<Serving> {
    const { definitions, sessions } = this.#dependencies;
    const [{ serve }, catalog, table] = await Promise.all([
      import("../../service/serve.ts"),
      definitions.followingCatalog(),
      sessions.table(),
    ]);
    return serve({ catalog, sessions: table, token: this.#token, onBug: reportError });
  }

  async #overStdio(server: string): Promise<McpStdioServerDefinition> {
    const node = await findNode(getSetting("node"));
    const definition = new McpStdioServerDefinition(
      labelOf(server),
      node.path,
      [`${this.#dist}/cli.js`, "stdio", server, "--fixture", fixture],
      node.isElectron ? { ELECTRON_RUN_AS_NODE: "1" } : {},
      version,
    );
    definition.cwd = workspace.workspaceFolders?.[0]?.uri ?? Uri.file(this.#dist);
    return definition;
  }
}
