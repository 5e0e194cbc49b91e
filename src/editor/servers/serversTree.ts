/**
 * The Servers view: servers with their live sessions, fixtures and tools; a session with its state
 * and calls. Third-party servers come last.
 */
import { EventEmitter, type Disposable, type TreeDataProvider, type TreeItem } from "vscode";
import type { FixtureFiles } from "../fixtures/fixtureFiles.ts";
import { listChildren } from "../shared/valueTree.ts";
import {
  getConnectedNodeId,
  createConnectedItem,
  isConnectedNode,
  listConnectedChildren,
  listConnections,
} from "./connectedNodes.ts";
import type { Connections } from "./connections.ts";
import type { ServerDefinitions } from "../shared/serverDefinitions.ts";
import type { LiveSession, LiveSessions } from "./liveSessions.ts";
import { createItem } from "./serversItems.ts";
import { getNodeId, type NodeOf, type OwnNode, type ServersNode } from "./serversNode.ts";

/** More sessions than this are not listed: a trainer may open thousands. */
const maxSessions = 100;

export interface TreeDependencies {
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
    ];
  }

  getTreeItem(node: ServersNode): TreeItem {
    const item = isConnectedNode(node) ? createConnectedItem(node) : createItem(node);
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
