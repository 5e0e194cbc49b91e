/** The Runs view: each run with its metrics, its recorded groups and its checkpoints. */
import { basename } from "node:path";
import {
  type Disposable,
  EventEmitter,
  type TreeDataProvider,
  type TreeItem,
  TreeItemCollapsibleState,
} from "vscode";
import type { RunState, StepMetrics } from "../../protocol/runPage.ts";
import { getTrend } from "../../run/evaluation.ts";
import { getGroupsFile, listRecordedSteps } from "../../run/folder.ts";
import { getNodeUri } from "../attempts/attemptLocation.ts";
import { type Group, type GroupEntry, indexGroups } from "../attempts/groupIndex.ts";
import { shortenPaths, toEditorText } from "../shared/editorText.ts";
import { evaluatedRunIcon, icons, outcomeIcon, runIcon } from "../shared/icons.ts";
import { formatReward } from "../shared/rewardText.ts";
import { formatCount } from "../shared/text.ts";
import { createOpenCommand, createTreeItem } from "../shared/treeView.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { describeEvaluation } from "./runText.ts";
import { getRunName, type Runs } from "./runs.ts";

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

export type RunsNode =
  | { readonly kind: "run"; readonly monitor: RunMonitor }
  | { readonly kind: "metrics"; readonly monitor: RunMonitor }
  | {
      readonly kind: "metric";
      readonly monitor: RunMonitor;
      readonly name: string;
      readonly value: string;
    }
  | { readonly kind: "steps"; readonly monitor: RunMonitor; readonly steps: readonly number[] }
  | { readonly kind: "step"; readonly monitor: RunMonitor; readonly step: number }
  | {
      readonly kind: "group";
      readonly monitor: RunMonitor;
      readonly step: number;
      readonly group: Group;
    }
  | {
      readonly kind: "attempt";
      readonly monitor: RunMonitor;
      readonly step: number;
      readonly entry: GroupEntry;
    }
  | { readonly kind: "checkpoints"; readonly monitor: RunMonitor }
  | { readonly kind: "checkpoint"; readonly monitor: RunMonitor; readonly step: number };

type NodeOf<Kind extends RunsNode["kind"]> = Extract<RunsNode, { kind: Kind }>;

function createRunChildren(monitor: RunMonitor): RunsNode[] {
  const steps = listRecordedSteps(monitor.folder);
  const children: RunsNode[] = [];
  if (monitor.steps.length) children.push({ kind: "metrics", monitor });
  if (steps.length) children.push({ kind: "steps", monitor, steps });
  if (monitor.checkpoints.length) children.push({ kind: "checkpoints", monitor });
  return children;
}

/** One node per metric of the last step. */
const createMetricNodes = (monitor: RunMonitor): RunsNode[] =>
  formatLastMetrics(monitor).map(([name, value]) => ({ kind: "metric", monitor, name, value }));

function formatLastMetrics({ steps }: RunMonitor): readonly (readonly [string, string])[] {
  const last = steps.at(-1);
  if (!last) return [];
  const step = ["step", String(last.step)] as const;
  if (last.method === "sft")
    return [
      step,
      ["loss", last.loss.toFixed(4)],
      ["learning rate", last.learningRate.toExponential(1)],
    ];
  return [
    step,
    ["reward", formatReward(last.reward.mean)],
    ["success", `${(100 * last.success).toFixed(1)}%`],
    ...Object.entries(last.parts).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, formatReward(value)] as const],
    ),
    ["zero-variance groups", `${(100 * last.zeroVariance).toFixed(1)}%`],
    ["rollouts per second", last.rolloutsPerSecond.toFixed(1)],
  ];
}

const { Collapsed, None } = TreeItemCollapsibleState;

/** The context values of runs, which the menus are bound to. */
const runContexts: Readonly<Record<RunState, string>> = {
  ready: "run.stopped",
  queued: "run.queued",
  starting: "run.training",
  training: "run.training",
  paused: "run.paused",
  stopping: "run.stopping",
  stopped: "run.stopped",
  interrupted: "run.stopped",
  failed: "run.stopped",
  finished: "run.finished",
  unknown: "run",
  unreadable: "run",
};

/** The context of a run that has ended without a checkpoint that it could go on from. */
const endedContext = "run.ended";

/** Those of runs of other engines, which cannot be paused, queued or evaluated. */
const engineContexts: Readonly<Record<RunState, string>> = {
  ...runContexts,
  ready: "run.engine-stopped",
  starting: "run.engine-training",
  training: "run.engine-training",
  stopped: "run.engine-stopped",
  interrupted: "run.engine-stopped",
  failed: "run.engine-stopped",
  unknown: "run.engine-stopped",
  finished: "run.engine-finished",
};

