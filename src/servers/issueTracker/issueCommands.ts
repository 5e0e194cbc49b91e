/** Tools that create and change issues and subtasks. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { assignee, requireFutureDueDay, priority } from "./issueParameters.ts";
import {
  IssueTrackerState,
  requireSprintCapacity,
  requireUniqueTitle,
  isClosed,
  findMemberId,
  formatIssue,
  findOpenIssue,
  findEditableProject,
  getProjectId,
  listSubtasks,
  types,
  getUserName,
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

const tool = createToolFactory(IssueTrackerState);

export const maxSubtasks = 12;

/** Adds the issue with the project's next number and returns its key. */
function addIssue(state: IssueTrackerState, projectKey: string, issue: Issue): string {
  const project = state.projects[projectKey]!;
  project.last += 1;
  const key = `${projectKey}-${project.last}`;
  state.issues[key] = issue;
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
    run(state, { project_id, assignee: assigneeName, priority = "medium", ...rest }, { now }) {
      findEditableProject(state, project_id);
      requireFutureDueDay(rest.due, now);
      requireUniqueTitle(state, rest.title, project_id);
      const userId =
        assigneeName === undefined ? undefined : findMemberId(state, assigneeName, project_id);
      const issue_id = addIssue(
        state,
        project_id,
        omitUndefined({
          ...rest,
          status: "todo" as const,
          priority,
          reporter: state.user,
          assignee: userId,
          created: now.slice(0, 10),
        }) as Issue,
      );
      return omitUndefined({
        title: rest.title,
        issue_id,
        status: "todo",
        assignee: userId && getUserName(state, userId),
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
    run(state, { issue_id, ...changes }, { now }) {
      const issue = findOpenIssue(state, issue_id);
      if (Object.keys(changes).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a title, type, priority, due, points or description",
        );
      const changed = (Object.keys(changes) as (keyof typeof changes)[]).filter(
        key => changes[key] !== undefined && changes[key] !== issue[key],
      );
      if (changed.length === 0)
        refuse("conflict", `${formatIssue(issue, issue_id)} is like that already`);
      if (changed.includes("due")) requireFutureDueDay(changes.due, now);
      if (changed.includes("title"))
        requireUniqueTitle(state, changes.title!, getProjectId(issue_id));
      if (changed.includes("points") && issue.parent_id !== undefined)
        refuse(
          "precondition_failed",
          `${formatIssue(issue, issue_id)} is a subtask: the points of ${issue.parent_id} count for it`,
          `change the points of ${issue.parent_id}`,
        );
      if (changed.includes("points") && issue.sprint_id !== undefined)
        requireSprintCapacity(state, issue.sprint_id, issue_id, changes.points!);
      Object.assign(issue, omitUndefined(changes));
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
    run(state, { parent_id, title, assignee: assigneeName }, { now }) {
      const parent = findOpenIssue(state, parent_id);
      const project = getProjectId(parent_id);
      if (parent.parent_id !== undefined)
        refuse(
          "precondition_failed",
          `${formatIssue(parent, parent_id)} is itself a subtask of ${parent.parent_id}`,
          `add it to ${parent.parent_id}`,
        );
      const siblings = listSubtasks(getOriginal(state), parent_id);
      if (siblings.length >= maxSubtasks)
        refuse(
          "limit_exceeded",
          `${formatIssue(parent, parent_id)} has ${maxSubtasks} subtasks already`,
          "file it as an issue of its own",
        );
      requireUniqueTitle(state, title, project);
      const userId =
        assigneeName === undefined ? undefined : findMemberId(state, assigneeName, project);
      const subtask = omitUndefined({
        title,
        type: "task" as const,
        status: "todo" as const,
        priority: parent.priority,
        reporter: state.user,
        assignee: userId,
        created: now.slice(0, 10),
        parent_id,
      }) as Issue;
      return {
        title,
        issue_id: addIssue(state, project, subtask),
        status: "todo",
        parent_id,
        open_subtasks: siblings.filter(([, it]) => !isClosed(it)).length + 1,
      };
    },
  }),
};
