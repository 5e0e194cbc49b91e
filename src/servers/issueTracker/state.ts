/**
 * The state of the issue tracker: projects with members and workflows, issues with keys like
 * WEB-12, sprints, links, comments and logged work.
 */
import { z } from "zod";
import { day, minute, label, phrase, spokenId } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { findIdByName } from "../kit/people.ts";
import { createTableFactory } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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

type Transitions = Readonly<Record<Status, readonly Status[]>>;
/** The statuses that an issue may change to, by workflow and current status. */
export const workflows: Readonly<Record<"simple" | "review" | "support", Transitions>> = {
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
  /** The number of the newest issue. */
  last: z.int().min(0),
});

/** The part of its key before the dash is the project. */
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
  /** Story points. A subtask has neither points nor a sprint: those of its parent apply. */
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

export const references = {
  user: "users",
  "projects.*.lead": "users",
  "projects.*.members.*": "users",
  "issues.*.reporter": "users",
  "issues.*.assignee": "users",
  "issues.*.sprint_id": "sprints",
  "issues.*.parent_id": "issues",
  "sprints.*.project_id": "projects",
  "links.*.from": "issues",
  "links.*.to": "issues",
  "comments.*.issue_id": "issues",
  "comments.*.by": "users",
  "work.*.issue_id": "issues",
  "work.*.by": "users",
} satisfies References;

export const IssueTrackerState = z
  .strictObject({
    /** The user for whom the agent works. */
    user: z.string(),
    users: z.record(z.string(), User),
    projects: z.record(z.string().regex(/^[A-Z]{2,5}$/), Project),
    issues: z.record(z.string().regex(/^[A-Z]{2,5}-\d{1,5}$/), Issue),
    sprints: z.record(z.string(), Sprint),
    links: z.record(z.string(), Link),
    comments: z.record(z.string(), Comment),
    work: z.record(z.string(), Work),
  })
  .superRefine(({ projects, issues }, context) => {
    const report = (path: string[], message: string) =>
      context.addIssue({ code: "custom", path, message });
    for (const key of Object.keys(issues)) {
      const projectId = getProjectId(key);
      if (!Object.hasOwn(projects, projectId))
        report(["issues", key], `there is no project ${projectId}`);
      else if (getNumber(key) > projects[projectId]!.last)
        report(["projects", projectId, "last"], `${key} has a higher number`);
    }
  });
export type IssueTrackerState = z.infer<typeof IssueTrackerState>;
type Project = z.infer<typeof Project>;
export type Issue = z.infer<typeof Issue>;
export type Link = z.infer<typeof Link>;

export const getProjectId = (issueId: string): string => issueId.slice(0, issueId.lastIndexOf("-"));
const getNumber = (issueId: string): number => Number(issueId.slice(issueId.lastIndexOf("-") + 1));
/** Orders keys by project, then by number: WEB-9 before WEB-12. */
export const compareKeys = (a: string, b: string): number => {
  const [x, y] = [getProjectId(a), getProjectId(b)];
  return x === y ? Number(a.slice(x.length + 1)) - Number(b.slice(y.length + 1)) : x < y ? -1 : 1;
};

const table = createTableFactory(IssueTrackerState);
/** People refer to a project by its key: WEB. */
export const projects = table("projects", {
  entity: "project",
  idsFrom: "issue_tracker_list_projects",
  description: "Key of the project, like WEB, as issue_tracker_list_projects gives it",
  hint: "issue_tracker_list_projects gives the keys",
  isSpoken: true,
});
/** People refer to an issue by its key: WEB-12. */
export const issues = table("issues", {
  entity: "issue",
  idsFrom: "issue_tracker_search_issues",
  description: "Key of the issue, like WEB-12",
  hint: "issue_tracker_search_issues finds an issue by its words",
  isSpoken: true,
});
export const sprints = table("sprints", {
  entity: "sprint",
  idsFrom: "issue_tracker_list_sprints",
});

