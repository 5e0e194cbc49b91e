/**
 * The Servers view: servers with their live sessions, fixtures and tools; a session with its state
 * and calls. Third-party servers come last.
 */
import {
  type Disposable,
  EventEmitter,
  type TreeDataProvider,
  type TreeItem,
  TreeItemCollapsibleState,
} from "vscode";
import type { Server, Tool } from "../../environment/server.ts";
import type { SessionCall } from "../../service/sessions/sessionTable.ts";
import { UserError } from "../../userError.ts";
import type { FixtureFile, FixtureFiles } from "../fixtures/fixtureFiles.ts";
import { originTexts } from "../fixtures/fixtureNames.ts";
import { icons, outcomeIcon } from "../shared/icons.ts";
import { countMembers, formatInline, listChildren, type ValueNode } from "../shared/jsonValues.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import { getSetting } from "../shared/settings.ts";
import { formatCount } from "../shared/text.ts";
import { createTreeItem, formatParameters } from "../shared/treeView.ts";
import {
  type ConnectedNode,
  createConnectedItem,
  getConnectedNodeId,
  isConnectedNode,
  listConnectedChildren,
  listConnections,
} from "./connectedNodes.ts";
import type { Connections } from "./connections.ts";
import {
  describeSession,
  formatSessionTitle,
  type LiveSession,
  type LiveSessions,
  personOwner,
} from "./liveSessions.ts";

/** More sessions than this are not listed: a trainer may open thousands. */
const maxSessions = 100;

interface TreeDependencies {
  readonly definitions: ServerDefinitions;
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
    const { definitions, connections, sessions } = this.#dependencies;
    if (node)
      return isConnectedNode(node)
        ? listConnectedChildren(node, connections)
        : this.#listOwnChildren(node);
    const servers = await definitions.loadServers();
    await sessions.reopenStored();
    return [
      ...servers.map(server => ({ kind: "server" as const, server })),
      ...listConnections(connections),
      ...(definitions.areOwnWithheld ? [{ kind: "withheld" as const }] : []),
    ];
  }

  getTreeItem(node: ServersNode): TreeItem {
    const item = isConnectedNode(node)
      ? createConnectedItem(node)
      : createItem(node, this.#dependencies.sessions);
    item.id = isConnectedNode(node) ? getConnectedNodeId(node) : getNodeId(node);
    return item;
  }

  /** Required by `reveal`, which is only called for sessions. */
  async getParent(node: ServersNode): Promise<ServersNode | undefined> {
    if (node.kind !== "session") return undefined;
    const servers = await this.#dependencies.definitions.loadServers();
    const server = servers.find(it => it.name === node.server);
    return server && { kind: "server", server };
  }

  #listOwnChildren(node: OwnNode): ServersNode[] {
    switch (node.kind) {
      case "server":
        return [
          ...this.#listSessions(node.server.name),
          { kind: "fixtures", server: node.server },
          { kind: "tools", server: node.server },
        ];
      case "fixtures":
        return this.#listFixtures(node.server.name);
      case "tools":
        return [...node.server.tools.values()].map(tool => ({ kind: "tool", tool }));
      case "session":
        return listSessionChildren(node);
      case "calls":
        return node.live.calls.map(call => ({ ...node, kind: "call" as const, call })).toReversed();
      case "value": {
        const { live, value } = node;
        return listChildren(value.value, value.path, getLastPatches(live)).map(child => ({
          kind: "value",
          live,
          value: child,
        }));
      }
      case "fixture":
      case "tool":
      case "call":
      case "more":
      case "moreFixtures":
      case "withheld":
        return [];
      default:
        throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
    }
  }

  #listFixtures(server: string): ServersNode[] {
    const { listed, more } = this.#dependencies.fixtures.list(server);
    const rows = listed.map(file => ({ kind: "fixture" as const, file }));
    return more > 0 ? [...rows, { kind: "moreFixtures", server, count: more }] : rows;
  }

  #listSessions(server: string): ServersNode[] {
    const all = this.#dependencies.sessions.listByServer(server);
    const listed = all
      .slice(-maxSessions)
      .map(live => ({ kind: "session" as const, live, server }));
    const count = all.length - listed.length;
    return count > 0 ? [{ kind: "more", server, count }, ...listed] : listed;
  }
}

/** A session's collections and clock, then its calls. */
function listSessionChildren({ live, server }: NodeOf<"session">): ServersNode[] {
  const { world, clock } = live.session.state[server]!;
  const patches = getLastPatches(live);
  const values = [
    ...listChildren(world, `/${server}/world`, patches),
    ...listChildren({ clock }, `/${server}`, patches),
  ];
  return [
    ...values.map(value => ({ kind: "value" as const, live, value })),
    ...(live.calls.length ? [{ kind: "calls" as const, live, server }] : []),
  ];
}

const getLastPatches = (live: LiveSession) => live.calls.at(-1)?.patches ?? [];

export type ServersNode = OwnNode | ConnectedNode;

/** A node of one of the product's own servers. */
type OwnNode =
  | { readonly kind: "server"; readonly server: Server }
  /** In place of the workspace's own servers, which are not loaded. */
  | { readonly kind: "withheld" }
  | { readonly kind: "fixtures"; readonly server: Server }
  | { readonly kind: "tools"; readonly server: Server }
  | { readonly kind: "fixture"; readonly file: FixtureFile }
  | { readonly kind: "tool"; readonly tool: Tool }
  | { readonly kind: "session"; readonly live: LiveSession; readonly server: string }
  | {
      readonly kind: "more" | "moreFixtures";
      readonly server: string;
      readonly count: number;
    }
  | { readonly kind: "calls"; readonly live: LiveSession; readonly server: string }
  | {
      readonly kind: "call";
      readonly live: LiveSession;
      readonly server: string;
      readonly call: SessionCall;
    }
  | { readonly kind: "value"; readonly live: LiveSession; readonly value: ValueNode };

