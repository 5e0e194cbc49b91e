/** Tools that label issues. */
import { z } from "zod";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { getSchemas } from "../kit/table.ts";
import {
  formatIssue,
  findEditableIssue,
  getProjectId,
  issues,
  IssueTrackerState,
  requireProjectLabel,
} from "./state.ts";
import { issueLabel, tag } from "./parameters.ts";

const tool = createToolFactory(IssueTrackerState);

export const maxLabels = 5;

const labelledRow = { ...getSchemas(issueLabel), labels: z.array(tag()) };

export const labelTools = {
  add_label: tool({
    effect: "write",
    summary: "Put one of its project's labels on an issue.",
    idempotent: true,
    input: {
      issue_id: issues.id,
      label: tag().describe("A label of the project, as issue_tracker_list_projects gives them"),
    },
    returns: labelledRow,
    run(state, { issue_id, label }) {
      const issue = findEditableIssue(state, issue_id);
      requireProjectLabel(state, getProjectId(issue_id), label);
      const labels = issue.labels ?? [];
      if (labels.includes(label))
        refuse("conflict", `${formatIssue(issue, issue_id)} already has the label ${label}`);
      if (labels.length >= maxLabels)
        refuse(
          "limit_exceeded",
          `${formatIssue(issue, issue_id)} has ${maxLabels} labels already: ${labels.join(", ")}`,
          "issue_tracker_remove_label takes one off",
        );
      issue.labels = [...labels, label];
      return { title: issue.title, issue_id, labels: issue.labels };
    },
  }),
  remove_label: tool({
    effect: "write",
    summary: "Take a label off an issue.",
    destructive: true,
    input: { issue_id: issues.id, label: tag().describe("A label that the issue has") },
    returns: labelledRow,
    run(state, { issue_id, label }) {
      const issue = findEditableIssue(state, issue_id);
      const labels = issue.labels ?? [];
      if (!labels.includes(label))
        refuse(
          "not_found",
          `${formatIssue(issue, issue_id)} has no label ${label}`,
          labels.length ? `its labels are ${labels.join(", ")}` : "it has no labels",
        );
      const remaining = labels.filter(it => it !== label);
      if (remaining.length > 0) issue.labels = remaining;
      else delete issue.labels;
      return { title: issue.title, issue_id, labels: remaining };
    },
  }),
};
