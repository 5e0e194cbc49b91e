/**
 * What a person does with live sessions: open one, call a tool in it, see what the call gave and what it changed. The texts
 * shown are read-only documents, named by session and call.
 */
import { CancellationError, Uri, commands, window, type TextDocumentShowOptions } from "vscode";
import { canonical } from "../environment/json.ts";
import type { Tool } from "../environment/server.ts";
import { Mistake } from "../mistake.ts";
import { askArguments } from "./callPrompt.ts";
import type { Definitions } from "./definitions.ts";
import type { FixtureFile, FixtureFiles } from "./fixtureFiles.ts";
import { icons } from "./icons.ts";
import type { LiveSession, LiveSessions, MadeCall } from "./liveSessions.ts";
import type { ServersNode } from "./serversTree.ts";

export class SessionViews {
  readonly #definitions: Definitions;
  readonly #fixtures: FixtureFiles;
  readonly #sessions: LiveSessions;

  constructor(definitions: Definitions, fixtures: FixtureFiles, sessions: LiveSessions) {
    this.#definitions = definitions;
    this.#fixtures = fixtures;
    this.#sessions = sessions;
  }

  /** Opens a session on a node's fixture, or on one that the person picks. */
  async open(node: ServersNode | undefined): Promise<LiveSession> {
    const { server, name } = node?.kind === "fixture" ? node.file : await this.#pickFixture(node?.kind === "server" ? node.server.name : undefined);
    return this.#sessions.open(server, name);
  }

  /** Calls a tool in a session, asking for whatever the node does not say. */
  async call(node: ServersNode | undefined): Promise<void> {
    const live = await this.#sessionFor(node);
    const tool = node?.kind === "tool" ? node.tool : await this.#pickTool(live);
    const args = await askArguments(tool, live.session.state[live.server]!.world);
    await this.#tell(live, this.#sessions.call(live, tool.name, args));
  }

  async reset(node: ServersNode | undefined): Promise<void> {
    await this.#sessions.reset(await this.#sessionFor(node));
  }

  async close(node: ServersNode | undefined): Promise<void> {
    this.#sessions.close(await this.#sessionFor(node));
  }

  /** A call that changed the state as a comparison of before and after, any other as its record. */
  async show(live: LiveSession, made: MadeCall): Promise<void> {
    const options: TextDocumentShowOptions = { preview: true, preserveFocus: true };
    const at = (what: string) => Uri.from({ scheme: "prove", path: `/sessions/${live.number}/${made.number}/${what}.json` });
    if (made.called.patches.length)
      await commands.executeCommand("vscode.diff", at("before"), at("after"), `${made.name}: what it changed`, options);
    else await window.showTextDocument(at(made.name), options);
  }

  /** The text of a read-only document of a session. */
  text(path: string): string {
    const [, number, call, what] = /^\/sessions\/(\d+)\/(\d+)\/(.+)\.json$/.exec(path) ?? [];
    const made = this.#sessions.get(Number(number))?.calls[Number(call) - 1];
    if (!made) return "// this session was closed or reset\n";
    if (what === "before" || what === "after") return pretty(made[what]);
    return pretty({ call: made.name, arguments: made.arguments, ...made.called });
  }

  async #tell(live: LiveSession, made: MadeCall): Promise<void> {
    const { outcome, patches } = made.called;
    const given = outcome.kind === "ok" ? short(canonical(outcome.value)) : outcome.message;
    const button = patches.length ? "Show Change" : "Show Call";
    const message = `${made.name}: ${outcome.kind} — ${given}`;
    const shown = outcome.kind === "ok" ? window.showInformationMessage(message, button) : window.showWarningMessage(message, button);
    if (patches.length) await this.show(live, made);
    void shown.then(chosen => chosen && this.show(live, made));
  }

  async #sessionFor(node: ServersNode | undefined): Promise<LiveSession> {
    if (node?.kind === "session") return node.live;
    const server = node?.kind === "tool" ? node.tool.server : undefined;
    const open = server ? this.#sessions.of(server) : this.#sessions.all;
    if (open.length === 1) return open[0]!;
    if (open.length === 0) {
      const { server: name, name: fixture } = await this.#pickFixture(server);
      return this.#sessions.open(name, fixture);
    }
    const items = open.map(live => ({ label: `Session ${live.number} on ${live.fixture}`, description: live.server, iconPath: icons.session, live }));
    return (await pick(items, "Which session")).live;
  }

  async #pickTool(live: LiveSession): Promise<Tool> {
    const items = [...live.session.tools.values()].map(tool => ({
      label: tool.name,
      detail: tool.summary,
      iconPath: tool.effect === "read" ? icons.readTool : icons.writeTool,
      tool,
    }));
    return (await pick(items, "Which tool to call")).tool;
  }

  async #pickFixture(server: string | undefined): Promise<FixtureFile> {
    const servers = server ? [server] : (await this.#definitions.servers()).map(it => it.name);
    const items = servers.flatMap(name => this.#fixtures.of(name)).map(file => ({
      label: server ? file.name : `${file.server} · ${file.name}`,
      description: file.is === "shipped" ? "shipped" : "yours",
      iconPath: icons.fixture,
      file,
    }));
    if (items.length === 0) throw new Mistake(`${server ?? "no server"} has no fixture`, "add one under prove/fixtures");
    return items.length === 1 ? items[0]!.file : (await pick(items, "Which fixture to start from")).file;
  }
}

async function pick<Item extends { label: string }>(items: readonly Item[], placeHolder: string): Promise<Item> {
  const chosen = await window.showQuickPick(items, { placeHolder, matchOnDescription: true, matchOnDetail: true });
  if (!chosen) throw new CancellationError();
  return chosen;
}

const pretty = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;
const short = (text: string) => (text.length > 160 ? `${text.slice(0, 159)}…` : text);