export const isClosed = ({ status }: Issue): boolean => status === "done" || status === "cancelled";
export const getUserName = ({ users }: IssueTrackerState, userId: string): string =>
  users[userId]!.name;
export const formatIssue = (issue: Issue, issueId: string): string => `${issueId} (${issue.title})`;

/** The id of the user with that full name or e-mail address. */
export const findUserId = (state: IssueTrackerState, name: string): string =>
  findIdByName(state.users, name) ??
  refuse(
    "not_found",
    `nobody called ${name} uses the tracker`,
    "issue_tracker_list_projects gives the members of each project by full name",
  );

/** The project; refuses the call if it is archived or the user is not a member. */
export function findEditableProject(state: IssueTrackerState, projectId: string): Project {
  const project = projects.find(state, projectId);
  if (project.status === "archived")
    refuse(
      "precondition_failed",
      `project ${projectId} (${project.name}) is archived: it can be read and not changed`,
      "choose an issue or project that is active",
    );
  if (!project.members.includes(state.user))
    refuse(
      "permission_denied",
      `you are not a member of project ${projectId} (${project.name})`,
      `ask its lead, ${getUserName(state, project.lead)}`,
    );
  return project;
}

/** The issue; refuses the call if the user may not change it. */
export function findEditableIssue(state: IssueTrackerState, issueId: string): Issue {
  const issue = issues.find(state, issueId);
  findEditableProject(state, getProjectId(issueId));
  return issue;
}

/** Like `findEditableIssue`, but also refuses closed issues. */
export function findOpenIssue(state: IssueTrackerState, issueId: string): Issue {
  const issue = findEditableIssue(state, issueId);
  if (isClosed(issue))
    refuse(
      "precondition_failed",
      `${formatIssue(issue, issueId)} is ${issue.status} since ${issue.closed}`,
      "issue_tracker_transition_issue can open it again",
    );
  return issue;
}

/** The id of the person; refuses the call if they are not a member of the project. */
export function findMemberId(state: IssueTrackerState, name: string, projectId: string): string {
  const userId = findUserId(state, name);
  const { members, name: projectName } = projects.find(state, projectId);
  if (!members.includes(userId))
    refuse(
      "precondition_failed",
      `${getUserName(state, userId)} is not a member of project ${projectId} (${projectName})`,
      `choose one of ${members.map(it => getUserName(state, it)).join(", ")}`,
    );
  return userId;
}

/** Refuses a title that an open issue of the project already has. */
export function requireUniqueTitle(
  state: IssueTrackerState,
  title: string,
  projectKey: string,
  hint = "choose another title, or go on with that issue",
): void {
  const normalizedTitle = title.trim().toLowerCase();
  const same = Object.entries(getOriginal(state).issues).find(
    ([key, it]) =>
      getProjectId(key) === projectKey &&
      !isClosed(it) &&
      it.title.trim().toLowerCase() === normalizedTitle,
  );
  if (same)
    refuse(
      "conflict",
      `project ${projectKey} already has an open issue ${same[0]} (${same[1].title})`,
      hint,
    );
}

export const listSubtasks = ({ issues }: IssueTrackerState, issueId: string): [string, Issue][] =>
  Object.entries(getOriginal(issues))
    .filter(([, it]) => it.parent_id === issueId)
    .sort(([a], [b]) => compareKeys(a, b));

/** Refuses an issue of which subtasks are open. */
export function requireClosedSubtasks(state: IssueTrackerState, issueId: string): void {
  const open = listSubtasks(state, issueId).filter(([, it]) => !isClosed(it));
  if (open.length > 0)
    refuse(
      "precondition_failed",
      `${formatIssue(state.issues[issueId]!, issueId)} has open subtasks: ${open.map(([key]) => key).join(", ")}`,
      "close the subtasks first",
    );
}

/** The statuses that an issue of the project may change to. */
export const listNextStatuses = (
  state: IssueTrackerState,
  issueId: string,
  status: Status,
): Status[] => [...workflows[projects.find(state, getProjectId(issueId)).workflow][status]];

