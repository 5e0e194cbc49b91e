/**
 * Creates tree views with their items, and the items of the Test Explorer. All texts are shown as
 * plain text, those of errors included.
 */
import {
  type Command,
  type TestController,
  type TestItem,
  type TreeDataProvider,
  TreeItem,
  type TreeItemCollapsibleState,
  type TreeView,
  type Uri,
  window,
} from "vscode";
import type { JsonSchema } from "../../environment/server.ts";
import { withPlainErrors } from "./report.ts";
import { toPlainLine, toPlainText, truncateText } from "./text.ts";

/** Creates the view of a data provider. */
export const createTree = <Node>(
  id: `prove.${string}`,
  provider: TreeDataProvider<Node>,
  options: { readonly canSelectMany?: boolean } = {},
): TreeView<Node> =>
  window.createTreeView(id, {
    treeDataProvider: withoutLinks(provider),
    showCollapseAll: true,
    ...options,
  });

/** The editor shows the errors of a data provider in notifications, which render links. */
function withoutLinks<Node>(provider: TreeDataProvider<Node>): TreeDataProvider<Node> {
  const { onDidChangeTreeData } = provider;
  return {
    ...(onDidChangeTreeData ? { onDidChangeTreeData } : {}),
    getChildren: node => withPlainErrors(() => provider.getChildren(node)),
    getTreeItem: node => withPlainErrors(() => provider.getTreeItem(node)),
    // the editor tests whether there is this method
    ...(provider.getParent
      ? { getParent: node => withPlainErrors(() => provider.getParent!(node)) }
      : {}),
  };
}

interface TreeItemOptions {
  readonly icon?: TreeItem["iconPath"];
  readonly description?: string;
  /** The context value, which menus are bound to. */
  readonly context: string;
  readonly tooltip?: string;
}

export function createTreeItem(
  label: string,
  state: TreeItemCollapsibleState,
  { icon, description, context, tooltip }: TreeItemOptions,
): TreeItem {
  const item = new TreeItem(toPlainLine(label), state);
  if (icon) item.iconPath = icon;
  if (description) item.description = toPlainLine(description);
  // a Markdown string would turn bare web addresses into links
  if (tooltip) {
    item.tooltip = toPlainText(tooltip);
    // the editor would read the tooltip aloud instead of what the row shows
    const texts = description ? [label, description] : [label];
    item.accessibilityInformation = { label: texts.map(toPlainLine).join(", ") };
  }
  item.contextValue = context;
  return item;
}

/**
 * Opens a document when a row is clicked. A command of the extension would be lost on a click
 * while the row is refreshed: the editor forgets the arguments of the row's earlier command.
 */
export const createOpenCommand = (uri: Uri): Command => ({
  command: "vscode.open",
  title: "Open",
  arguments: [uri],
});

interface TestItemOptions {
  readonly id: string;
  readonly label: string;
  readonly description?: string;
  /** The document that the test is in. */
  readonly uri?: Uri;
}

const maxTestLabel = 120;

/** Creates an item for the tests of a controller. */
export function createTestItem(
  controller: TestController,
  { id, label, description, uri }: TestItemOptions,
): TestItem {
  const item = controller.createTestItem(id, truncateText(toPlainLine(label), maxTestLabel), uri);
  if (description !== undefined) item.description = toPlainLine(description);
  return item;
}

/** Formats the parameters of a tool as in a signature, such as "(account_id, limit)". */
export const formatParameters = (inputSchema: JsonSchema): string =>
  `(${Object.keys((inputSchema["properties"] ?? {}) as object).join(", ")})`;
