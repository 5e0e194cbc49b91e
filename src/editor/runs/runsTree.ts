/**
 * The Runs view: each run with how it stands, its latest metrics, its kept groups with their
 * attempts, and its checkpoints.
 */
import { existsSync, readdirSync } from "node:fs";
import { basename, join } from "node:path";
import {
  EventEmitter,
  MarkdownString,
  ThemeColor,
  ThemeIcon,
  TreeItem,
  TreeItemCollapsibleState,
  type Disposable,
  type TreeDataProvider,
} from "vscode";
import { groupsFile } from "../../run/folder.ts";
import { indexGroups, type Group, type GroupEntry } from "./groupIndex.ts";
import { icons, outcomeIcon, runIcon } from "../shared/icons.ts";
import { getRunName, type Runs } from "./runs.ts";
import type { RunMonitor } from "./runMonitor.ts";

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

const { Collapsed, None } = TreeItemCollapsibleState;

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

  /** At most twice a second: a trainer may step faster than anyone reads. */
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
    if (!node) return this.#runs.list().map(monitor => ({ kind: "run", monitor }));
    switch (node.kind) {
      case "run":
        return createRunChildren(node.monitor);
      case "metrics":
        return formatLatestMetrics(node.monitor).map(([name, value]) => ({
          kind: "metric",
          monitor: node.monitor,
          name,
          value,
        }));
      case "steps":
        return node.steps.map(step => ({ kind: "step", monitor: node.monitor, step }));
      case "step":
        return (await indexGroups(groupsFile(node.monitor.folder, node.step))).groups.map(
          group => ({
            ...node,
            kind: "group",
            group,
          }),
        );
      case "group":
        return node.group.entries.map(entry => ({
          kind: "attempt",
          monitor: node.monitor,
          step: node.step,
          entry,
        }));
      case "checkpoints":
        return node.monitor.checkpoints.map(step => ({
          kind: "checkpoint",
          monitor: node.monitor,
          step,
        }));
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

/** Steps whose groups were kept, newest first. */
export function listRecordedSteps(folder: string): readonly number[] {
  const groups = join(folder, "groups");
  if (!existsSync(groups)) return [];
  const steps = readdirSync(groups).map(it => /^(\d+)\.jsonl$/.exec(it)?.[1]);
  return steps.flatMap(it => (it === undefined ? [] : [Number(it)])).sort((a, b) => b - a);
}

function createRunChildren(monitor: RunMonitor): RunsNode[] {
  const steps = listRecordedSteps(monitor.folder);
  return [
    ...(monitor.steps.length ? [{ kind: "metrics" as const, monitor }] : []),
    ...(steps.length ? [{ kind: "steps" as const, monitor, steps }] : []),
    ...(monitor.checkpoints.length ? [{ kind: "checkpoints" as const, monitor }] : []),
  ];
}

/** The last step's numbers, in the words of the run page. */
function formatLatestMetrics(monitor: RunMonitor): readonly (readonly [string, string])[] {
  const last = monitor.steps.at(-1);
  if (!last) return [];
  if (last.method === "sft")
    return [
      ["step", String(last.step)],
      ["loss", last.loss.toFixed(4)],
      ["learning rate", last.learningRate.toExponential(1)],
    ];
  return [
    ["step", String(last.step)],
    ["reward", last.reward.mean.toFixed(4)],
    ["success", `${(100 * last.success).toFixed(1)} %`],
    ...Object.entries(last.parts).map(([name, value]) => [name, value.toFixed(3)] as const),
    ["zero-variance groups", `${(100 * last.zeroVariance).toFixed(1)} %`],
    ["rollouts a second", last.rolloutsPerSecond.toFixed(1)],
  ];
}

function createItem(node: RunsNode): TreeItem {
  switch (node.kind) {
    case "run":
      return createRunItem(node);
    case "metrics":
      return buildItem(
        "Metrics",
        Collapsed,
        `after step ${node.monitor.steps.at(-1)?.step ?? 0}`,
        icons.metrics,
      );
    case "metric":
      return buildItem(node.name, None, node.value, undefined);
    case "steps":
      return buildItem("Groups", Collapsed, `${node.steps.length} steps kept`, icons.group);
    case "step":
      return buildItem(`Step ${node.step}`, Collapsed, undefined, icons.group);
    case "group":
      return createGroupItem(node.group);
    case "attempt":
      return createAttemptItem(node);
    case "checkpoints":
      return buildItem(
        "Checkpoints",
        Collapsed,
        String(node.monitor.checkpoints.length),
        icons.checkpoint,
      );
    case "checkpoint":
      return buildItem(`Step ${node.step}`, None, undefined, icons.checkpoint);
    default:
      throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
  }
}

function buildItem(
  label: string,
  state: TreeItemCollapsibleState,
  description: string | undefined,
  icon: ThemeIcon | undefined,
  context?: string,
): TreeItem {
  const item = new TreeItem(label, state);
  if (description !== undefined) item.description = description;
  if (icon) item.iconPath = icon;
  if (context) item.contextValue = context;
  return item;
}

function createRunItem(node: Extract<RunsNode, { kind: "run" }>): TreeItem {
  const { monitor } = node;
  const { state, step, steps, activity } = monitor.status;
  const last = monitor.steps.at(-1);
  const reward = last?.method === "grpo" ? ` · reward ${last.reward.mean.toFixed(3)}` : "";
  const context = {
    starting: "run.training",
    training: "run.training",
    paused: "run.paused",
    stopping: "run.stopping",
    stopped: "run.stopped",
    failed: "run.stopped",
    finished: "run.finished",
  }[state];
  const item = buildItem(
    getRunName(monitor),
    Collapsed,
    `${state} · step ${step}${steps === undefined ? "" : ` of ${steps}`}${reward}`,
    runIcon[state],
    context,
  );
  item.tooltip = new MarkdownString().appendText(
    `${monitor.folder}\n\n${activity}\n\n${monitor.config.method} on ${basename(monitor.config.tasks)}, reward ${monitor.config.profile}`,
  );
  item.command = { command: "prove.showRun", title: "Show Run", arguments: [node] };
  return item;
}

function createGroupItem({ task, entries }: Group): TreeItem {
  const mean = entries.reduce((sum, it) => sum + it.total, 0) / entries.length;
  const isFlat = entries.every(it => Math.abs(it.total - entries[0]!.total) < 1e-9);
  return buildItem(
    task,
    Collapsed,
    `mean ${mean.toFixed(3)}${isFlat ? ", all alike" : ""}`,
    isFlat ? new ThemeIcon("dash", new ThemeColor("disabledForeground")) : icons.group,
  );
}

function createAttemptItem(node: Extract<RunsNode, { kind: "attempt" }>): TreeItem {
  const { attempt, total, advantage, success, calls } = node.entry;
  const description = `${total.toFixed(3)} · advantage ${advantage >= 0 ? "+" : ""}${advantage.toFixed(2)} · ${calls} ${calls === 1 ? "call" : "calls"}`;
  const item = buildItem(
    `Attempt ${attempt + 1}`,
    None,
    description,
    success ? outcomeIcon.ok : outcomeIcon.refused,
    "attempt",
  );
  item.tooltip = success ? "success: the world is left as the goals leave it" : "no success";
  item.command = { command: "prove.openTranscript", title: "Open Transcript", arguments: [node] };
  return item;
}
