/**
 * The commands on live sessions: open one, call a tool in it, show the result of a call and its
 * changes as read-only documents, fork it, reset it and close it.
 */
import { Uri, commands, window, workspace, type TextDocumentShowOptions } from "vscode";
import { canonicalJson } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { writeTrajectory } from "../../trajectory/file.ts";
import { UserError } from "../../userError.ts";
import type { SessionCall } from "../../service/tableSession.ts";
import { askArguments } from "./argumentPrompts.ts";
import { shorten, showOutcome } from "./callResult.ts";
import { listEntities } from "./entities.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import type { FixtureFile, FixtureFiles } from "../fixtures/fixtureFiles.ts";
import { icons } from "../shared/icons.ts";
import {
  describeSession,
  formatSessionTitle,
  type LiveSession,
  type LiveSessions,
} from "./liveSessions.ts";
import { requireTrust } from "../shared/proveFolder.ts";
import { pickOne } from "../shared/quickInput.ts";
import type { ServersNode } from "./serversNode.ts";
import type { ArgumentDrafts } from "./storedSessions.ts";

export interface SessionDependencies {
  readonly definitions: ServerDefinitions;
  readonly fixtures: FixtureFiles;
  readonly sessions: LiveSessions;
  readonly drafts: ArgumentDrafts;
}

export class SessionCommands {
  readonly #dependencies: SessionDependencies;

  constructor(dependencies: SessionDependencies) {
    this.#dependencies = dependencies;
  }

  /** Opens a session on the fixture of a node, or on one that the person picks. */
  async open(node: ServersNode | undefined): Promise<LiveSession> {
    const { server, name } =
      node?.kind === "fixture" ? node.file : await this.#pickFixture(getServerName(node));
    return this.#dependencies.sessions.open(server, name);
  }

  /** Calls a tool in a session, and asks for what the node does not determine. */
  async call(node: ServersNode | undefined): Promise<void> {
    requireTrust("calling a tool");
    const live = await this.#chooseOrOpenSession(node);
    const tool =
      node?.kind === "tool"
        ? node.tool
        : await this.#pickTool(live, node?.kind === "session" ? node.server : undefined);
    const session = live.session.fork();
    const args = await askArguments({
      tool,
      entities: kind => listEntities(kind, tool.server, session),
      now: session.state[tool.server]!.clock,
      drafts: this.#dependencies.drafts,
    });
    await this.#showOutcome(live, this.#dependencies.sessions.call(live, tool.name, args));
  }

  async reset(node: ServersNode | undefined): Promise<void> {
    this.#dependencies.sessions.reset(await this.#chooseSession(node));
  }

  async fork(node: ServersNode | undefined): Promise<LiveSession> {
    return this.#dependencies.sessions.fork(await this.#chooseSession(node));
  }

  async close(node: ServersNode | undefined): Promise<void> {
    await this.#dependencies.sessions.close(await this.#chooseSession(node));
  }

  /** Writes the calls of a session to a trajectory file and opens its transcript. */
  async save(node: ServersNode | undefined): Promise<void> {
    const live = await this.#chooseSession(node);
    const trajectory = await this.#dependencies.sessions.createTrajectory(live);
    const root = workspace.workspaceFolders?.[0]?.uri;
    const name = `${trajectory.header.task}-${live.number}`.replace(/[^\w.-]+/g, "-");
    const file = await window.showSaveDialog({
      title: "Save Session as Trajectory",
      filters: { "PROVE Trajectory": ["trajectory.jsonl"] },
      ...(root ? { defaultUri: Uri.joinPath(root, `${name}.trajectory.jsonl`) } : {}),
    });
    if (!file) return;
    await writeTrajectory(file.fsPath, trajectory);
    await commands.executeCommand("prove.openTranscript", file);
  }

  /** Shows a call: its record, or a diff of the state if the call changed it. */
  async showCall(live: LiveSession, call: SessionCall): Promise<void> {
    const options: TextDocumentShowOptions = { preview: true, preserveFocus: true };
    const createUri = (document: string) =>
      Uri.from({
        scheme: "prove",
        path: `/sessions/${live.number}/${call.number}/${document}.json`,
      });
    if (call.patches.length)
      await commands.executeCommand(
        "vscode.diff",
        createUri("before"),
        createUri("after"),
        `${call.name}: changes`,
        options,
      );
    else await window.showTextDocument(createUri(call.name), options);
  }

