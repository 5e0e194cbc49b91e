/**
 * The issue tracker's world: projects with members and workflows, issues under keys like WEB-12,
 * sprints, links, comments and logged work; which steps an issue may take, and what stands in its
 * way.
 */
import { z } from "zod";
import { day, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse } from "../../environment/server.ts";

export const statuses = [
  "todo",
  "in_progress",
  "in_review",
  "waiting",
  "done",
  "cancelled",
] as const;
export const types = ["bug", "task", "story", "request"] as const;
export const priorities = ["urgent", "high", "medium", "low"] as const;
export const linkKinds = ["blocks", "duplicates", "relates_to"] as const;
export type Status = (typeof statuses)[number];

type Steps = Readonly<Record<Status, readonly Status[]>>;
/** Where an issue may go from where it is, by the workflow of its project. */
export const workflows: Readonly<Record<"simple" | "review" | "support", Steps>> = {
  simple: {
    todo: ["in_progress", "cancelled"],
    in_progress: ["todo", "done"],
    in_review: [],
    waiting: [],
    done: ["in_progress"],
    cancelled: ["todo"],
  },
  review: {
    todo: ["in_progress", "cancelled"],
    in_progress: ["todo", "in_review"],
    in_review: ["in_progress", "done"],
    waiting: [],
    done: ["in_progress"],
    cancelled: ["todo"],
  },
  support: {
    todo: ["in_progress", "cancelled"],
    in_progress: ["waiting", "done"],
    in_review: [],
    waiting: ["in_progress", "cancelled"],
    done: ["in_progress"],
    cancelled: ["todo"],
  },
};

const User = z.strictObject({ name: z.string().min(1), email: z.email() });

const Project = z.strictObject({
  name: z.string().min(1),
  status: z.enum(["active", "archived"]),
  workflow: z.enum(["simple", "review", "support"]),
  lead: z.string(),
  members: z.array(z.string()),
  labels: z.array(z.string()),
  /** The number of its newest issue. */
  last: z.int().min(0),
});

/** Of the project before the dash of its key. */
const Issue = z.strictObject({
  title: z.string().min(1),
  type: z.enum(types),
  status: z.enum(statuses),
  priority: z.enum(priorities),
  reporter: z.string(),
  assignee: z.string().optional(),
  created: day(),
  due: day().optional(),
  closed: day().optional(),
  /** Story points. Subtasks have none: their parent's count for them, and so does its sprint. */
  points: z.int().min(1).max(40).optional(),
  sprint_id: z.string().optional(),
  parent_id: z.string().optional(),
  labels: z.array(z.string()).optional(),
  description: z.string().optional(),
});

const Sprint = z.strictObject({
  name: z.string().min(1),
  project_id: z.string(),
  status: z.enum(["planned", "active", "closed"]),
  start: day(),
  end: day(),
  /** Story points. */
  capacity: z.int().min(1).max(200),
});

const Link = z.strictObject({ kind: z.enum(linkKinds), from: z.string(), to: z.string() });
const Comment = z.strictObject({
  issue_id: z.string(),
  by: z.string(),
  at: minute(),
  text: z.string().min(1),
});
const Work = z.strictObject({
  issue_id: z.string(),
  by: z.string(),
  day: day(),
  minutes: z.int().min(5).max(720),
  note: z.string().optional(),
});

export const Tracker = z
  .strictObject({
    /** For whom the agent works. */
    user: z.string(),
    users: z.record(z.string(), User),
    projects: z.record(z.string().regex(/^[A-Z]{2,5}$/), Project),
    issues: z.record(z.string().regex(/^[A-Z]{2,5}-\d{1,5}$/), Issue),
    sprints: z.record(z.string(), Sprint),
    links: z.record(z.string(), Link),
    comments: z.record(z.string(), Comment),
    work: z.record(z.string(), Work),
  })
  .superRefine((tracker, context) => {
    for (const [path, message] of danglingReferences(tracker))
      context.addIssue({ code: "custom", path, message });
  });