function createItem(node: RunsNode): TreeItem {
  switch (node.kind) {
    case "run":
      return createRunItem(node);
    case "metrics":
      return createTreeItem("Metrics", Collapsed, {
        icon: icons.metrics,
        description: `after step ${node.monitor.steps.at(-1)?.step ?? 0}`,
        context: "metrics",
      });
    case "metric":
      return createTreeItem(node.name, None, {
        icon: icons.value,
        description: node.value,
        context: "metric",
      });
    case "steps":
      return createTreeItem("Groups", Collapsed, {
        icon: icons.group,
        description: formatCount(node.steps.length, "recorded step"),
        context: "steps",
      });
    case "step":
      return createTreeItem(`Step ${node.step}`, Collapsed, { icon: icons.group, context: "step" });
    case "group":
      return createGroupItem(node.group);
    case "attempt":
      return createAttemptItem(node);
    case "checkpoints":
      return createTreeItem("Checkpoints", Collapsed, {
        icon: icons.checkpoint,
        description: String(node.monitor.checkpoints.length),
        context: "checkpoints",
      });
    case "checkpoint":
      return createTreeItem(`Step ${node.step}`, None, {
        icon: icons.checkpoint,
        context: "checkpoint",
      });
    default:
      throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
  }
}

function createRunItem(node: NodeOf<"run">): TreeItem {
  const { folder, status, steps: metrics, config, evaluation } = node.monitor;
  const { state, step, steps, activity } = status;
  const last = metrics.at(-1);
  const total = steps === undefined ? "" : `/${steps}`;
  const value = last?.method === "grpo" ? last.reward.mean : last?.loss;
  const setup = `${config.method} on ${basename(config.tasks)}, reward ${config.profile}`;
  const item = createTreeItem(getRunName(node.monitor), Collapsed, {
    icon:
      state === "finished" && evaluation
        ? evaluatedRunIcon[getTrend(evaluation.change.success)]
        : runIcon[state],
    description:
      state === "queued" || state === "ready"
        ? `${state} · ${activity}`
        : // the icon shows the state, too, and a narrow row ends before the last word
          [`${step}${total}`, ...(value === undefined ? [] : [formatReward(value)]), state].join(
            " · ",
          ),
    tooltip: [
      ...(value === undefined ? [] : [describeLast(last!)]),
      shortenPaths(folder),
      toEditorText(activity),
      setup,
      ...(evaluation ? [describeEvaluation(evaluation)] : []),
    ].join("\n\n"),
    context: getContext(node.monitor),
  });
  item.command = { command: "prove.showRun", title: "Show Run", arguments: [node] };
  return item;
}

const describeLast = (last: StepMetrics): string =>
  last.method === "grpo"
    ? `reward ${formatReward(last.reward.mean)} in step ${last.step}`
    : `loss ${last.loss.toFixed(3)} in step ${last.step}`;

function getContext({ config, status: { state }, checkpoints }: RunMonitor): string {
  if (config.engine !== undefined) return engineContexts[state];
  const context = runContexts[state];
  const hasEnded = context === "run.stopped" || context === "run.finished";
  return hasEnded && checkpoints.length === 0 ? endedContext : context;
}

function createGroupItem({ task, entries }: Group): TreeItem {
  const mean = entries.reduce((sum, it) => sum + it.total, 0) / entries.length;
  const hasNoVariance = entries.every(it => Math.abs(it.total - entries[0]!.total) < 1e-9);
  return createTreeItem(task, Collapsed, {
    icon: hasNoVariance ? icons.groupWithoutVariance : icons.group,
    description: `mean ${formatReward(mean)}${hasNoVariance ? ", no variance" : ""}`,
    context: "group",
  });
}

function createAttemptItem(node: NodeOf<"attempt">): TreeItem {
  const { attempt, total, advantage, success, calls } = node.entry;
  const signed = `${advantage >= 0 ? "+" : ""}${advantage.toFixed(2)}`;
  const item = createTreeItem(`Attempt ${attempt + 1}`, None, {
    icon: success ? outcomeIcon.ok : outcomeIcon.refused,
    description: `${formatReward(total)} · advantage ${signed} · ${formatCount(calls, "call")}`,
    tooltip: success
      ? "success: the final state is right, and everything asked for was shown"
      : "no success",
    context: "attempt",
  });
  item.command = createOpenCommand(getNodeUri(node));
  return item;
}
