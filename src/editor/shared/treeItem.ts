/** Creates tree items. */
import { MarkdownString, TreeItem, type TreeItemCollapsibleState } from "vscode";
import type { JsonSchema } from "../../environment/server.ts";

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
  const item = new TreeItem(label, state);
  if (icon) item.iconPath = icon;
  if (description) item.description = description;
  // text from definitions, states and other servers is never rendered as markup
  if (tooltip) item.tooltip = new MarkdownString().appendText(tooltip);
  item.contextValue = context;
  return item;
}

/** Formats the parameters of a tool as in a signature, such as "(account_id, limit)". */
export const formatParameters = (inputSchema: JsonSchema): string =>
  `(${Object.keys((inputSchema["properties"] ?? {}) as object).join(", ")})`;
