/** Creates items of trees and of the Test Explorer, whose texts are shown as plain text. */
import {
  TreeItem,
  type Command,
  type TestController,
  type TestItem,
  type TreeItemCollapsibleState,
  type Uri,
} from "vscode";
import type { JsonSchema } from "../../environment/server.ts";
import { toPlainLine, toPlainText, truncateText } from "./plainText.ts";

export interface TreeItemOptions {
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

export interface TestItemOptions {
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
