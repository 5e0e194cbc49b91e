/**
 * One icon for each of the house's nouns and outcomes, the same in trees, quick picks and pages.
 */
import { ThemeColor, ThemeIcon } from "vscode";
import type { OutcomeKind } from "../../environment/outcome.ts";
import type { RunState } from "../../protocol/runPage.ts";

const icon = (id: string, color?: string) =>
  color ? new ThemeIcon(id, new ThemeColor(color)) : new ThemeIcon(id);

export const icons = {
  server: icon("server"),
  connection: icon("plug"),
  readTool: icon("eye"),
  writeTool: icon("edit"),
  fixture: icon("database"),
  session: icon("vm-active"),
  othersSession: icon("hubot", "charts.blue"),
  entities: icon("symbol-class"),
  entity: icon("symbol-object"),
  value: icon("symbol-field"),
  clock: icon("watch"),
  taskFile: icon("checklist"),
  task: icon("comment-discussion"),
  abstention: icon("comment-unresolved"),
  trajectory: icon("git-commit"),
  breakdown: icon("star-half"),
  group: icon("layers"),
  checkpoint: icon("milestone"),
  metrics: icon("graph-line"),
  torn: icon("warning", "list.warningForeground"),
} as const;

/** The icon of an outcome: its shape differs as well as its colour. */
export const outcomeIcon: Readonly<Record<OutcomeKind, ThemeIcon>> = {
  ok: icon("pass", "testing.iconPassed"),
  refused: icon("circle-slash", "list.warningForeground"),
  "bad-arguments": icon("error", "list.errorForeground"),
  "unknown-tool": icon("question", "list.errorForeground"),
  broken: icon("bug", "list.errorForeground"),
};

export const runIcon: Readonly<Record<RunState, ThemeIcon>> = {
  starting: icon("loading~spin"),
  training: icon("sync~spin", "charts.blue"),
  paused: icon("debug-pause", "charts.yellow"),
  stopping: icon("loading~spin"),
  stopped: icon("circle-outline"),
  finished: icon("pass", "testing.iconPassed"),
  failed: icon("error", "list.errorForeground"),
};