export type Tracker = z.infer<typeof Tracker>;
export type Project = z.infer<typeof Project>;
export type Issue = z.infer<typeof Issue>;
export type Sprint = z.infer<typeof Sprint>;
export type Link = z.infer<typeof Link>;

type Tables = Pick<
  Tracker,
  "user" | "users" | "projects" | "issues" | "sprints" | "links" | "comments" | "work"
>;

/** Where a row names another that does not exist. */
function* danglingReferences({
  user,
  users,
  projects,
  issues,
  sprints,
  links,
  comments,
  work,
}: Tables): Generator<[string[], string]> {
  const lacks = (table: object, key: string | undefined) =>
    key !== undefined && !Object.hasOwn(table, key);
  if (lacks(users, user)) yield [["user"], `there is no user ${user}`];
  for (const [key, it] of Object.entries(projects))
    for (const who of [it.lead, ...it.members])
      if (lacks(users, who)) yield [["projects", key], `there is no user ${who}`];
  for (const [key, it] of Object.entries(issues)) {
    if (lacks(projects, projectIdOf(key)))
      yield [["issues", key], `there is no project ${projectIdOf(key)}`];
    for (const who of [it.reporter, it.assignee])
      if (lacks(users, who)) yield [["issues", key], `there is no user ${who}`];
    if (lacks(sprints, it.sprint_id))
      yield [["issues", key, "sprint_id"], `there is no sprint ${it.sprint_id}`];
    if (lacks(issues, it.parent_id))
      yield [["issues", key, "parent_id"], `there is no issue ${it.parent_id}`];
  }
  for (const [key, it] of Object.entries(sprints))
    if (lacks(projects, it.project_id))
      yield [["sprints", key, "project_id"], `there is no project ${it.project_id}`];
  for (const [key, it] of Object.entries(links))
    for (const end of [it.from, it.to])
      if (lacks(issues, end)) yield [["links", key], `there is no issue ${end}`];
  for (const [table, rows] of [
    ["comments", comments],
    ["work", work],
  ] as const)
    for (const [key, it] of Object.entries(rows)) {
      if (lacks(issues, it.issue_id))
        yield [[table, key, "issue_id"], `there is no issue ${it.issue_id}`];
      if (lacks(users, it.by)) yield [[table, key, "by"], `there is no user ${it.by}`];
    }
}

export const projectIdOf = (issueId: string): string => issueId.slice(0, issueId.lastIndexOf("-"));
/** By project, then by number: WEB-9 before WEB-12. */
export const byKey = (a: string, b: string): number => {
  const [x, y] = [projectIdOf(a), projectIdOf(b)];
  return x === y ? Number(a.slice(x.length + 1)) - Number(b.slice(y.length + 1)) : x < y ? -1 : 1;
};

export const projectOf = (tracker: Tracker, projectId: string): Project =>
  findEntity(tracker.projects, projectId, "project", "issue_tracker_list_projects gives the keys");
export const issueOf = (tracker: Tracker, issueId: string): Issue =>
  findEntity(
    tracker.issues,
    issueId,
    "issue",
    "issue_tracker_search_issues finds an issue by its words",
  );
export const sprintOf = (tracker: Tracker, sprintId: string): Sprint =>
  findEntity(tracker.sprints, sprintId, "sprint", "issue_tracker_list_sprints gives the ids");

export const isClosed = ({ status }: Issue): boolean => status === "done" || status === "cancelled";
export const userName = ({ users }: Tracker, userId: string): string => users[userId]!.name;
export const named = (issue: Issue, issueId: string): string => `${issueId} (${issue.title})`;

/** The user of that full name or e-mail address, by id. */
export function userNamed(tracker: Tracker, name: string): string {
  const wanted = name.trim().toLowerCase();
  const found = Object.entries(getOriginal(tracker.users)).find(
    ([, it]) => it.name.toLowerCase() === wanted || it.email.toLowerCase() === wanted,
  );
  if (found) return found[0];
  return refuse(
    "not_found",
    `nobody called ${name} uses the tracker`,
    "issue_tracker_list_projects gives the members of each project by full name",
  );
}

