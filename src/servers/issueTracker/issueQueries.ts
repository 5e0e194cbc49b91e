/** Tools that list projects and list, search and show issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { listed, rowOf } from "./issueRows.ts";
import {
  Tracker,
  byKey,
  isClosed,
  issueOf,
  openBlockers,
  priorities,
  projectIdOf,
  projectOf,
  sprintOf,
  statuses,
  subtasksOf,
  types,
  userName,
  userNamed,
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

const tool = createToolFactory(Tracker);

/** The most pressing first, then by key. */
const byPriority = ([a, x]: [string, Issue], [b, y]: [string, Issue]) =>
  priorities.indexOf(x.priority) - priorities.indexOf(y.priority) || byKey(a, b);

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
    run(tracker, { name, member, status }) {
      const userId = member === undefined ? undefined : userNamed(tracker, member);
      const open = new Map<string, number>();
      for (const [key, it] of Object.entries(tracker.issues))
        if (!isClosed(it)) open.set(projectIdOf(key), (open.get(projectIdOf(key)) ?? 0) + 1);
      return {
        projects: Object.entries(tracker.projects)
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
            open_issues: open.get(project_id) ?? 0,
            lead: userName(tracker, it.lead),
            members: it.members.map(who => userName(tracker, who)),
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
    returns: { issues: listed },
    run(
      tracker,
      {
        project_id,
        status,
        assignee,
        unassigned,
        label: wanted,
        sprint_id,
        priority,
        limit: most = 10,
      },
    ) {
      const userId = assignee === undefined ? undefined : userNamed(tracker, assignee);
      if (sprint_id !== undefined) sprintOf(tracker, sprint_id);
      const labels = project_id === undefined ? undefined : projectOf(tracker, project_id).labels;
      if (wanted !== undefined && labels?.includes(wanted) === false)
        refuse(
          "not_found",
          `project ${project_id} has no label ${wanted}`,
          `its labels are ${labels.join(", ")}`,
        );
      const found = Object.entries(tracker.issues).filter(
        ([key, it]) =>
          (!project_id || projectIdOf(key) === project_id) &&
          (status ? it.status === status : sprint_id !== undefined || !isClosed(it)) &&
          (!userId || it.assignee === userId) &&
          (!unassigned || it.assignee === undefined) &&
          (!wanted || it.labels?.includes(wanted)) &&
          (!sprint_id || it.sprint_id === sprint_id) &&
          (!priority || it.priority === priority),
      );
      return {
        issues: found
          .sort(byPriority)
          .slice(0, most)
          .map(it => rowOf(tracker, it)),
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
    returns: { issues: listed },
    run(tracker, { query, type, limit: most = 10 }) {
      const key = query.trim().toUpperCase();
      const found = Object.entries(tracker.issues).filter(
        ([issue_id, it]) =>
          (issue_id === key ||
            containsText(it.title, query) ||
            (it.description !== undefined && containsText(it.description, query))) &&
          (!type || it.type === type),
      );
      // titles before descriptions
      found.sort(
        (a, b) =>
          Number(containsText(b[1].title, query)) - Number(containsText(a[1].title, query)) ||
          byKey(a[0], b[0]),
      );
      return { issues: found.slice(0, most).map(it => rowOf(tracker, it)) };
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
    run(tracker, { issue_id }) {
      const it = issueOf(tracker, issue_id);
      const { workflow } = projectOf(tracker, projectIdOf(issue_id));
      const subtasks = subtasksOf(tracker, issue_id).map(([key, { title, status }]) => ({
        title,
        issue_id: key,
        status,
      }));
      const links = linksOf(tracker, issue_id);
      const sprintOrParents =
        it.sprint_id ??
        (it.parent_id === undefined ? undefined : tracker.issues[it.parent_id]!.sprint_id);
      return omitUndefined({
        title: it.title,
        issue_id,
        status: it.status,
        next_statuses: [...workflows[workflow][it.status]],
        type: it.type,
        priority: it.priority,
        project_id: projectIdOf(issue_id),
        reporter: userName(tracker, it.reporter),
        assignee: it.assignee && userName(tracker, it.assignee),
        created: it.created,
        due: it.due,
        closed: it.closed,
        points: it.points,
        sprint: sprintOrParents && tracker.sprints[sprintOrParents]!.name,
        sprint_id: sprintOrParents,
        parent_id: it.parent_id,
        labels: it.labels,
        description: it.description,
        blocked: openBlockers(tracker, issue_id).length > 0,
        comments: Object.values(tracker.comments).filter(comment => comment.issue_id === issue_id)
          .length,
        logged_minutes: Object.values(tracker.work).reduce(
          (sum, work) => (work.issue_id === issue_id ? sum + work.minutes : sum),
          0,
        ),
        subtasks: subtasks.length ? subtasks : undefined,
        links: links.length ? links : undefined,
      });
    },
  }),
};

const backwards = {
  blocks: "blocked_by",
  duplicates: "duplicated_by",
  relates_to: "relates_to",
} as const satisfies Record<Link["kind"], string>;

/** An issue's links, seen from it. */
function linksOf({ links, issues }: Tracker, issueId: string) {
  return Object.values(links).flatMap(({ kind, from, to }) => {
    if (from !== issueId && to !== issueId) return [];
    const [other, link] = from === issueId ? [to, kind] : [from, backwards[kind]];
    const { title, status } = issues[other]!;
    return [{ title, issue_id: other, status, link }];
  });
}
