/** Tools that label issues. */
import { z } from "zod";
import { label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { named, ownIssue, projectIdOf, projectOf, Tracker } from "./state.ts";
import { issueId, issueKey, tag } from "./parameters.ts";

const tool = createToolFactory(Tracker);

const mostLabels = 5;

export const labelTools = {
  add_label: tool({
    effect: "write",
    summary: "Put one of its project's labels on an issue.",
    idempotent: true,
    input: {
      issue_id: issueId,
      label: tag().describe("A label of the project, as issue_tracker_list_projects gives them"),
    },
    returns: { title: label("issue"), issue_id: issueKey(), labels: z.array(tag()) },
    run(tracker, { issue_id, label: wanted }) {
      const issue = ownIssue(tracker, issue_id);
      const { labels } = projectOf(tracker, projectIdOf(issue_id));
      if (!labels.includes(wanted))
        refuse(
          "not_found",
          `project ${projectIdOf(issue_id)} has no label ${wanted}`,
          `its labels are ${labels.join(", ")}`,
        );
      const own = issue.labels ?? [];
      if (own.includes(wanted))
        refuse("conflict", `${named(issue, issue_id)} already has the label ${wanted}`);
      if (own.length >= mostLabels)
        refuse(
          "limit_exceeded",
          `${named(issue, issue_id)} has ${mostLabels} labels already: ${own.join(", ")}`,
          "issue_tracker_remove_label takes one off",
        );
      issue.labels = [...own, wanted];
      return { title: issue.title, issue_id, labels: issue.labels };
    },
  }),
  remove_label: tool({
    effect: "write",
    summary: "Take a label off an issue.",
    destructive: true,
    input: { issue_id: issueId, label: tag().describe("A label that the issue has") },
    returns: { title: label("issue"), issue_id: issueKey(), labels: z.array(tag()) },
    run(tracker, { issue_id, label: unwanted }) {
      const issue = ownIssue(tracker, issue_id);
      const own = issue.labels ?? [];
      if (!own.includes(unwanted))
        refuse(
          "not_found",
          `${named(issue, issue_id)} has no label ${unwanted}`,
          own.length ? `its labels are ${own.join(", ")}` : "it has no labels",
        );
      const left = own.filter(it => it !== unwanted);
      if (left.length > 0) issue.labels = left;
      else delete issue.labels;
      return { title: issue.title, issue_id, labels: left };
    },
  }),
};
