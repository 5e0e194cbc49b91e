/**
 * Third-party servers in the Servers view: each with its live sessions, their calls, and its tools
 * once they are known.
 */
import { TreeItemCollapsibleState, type TreeItem } from "vscode";
import type { CompletedCall } from "../../environment/outcome.ts";
import { allowsTool, allowsWrites, isRemote, type ServerEntry } from "../../mcp/mcpConfig.ts";
import { describeNoReset } from "../../mcp/noReset.ts";
import { describeUrl } from "../../mcp/remoteSetting.ts";
import type { ConnectedTool, OmittedTool } from "../../mcp/toolList.ts";
import { UserError } from "../../userError.ts";
import type { Connection, Connections } from "./connections.ts";
import { formatCount } from "../shared/text.ts";
import { icons, outcomeIcon } from "../shared/icons.ts";
import { createTreeItem, formatParameters } from "../shared/treeView.ts";

export type ConnectedNode =
  | { readonly kind: "connection"; readonly entry: ServerEntry }
  | { readonly kind: "connectionFault"; readonly name: string; readonly why: string }
  | {
      readonly kind: "connectedTools";
      readonly entry: ServerEntry;
      readonly tools: readonly ConnectedTool[];
      readonly omitted: readonly OmittedTool[];
    }
  | {
      readonly kind: "connectedToolFault";
      readonly entry: ServerEntry;
      readonly omitted: OmittedTool;
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
      ...Array.from(errors, ([name, { message }]) => ({
        kind: "connectionFault" as const,
        name,
        why: message,
      })),
    ];
  } catch (error) {
    if (error instanceof UserError)
      return [{ kind: "connectionFault", name: "mcp.json", why: error.message }];
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
      const { tools, omitted } = connections.listTools(entry.name);
      return [
        ...connections.listByEntry(entry.name).map(live => ({ kind: "connected" as const, live })),
        ...(tools.length + omitted.length > 0
          ? [{ kind: "connectedTools" as const, entry, tools, omitted }]
          : []),
      ];
    }
    case "connectedTools":
      return [
        ...node.tools.map(tool => ({ kind: "connectedTool" as const, entry: node.entry, tool })),
        ...node.omitted.map(omitted => ({
          kind: "connectedToolFault" as const,
          entry: node.entry,
          omitted,
        })),
      ];
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
    case "connectedToolFault":
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
      return createFaultItem(node);
    case "connectedTools":
      return createTreeItem("Tools", Collapsed, {
        icon: icons.tools,
        description:
          node.omitted.length > 0
            ? `${node.tools.length} · ${node.omitted.length} left out`
            : String(node.tools.length),
        context: "connectedTools",
      });
    case "connectedTool":
      return createToolItem(node);
    case "connectedToolFault":
      return createTreeItem(node.omitted.name, None, {
        icon: icons.warning,
        description: node.omitted.reason,
        context: "connectedToolFault",
        tooltip: `It cannot be offered: ${node.omitted.reason}.`,
      });
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

function createConnectionItem(entry: ServerEntry): TreeItem {
  const { name, isDisposable, reset } = entry;
  const target = isRemote(entry)
    ? describeUrl(entry.url)
    : `${[entry.command, ...entry.args].join(" ")} in ${entry.cwd}`;
  const permission = allowsWrites(entry)
    ? "All its tools may be called."
    : "Only its read-only tools may be called.";
  const ignored = entry.ignoredKeys.length
    ? ` Keys without an effect here: ${entry.ignoredKeys.join(", ")}.`
    : "";
  return createTreeItem(name, Collapsed, {
    icon: icons.connection,
    description: `mcp.json · ${isDisposable ? "disposable" : reset ? "sandboxed" : "read-only"}`,
    context: "connection",
    tooltip: `${target}. ${permission}${ignored}`,
  });
}

function createFaultItem({
  name,
  why,
}: Extract<ConnectedNode, { kind: "connectionFault" }>): TreeItem {
  const item = createTreeItem(name, None, {
    icon: icons.warning,
    description: why,
    context: "connectionFault",
    tooltip: why,
  });
  item.command = { command: "prove.connectServer", title: "Connect Server…" };
  return item;
}

function createToolItem({
  tool,
  entry,
}: Extract<ConnectedNode, { kind: "connectedTool" }>): TreeItem {
  const { name, effect, summary, inputSchema } = tool;
  const isAllowed = allowsTool(entry, tool);
  const effectText =
    effect === "read"
      ? "Reads."
      : isAllowed
        ? "Writes."
        : `Writes. It cannot be called: ${describeNoReset(entry)}.`;
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
  const join = (...names: readonly string[]) => `${node.kind}/${JSON.stringify(names)}`;
  switch (node.kind) {
    case "connection":
    case "connectedTools":
      return join(node.entry.name);
    case "connectionFault":
      return join(node.name, node.why);
    case "connectedTool":
      return join(node.entry.name, node.tool.name);
    case "connectedToolFault":
      return join(node.entry.name, node.omitted.name);
    case "connected":
      return `connected/${node.live.number}`;
    case "connectedCall":
      return `connectedCall/${node.live.number}/${node.number}`;
    default:
      throw new Error(`no id for ${JSON.stringify(node satisfies never)}`);
  }
}
