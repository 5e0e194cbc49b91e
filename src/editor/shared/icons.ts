/** The icon of each kind of object and outcome, the same in trees, quick picks and pages. */
import { ThemeColor, ThemeIcon } from "vscode";
import type { OutcomeKind } from "../../environment/outcome.ts";
import type { RunState } from "../../protocol/runPage.ts";
import type { Trend } from "../../run/evaluation.ts";

const createIcon = (id: string, color?: string) =>
  color ? new ThemeIcon(id, new ThemeColor(color)) : new ThemeIcon(id);

export const icons = {
  server: createIcon("server"),
  connection: createIcon("plug"),
  tools: createIcon("tools"),
  readTool: createIcon("eye"),
  writeTool: createIcon("edit"),
  fixture: createIcon("database"),
  session: createIcon("vm-active"),
  externalSession: createIcon("hubot", "charts.blue"),
  calls: createIcon("list-ordered"),
  entities: createIcon("symbol-class"),
  entity: createIcon("symbol-object"),
  value: createIcon("symbol-field"),
  taskFile: createIcon("checklist"),
  task: createIcon("comment-discussion"),
  attempts: createIcon("table"),
  trajectory: createIcon("list-tree"),
  abstention: createIcon("comment-unresolved"),
  group: createIcon("layers"),
  groupWithoutVariance: createIcon("dash", "disabledForeground"),
  checkpoint: createIcon("milestone"),
  folder: createIcon("folder"),
  otherTraining: createIcon("rocket"),
  metrics: createIcon("graph-line"),
  settings: createIcon("settings"),
  range: createIcon("list-unordered"),
  more: createIcon("ellipsis"),
  good: createIcon("thumbsup"),
  bad: createIcon("thumbsdown"),
  tag: createIcon("tag"),
  note: createIcon("comment"),
  removed: createIcon("trash"),
  warning: createIcon("warning", "list.warningForeground"),
} as const;

/** The icons of outcomes, which differ in shape as well as in color. */
export const outcomeIcon: Readonly<Record<OutcomeKind, ThemeIcon>> = {
  ok: createIcon("pass", "testing.iconPassed"),
  refused: createIcon("circle-slash", "list.warningForeground"),
  "bad-arguments": createIcon("error", "list.errorForeground"),
  "unknown-tool": createIcon("question", "list.errorForeground"),
  broken: createIcon("bug", "list.errorForeground"),
};

export const runIcon: Readonly<Record<RunState, ThemeIcon>> = {
  ready: createIcon("circle-outline"),
  queued: createIcon("watch"),
  starting: createIcon("loading~spin"),
  training: createIcon("sync~spin", "charts.blue"),
  paused: createIcon("debug-pause", "charts.yellow"),
  stopping: createIcon("loading~spin"),
  stopped: createIcon("debug-stop"),
  interrupted: createIcon("debug-disconnect", "list.errorForeground"),
  finished: createIcon("circle-filled"),
  failed: createIcon("error", "list.errorForeground"),
  unknown: createIcon("question"),
  unreadable: createIcon("warning", "list.warningForeground"),
};

/** The icons of finished runs that were evaluated, by what became of success. */
export const evaluatedRunIcon: Readonly<Record<Trend, ThemeIcon>> = {
  higher: createIcon("pass", "testing.iconPassed"),
  lower: createIcon("arrow-down", "list.errorForeground"),
  unclear: createIcon("circle-filled"),
};