/** The project, if the user may change what is in it. */
export function ownProject(tracker: Tracker, projectId: string): Project {
  const project = projectOf(tracker, projectId);
  if (project.status === "archived")
    refuse(
      "precondition_failed",
      `project ${projectId} (${project.name}) is archived: it can be read and not changed`,
      "choose an issue or project that is active",
    );
  if (!project.members.includes(tracker.user))
    refuse(
      "permission_denied",
      `you are not a member of project ${projectId} (${project.name})`,
      `ask its lead, ${userName(tracker, project.lead)}`,
    );
  return project;
}

/** The issue, if the user may change it. */
export function ownIssue(tracker: Tracker, issueId: string): Issue {
  const issue = issueOf(tracker, issueId);
  ownProject(tracker, projectIdOf(issueId));
  return issue;
}

/** As `ownIssue`, for what a closed issue no longer takes. */
export function openIssue(tracker: Tracker, issueId: string): Issue {
  const issue = ownIssue(tracker, issueId);
  if (isClosed(issue))
    refuse(
      "precondition_failed",
      `${named(issue, issueId)} is ${issue.status} since ${issue.closed}`,
      "issue_tracker_transition_issue can open it again",
    );
  return issue;
}

/** The id of the person, if they may be given work in the project. */
export function memberNamed(tracker: Tracker, name: string, projectId: string): string {
  const userId = userNamed(tracker, name);
  const { members, name: called } = projectOf(tracker, projectId);
  if (!members.includes(userId))
    refuse(
      "precondition_failed",
      `${userName(tracker, userId)} is not a member of project ${projectId} (${called})`,
      `choose one of ${members.map(it => userName(tracker, it)).join(", ")}`,
    );
  return userId;
}

export const subtasksOf = ({ issues }: Tracker, issueId: string): [string, Issue][] =>
  Object.entries(issues)
    .filter(([, it]) => it.parent_id === issueId)
    .sort(([a], [b]) => byKey(a, b));

/** Open issues that block this one. */
export function openBlockers({ links, issues }: Tracker, issueId: string): string[] {
  const blockers = Object.values(links).filter(
    it => it.kind === "blocks" && it.to === issueId && !isClosed(issues[it.from]!),
  );
  return blockers.map(it => it.from).sort(byKey);
}

/** Whether links of that kind lead from one issue to the other. */
export function leadsTo(
  links: Tracker["links"],
  kind: Link["kind"],
  from: string,
  to: string,
): boolean {
  const next = new Map<string, string[]>();
  for (const it of Object.values(links))
    if (it.kind === kind) next.set(it.from, [...(next.get(it.from) ?? []), it.to]);
  const seen = new Set<string>();
  const ahead = [from];
  for (let issueId = ahead.pop(); issueId !== undefined; issueId = ahead.pop()) {
    if (issueId === to) return true;
    if (seen.has(issueId)) continue;
    seen.add(issueId);
    ahead.push(...(next.get(issueId) ?? []));
  }
  return false;
}

/** Points of the issues in a sprint, one of them left out. */
export const pointsIn = ({ issues }: Tracker, sprintId: string, exceptId?: string): number =>
  Object.entries(issues).reduce(
    (sum, [key, it]) =>
      it.sprint_id === sprintId && key !== exceptId ? sum + (it.points ?? 0) : sum,
    0,
  );

/** Turns down an issue of so many points where the sprint has no room for it. */
export function hasRoom(tracker: Tracker, sprintId: string, issueId: string, points: number): void {
  const sprint = tracker.sprints[sprintId]!;
  const taken = pointsIn(getOriginal(tracker), sprintId, issueId);
  if (taken + points > sprint.capacity)
    refuse(
      "limit_exceeded",
      `${sprint.name} takes ${sprint.capacity} points, ${taken} are planned, and ${issueId} has ${points}`,
      "take something out with issue_tracker_remove_from_sprint, or choose another sprint",
    );
}
