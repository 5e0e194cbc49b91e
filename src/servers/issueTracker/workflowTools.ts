/** Tools that move, assign and comment on issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { assignee } from "./issueParameters.ts";
import {
  IssueTrackerState,
  isClosed,
  findMemberId,
  formatIssue,
  listOpenBlockers,
  findOpenIssue,
  findEditableIssue,
  getProjectId,
  findProject,
  requireUniqueTitle,
  statuses,
  listSubtasks,
  getUserName,
  workflows,
  type Issue,
  type Status,
} from "./state.ts";
import { issueId, issueKey, issueRow, newComment, person } from "./parameters.ts";

const tool = createToolFactory(IssueTrackerState);

/** Refuses a change of status that the workflow or the issue's links do not allow. */
export function requireTransition(
  state: IssueTrackerState,
  issueId: string,
  issue: Issue,
  status: Status,
): void {
  const { workflow, name } = findProject(state, getProjectId(issueId));
  const next = workflows[workflow][issue.status];
  if (issue.status === status)
    refuse("conflict", `${formatIssue(issue, issueId)} is already ${status}`);
  if (!next.includes(status))
    refuse(
      "precondition_failed",
      `in ${name} an issue that is ${issue.status} cannot become ${status}`,
      `from ${issue.status} it may become ${next.join(" or ")}`,
    );
  const original = getOriginal(state);
  if (status === "done" || status === "cancelled") {
    const openSubtasks = listSubtasks(original, issueId).filter(([, it]) => !isClosed(it));
    if (openSubtasks.length > 0)
      refuse(
        "precondition_failed",
        `${formatIssue(issue, issueId)} has open subtasks: ${openSubtasks.map(([key]) => key).join(", ")}`,
        "close the subtasks first",
      );
  }
  if (status === "in_progress" || status === "in_review" || status === "done") {
    const [blocker] = listOpenBlockers(original, issueId);
    if (blocker)
      refuse(
        "precondition_failed",
        `${formatIssue(issue, issueId)} is blocked by ${formatIssue(original.issues[blocker]!, blocker)}, which is ${original.issues[blocker]!.status}`,
        `close ${blocker} first`,
      );
  }
  if (status === "in_progress" && issue.assignee === undefined)
    refuse(
      "precondition_failed",
      `nobody is assigned to ${formatIssue(issue, issueId)}`,
      "issue_tracker_assign_issue gives it to somebody",
    );
  if (isClosed(issue))
    requireUniqueTitle(
      state,
      issue.title,
      getProjectId(issueId),
      "go on with that issue, or give it another title first",
    );
  const parent = issue.parent_id === undefined ? undefined : original.issues[issue.parent_id];
  if (isClosed(issue) && parent && isClosed(parent))
    refuse(
      "precondition_failed",
      `${formatIssue(issue, issueId)} is a part of ${issue.parent_id}, which is ${parent.status}`,
      `open ${issue.parent_id} again first`,
    );
}

/** Sets the status, and the fields that depend on it. */
export function setStatus(
  state: IssueTrackerState,
  issue: Issue,
  status: Status,
  { now }: Pick<ToolContext, "now">,
): void {
  issue.status = status;
  if (isClosed(issue)) issue.closed = now.slice(0, 10);
  else delete issue.closed;
  // an issue that is opened again leaves a sprint that is closed
  if (
    !isClosed(issue) &&
    issue.sprint_id !== undefined &&
    state.sprints[issue.sprint_id]!.status === "closed"
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
    run(state, { issue_id, status }, context) {
      const issue = findEditableIssue(state, issue_id);
      requireTransition(state, issue_id, issue, status);
      const original = getOriginal(state);
      const unblocked =
        isClosed(issue) || (status !== "done" && status !== "cancelled")
          ? []
          : Object.values(original.links)
              .filter(
                it =>
                  it.kind === "blocks" &&
                  it.from === issue_id &&
                  listOpenBlockers(original, it.to).length === 1,
              )
              .map(it => it.to);
      setStatus(state, issue, status, context);
      const { workflow } = findProject(state, getProjectId(issue_id));
      return omitUndefined({
        title: issue.title,
        issue_id,
        status,
        next_statuses: [...workflows[workflow][status]],
        unblocked: unblocked.length ? unblocked : undefined,
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
    run(state, { issue_id, assignee: assigneeName }) {
      const issue = findOpenIssue(state, issue_id);
      const userId = findMemberId(state, assigneeName, getProjectId(issue_id));
      const previous = issue.assignee;
      if (previous === userId)
        refuse(
          "conflict",
          `${formatIssue(issue, issue_id)} is already assigned to ${getUserName(state, userId)}`,
        );
      issue.assignee = userId;
      return omitUndefined({
        title: issue.title,
        issue_id,
        assignee: getUserName(state, userId),
        before: previous && getUserName(state, previous),
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
    run(state, { issue_id, text }, { now, newId }) {
      const { title } = findEditableIssue(state, issue_id);
      const comments = Object.values(getOriginal(state).comments).filter(
        it => it.issue_id === issue_id,
      );
      if (comments.some(it => it.by === state.user && it.text === text.trim()))
        refuse("conflict", `you have said exactly this on ${issue_id} (${title}) before`);
      const comment_id = newId("cmt");
      state.comments[comment_id] = { issue_id, by: state.user, at: now, text: text.trim() };
      return { title, issue_id, comment_id, comments: comments.length + 1 };
    },
  }),
};
