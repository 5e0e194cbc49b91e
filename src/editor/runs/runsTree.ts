/** The Runs view: each run with its metrics, its recorded groups and its checkpoints. */
import { EventEmitter, type Disposable, type TreeDataProvider, type TreeItem } from "vscode";
import { getGroupsFile } from "../../run/folder.ts";
import { indexGroups } from "../attempts/groupIndex.ts";
import type { RunMonitor } from "./runMonitor.ts";
import type { Runs } from "./runs.ts";
import { createItem } from "./runsItems.ts";
import { createMetricNodes, createRunChildren, type RunsNode } from "./runsNode.ts";

export class RunsTree implements TreeDataProvider<RunsNode>, Disposable {
  readonly #changed = new EventEmitter<RunsNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #runs: Runs;
  readonly #subscription: Disposable;
  #refreshTimer: NodeJS.Timeout | undefined;

  constructor(runs: Runs) {
    this.#runs = runs;
    this.#subscription = runs.onDidChange(() => this.#scheduleRefresh());
  }

  /** Refreshes at most twice a second, because steps may be short. */
  #scheduleRefresh(): void {
    this.#refreshTimer ??= setTimeout(() => {
      this.#refreshTimer = undefined;
      this.#changed.fire(undefined);
    }, 500);
  }

  dispose(): void {
    clearTimeout(this.#refreshTimer);
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  async getChildren(node?: RunsNode): Promise<RunsNode[]> {
    if (!node) return sortRuns(this.#runs.list()).map(monitor => ({ kind: "run", monitor }));
    const { monitor } = node;
    switch (node.kind) {
      case "run":
        return createRunChildren(monitor);
      case "metrics":
        return createMetricNodes(monitor);
      case "steps":
        return node.steps.map(step => ({ kind: "step", monitor, step }));
      case "step": {
        const { groups } = await indexGroups(getGroupsFile(monitor.folder, node.step));
        return groups.map(group => ({ kind: "group", monitor, step: node.step, group }));
      }
      case "group":
        return node.group.entries.map(entry => ({
          kind: "attempt",
          monitor,
          step: node.step,
          entry,
        }));
      case "checkpoints":
        return monitor.checkpoints.map(step => ({ kind: "checkpoint", monitor, step }));
      case "metric":
      case "attempt":
      case "checkpoint":
        return [];
      default:
        throw new Error(`no children of ${JSON.stringify(node satisfies never)}`);
    }
  }

  getTreeItem(node: RunsNode): TreeItem {
    const item = createItem(node);
    item.id = [
      node.monitor.folder,
      node.kind,
      "step" in node ? node.step : "",
      "name" in node ? node.name : "",
      "group" in node ? node.group.task : "",
      "entry" in node ? node.entry.offset : "",
    ].join("#");
    return item;
  }
}

/** The runs that are being trained first, then the queue in its order, then the others. */
const sortRuns = (runs: readonly RunMonitor[]): readonly RunMonitor[] => {
  const getRank = ({ isAttached, queuePosition }: RunMonitor) =>
    isAttached ? 0 : (queuePosition ?? Infinity);
  return runs.toSorted((a, b) => (getRank(a) < getRank(b) ? -1 : getRank(a) > getRank(b) ? 1 : 0));
};
