/**
 * The tracker's tools that change issues: made, described, moved through their workflow, given to
 * people, labelled, linked and divided.
 */
import { z } from "zod";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import {
  due,
  given,
  issueId,
  issueKey,
  issueRow,
  newComment,
  newDescription,
  newTitle,
  person,
  points,
  projectId,
  tag,
} from "./words.ts";
import {
  hasRoom,
  isClosed,
  leadsTo,
  linkKinds,
  memberNamed,
  named,
  openBlockers,
  openIssue,
  ownIssue,
  ownProject,
  priorities,
  projectIdOf,
  projectOf,
  statuses,
  subtasksOf,
  Tracker,
  types,
  userName,
  workflows,
  type Issue,
  type Link,
  type Status,
} from "./state.ts";

const tool = createToolFactory(Tracker);

const mostLabels = 5;
const mostSubtasks = 12;

function notPast(date: string | undefined, now: string): void {
  if (date !== undefined && date < now.slice(0, 10))
    refuse(
      "precondition_failed",
      `the due day ${date} is past: today is ${now.slice(0, 10)}`,
      "choose today or a later day",
    );
}

/** Turns down an open issue of the same project that is called the same. */
function titleIsFree(tracker: Tracker, title: string, projectKey: string): void {
  const wanted = title.trim().toLowerCase();
  const same = Object.entries(getOriginal(tracker).issues).find(
    ([key, it]) =>
      projectIdOf(key) === projectKey && !isClosed(it) && it.title.toLowerCase() === wanted,
  );
  if (same)
    refuse(
      "conflict",
      `project ${projectKey} already has an open issue ${same[0]} (${same[1].title})`,
      "choose another title, or go on with that issue",
    );
}

/** Files the issue under the project's next number. */
function file(tracker: Tracker, projectKey: string, issue: Issue): string {
  const project = tracker.projects[projectKey]!;
  project.last += 1;
  const key = `${projectKey}-${project.last}`;
  tracker.issues[key] = issue;
  return key;
}

const type = z.enum(types);
const priority = z.enum(priorities);
const assignee = person().describe("Full name or e-mail address of a member of the project");

export const making = {
  create_issue: tool({
    effect: "write",
    summary:
      "File a new issue in a project; it begins in todo. For a part of another issue use issue_tracker_create_subtask.",
    input: {
      project_id: projectId,
      title: newTitle.describe("Title of the issue"),
      type: type.describe("What kind of issue it is"),
      priority: priority.optional().describe("How pressing it is, medium if not given"),
      assignee: assignee.optional(),
      due: due.optional().describe("Day by which it should be done, today or later"),
      points: points.optional().describe("Story points, from 1 to 40"),
      description: newDescription.optional().describe("What it is about, in a few sentences"),
    },
    returns: { ...issueRow, assignee: person().optional() },
    run(tracker, { project_id, assignee: who, priority: pressing = "medium", ...rest }, { now }) {
      ownProject(tracker, project_id);
      notPast(rest.due, now);
      titleIsFree(tracker, rest.title, project_id);
      const userId = who === undefined ? undefined : memberNamed(tracker, who, project_id);
      const issue_id = file(
        tracker,
        project_id,
        given({
          ...rest,
          status: "todo" as const,
          priority: pressing,
          reporter: tracker.user,
          assignee: userId,
          created: now.slice(0, 10),
        }) as Issue,
      );
      return given({
        title: rest.title,
        issue_id,
        status: "todo",
        assignee: userId && userName(tracker, userId),
      });
    },
  }),
  update_issue: tool({
    effect: "write",
    summary:
      "Change the title, type, priority, due day, points or description of an open issue. Its status, assignee, labels and sprint have tools of their own.",
    destructive: true,
    idempotent: true,
    input: {
      issue_id: issueId,
      title: newTitle.optional().describe("New title"),
      type: type.optional().describe("New type"),
      priority: priority.optional().describe("New priority"),
      due: due.optional().describe("New due day, today or later"),
      points: points.optional().describe("New story points, from 1 to 40"),
      description: newDescription.optional().describe("New description, instead of the old one"),
    },
    returns: { title: label("issue"), issue_id: issueKey(), changed: z.array(z.string()) },
    run(tracker, { issue_id, ...wanted }, { now }) {
      const issue = openIssue(tracker, issue_id);
      if (Object.keys(wanted).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a title, type, priority, due, points or description",
        );
      const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
        key => wanted[key] !== undefined && wanted[key] !== issue[key],
      );
      if (changed.length === 0)
        refuse("conflict", `${named(issue, issue_id)} is like that already`);
      if (changed.includes("due")) notPast(wanted.due, now);
      if (changed.includes("title")) titleIsFree(tracker, wanted.title!, projectIdOf(issue_id));
      if (changed.includes("points") && issue.parent_id !== undefined)
        refuse(
          "precondition_failed",
          `${named(issue, issue_id)} is a subtask: the points of ${issue.parent_id} count for it`,
          `change the points of ${issue.parent_id}`,
        );
      if (changed.includes("points") && issue.sprint_id !== undefined)
        hasRoom(tracker, issue.sprint_id, issue_id, wanted.points!);
      Object.assign(issue, given(wanted));
      return { title: issue.title, issue_id, changed };
    },
  }),
  create_subtask: tool({
    effect: "write",
    summary:
      "Divide an open issue: file a part of it as a subtask, which must be closed before the issue itself can be.",
    input: {
      parent_id: issueKey().describe("Key of the issue that it is a part of"),
      title: newTitle.describe("Title of the subtask"),
      assignee: assignee.optional(),
    },
    returns: { ...issueRow, parent_id: issueKey(), open_subtasks: z.int() },
    run(tracker, { parent_id, title, assignee: who }, { now }) {
      const parent = openIssue(tracker, parent_id);
      const project = projectIdOf(parent_id);
      if (parent.parent_id !== undefined)
        refuse(
          "precondition_failed",
          `${named(parent, parent_id)} is itself a subtask of ${parent.parent_id}`,
          `add it to ${parent.parent_id}`,
        );
      const siblings = subtasksOf(getOriginal(tracker), parent_id);
      if (siblings.length >= mostSubtasks)
        refuse(
          "limit_exceeded",
          `${named(parent, parent_id)} has ${mostSubtasks} subtasks already`,
          "file it as an issue of its own",
        );
      titleIsFree(tracker, title, project);
      const userId = who === undefined ? undefined : memberNamed(tracker, who, project);
      const fresh = given({
        title,
        type: "task" as const,
        status: "todo" as const,
        priority: parent.priority,
        reporter: tracker.user,
        assignee: userId,
        created: now.slice(0, 10),
        parent_id,
      }) as Issue;
      return {
        title,
        issue_id: file(tracker, project, fresh),
        status: "todo",
        parent_id,
        open_subtasks: siblings.filter(([, it]) => !isClosed(it)).length + 1,
      };
    },
  }),
};

