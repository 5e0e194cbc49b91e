/** The tree items of the Runs view. */
import { basename } from "node:path";
import { TreeItemCollapsibleState, type TreeItem } from "vscode";
import type { RunState } from "../../protocol/runPage.ts";
import { getTrend } from "../../run/evaluation.ts";
import { formatCount } from "../shared/text.ts";
import { shortenPaths, toEditorText } from "../shared/editorText.ts";
import { evaluatedRunIcon, icons, outcomeIcon, runIcon } from "../shared/icons.ts";
import { createOpenCommand, createTreeItem } from "../shared/treeView.ts";
import { getNodeUri } from "../attempts/attemptLocation.ts";
import { describeEvaluation } from "./evaluationText.ts";
import type { Group } from "../attempts/groupIndex.ts";
import type { RunMonitor } from "./runMonitor.ts";
import { getRunName } from "./runs.ts";
import type { NodeOf, RunsNode } from "./runsNode.ts";

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

export function createItem(node: RunsNode): TreeItem {
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
      return createTreeItem(node.name, None, { description: node.value, context: "metric" });
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
  const total = steps === undefined ? "" : ` of ${steps}`;
  const reward = last?.method === "grpo" ? ` · reward ${last.reward.mean.toFixed(3)}` : "";
  const setup = `${config.method} on ${basename(config.tasks)}, reward ${config.profile}`;
  const item = createTreeItem(getRunName(node.monitor), Collapsed, {
    icon:
      state === "finished" && evaluation
        ? evaluatedRunIcon[getTrend(evaluation.change.success)]
        : runIcon[state],
    description:
      state === "queued" || state === "ready"
        ? `${state} · ${activity}`
        : `${state} · step ${step}${total}${reward}`,
    tooltip: [
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
    description: `mean ${mean.toFixed(3)}${hasNoVariance ? ", no variance" : ""}`,
    context: "group",
  });
}

function createAttemptItem(node: NodeOf<"attempt">): TreeItem {
  const { attempt, total, advantage, success, calls } = node.entry;
  const signed = `${advantage >= 0 ? "+" : ""}${advantage.toFixed(2)}`;
  const item = createTreeItem(`Attempt ${attempt + 1}`, None, {
    icon: success ? outcomeIcon.ok : outcomeIcon.refused,
    description: `${total.toFixed(3)} · advantage ${signed} · ${formatCount(calls, "call")}`,
    tooltip: success
      ? "success: the final state is right, and everything asked for was shown"
      : "no success",
    context: "attempt",
  });
  item.command = createOpenCommand(getNodeUri(node));
  return item;
}
