/** Creates the tree views. An error of a data provider is shown as plain text. */
import { window, type TreeDataProvider, type TreeView } from "vscode";
import { withPlainErrors } from "./plainErrors.ts";

/** Creates the view of a data provider. */
export const createTree = <Node>(
  id: `prove.${string}`,
  provider: TreeDataProvider<Node>,
): TreeView<Node> =>
  window.createTreeView(id, { treeDataProvider: withoutLinks(provider), showCollapseAll: true });

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
