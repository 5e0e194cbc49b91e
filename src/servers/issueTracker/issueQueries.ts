/** Tools that list projects and list, search and show issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { issueRows, createIssueRow } from "./issueRows.ts";
import {
  IssueTrackerState,
  compareKeys,
  isClosed,
  findIssue,
  listOpenBlockers,
  priorities,
  getProjectId,
  findProject,
  findSprint,
  statuses,
  listSubtasks,
  types,
  getUserName,
  findUserId,
  workflows,
  type Issue,
  type Link,
} from "./state.ts";
import {
  due,
  issueId,
  issueKey,
  issueRow,
  limit,
  person,
  projectId,
  projectKey,
  sprintId,
  tag,
} from "./parameters.ts";

const tool = createToolFactory(IssueTrackerState);

/** Orders issues by priority, the most urgent first, then by key. */
const comparePriorities = ([a, x]: [string, Issue], [b, y]: [string, Issue]) =>
  priorities.indexOf(x.priority) - priorities.indexOf(y.priority) || compareKeys(a, b);

export const issueQueries = {
  list_projects: tool({
    effect: "read",
    summary:
      "List projects with their keys, leads, members and labels, all of them or only those whose name contains some words or that a person belongs to.",
    input: {
      name: label("project").optional().describe("Only projects whose name contains this"),
      member: person()
        .optional()
        .describe("Only projects of this person, by full name or e-mail address"),
      status: z
        .enum(["active", "archived"])
        .optional()
        .describe("Only active or only archived projects"),
    },
    returns: {
      projects: z.array(
        z.object({
          name: label("project"),
          project_id: projectKey(),
          status: z.string(),
          open_issues: z.int(),
          lead: person(),
          members: z.array(person()),
          labels: z.array(tag()),
        }),
      ),
    },
    run(state, { name, member, status }) {
      const userId = member === undefined ? undefined : findUserId(state, member);
      const openIssueCounts = new Map<string, number>();
      for (const [key, it] of Object.entries(state.issues))
        if (!isClosed(it))
          openIssueCounts.set(getProjectId(key), (openIssueCounts.get(getProjectId(key)) ?? 0) + 1);
      return {
        projects: Object.entries(state.projects)
          .filter(
            ([, it]) =>
              (!name || containsText(it.name, name)) &&
              (!userId || it.members.includes(userId)) &&
              (!status || it.status === status),
          )
          .map(([project_id, it]) => ({
            name: it.name,
            project_id,
            status: it.status,
            open_issues: openIssueCounts.get(project_id) ?? 0,
            lead: getUserName(state, it.lead),
            members: it.members.map(who => getUserName(state, who)),
            labels: it.labels,
          })),
      };
    },
  }),
  list_issues: tool({
    effect: "read",
    summary:
      "List issues, the most pressing first, by project, status, assignee, label or sprint: the open ones, unless a closed status is asked for.",
    input: {
      project_id: projectId
        .optional()
        .describe("Only issues of this project, by its key, like WEB"),
      status: z.enum(statuses).optional().describe("Only issues in this status"),
      assignee: person()
        .optional()
        .describe("Only issues of this person, by full name or e-mail address"),
      unassigned: z
        .boolean()
        .optional()
        .describe("True for issues only that are assigned to nobody"),
      label: tag().optional().describe("Only issues with this label"),
      sprint_id: sprintId.optional().describe("Only issues in this sprint, closed ones as well"),
      priority: z.enum(priorities).optional().describe("Only issues of this priority"),
      limit,
    },
    returns: { issues: issueRows },
    run(
      state,
      { project_id, status, assignee, unassigned, label, sprint_id, priority, limit = 10 },
    ) {
      const userId = assignee === undefined ? undefined : findUserId(state, assignee);
      if (sprint_id !== undefined) findSprint(state, sprint_id);
      const labels = project_id === undefined ? undefined : findProject(state, project_id).labels;
      if (label !== undefined && labels?.includes(label) === false)
        refuse(
          "not_found",
          `project ${project_id} has no label ${label}`,
          `its labels are ${labels.join(", ")}`,
        );
      const issues = Object.entries(state.issues).filter(
        ([key, it]) =>
          (!project_id || getProjectId(key) === project_id) &&
          (status ? it.status === status : sprint_id !== undefined || !isClosed(it)) &&
          (!userId || it.assignee === userId) &&
          (!unassigned || it.assignee === undefined) &&
          (!label || it.labels?.includes(label)) &&
          (!sprint_id || it.sprint_id === sprint_id) &&
          (!priority || it.priority === priority),
      );
      return {
        issues: issues
          .sort(comparePriorities)
          .slice(0, limit)
          .map(it => createIssueRow(state, it)),
      };
    },
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
      limit,
    },
    returns: { issues: issueRows },
    run(state, { query, type, limit = 10 }) {
      const key = query.trim().toUpperCase();
      const issues = Object.entries(state.issues).filter(
        ([issue_id, it]) =>
          (issue_id === key ||
            containsText(it.title, query) ||
            (it.description !== undefined && containsText(it.description, query))) &&
          (!type || it.type === type),
      );
      // titles before descriptions
      issues.sort(
        (a, b) =>
          Number(containsText(b[1].title, query)) - Number(containsText(a[1].title, query)) ||
          compareKeys(a[0], b[0]),
      );
      return { issues: issues.slice(0, limit).map(it => createIssueRow(state, it)) };
    },
  }),
  get_issue: tool({
    effect: "read",
    summary:
      "Get one issue in full: its status and the statuses it may go to, sprint, subtasks, links, labels, description, and the time logged on it.",
    input: { issue_id: issueId },
    returns: {
      ...issueRow,
      next_statuses: z.array(z.string()),
      type: z.string(),
      priority: z.string(),
      project_id: projectKey(),
      reporter: person(),
      assignee: person().optional(),
      created: day(),
      due: due.optional(),
      closed: day().optional(),
      points: z.int().optional(),
      sprint: label("sprint").optional(),
      sprint_id: id("sprint").optional(),
      parent_id: issueKey().optional(),
      labels: z.array(tag()).optional(),
      description: z.string().optional(),
      blocked: z.boolean().describe("Whether an open issue blocks it"),
      comments: z.int(),
      logged_minutes: z.int(),
      subtasks: z.array(z.object(issueRow)).optional(),
      links: z
        .array(
          z.object({
            ...issueRow,
            link: z.enum(["blocks", "blocked_by", "duplicates", "duplicated_by", "relates_to"]),
          }),
        )
        .optional(),
    },
    run(state, { issue_id }) {
      const it = findIssue(state, issue_id);
      const { workflow } = findProject(state, getProjectId(issue_id));
      const subtasks = listSubtasks(state, issue_id).map(([key, { title, status }]) => ({
        title,
        issue_id: key,
        status,
      }));
      const links = createLinkRows(state, issue_id);
      const sprintId =
        it.sprint_id ??
        (it.parent_id === undefined ? undefined : state.issues[it.parent_id]!.sprint_id);
      return omitUndefined({
        title: it.title,
        issue_id,
        status: it.status,
        next_statuses: [...workflows[workflow][it.status]],
        type: it.type,
        priority: it.priority,
        project_id: getProjectId(issue_id),
        reporter: getUserName(state, it.reporter),
        assignee: it.assignee && getUserName(state, it.assignee),
        created: it.created,
        due: it.due,
        closed: it.closed,
        points: it.points,
        sprint: sprintId && state.sprints[sprintId]!.name,
        sprint_id: sprintId,
        parent_id: it.parent_id,
        labels: it.labels,
        description: it.description,
        blocked: listOpenBlockers(state, issue_id).length > 0,
        comments: Object.values(state.comments).filter(comment => comment.issue_id === issue_id)
          .length,
        logged_minutes: Object.values(state.work).reduce(
          (sum, work) => (work.issue_id === issue_id ? sum + work.minutes : sum),
          0,
        ),
        subtasks: subtasks.length ? subtasks : undefined,
        links: links.length ? links : undefined,
      });
    },
  }),
};

const inverseKinds = {
  blocks: "blocked_by",
  duplicates: "duplicated_by",
  relates_to: "relates_to",
} as const satisfies Record<Link["kind"], string>;

/** The links of an issue, each with its kind as seen from that issue. */
function createLinkRows({ links, issues }: IssueTrackerState, issueId: string) {
  return Object.values(links).flatMap(({ kind, from, to }) => {
    if (from !== issueId && to !== issueId) return [];
    const [other, link] = from === issueId ? [to, kind] : [from, inverseKinds[kind]];
    const { title, status } = issues[other]!;
    return [{ title, issue_id: other, status, link }];
  });
}
