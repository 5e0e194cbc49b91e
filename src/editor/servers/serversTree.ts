/**
 * The Servers view: servers with their live sessions, fixtures and tools; a session with its
 * entities and calls. Third-party servers come last.
 */
import {
  EventEmitter,
  TreeItemCollapsibleState,
  type Disposable,
  type TreeDataProvider,
  type TreeItem,
} from "vscode";
import type { Server, Tool } from "../../environment/server.ts";
import type { SessionCall } from "../../service/table.ts";
import {
  listConnectedChildren,
  connectedNodeId,
  createConnectedItem,
  listConnections,
  isConnectedNode,
  type ConnectedNode,
} from "./connectedNodes.ts";
import type { Connections } from "./connections.ts";
import type { FixtureFile, FixtureFiles } from "../fixtures/fixtureFiles.ts";
import { icons, outcomeIcon } from "../shared/icons.ts";
import {
  personOwner,
  describeSession,
  formatSessionTitle,
  type LiveSession,
  type LiveSessions,
} from "./liveSessions.ts";
import type { Definitions } from "./definitions.ts";
import { getSetting } from "../shared/settings.ts";
import { createTreeItem } from "../shared/treeItem.ts";
import { listChildren, formatInline, countMembers, type ValueNode } from "../shared/valueTree.ts";

export type ServersNode = OwnNode | ConnectedNode;

type OwnNode =
  | { readonly kind: "server"; readonly server: Server }
  | { readonly kind: "fixtures"; readonly server: Server }
  | { readonly kind: "tools"; readonly server: Server }
  | { readonly kind: "fixture"; readonly file: FixtureFile }
  | { readonly kind: "tool"; readonly tool: Tool }
  | { readonly kind: "session"; readonly live: LiveSession; readonly server: string }
  | { readonly kind: "more"; readonly server: string; readonly count: number }
  | { readonly kind: "calls"; readonly live: LiveSession; readonly server: string }
  | {
      readonly kind: "call";
      readonly live: LiveSession;
      readonly server: string;
      readonly made: SessionCall;
    }
  | { readonly kind: "value"; readonly live: LiveSession; readonly value: ValueNode };

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

export interface TreeDependencies {
  readonly definitions: Definitions;
  readonly fixtures: FixtureFiles;
  readonly sessions: LiveSessions;
  readonly connections: Connections;
}

export class ServersTree implements TreeDataProvider<ServersNode>, Disposable {
  readonly #changed = new EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #dependencies: TreeDependencies;

  constructor(dependencies: TreeDependencies) {
    this.#dependencies = dependencies;
  }

  refresh(): void {
    this.#changed.fire(undefined);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  async getChildren(node?: ServersNode): Promise<ServersNode[]> {
    if (!node)
      return [
        ...(await this.#dependencies.definitions.servers()).map(server => ({
          kind: "server" as const,
          server,
        })),
        ...listConnections(this.#dependencies.connections),
      ];
    if (isConnectedNode(node)) return listConnectedChildren(node, this.#dependencies.connections);
    switch (node.kind) {
      case "server":
        return [
          ...this.#listSessions(node.server.name),
          { kind: "fixtures", server: node.server },
          { kind: "tools", server: node.server },
        ];
      case "fixtures":
        return this.#dependencies.fixtures
          .list(node.server.name)
          .map(file => ({ kind: "fixture", file }));
      case "tools":
        return [...node.server.tools.values()].map(tool => ({ kind: "tool", tool }));
      case "session":
        return [
          ...listStateNodes(node.live, node.server),
          ...(node.live.calls.length ? [{ ...node, kind: "calls" as const }] : []),
        ];
      case "calls":
        return node.live.calls.map(made => ({ ...node, kind: "call" as const, made })).toReversed();
      case "value":
        return listChildren(node.value.value, node.value.path, lastPatches(node.live)).map(
          value => ({
            kind: "value",
            live: node.live,
            value,
          }),
        );
      case "fixture":
      case "tool":
      case "call":
      case "more":
        return [];
      default:
        throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
    }
  }

  getTreeItem(node: ServersNode): TreeItem {
    const item = isConnectedNode(node) ? createConnectedItem(node) : createItem(node);
    item.id = isConnectedNode(node) ? connectedNodeId(node) : nodeId(node);
    return item;
  }

  /** For `reveal`: only what is revealed needs a parent. */
  async getParent(node: ServersNode): Promise<ServersNode | undefined> {
    if (node.kind !== "session") return undefined;
    const server = (await this.#dependencies.definitions.servers()).find(
      it => it.name === node.server,
    );
    return server && { kind: "server", server };
  }

  #listSessions(server: string): ServersNode[] {
    const live = this.#dependencies.sessions.listByServer(server);
    const shown = live
      .slice(-maxSessions)
      .map(it => ({ kind: "session" as const, live: it, server }));
    return live.length > maxSessions
      ? [{ kind: "more", server, count: live.length - maxSessions }, ...shown]
      : shown;
  }
}

/** More sessions than this nobody opens by hand; a trainer opens thousands. */
const maxSessions = 100;

const lastPatches = (live: LiveSession) => live.calls.at(-1)?.patches ?? [];