/** The nodes of one kind. */
export type NodeOf<Kind extends ServersNode["kind"]> = Extract<ServersNode, { kind: Kind }>;

/** Returns an id that stays the same when the tree is refreshed. */
function getNodeId(node: OwnNode): string {
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
    case "moreFixtures":
      return `${node.kind}/${node.server}`;
    case "withheld":
      return node.kind;
    case "session":
    case "calls":
      return `${node.kind}/${node.live.number}/${node.server}`;
    case "call":
      return `call/${node.live.number}/${node.server}/${node.call.number}`;
    case "value":
      return `value/${node.live.number}${node.value.path}`;
    default:
      throw new Error(`no id for ${JSON.stringify(node satisfies never)}`);
  }
}

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

function createItem(node: OwnNode, sessions: LiveSessions): TreeItem {
  switch (node.kind) {
    case "server":
      return createServerItem(node.server, sessions.listByServer(node.server.name).length);
    case "withheld":
      return createWithheldItem();
    case "fixtures":
      return createTreeItem("Fixtures", Expanded, { icon: icons.fixture, context: "fixtures" });
    case "tools":
      return createTreeItem("Tools", Collapsed, {
        icon: icons.tools,
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
        icon: icons.more,
        description: "older sessions",
        context: "more",
      });
    case "moreFixtures":
      return createTreeItem(`${node.count} more`, None, {
        icon: icons.more,
        description: "open them from the Explorer",
        context: "more",
      });
    case "calls":
      return createTreeItem("Calls", Collapsed, {
        icon: icons.calls,
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

/** A server shows that it has sessions: after a reload, it is collapsed. */
function createServerItem(server: Server, sessions: number): TreeItem {
  const { name, tools, category, summary } = server;
  const isOwn = server.folder !== undefined || server.isConnected;
  const problem = findAccessProblem(server);
  if (problem)
    return createTreeItem(name, Collapsed, {
      icon: icons.warning,
      description: `${problem.what}; ${problem.remedy}`,
      context: "ownServer",
      tooltip: problem.message,
    });
  const offered = getSetting("agentServers").includes(name) ? " · offered to agents" : "";
  const open = sessions === 0 ? "" : `${formatCount(sessions, "session")} · `;
  return createTreeItem(name, Collapsed, {
    icon: icons.server,
    description: `${open}${tools.size} tools · ${category}${offered}`,
    context: isOwn ? "ownServer" : "server",
    tooltip: summary,
  });
}

/** Why no session can be opened on a server. */
function findAccessProblem(server: Server): UserError | undefined {
  try {
    server.checkAccess?.();
    return undefined;
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function createWithheldItem(): TreeItem {
  const item = createTreeItem("Servers of this workspace", None, {
    icon: icons.warning,
    description: "not loaded, because the workspace is not trusted",
    context: "withheld",
    tooltip: "They are code and programs, which run with your rights.",
  });
  item.command = { command: "workbench.trust.manage", title: "Manage Trust" };
  return item;
}

function createFixtureItem(file: FixtureFile): TreeItem {
  const item = createTreeItem(file.name, None, {
    icon: icons.fixture,
    description: originTexts[file.origin],
    context: `fixture.${file.origin}`,
    tooltip: file.uri.fsPath,
  });
  item.command = {
    command: "prove.openFixture",
    title: "Open Fixture",
    arguments: [{ kind: "fixture", file } satisfies NodeOf<"fixture">],
  };
  return item;
}

function createToolItem(tool: Tool): TreeItem {
  return createTreeItem(tool.name.slice(tool.server.length + 1), None, {
    icon: tool.effect === "read" ? icons.readTool : icons.writeTool,
    description: formatParameters(tool.inputSchema),
    context: "tool",
    tooltip: `${tool.name}: ${tool.summary} ${describeEffect(tool)}`,
  });
}

function describeEffect({ effect, destructive }: Tool): string {
  if (effect === "read") return "Reads.";
  return destructive ? "Writes. No call can undo it." : "Writes.";
}

function createSessionItem(live: LiveSession): TreeItem {
  const { owner, id } = live.session;
  const isOurs = owner === personOwner;
  // the full id grants access to the session, so only its beginning is shown
  const tooltip = isOurs ? "opened by you" : `opened by ${owner} (${id.slice(0, 6)}…)`;
  return createTreeItem(formatSessionTitle(live), Expanded, {
    icon: isOurs ? icons.session : icons.externalSession,
    description: describeSession(live),
    context: isOurs ? "session" : "session.other",
    tooltip,
  });
}

function createCallItem(node: NodeOf<"call">): TreeItem {
  const { name, number, outcome, patches } = node.call;
  const effect = patches.length ? "changed the state" : "read";
  const item = createTreeItem(`${number} ${name}`, None, {
    icon: outcomeIcon[outcome.kind],
    description: outcome.kind === "ok" ? effect : `${outcome.kind}: ${outcome.message}`,
    context: "call",
    tooltip: JSON.stringify(node.call.arguments),
  });
  item.command = {
    command: "prove.showCall",
    title: "Show Call and Changes",
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
