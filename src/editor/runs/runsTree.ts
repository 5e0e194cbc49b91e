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
import { nameOf, type Runs } from "./runs.ts";
import type { RunWatch } from "./runWatch.ts";

export type RunsNode =
  | { readonly kind: "run"; readonly watch: RunWatch }
  | { readonly kind: "metrics"; readonly watch: RunWatch }
  | {
      readonly kind: "metric";
      readonly watch: RunWatch;
      readonly name: string;
      readonly value: string;
    }
  | { readonly kind: "steps"; readonly watch: RunWatch; readonly steps: readonly number[] }
  | { readonly kind: "step"; readonly watch: RunWatch; readonly step: number }
  | {
      readonly kind: "group";
      readonly watch: RunWatch;
      readonly step: number;
      readonly group: Group;
    }
  | {
      readonly kind: "attempt";
      readonly watch: RunWatch;
      readonly step: number;
      readonly entry: GroupEntry;
    }
  | { readonly kind: "checkpoints"; readonly watch: RunWatch }
  | { readonly kind: "checkpoint"; readonly watch: RunWatch; readonly step: number };

const { Collapsed, None } = TreeItemCollapsibleState;

export class RunsTree implements TreeDataProvider<RunsNode>, Disposable {
  readonly #changed = new EventEmitter<RunsNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;
  readonly #runs: Runs;
  readonly #following: Disposable;
  #due: NodeJS.Timeout | undefined;

  constructor(runs: Runs) {
    this.#runs = runs;
    this.#following = runs.onDidChange(() => this.#refreshSoon());
  }

  /** At most twice a second: a trainer may step faster than anyone reads. */
  #refreshSoon(): void {
    this.#due ??= setTimeout(() => {
      this.#due = undefined;
      this.#changed.fire(undefined);
    }, 500);
  }

  dispose(): void {
    clearTimeout(this.#due);
    this.#following.dispose();
    this.#changed.dispose();
  }

  async getChildren(node?: RunsNode): Promise<RunsNode[]> {
    if (!node) return this.#runs.all().map(watch => ({ kind: "run", watch }));
    switch (node.kind) {
      case "run":
        return partsOf(node.watch);
      case "metrics":
        return latest(node.watch).map(([name, value]) => ({
          kind: "metric",
          watch: node.watch,
          name,
          value,
        }));
      case "steps":
        return node.steps.map(step => ({ kind: "step", watch: node.watch, step }));
      case "step":
        return (await indexGroups(groupsFile(node.watch.folder, node.step))).groups.map(group => ({
          ...node,
          kind: "group",
          group,
        }));
      case "group":
        return node.group.entries.map(entry => ({
          kind: "attempt",
          watch: node.watch,
          step: node.step,
          entry,
        }));
      case "checkpoints":
        return node.watch.checkpoints.map(step => ({
          kind: "checkpoint",
          watch: node.watch,
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
    const item = itemOf(node);
    item.id = [
      node.watch.folder,
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
export function keptSteps(folder: string): readonly number[] {
  const groups = join(folder, "groups");
  if (!existsSync(groups)) return [];
  const steps = readdirSync(groups).map(it => /^(\d+)\.jsonl$/.exec(it)?.[1]);
  return steps.flatMap(it => (it === undefined ? [] : [Number(it)])).sort((a, b) => b - a);
}

function partsOf(watch: RunWatch): RunsNode[] {
  const steps = keptSteps(watch.folder);
  return [
    ...(watch.steps.length ? [{ kind: "metrics" as const, watch }] : []),
    ...(steps.length ? [{ kind: "steps" as const, watch, steps }] : []),
    ...(watch.checkpoints.length ? [{ kind: "checkpoints" as const, watch }] : []),
  ];
}

/** The last step's numbers, in the words of the run page. */
function latest(watch: RunWatch): readonly (readonly [string, string])[] {
  const last = watch.steps.at(-1);
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

function itemOf(node: RunsNode): TreeItem {
  switch (node.kind) {
    case "run":
      return runItem(node);
    case "metrics":
      return built(
        "Metrics",
        Collapsed,
        `after step ${node.watch.steps.at(-1)?.step ?? 0}`,
        icons.metrics,
      );
    case "metric":
      return built(node.name, None, node.value, undefined);
    case "steps":
      return built("Groups", Collapsed, `${node.steps.length} steps kept`, icons.group);
    case "step":
      return built(`Step ${node.step}`, Collapsed, undefined, icons.group);
    case "group":
      return groupItem(node.group);
    case "attempt":
      return attemptItem(node);
    case "checkpoints":
      return built(
        "Checkpoints",
        Collapsed,
        String(node.watch.checkpoints.length),
        icons.checkpoint,
      );
    case "checkpoint":
      return built(`Step ${node.step}`, None, undefined, icons.checkpoint);
    default:
      throw new Error(`no item for ${JSON.stringify(node satisfies never)}`);
  }
}

function built(
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

function runItem(node: Extract<RunsNode, { kind: "run" }>): TreeItem {
  const { watch } = node;
  const { state, step, steps, activity } = watch.status;
  const last = watch.steps.at(-1);
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
  const item = built(
    nameOf(watch),
    Collapsed,
    `${state} · step ${step}${steps === undefined ? "" : ` of ${steps}`}${reward}`,
    runIcon[state],
    context,
  );
  item.tooltip = new MarkdownString().appendText(
    `${watch.folder}\n\n${activity}\n\n${watch.config.method} on ${basename(watch.config.tasks)}, reward ${watch.config.profile}`,
  );
  item.command = { command: "prove.showRun", title: "Show Run", arguments: [node] };
  return item;
}

function groupItem({ task, entries }: Group): TreeItem {
  const mean = entries.reduce((sum, it) => sum + it.total, 0) / entries.length;
  const isFlat = entries.every(it => Math.abs(it.total - entries[0]!.total) < 1e-9);
  return built(
    task,
    Collapsed,
    `mean ${mean.toFixed(3)}${isFlat ? ", all alike" : ""}`,
    isFlat ? new ThemeIcon("dash", new ThemeColor("disabledForeground")) : icons.group,
  );
}

function attemptItem(node: Extract<RunsNode, { kind: "attempt" }>): TreeItem {
  const { attempt, total, advantage, success, calls } = node.entry;
  const description = `${total.toFixed(3)} · advantage ${advantage >= 0 ? "+" : ""}${advantage.toFixed(2)} · ${calls} ${calls === 1 ? "call" : "calls"}`;
  const item = built(
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
