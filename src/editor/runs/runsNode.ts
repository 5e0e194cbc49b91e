/** The nodes of the Runs view, and the children of a run. */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Group, GroupEntry } from "../attempts/groupIndex.ts";
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

export type NodeOf<Kind extends RunsNode["kind"]> = Extract<RunsNode, { kind: Kind }>;

/** The steps of a run with recorded groups, newest first. */
export function listRecordedSteps(folder: string): readonly number[] {
  const groups = join(folder, "groups");
  if (!existsSync(groups)) return [];
  const steps = readdirSync(groups).map(it => /^(\d+)\.jsonl$/.exec(it)?.[1]);
  return steps.flatMap(it => (it === undefined ? [] : [Number(it)])).sort((a, b) => b - a);
}

export function createRunChildren(monitor: RunMonitor): RunsNode[] {
  const steps = listRecordedSteps(monitor.folder);
  const children: RunsNode[] = [];
  if (monitor.steps.length) children.push({ kind: "metrics", monitor });
  if (steps.length) children.push({ kind: "steps", monitor, steps });
  if (monitor.checkpoints.length) children.push({ kind: "checkpoints", monitor });
  return children;
}

/** One node per metric of the last step. */
export const createMetricNodes = (monitor: RunMonitor): RunsNode[] =>
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
    ["reward", last.reward.mean.toFixed(4)],
    ["success", `${(100 * last.success).toFixed(1)}%`],
    ...Object.entries(last.parts).map(([name, value]) => [name, value.toFixed(3)] as const),
    ["zero-variance groups", `${(100 * last.zeroVariance).toFixed(1)}%`],
    ["rollouts per second", last.rolloutsPerSecond.toFixed(1)],
  ];
}
