/** Tools that list projects, and list, search, show, create and change issues. */
import { z } from "zod";
import { day, id, label, rowLimit, rowTotal, phrase } from "../../environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { contains, equals, getSchemas, meets } from "../kit/table.ts";
import {
  IssueTrackerState,
  compareKeys,
  isClosed,
  issues,
  listOpenBlockers,
  listNextStatuses,
  priorities,
  projects,
  getProjectId,
  requireProjectLabel,
  sprints,
  sumMinutes,
  statuses,
  types,
  getUserName,
  findUserId,
  type Issue,
  type Link,
  assigneeField,
  issueKey,
  issueRow,
  person,
  projectKey,
  tag,
  requireSprintCapacity,
  requireUniqueTitle,
  findMemberId,
  formatIssue,
  findOpenIssue,
  findEditableProject,
  listSubtasks,
  assignee,
  issueLabel,
  newTitle,
  points,
  priority,
  requireNotPast,
} from "./state.ts";
import { listChangedNames } from "../kit/changes.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(IssueTrackerState);

const listedRow = issues.fields({
  ...issueRow,
  priority: z.string(),
  ...assigneeField,
  due: day().optional(),
});

export const issueQueries = {
  list_projects: projects.list({
    summary:
      "List projects with their keys, leads, members and labels, all of them or only those whose name contains some words or that a person belongs to.",
    filters: {
      name: contains(label("project"), "Only projects whose name contains this", it => it.name),
      member: meets(
        person(),
        "Only projects of this person, by full name or e-mail address",
        (it, userId: string) => it.members.includes(userId),
        findUserId,
      ),
      status: equals(
        z.enum(["active", "archived"]),
        "Only active or only archived projects",
        it => it.status,
      ),
    },
    row: {
      name: label("project"),
      project_id: projects.idField,
      status: z.string(),
      open_issues: [
        z.int(),
        (_, { id: projectId, world }) =>
          Object.entries(world.issues).filter(
            ([key, it]) => getProjectId(key) === projectId && !isClosed(it),
          ).length,
      ],
      lead: [person(), (it, { world }) => getUserName(world, it.lead)],
      members: [
        z.array(person()),
        (it, { world }) => it.members.map(who => getUserName(world, who)),
      ],
      labels: z.array(tag()),
    },
  }),
  list_issues: issues.list({
    summary:
      "List issues, the most pressing first, by project, status, assignee, label or sprint: the open ones, unless a closed status is asked for.",
    filters: {
      project_id: meets(
        projects.id,
        "Only issues of this project, by its key, like WEB",
        (_, projectId, { id: issueId }) => getProjectId(issueId) === projectId,
      ),
      status: equals(z.enum(statuses), "Only issues in this status", it => it.status),
      assignee: equals(
        person(),
        "Only issues of this person, by full name or e-mail address",
        it => it.assignee,
        findUserId,
      ),
      unassigned: meets(
        z.boolean(),
        "True for issues only that are assigned to nobody",
        (it, unassigned) => !unassigned || it.assignee === undefined,
      ),
      label: meets(
        tag(),
        "Only issues with this label",
        (it, text) => it.labels?.includes(text) === true,
      ),
      sprint_id: equals(
        sprints.id,
        "Only issues in this sprint, closed ones as well",
        it => it.sprint_id,
      ),
      priority: equals(z.enum(priorities), "Only issues of this priority", it => it.priority),
    },
    check({ assignee, sprint_id, project_id, label: text }, state) {
      if (assignee !== undefined) findUserId(state, assignee);
      if (sprint_id !== undefined) sprints.find(state, sprint_id);
      if (project_id === undefined) return;
      projects.find(state, project_id);
      if (text !== undefined) requireProjectLabel(state, project_id, text);
    },
    where: (it, { status, sprint_id }) =>
      status !== undefined || sprint_id !== undefined || !isClosed(it),
    order: {
      get: it => priorities.indexOf(it.priority),
      compare: (a, b) => Number(a.key) - Number(b.key) || compareKeys(a.id, b.id),
    },
    limit: 10,
    row: listedRow,
  }),
  search_issues: tool({
    effect: "read",
    summary:
      "Find issues of all projects, open and closed, by words in their titles or descriptions, or by key.",
    input: {
      query: label("issue").describe(
        "Words that stand in the title or the description, or a key like WEB-12",
      ),
      type: z.enum(types).optional().describe("Only issues of this type"),
      limit: rowLimit(10),
    },
    returns: { total: rowTotal("issues"), issues: z.array(z.object(getSchemas(listedRow))) },
    run(state, { query, type, limit = 10 }, { now }) {
      const key = query.trim().toUpperCase();
      const isFound = (issueId: string, it: Issue) =>
        issueId === key ||
        containsText(it.title, query) ||
        (it.description !== undefined && containsText(it.description, query));
      const found = Object.entries(state.issues).filter(
        ([issueId, it]) => isFound(issueId, it) && (!type || it.type === type),
      );
      // titles before descriptions
      found.sort(
        (a, b) =>
          Number(containsText(b[1].title, query)) - Number(containsText(a[1].title, query)) ||
          compareKeys(a[0], b[0]),
      );
      return {
        total: found.length,
        issues: found
          .slice(0, limit)
          .map(([issueId]) => issues.show(listedRow, state, issueId, now)),
      };
    },
  }),
  get_issue: issues.get({
    summary:
      "Get one issue in full: its status and the statuses it may go to, sprint, subtasks, links, labels, description, and the time logged on it.",
    row: {
      ...issueRow,
      next_statuses: [
        z.array(z.string()),
        (it, { id: issueId, world }) => listNextStatuses(world, issueId, it.status),
      ],
      type: z.string(),
      priority: z.string(),
      project_id: [projectKey(), (_, { id: issueId }) => getProjectId(issueId)],
      reporter: [person(), (it, { world }) => getUserName(world, it.reporter)],
      ...assigneeField,
      created: day(),
      due: day().optional(),
      closed: day().optional(),
      points: z.int().optional(),
      sprint: [
        label("sprint").optional(),
        (it, { world }) => getSprintId(world, it) && world.sprints[getSprintId(world, it)!]!.name,
      ],
      sprint_id: [id("sprint").optional(), (it, { world }) => getSprintId(world, it)],
      parent_id: issueKey().optional(),
      labels: z.array(tag()).optional(),
      description: z.string().optional(),
      blocked: [
        z.boolean().describe("Whether an open issue blocks it"),
        (_, { id: issueId, world }) => listOpenBlockers(world, issueId).length > 0,
      ],
      comments: [
        z.int(),
        (_, { id: issueId, world }) =>
          Object.values(world.comments).filter(it => it.issue_id === issueId).length,
      ],
      logged_minutes: [
        z.int(),
        (_, { id: issueId, world }) => sumMinutes(world, it => it.issue_id === issueId),
      ],
      subtasks: issues.related({
        row: issueRow,
        where: (it, { id: issueId }) => it.parent_id === issueId,
        order: { get: () => undefined, compare: (a, b) => compareKeys(a.id, b.id) },
      }),
      links: [
        z
          .array(
            z.object({
              ...getSchemas(issueRow),
              link: z.enum(["blocks", "blocked_by", "duplicates", "duplicated_by", "relates_to"]),
            }),
          )
          .optional(),
        (_, { id: issueId, world }) => listLinks(world, issueId),
      ],
    },
  }),
};

/** The sprint of an issue; a subtask is in that of its parent. */
const getSprintId = ({ issues }: IssueTrackerState, { sprint_id, parent_id }: Issue) =>
  sprint_id ?? (parent_id === undefined ? undefined : issues[parent_id]!.sprint_id);

const inverseKinds = {
  blocks: "blocked_by",
  duplicates: "duplicated_by",
  relates_to: "relates_to",
} as const satisfies Record<Link["kind"], string>;

/** The links of an issue, each with its kind as seen from that issue; undefined if it has none. */
function listLinks({ links, issues }: IssueTrackerState, issueId: string) {
  const rows = Object.values(links).flatMap(({ kind, from, to }) => {
    if (from !== issueId && to !== issueId) return [];
    const [other, link] = from === issueId ? [to, kind] : [from, inverseKinds[kind]];
    const { title, status } = issues[other]!;
    return [{ title, issue_id: other, status, link }];
  });
  return rows.length > 0 ? rows : undefined;
}

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