/** Refuses a label that the project does not have. */
export function requireProjectLabel(
  state: IssueTrackerState,
  projectId: string,
  text: string,
): void {
  const { labels } = projects.find(state, projectId);
  if (!labels.includes(text))
    refuse(
      "not_found",
      `project ${projectId} has no label ${text}`,
      `its labels are ${labels.join(", ")}`,
    );
}

/** The open issues that block this one. */
export function listOpenBlockers({ links, issues }: IssueTrackerState, issueId: string): string[] {
  const blockers = Object.values(links).filter(
    it => it.kind === "blocks" && it.to === issueId && !isClosed(issues[it.from]!),
  );
  return blockers.map(it => it.from).sort(compareKeys);
}

/** Whether links of that kind lead from one issue to the other. */
export function hasLinkPath(
  links: IssueTrackerState["links"],
  kind: Link["kind"],
  from: string,
  to: string,
): boolean {
  const successors = new Map<string, string[]>();
  for (const it of Object.values(links))
    if (it.kind === kind) successors.set(it.from, [...(successors.get(it.from) ?? []), it.to]);
  const seen = new Set<string>();
  const pending = [from];
  for (let issueId = pending.pop(); issueId !== undefined; issueId = pending.pop()) {
    if (issueId === to) return true;
    if (seen.has(issueId)) continue;
    seen.add(issueId);
    pending.push(...(successors.get(issueId) ?? []));
  }
  return false;
}

/** The minutes of all work that is counted. */
export const sumMinutes = (
  { work }: IssueTrackerState,
  isCounted: (it: z.infer<typeof Work>) => boolean,
): number =>
  Object.values(getOriginal(work)).reduce((sum, it) => (isCounted(it) ? sum + it.minutes : sum), 0);

/** The points of the issues in a sprint, without the issue `exceptId`. */
export const sumSprintPoints = (
  { issues }: IssueTrackerState,
  sprintId: string,
  exceptId?: string,
): number =>
  Object.entries(issues).reduce(
    (sum, [key, it]) =>
      it.sprint_id === sprintId && key !== exceptId ? sum + (it.points ?? 0) : sum,
    0,
  );

/** Refuses the call if the points of the issue would exceed the capacity of the sprint. */
export function requireSprintCapacity(
  state: IssueTrackerState,
  sprintId: string,
  issueId: string,
  points: number,
): void {
  const sprint = state.sprints[sprintId]!;
  const plannedPoints = sumSprintPoints(getOriginal(state), sprintId, issueId);
  if (plannedPoints + points > sprint.capacity)
    refuse(
      "limit_exceeded",
      `${sprint.name} takes ${sprint.capacity} points, ${plannedPoints} are planned, and ${issueId} has ${points}`,
      "take something out with issue_tracker_remove_from_sprint, or choose another sprint",
    );
}

export const issueKey = () => spokenId("issue");
export const projectKey = () => spokenId("project");
/** People are identified by name, not by id. */
export const person = () => spokenId("person");
/** A label is identified by its text. */
export const tag = () => label("label").max(40);

export const points = z.int().min(1).max(40).meta({ examples: vocabulary.points });
export const priority = z.enum(priorities);
export const assignee = person().describe("Full name or e-mail address of a member of the project");
export const newTitle = phrase(3, 120).meta({ examples: vocabulary.titles });

export const issueLabel = issues.fields({ title: label("issue"), issue_id: issues.idField });
export const issueRow = issues.fields({ ...issueLabel, status: z.string() });
export const assigneeField = issues.fields({
  assignee: [
    person().optional(),
    (it, { world }) => it.assignee && getUserName(world, it.assignee),
  ],
});

/** Refuses a day before today. */
export function requireNotPast(date: string, now: string, noun: string): void {
  if (date < now.slice(0, 10))
    refuse(
      "precondition_failed",
      `${noun} ${date} is past: today is ${now.slice(0, 10)}`,
      "choose today or a later day",
    );
}