/** The session's world, one node a collection, and its clock. */
function listStateNodes(live: LiveSession, server: string): ServersNode[] {
  const state = live.held.state[server]!;
  const patches = lastPatches(live);
  const world = listChildren(state.world, `/${server}/world`, patches);
  const clock = listChildren({ clock: state.clock }, `/${server}`, patches);
  return [...world, ...clock].map(value => ({ kind: "value", live, value }));
}

function createItem(node: OwnNode): TreeItem {
  switch (node.kind) {
    case "server":
      return createServerItem(node.server);
    case "fixtures":
      return createTreeItem("Fixtures", Expanded, { context: "fixtures" });
    case "tools":
      return createTreeItem("Tools", Collapsed, {
        description: String(node.server.tools.size),
        context: "tools",
      });
    case "fixture":
      return createFixtureItem(node.file);
    case "tool":
      return createToolItem(node.tool);
    case "session":
      return createSessionItem(node.live);
    case "more":
      return createTreeItem(`${node.count} more`, None, {
        description: "older sessions",
        context: "more",
      });
    case "calls":
      return createTreeItem("Calls", Collapsed, {
        description: String(node.live.calls.length),
        context: "calls",
      });
    case "call":
      return createCallItem(node);
    case "value":
      return createValueItem(node.value);
    default:
      throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
  }
}

function nodeId(node: OwnNode): string {
  switch (node.kind) {
    case "server":
    case "fixtures":
    case "tools":
      return `${node.kind}/${node.server.name}`;
    case "fixture":
      return `fixture/${node.file.server}/${node.file.name}`;
    case "tool":
      return `tool/${node.tool.name}`;
    case "more":
      return `more/${node.server}`;
    case "session":
    case "calls":
      return `${node.kind}/${node.live.number}/${node.server}`;
    case "call":
      return `call/${node.live.number}/${node.server}/${node.made.number}`;
    case "value":
      return `value/${node.live.number}${node.value.path}`;
    default:
      throw new Error(`no id for ${JSON.stringify(node satisfies never)}`);
  }
}

function createServerItem({ name, tools, category, summary }: Server): TreeItem {
  const offered = getSetting("agentServers").includes(name) ? " · offered to agents" : "";
  return createTreeItem(name, Collapsed, {
    icon: icons.server,
    description: `${tools.size} tools · ${category}${offered}`,
    context: "server",
    tooltip: summary,
  });
}

function createFixtureItem(file: FixtureFile): TreeItem {
  const description = { shipped: "shipped", copy: "your copy", own: "yours" }[file.origin];
  const item = createTreeItem(file.name, None, {
    icon: icons.fixture,
    description,
    context: `fixture.${file.origin}`,
    tooltip: file.uri.fsPath,
  });
  item.command = {
    command: "prove.openFixture",
    title: "Open Fixture",
    arguments: [{ kind: "fixture", file } satisfies ServersNode],
  };
  return item;
}

function createToolItem(tool: Tool): TreeItem {
  const args = Object.keys((tool.inputSchema["properties"] ?? {}) as object).join(", ");
  return createTreeItem(tool.name.slice(tool.server.length + 1), None, {
    icon: tool.effect === "read" ? icons.readTool : icons.writeTool,
    description: args ? `(${args})` : "()",
    context: "tool",
    tooltip: `${tool.name}: ${tool.summary} ${tool.effect === "read" ? "Reads." : tool.destructive ? "Writes, and cannot be undone by a call." : "Writes."}`,
  });
}

function createSessionItem(live: LiveSession): TreeItem {
  const { owner, id } = live.held;
  const isOurs = owner === personOwner;
  // whoever knows an agent's session id may act in it: enough of it to know it by
  const tooltip = isOurs ? "opened by hand" : `opened by ${owner} (${id.slice(0, 6)}…)`;
  return createTreeItem(formatSessionTitle(live), Expanded, {
    icon: isOurs ? icons.session : icons.externalSession,
    description: describeSession(live),
    context: isOurs ? "session" : "session.other",
    tooltip,
  });
}

function createCallItem(node: Extract<ServersNode, { kind: "call" }>): TreeItem {
  const { name, number, outcome, patches } = node.made;
  const description =
    outcome.kind !== "ok"
      ? `${outcome.kind}: ${outcome.message}`
      : patches.length
        ? "changed the state"
        : "read";
  const item = createTreeItem(`${number} ${name}`, None, {
    icon: outcomeIcon[outcome.kind],
    description,
    context: "call",
    tooltip: JSON.stringify(node.made.arguments),
  });
  item.command = {
    command: "prove.showCall",
    title: "Show Call and Its Change",
    arguments: [node],
  };
  return item;
}

function createValueItem({ key, value, changed }: ValueNode): TreeItem {
  const size = countMembers(value);
  const isLeaf = value === null || typeof value !== "object" || Object.keys(value).length === 0;
  const mark = changed === "here" ? "● " : changed === "below" ? "○ " : "";
  const icon = size !== undefined && !isLeaf ? icons.entities : isLeaf ? icons.value : icons.entity;
  const text = size === undefined || isLeaf ? formatInline(value) : String(size);
  return createTreeItem(key, isLeaf ? None : Collapsed, {
    icon,
    description: `${mark}${text}`,
    context: "value",
    ...(changed ? { tooltip: "changed by the last call" } : {}),
  });
}
