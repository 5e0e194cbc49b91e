/**
 * Third-party servers in the Servers view: each with its live sessions, their calls, and its tools
 * once they are known.
 */
import { TreeItemCollapsibleState, type TreeItem } from "vscode";
import type { CompletedCall } from "../../environment/outcome.ts";
import type { ConnectedTool } from "../../mcp/toolList.ts";
import type { ServerEntry } from "../../mcp/mcpConfig.ts";
import { UserError } from "../../userError.ts";
import type { Connection, Connections } from "./connections.ts";
import { formatCount } from "../shared/count.ts";
import { icons, outcomeIcon } from "../shared/icons.ts";
import { createTreeItem, formatParameters } from "../shared/treeItem.ts";

export type ConnectedNode =
  | { readonly kind: "connection"; readonly entry: ServerEntry }
  | { readonly kind: "connectionFault"; readonly why: string }
  | {
      readonly kind: "connectedTools";
      readonly entry: ServerEntry;
      readonly tools: readonly ConnectedTool[];
    }
  | { readonly kind: "connectedTool"; readonly entry: ServerEntry; readonly tool: ConnectedTool }
  | { readonly kind: "connected"; readonly live: Connection }
  | {
      readonly kind: "connectedCall";
      readonly live: Connection;
      readonly call: CompletedCall;
      readonly number: number;
    };

export const isConnectedNode = (node: { readonly kind: string }): node is ConnectedNode =>
  node.kind.startsWith("connect");

/**
 * Lists the servers that `mcp.json` names, with the error of each whose entry cannot be used, or
 * one node with the error of a file that is not valid.
 */
export function listConnections(connections: Connections): readonly ConnectedNode[] {
  try {
    const { entries, errors } = connections.readEntries();
    return [
      ...[...entries.values()].map(entry => ({ kind: "connection" as const, entry })),
      ...[...errors.values()].map(it => ({ kind: "connectionFault" as const, why: it.message })),
    ];
  } catch (error) {
    if (error instanceof UserError) return [{ kind: "connectionFault", why: error.message }];
    throw error;
  }
}

export function listConnectedChildren(
  node: ConnectedNode,
  connections: Connections,
): ConnectedNode[] {
  switch (node.kind) {
    case "connection": {
      const { entry } = node;
      const tools = connections.listTools(entry.name);
      return [
        ...connections.listByEntry(entry.name).map(live => ({ kind: "connected" as const, live })),
        ...(tools.length ? [{ kind: "connectedTools" as const, entry, tools }] : []),
      ];
    }
    case "connectedTools":
      return node.tools.map(tool => ({ kind: "connectedTool", entry: node.entry, tool }));
    case "connected":
      return node.live.session.calls
        .map((call, i) => ({
          kind: "connectedCall" as const,
          live: node.live,
          call,
          number: i + 1,
        }))
        .toReversed();
    case "connectionFault":
    case "connectedTool":
    case "connectedCall":
      return [];
    default:
      throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
  }
}

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

/** Creates the row of a node. */
export function createConnectedItem(node: ConnectedNode): TreeItem {
  switch (node.kind) {
    case "connection":
      return createConnectionItem(node.entry);
    case "connectionFault":
      return createFaultItem(node.why);
    case "connectedTools":
      return createTreeItem("Tools", Collapsed, {
        description: String(node.tools.length),
        context: "connectedTools",
      });
    case "connectedTool":
      return createToolItem(node);
    case "connected": {
      const n = node.live.session.calls.length;
      return createTreeItem(`Session ${node.live.number}`, Expanded, {
        icon: icons.session,
        description: n === 0 ? "as started" : formatCount(n, "call"),
        context: "connected",
        tooltip: "A process of its own. Its state cannot be inspected.",
      });
    }
    case "connectedCall":
      return createCallItem(node);
    default:
      throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
  }
}

function createConnectionItem({ name, command, args, cwd, isDisposable }: ServerEntry): TreeItem {
  const commandLine = [command, ...args].join(" ");
  const permission = isDisposable
    ? "All its tools may be called."
    : "Only its read-only tools may be called.";
  return createTreeItem(name, Collapsed, {
    icon: icons.connection,
    description: isDisposable ? "connected · disposable" : "connected · read-only",
    context: "connection",
    tooltip: `${commandLine} in ${cwd}. ${permission}`,
  });
}

function createFaultItem(message: string): TreeItem {
  const item = createTreeItem("mcp.json", None, {
    icon: icons.warning,
    description: message,
    context: "connectionFault",
    tooltip: message,
  });
  item.command = { command: "prove.connectServer", title: "Connect Server…" };
  return item;
}

function createToolItem({
  tool: { name, effect, summary, inputSchema },
  entry,
}: Extract<ConnectedNode, { kind: "connectedTool" }>): TreeItem {
  const isAllowed = effect === "read" || entry.isDisposable;
  const effectText =
    effect === "read"
      ? "Reads."
      : isAllowed
        ? "Writes."
        : `Writes. It cannot be called: ${entry.name} is not marked as disposable.`;
  return createTreeItem(name, None, {
    icon: effect === "read" ? icons.readTool : icons.writeTool,
    description: formatParameters(inputSchema),
    context: isAllowed ? "connectedTool" : "connectedTool.closed",
    tooltip: `${summary} ${effectText}`,
  });
}

function createCallItem(node: Extract<ConnectedNode, { kind: "connectedCall" }>): TreeItem {
  const { outcome, name, arguments: args } = node.call;
  const description = outcome.kind === "ok" ? "ok" : `${outcome.kind}: ${outcome.message}`;
  const item = createTreeItem(`${node.number} ${name}`, None, {
    icon: outcomeIcon[outcome.kind],
    description,
    context: "connectedCall",
    tooltip: JSON.stringify(args),
  });
  item.command = { command: "prove.showCall", title: "Show Call", arguments: [node] };
  return item;
}

/** Returns an id that stays the same when the tree is refreshed. */
export function getConnectedNodeId(node: ConnectedNode): string {
  switch (node.kind) {
    case "connection":
    case "connectedTools":
      return `${node.kind}/${node.entry.name}`;
    case "connectionFault":
      return `connectionFault/${node.why}`;
    case "connectedTool":
      return `connectedTool/${node.entry.name}/${node.tool.name}`;
    case "connected":
      return `connected/${node.live.number}`;
    case "connectedCall":
      return `connectedCall/${node.live.number}/${node.number}`;
    default:
      throw new Error(`no id for ${JSON.stringify(node satisfies never)}`);
  }
}
