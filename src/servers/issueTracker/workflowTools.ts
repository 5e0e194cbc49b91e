/** Tools that move, assign and comment on issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { assignee } from "./issueParameters.ts";
import {
  Tracker,
  isClosed,
  memberNamed,
  named,
  openBlockers,
  openIssue,
  ownIssue,
  projectIdOf,
  projectOf,
  statuses,
  subtasksOf,
  userName,
  workflows,
  type Issue,
  type Status,
} from "./state.ts";
import { issueId, issueKey, issueRow, newComment, person } from "./parameters.ts";

const tool = createToolFactory(Tracker);

/** Turns down a step for which something is still missing. */
function changeStatus(tracker: Tracker, issueKeyed: string, issue: Issue, status: Status): void {
  const { workflow, name } = projectOf(tracker, projectIdOf(issueKeyed));
  const next = workflows[workflow][issue.status];
  if (issue.status === status)
    refuse("conflict", `${named(issue, issueKeyed)} is already ${status}`);
  if (!next.includes(status))
    refuse(
      "precondition_failed",
      `in ${name} an issue that is ${issue.status} cannot become ${status}`,
      `from ${issue.status} it may become ${next.join(" or ")}`,
    );
  const old = getOriginal(tracker);
  if (status === "done" || status === "cancelled") {
    const open = subtasksOf(old, issueKeyed).filter(([, it]) => !isClosed(it));
    if (open.length > 0)
      refuse(
        "precondition_failed",
        `${named(issue, issueKeyed)} has open subtasks: ${open.map(([key]) => key).join(", ")}`,
        "close the subtasks first",
      );
  }
  if (status === "in_progress" || status === "in_review" || status === "done") {
    const [blocker] = openBlockers(old, issueKeyed);
    if (blocker)
      refuse(
        "precondition_failed",
        `${named(issue, issueKeyed)} is blocked by ${named(old.issues[blocker]!, blocker)}, which is ${old.issues[blocker]!.status}`,
        `close ${blocker} first`,
      );
  }
  if (status === "in_progress" && issue.assignee === undefined)
    refuse(
      "precondition_failed",
      `nobody is assigned to ${named(issue, issueKeyed)}`,
      "issue_tracker_assign_issue gives it to somebody",
    );
  const parent = issue.parent_id === undefined ? undefined : old.issues[issue.parent_id];
  if (isClosed(issue) && parent && isClosed(parent))
    refuse(
      "precondition_failed",
      `${named(issue, issueKeyed)} is a part of ${issue.parent_id}, which is ${parent.status}`,
      `open ${issue.parent_id} again first`,
    );
}

/** Sets the status with all that goes with it. */
export function settle(
  tracker: Tracker,
  issue: Issue,
  status: Status,
  { now }: Pick<ToolContext, "now">,
): void {
  issue.status = status;
  if (isClosed(issue)) issue.closed = now.slice(0, 10);
  else delete issue.closed;
  // what is opened again after its sprint is no part of that sprint
  if (
    !isClosed(issue) &&
    issue.sprint_id !== undefined &&
    tracker.sprints[issue.sprint_id]!.status === "closed"
  )
    delete issue.sprint_id;
}

export const workflowTools = {
  transition_issue: tool({
    effect: "write",
    summary:
      "Move an issue to another status, as its project's workflow allows. It needs an assignee to be in progress, no open blocker to go on, and no open subtask to be closed.",
    input: {
      issue_id: issueId,
      status: z
        .enum(statuses)
        .describe("The new status; issue_tracker_get_issue gives the ones that are allowed"),
    },
    returns: {
      ...issueRow,
      next_statuses: z.array(z.string()),
      unblocked: z
        .array(issueKey())
        .optional()
        .describe("Issues that nothing open blocks any more"),
    },
    run(tracker, { issue_id, status }, context) {
      const issue = ownIssue(tracker, issue_id);
      changeStatus(tracker, issue_id, issue, status);
      const old = getOriginal(tracker);
      const freed =
        isClosed(issue) || (status !== "done" && status !== "cancelled")
          ? []
          : Object.values(old.links)
              .filter(
                it =>
                  it.kind === "blocks" &&
                  it.from === issue_id &&
                  openBlockers(old, it.to).length === 1,
              )
              .map(it => it.to);
      settle(tracker, issue, status, context);
      const { workflow } = projectOf(tracker, projectIdOf(issue_id));
      return omitUndefined({
        title: issue.title,
        issue_id,
        status,
        next_statuses: [...workflows[workflow][status]],
        unblocked: freed.length ? freed : undefined,
      });
    },
  }),
  assign_issue: tool({
    effect: "write",
    summary: "Give an open issue to a member of its project, in place of whoever has it.",
    idempotent: true,
    input: { issue_id: issueId, assignee },
    returns: {
      title: label("issue"),
      issue_id: issueKey(),
      assignee: person(),
      before: person().optional(),
    },
    run(tracker, { issue_id, assignee: who }) {
      const issue = openIssue(tracker, issue_id);
      const userId = memberNamed(tracker, who, projectIdOf(issue_id));
      const previous = issue.assignee;
      if (previous === userId)
        refuse(
          "conflict",
          `${named(issue, issue_id)} is already assigned to ${userName(tracker, userId)}`,
        );
      issue.assignee = userId;
      return omitUndefined({
        title: issue.title,
        issue_id,
        assignee: userName(tracker, userId),
        before: previous && userName(tracker, previous),
      });
    },
  }),
  comment_issue: tool({
    effect: "write",
    summary: "Write a comment under an issue, open or closed.",
    input: { issue_id: issueId, text: newComment.describe("What to say") },
    returns: {
      title: label("issue"),
      issue_id: issueKey(),
      comment_id: id("comment"),
      comments: z.int(),
    },
    run(tracker, { issue_id, text }, { now, newId }) {
      const { title } = ownIssue(tracker, issue_id);
      const others = Object.values(getOriginal(tracker).comments).filter(
        it => it.issue_id === issue_id,
      );
      if (others.some(it => it.by === tracker.user && it.text === text.trim()))
        refuse("conflict", `you have said exactly this on ${issue_id} (${title}) before`);
      const comment_id = newId("cmt");
      tracker.comments[comment_id] = { issue_id, by: tracker.user, at: now, text: text.trim() };
      return { title, issue_id, comment_id, comments: others.length + 1 };
    },
  }),
};
