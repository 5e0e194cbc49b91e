/** Creates tree items, whose texts are shown as plain text. */
import { TreeItem, type TreeItemCollapsibleState } from "vscode";
import type { JsonSchema } from "../../environment/server.ts";
import { toPlainLine, toPlainText } from "./plainText.ts";

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
  if (tooltip) item.tooltip = toPlainText(tooltip);
  item.contextValue = context;
  return item;
}

/** Formats the parameters of a tool as in a signature, such as "(account_id, limit)". */
export const formatParameters = (inputSchema: JsonSchema): string =>
  `(${Object.keys((inputSchema["properties"] ?? {}) as object).join(", ")})`;
