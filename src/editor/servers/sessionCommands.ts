/**
 * The commands on live sessions: open one, call a tool in it, show the result of a call and its
 * changes as read-only documents, fork it, reset it and close it.
 */
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { Uri, commands, window, workspace, type TextDocumentShowOptions } from "vscode";
import type { JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { writeTrajectory } from "../../trajectory/file.ts";
import { UserError } from "../../userError.ts";
import type { SessionCall } from "../../service/sessions/sessionTable.ts";
import { askArguments } from "./argumentPrompts.ts";
import type { CallDocuments } from "./callDocuments.ts";
import { listEntities } from "./entities.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { type FixtureFile, type FixtureFiles, pickFixture } from "../fixtures/fixtureFiles.ts";
import { icons } from "../shared/icons.ts";
import {
  describeSession,
  formatSessionTitle,
  type LiveSession,
  type LiveSessions,
} from "./liveSessions.ts";
import { confirm } from "../shared/notifications.ts";
import { requireTrust, type ProveFolder } from "../shared/proveFolder.ts";
import { BackNavigation, pickOne } from "../shared/quickInput.ts";
import type { ServersNode } from "./serversTree.ts";
import type { ArgumentDrafts } from "./storedSessions.ts";

interface SessionDependencies {
  readonly folder: ProveFolder;
  readonly definitions: ServerDefinitions;
  readonly fixtures: FixtureFiles;
  readonly sessions: LiveSessions;
  readonly drafts: ArgumentDrafts;
  readonly documents: CallDocuments;
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
    const { sessions, documents } = this.#dependencies;
    const { tool, args } = await this.#askCall(live, node);
    await documents.showNewCall(live.number, await sessions.call(live, tool.name, args));
  }

  /** Asks for the tool, unless the node is one, and then for its arguments. */
  async #askCall(
    live: LiveSession,
    node: ServersNode | undefined,
  ): Promise<{ readonly tool: Tool; readonly args: JsonObject }> {
    const server = node?.kind === "session" ? node.server : undefined;
    const tool = node?.kind === "tool" ? node.tool : await this.#pickTool(live, server);
    const session = live.session.fork();
    try {
      const args = await askArguments({
        tool,
        entities: kind => listEntities(kind, tool.server, session),
        now: session.state[tool.server]!.clock,
        drafts: this.#dependencies.drafts,
        hasBack: node?.kind !== "tool",
      });
      return { tool, args };
    } catch (error) {
      if (error instanceof BackNavigation) return this.#askCall(live, node);
      throw error;
    }
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
    const name = `${trajectory.header.task}-${live.number}`.replace(/[^\w.-]+/g, "-");
    const { folder } = this.#dependencies;
    const file = await askTrajectoryFile(folder, name);
    if (!file) return;
    await writeTrajectory(file.fsPath, trajectory);
    folder.noteChange("tasks");
    await commands.executeCommand("prove.openTranscript", file);
  }

  /** Shows a diff of the state if the call changed it, else the call among those of its session. */
  async showCall({ number }: LiveSession, call: SessionCall): Promise<void> {
    if (call.patches.length === 0) return this.#dependencies.documents.showCall(number, call);
    const options: TextDocumentShowOptions = { preview: true, preserveFocus: true };
    const createUri = (document: string) =>
      Uri.from({ scheme: "prove", path: `/sessions/${number}/${call.number}/${document}.json` });
    await commands.executeCommand(
      "vscode.diff",
      createUri("before"),
      createUri("after"),
      `${call.name}: changes`,
      options,
    );
  }

  /** Builds the text of a read-only document of a session: its calls, or the state around one. */
  readDocument(path: string): string {
    const { documents, sessions } = this.#dependencies;
    const [, session, number, document] =
      /^\/sessions\/(\d+)\/(\d+)\/(before|after)\.json$/.exec(path) ?? [];
    const call = sessions.get(Number(session))?.calls.find(it => it.number === Number(number));
    if (!call) return documents.read(path) ?? "// this session was closed or reset\n";
    return formatIndented(call[document as "before" | "after"]);
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
    const question = { title: formatSessionTitle(live), text: "Which tool to call" };
    return (await pickOne(items, question)).tool;
  }

  async #pickFixture(server: string | undefined): Promise<FixtureFile> {
    const { definitions, fixtures } = this.#dependencies;
    const servers = server ? [server] : (await definitions.loadServers()).map(it => it.name);
    const files = servers.flatMap(name => fixtures.list(name).listed);
    if (files.length === 0)
      throw new UserError(`${server ?? "no server"} has no fixture`, "add one in prove/fixtures");
    return files.length === 1
      ? files[0]!
      : pickFixture(files, "Which fixture to start from", server);
  }
}

const ending = ".trajectory.jsonl";

/** Asks where to save a trajectory, and proposes the folder of tasks. */
async function askTrajectoryFile(folder: ProveFolder, name: string): Promise<Uri | undefined> {
  const tasks = folder.uri && folder.getPart("tasks");
  // the dialog of a remote window lists the folder that it proposes
  if (tasks) await workspace.fs.createDirectory(tasks);
  const chosen = await window.showSaveDialog({
    title: "Save Session as Trajectory",
    // VS Code's own dialog appends it unless it is the last extension of the name
    filters: { "PROVE Trajectory": ["jsonl"] },
    ...(tasks ? { defaultUri: Uri.joinPath(tasks, `${name}${ending}`) } : {}),
  });
  if (!chosen || chosen.path.endsWith(ending)) return chosen;
  const file = chosen.with({ path: chosen.path.replace(/(\.jsonl)?$/, ending) });
  const replaced = existsSync(file.fsPath);
  const question = `Replace ${basename(file.fsPath)}?`;
  const detail = `Trajectory files end in ${ending}. ${file.fsPath} exists.`;
  return !replaced || (await confirm({ question, detail, button: "Replace" })) ? file : undefined;
}

/** The name of the server that a node belongs to, if it determines one. */
function getServerName(node: ServersNode | undefined): string | undefined {
  if (node?.kind === "server") return node.server.name;
  return node?.kind === "tool" ? node.tool.server : undefined;
}

const formatIndented = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