/** Turns down a step for which something is still missing. */
function stepTo(tracker: Tracker, issueKeyed: string, issue: Issue, status: Status): void {
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
function settle(
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

export const moving = {
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
      stepTo(tracker, issue_id, issue, status);
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
      return given({
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
      return given({
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

export const labelling = {
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

const readings: Readonly<Record<Link["kind"], string>> = {
  blocks: "blocks",
  duplicates: "is a duplicate of",
  relates_to: "relates to",
};

/** Turns down a link that stands, contradicts another, or makes no sense. */
function linkable(tracker: Tracker, kind: Link["kind"], from: string, to: string): void {
  if (from === to) refuse("invalid_params", "issue_id and other_id are the same issue");
  const { links, issues } = getOriginal(tracker);
  const stands = (it: Link) =>
    it.kind === kind &&
    ((it.from === from && it.to === to) ||
      (kind === "relates_to" && it.from === to && it.to === from));
  if (Object.values(links).some(stands))
    refuse("conflict", `${from} ${readings[kind]} ${to} already`);
  if (kind === "relates_to") return;
  if (leadsTo(links, kind, to, from))
    refuse(
      "conflict",
      `${to} already ${readings[kind]} ${from}, directly or over others, and the two would go round in a circle`,
      "link them the other way round, or not at all",
    );
  if (kind === "blocks" && isClosed(issues[from]!))
    refuse(
      "precondition_failed",
      `${named(issues[from]!, from)} is ${issues[from]!.status} and blocks nothing`,
      "choose an open issue",
    );
  if (kind === "blocks" && isClosed(issues[to]!))
    refuse(
      "precondition_failed",
      `${named(issues[to]!, to)} is ${issues[to]!.status}: there is nothing left to block`,
      "choose an open issue",
    );
  const original =
    kind === "duplicates"
      ? Object.values(links).find(it => it.kind === kind && it.from === from)
      : undefined;
  if (original) refuse("conflict", `${from} is already a duplicate of ${original.to}`);
  const open =
    kind === "duplicates"
      ? subtasksOf(getOriginal(tracker), from).filter(([, it]) => !isClosed(it))
      : [];
  if (open.length > 0)
    refuse(
      "precondition_failed",
      `${named(issues[from]!, from)} has open subtasks: ${open.map(([key]) => key).join(", ")}`,
      "close the subtasks first",
    );
}

export const linking = {
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
      ...issueRow,
      kind: z.string(),
      other: label("issue"),
      other_id: issueKey(),
      closed: day().optional(),
    },
    run(tracker, { issue_id, kind, other_id }, context) {
      const issue = ownIssue(tracker, issue_id);
      const other = ownIssue(tracker, other_id);
      linkable(tracker, kind, issue_id, other_id);
      tracker.links[context.newId("lnk")] = { kind, from: issue_id, to: other_id };
      if (kind === "duplicates" && !isClosed(issue)) settle(tracker, issue, "cancelled", context);
      return given({
        title: issue.title,
        issue_id,
        status: issue.status,
        kind,
        other: other.title,
        other_id,
        closed: issue.closed,
      });
    },
  }),
};
