/** Tools that move, assign, link, label and comment on issues. */
import { z } from "zod";
import {
  id,
  minute,
  phrase,
  rowLimit,
  rowTotal,
  day,
  label,
} from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { getSchemas } from "../kit/table.ts";
import {
  IssueTrackerState,
  isClosed,
  issues,
  findMemberId,
  findUserId,
  formatIssue,
  listNextStatuses,
  listOpenBlockers,
  findOpenIssue,
  findEditableIssue,
  getProjectId,
  projects,
  requireClosedSubtasks,
  requireUniqueTitle,
  statuses,
  getUserName,
  type Issue,
  type Status,
  assignee,
  issueKey,
  issueLabel,
  issueRow,
  person,
  hasLinkPath,
  linkKinds,
  type Link,
  requireProjectLabel,
  tag,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(IssueTrackerState);

/** Refuses a change of status that the workflow or the issue's links do not allow. */
function requireTransition(
  state: IssueTrackerState,
  issueId: string,
  issue: Issue,
  status: Status,
): void {
  const { name } = projects.find(state, getProjectId(issueId));
  const next = listNextStatuses(state, issueId, issue.status);
  if (issue.status === status)
    refuse("conflict", `${formatIssue(issue, issueId)} is already ${status}`);
  if (!next.includes(status))
    refuse(
      "precondition_failed",
      `in ${name} an issue that is ${issue.status} cannot become ${status}`,
      `from ${issue.status} it may become ${next.join(" or ")}`,
    );
  const original = getOriginal(state);
  if (status === "done" || status === "cancelled") requireClosedSubtasks(state, issueId);
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
function setStatus(
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
      issue_id: issues.id,
      status: z
        .enum(statuses)
        .describe("The new status; issue_tracker_get_issue gives the ones that are allowed"),
    },
    returns: {
      ...getSchemas(issueRow),
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
      return {
        title: issue.title,
        issue_id,
        status,
        next_statuses: listNextStatuses(state, issue_id, status),
        unblocked: unblocked.length ? unblocked : undefined,
      };
    },
  }),
  assign_issue: tool({
    effect: "write",
    summary: "Give an open issue to a member of its project, in place of whoever has it.",
    idempotent: true,
    input: { issue_id: issues.id, assignee },
    returns: { ...getSchemas(issueLabel), assignee: person(), before: person().optional() },
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
      return {
        title: issue.title,
        issue_id,
        assignee: getUserName(state, userId),
        before: previous && getUserName(state, previous),
      };
    },
  }),
  comment_issue: tool({
    effect: "write",
    summary: "Write a comment under an issue, open or closed.",
    input: {
      issue_id: issues.id,
      text: phrase(2, 600).meta({ examples: vocabulary.comments }).describe("What to say"),
    },
    returns: { ...getSchemas(issueLabel), comment_id: id("comment"), comments: z.int() },
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
  list_comments: tool({
    effect: "read",
    summary: "List the comments on one issue, newest first.",
    input: {
      issue_id: issues.id,
      by: person()
        .optional()
        .describe("Only comments by this person, by full name or e-mail address"),
      limit: rowLimit(10),
    },
    returns: {
      total: rowTotal("comments"),
      comments: z.array(
        z.object({ comment_id: id("comment"), by: person(), at: minute(), text: z.string() }),
      ),
    },
    run(state, { issue_id, by, limit = 10 }) {
      issues.find(state, issue_id);
      const userId = by === undefined ? undefined : findUserId(state, by);
      const comments = Object.entries(state.comments)
        .filter(([, it]) => it.issue_id === issue_id && (!userId || it.by === userId))
        .sort(([a, x], [b, y]) => (x.at === y.at ? (a < b ? 1 : -1) : x.at < y.at ? 1 : -1));
      return {
        total: comments.length,
        comments: comments.slice(0, limit).map(([comment_id, it]) => ({
          comment_id,
          by: getUserName(state, it.by),
          at: it.at,
          text: it.text,
        })),
      };
    },
  }),
};

const kindPhrases: Readonly<Record<Link["kind"], string>> = {
  blocks: "blocks",
  duplicates: "is a duplicate of",
  relates_to: "relates to",
};

/** Refuses a link that exists already, contradicts another, or involves closed issues. */
function requireLinkable(
  state: IssueTrackerState,
  kind: Link["kind"],
  from: string,
  to: string,
): void {
  if (from === to) refuse("invalid_params", "issue_id and other_id are the same issue");
  const { links, issues } = getOriginal(state);
  const isSameLink = (it: Link) =>
    it.kind === kind &&
    ((it.from === from && it.to === to) ||
      (kind === "relates_to" && it.from === to && it.to === from));
  if (Object.values(links).some(isSameLink))
    refuse("conflict", `${from} ${kindPhrases[kind]} ${to} already`);
  if (kind === "relates_to") return;
  if (hasLinkPath(links, kind, to, from))
    refuse(
      "conflict",
      `${to} already ${kindPhrases[kind]} ${from}, directly or over others, and the two would go round in a circle`,
      "link them the other way round, or not at all",
    );
  if (kind === "blocks" && isClosed(issues[from]!))
    refuse(
      "precondition_failed",
      `${formatIssue(issues[from]!, from)} is ${issues[from]!.status} and blocks nothing`,
      "choose an open issue",
    );
  if (kind === "blocks" && isClosed(issues[to]!))
    refuse(
      "precondition_failed",
      `${formatIssue(issues[to]!, to)} is ${issues[to]!.status}: there is nothing left to block`,
      "choose an open issue",
    );
  if (kind !== "duplicates") return;
  const existing = Object.values(links).find(it => it.kind === kind && it.from === from);
  if (existing) refuse("conflict", `${from} is already a duplicate of ${existing.to}`);
  requireClosedSubtasks(state, from);
}

export const linkTools = {
  link_issues: tool({
    effect: "write",
    summary:
      "Link two issues: one blocks the other, duplicates it, or relates to it. A duplicate is cancelled at once if it is still open.",
    input: {
      issue_id: issueKey().describe("Key of the issue that blocks, duplicates or relates"),
      kind: z.enum(linkKinds).describe("How the first issue stands to the other"),
      other_id: issueKey().describe("Key of the issue that is blocked, duplicated or related to"),
    },
    returns: {
      ...getSchemas(issueRow),
      kind: z.string(),
      other: label("issue"),
      other_id: issueKey(),
      closed: day().optional(),
    },
    run(state, { issue_id, kind, other_id }, context) {
      const issue = findEditableIssue(state, issue_id);
      const other = findEditableIssue(state, other_id);
      requireLinkable(state, kind, issue_id, other_id);
      const isClosing = kind === "duplicates" && !isClosed(issue);
      if (isClosing) requireTransition(state, issue_id, issue, "cancelled");
      state.links[context.newId("lnk")] = { kind, from: issue_id, to: other_id };
      if (isClosing) setStatus(state, issue, "cancelled", context);
      return {
        title: issue.title,
        issue_id,
        status: issue.status,
        kind,
        other: other.title,
        other_id,
        closed: issue.closed,
      };
    },
  }),
};

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