  /** Builds the text of a read-only document of a session. */
  readDocument(path: string): string {
    const [, session, number, document] = /^\/sessions\/(\d+)\/(\d+)\/(.+)\.json$/.exec(path) ?? [];
    const call = this.#dependencies.sessions
      .get(Number(session))
      ?.calls.find(it => it.number === Number(number));
    if (!call) return "// this session was closed or reset\n";
    if (document === "before" || document === "after") return formatIndented(call[document]);
    const { name, arguments: args, outcome, patches, digest } = call;
    return formatIndented({ call: name, arguments: args, outcome, patches, digest });
  }

  async #showOutcome(live: LiveSession, call: SessionCall): Promise<void> {
    const { outcome, patches } = call;
    const result = outcome.kind === "ok" ? shorten(canonicalJson(outcome.value)) : outcome.message;
    const button = patches.length ? "Show Change" : "Show Call";
    const message = `${call.name}: ${outcome.kind} — ${result}`;
    showOutcome(outcome.kind, { message, button, show: () => this.showCall(live, call) });
    if (patches.length) await this.showCall(live, call);
  }

  /** The session to call a tool in: the node's, the only open one, or a new one if none is open. */
  async #chooseOrOpenSession(node: ServersNode | undefined): Promise<LiveSession> {
    if (node?.kind === "session") return node.live;
    const server = getServerName(node);
    const open = server
      ? this.#dependencies.sessions.listByServer(server)
      : this.#dependencies.sessions.all;
    if (open.length) return open.length === 1 ? open[0]! : this.#pickSession(open);
    const { server: name, name: fixture } = await this.#pickFixture(server);
    return this.#dependencies.sessions.open(name, fixture);
  }

  /** The session that a command applies to: the node's or one that the person picks. */
  async #chooseSession(node: ServersNode | undefined): Promise<LiveSession> {
    if (node?.kind === "session") return node.live;
    const { all } = this.#dependencies.sessions;
    if (all.length === 0)
      throw new UserError("no session is open", "open one from the Servers view");
    return all.length === 1 ? all[0]! : this.#pickSession(all);
  }

  async #pickSession(open: readonly LiveSession[]): Promise<LiveSession> {
    const items = open.map(live => ({
      label: formatSessionTitle(live),
      description: `${live.session.servers.map(it => it.name).join(", ")} · ${describeSession(live)}`,
      iconPath: icons.session,
      live,
    }));
    return (await pickOne(items, "Which session")).live;
  }

  async #pickTool(live: LiveSession, server: string | undefined): Promise<Tool> {
    const items = [...live.session.tools.values()]
      .filter(it => server === undefined || it.server === server)
      .map(tool => ({
        label: tool.name,
        detail: tool.summary,
        iconPath: tool.effect === "read" ? icons.readTool : icons.writeTool,
        tool,
      }));
    return (await pickOne(items, "Which tool to call")).tool;
  }

  async #pickFixture(server: string | undefined): Promise<FixtureFile> {
    const { definitions, fixtures } = this.#dependencies;
    const servers = server ? [server] : (await definitions.loadServers()).map(it => it.name);
    const items = servers
      .flatMap(name => fixtures.list(name).listed)
      .map(file => ({
        label: server ? file.name : `${file.server} · ${file.name}`,
        description: file.origin === "shipped" ? "shipped" : "yours",
        iconPath: icons.fixture,
        file,
      }));
    if (items.length === 0)
      throw new UserError(`${server ?? "no server"} has no fixture`, "add one in prove/fixtures");
    return items.length === 1
      ? items[0]!.file
      : (await pickOne(items, "Which fixture to start from")).file;
  }
}

/** The name of the server that a node belongs to, if it determines one. */
function getServerName(node: ServersNode | undefined): string | undefined {
  if (node?.kind === "server") return node.server.name;
  return node?.kind === "tool" ? node.tool.server : undefined;
}

const formatIndented = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
