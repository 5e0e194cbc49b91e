/** The rows of the product's own servers in the Servers view. */
import { TreeItemCollapsibleState, type TreeItem } from "vscode";
import type { Server, Tool } from "../../environment/server.ts";
import type { FixtureFile } from "../fixtures/fixtureFiles.ts";
import { originTexts } from "../fixtures/fixtureNames.ts";
import { icons, outcomeIcon } from "../shared/icons.ts";
import { getSetting } from "../shared/settings.ts";
import { createTreeItem, formatParameters } from "../shared/treeItem.ts";
import { countMembers, formatInline, type ValueNode } from "../shared/valueTree.ts";
import {
  describeSession,
  formatSessionTitle,
  personOwner,
  type LiveSession,
} from "./liveSessions.ts";
import type { NodeOf, OwnNode } from "./serversNode.ts";

const { Collapsed, Expanded, None } = TreeItemCollapsibleState;

export function createItem(node: OwnNode): TreeItem {
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
    case "moreFixtures":
      return createTreeItem(`${node.count} more`, None, {
        description: "open them from the Explorer",
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
