/** Tools that create and change issues and subtasks. */
import { z } from "zod";
import { day, phrase } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { listChangedNames } from "../kit/changes.ts";
import { getSchemas } from "../kit/table.ts";
import {
  IssueTrackerState,
  requireSprintCapacity,
  requireUniqueTitle,
  isClosed,
  issues,
  findMemberId,
  formatIssue,
  findOpenIssue,
  findEditableProject,
  getProjectId,
  listSubtasks,
  projects,
  types,
  type Issue,
} from "./state.ts";
import {
  assignee,
  assigneeField,
  issueKey,
  issueLabel,
  issueRow,
  newTitle,
  points,
  priority,
  requireNotPast,
} from "./parameters.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
const description = phrase(3, 600).meta({ examples: vocabulary.descriptions });
const newRow = issues.fields({ ...issueRow, ...assigneeField });
const subtaskRow = issues.fields({ ...issueRow, parent_id: issueKey() });

export const issueCommands = {
  create_issue: tool({
    effect: "write",
    summary:
      "File a new issue in a project; it begins in todo. For a part of another issue use issue_tracker_create_subtask.",
    input: {
      project_id: projects.id,
      title: newTitle.describe("Title of the issue"),
      type: type.describe("What kind of issue it is"),
      priority: priority.optional().describe("How pressing it is, medium if not given"),
      assignee: assignee.optional(),
      due: day().optional().describe("Day by which it should be done, today or later"),
      points: points.optional().describe("Story points, from 1 to 40"),
      description: description.optional().describe("What it is about, in a few sentences"),
    },
    returns: getSchemas(newRow),
    run(state, { project_id, assignee: name, priority = "medium", ...rest }, { now }) {
      findEditableProject(state, project_id);
      if (rest.due !== undefined) requireNotPast(rest.due, now, "the due day");
      requireUniqueTitle(state, rest.title, project_id);
      const issue_id = addIssue(state, project_id, {
        ...rest,
        status: "todo",
        priority,
        reporter: state.user,
        assignee: name === undefined ? undefined : findMemberId(state, name, project_id),
        created: now.slice(0, 10),
      });
      return issues.show(newRow, state, issue_id, now);
    },
  }),
  update_issue: tool({
    effect: "write",
    summary:
      "Change the title, type, priority, due day, points or description of an open issue. Its status, assignee, labels and sprint have tools of their own.",
    destructive: true,
    idempotent: true,
    input: {
      issue_id: issues.id,
      title: newTitle.optional().describe("New title"),
      type: type.optional().describe("New type"),
      priority: priority.optional().describe("New priority"),
      due: day().optional().describe("New due day, today or later"),
      points: points.optional().describe("New story points, from 1 to 40"),
      description: description.optional().describe("New description, instead of the old one"),
    },
    returns: { ...getSchemas(issueLabel), changed: z.array(z.string()) },
    run(state, { issue_id, ...changes }, { now }) {
      const issue = findOpenIssue(state, issue_id);
      const changed = listChangedNames(issue, changes, {
        subject: formatIssue(issue, issue_id),
        hint: "give a title, type, priority, due, points or description",
      });
      if (changed.includes("due")) requireNotPast(changes.due!, now, "the due day");
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
      Object.assign(issue, changes);
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
    returns: { ...getSchemas(subtaskRow), open_subtasks: z.int() },
    run(state, { parent_id, title, assignee: name }, { now }) {
      const parent = findOpenIssue(state, parent_id);
      const project = getProjectId(parent_id);
      if (parent.parent_id !== undefined)
        refuse(
          "precondition_failed",
          `${formatIssue(parent, parent_id)} is itself a subtask of ${parent.parent_id}`,
          `add it to ${parent.parent_id}`,
        );
      const siblings = listSubtasks(state, parent_id);
      if (siblings.length >= maxSubtasks)
        refuse(
          "limit_exceeded",
          `${formatIssue(parent, parent_id)} has ${maxSubtasks} subtasks already`,
          "file it as an issue of its own",
        );
      requireUniqueTitle(state, title, project);
      const issue_id = addIssue(state, project, {
        title,
        type: "task",
        status: "todo",
        priority: parent.priority,
        reporter: state.user,
        assignee: name === undefined ? undefined : findMemberId(state, name, project),
        created: now.slice(0, 10),
        parent_id,
      });
      return {
        ...issues.show(subtaskRow, state, issue_id, now),
        open_subtasks: siblings.filter(([, it]) => !isClosed(it)).length + 1,
      };
    },
  }),
};
