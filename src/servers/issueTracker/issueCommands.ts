/** Tools that create and change issues and subtasks. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { assignee, requireFutureDueDay, priority } from "./issueParameters.ts";
import {
  Tracker,
  hasRoom,
  isClosed,
  memberNamed,
  named,
  openIssue,
  ownProject,
  projectIdOf,
  subtasksOf,
  types,
  userName,
  type Issue,
} from "./state.ts";
import {
  due,
  issueId,
  issueKey,
  issueRow,
  newDescription,
  newTitle,
  person,
  points,
  projectId,
} from "./parameters.ts";

const tool = createToolFactory(Tracker);

const mostSubtasks = 12;

/** Turns down an open issue of the same project that is called the same. */
function requireFreeTitle(tracker: Tracker, title: string, projectKey: string): void {
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
function addIssue(tracker: Tracker, projectKey: string, issue: Issue): string {
  const project = tracker.projects[projectKey]!;
  project.last += 1;
  const key = `${projectKey}-${project.last}`;
  tracker.issues[key] = issue;
  return key;
}

const type = z.enum(types);

export const issueCommands = {
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
      requireFutureDueDay(rest.due, now);
      requireFreeTitle(tracker, rest.title, project_id);
      const userId = who === undefined ? undefined : memberNamed(tracker, who, project_id);
      const issue_id = addIssue(
        tracker,
        project_id,
        omitUndefined({
          ...rest,
          status: "todo" as const,
          priority: pressing,
          reporter: tracker.user,
          assignee: userId,
          created: now.slice(0, 10),
        }) as Issue,
      );
      return omitUndefined({
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
      if (changed.includes("due")) requireFutureDueDay(wanted.due, now);
      if (changed.includes("title"))
        requireFreeTitle(tracker, wanted.title!, projectIdOf(issue_id));
      if (changed.includes("points") && issue.parent_id !== undefined)
        refuse(
          "precondition_failed",
          `${named(issue, issue_id)} is a subtask: the points of ${issue.parent_id} count for it`,
          `change the points of ${issue.parent_id}`,
        );
      if (changed.includes("points") && issue.sprint_id !== undefined)
        hasRoom(tracker, issue.sprint_id, issue_id, wanted.points!);
      Object.assign(issue, omitUndefined(wanted));
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
      requireFreeTitle(tracker, title, project);
      const userId = who === undefined ? undefined : memberNamed(tracker, who, project);
      const fresh = omitUndefined({
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
        issue_id: addIssue(tracker, project, fresh),
        status: "todo",
        parent_id,
        open_subtasks: siblings.filter(([, it]) => !isClosed(it)).length + 1,
      };
    },
  }),
};
