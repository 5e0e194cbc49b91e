/** Generates the issues, sprints, links and comments beyond the small fixture. */
import type { SharedCast } from "../shared/cast.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { descriptions, remarks, workNotes, type ProjectTexts } from "./generateTexts.ts";
import { listFullProjectPlans, smallProjectPlans, type ProjectPlan } from "./projectPlans.ts";
import { type IssueTrackerBuilder, type Issue } from "./trackerBuilder.ts";

/** Adds what the full fixture has beyond the small one. */
export function addRemainingIssues(builder: IssueTrackerBuilder, cast: SharedCast): void {
  const { state, random } = builder;
  for (const plan of listFullProjectPlans(cast)) {
    builder.addProject(plan);
    const { topic } = plan;
    if (!topic.sprints) continue;
    const number = 2 + random.integer(9);
    builder.addSprint(
      topic.key,
      `${topic.sprints} ${number}`,
      "closed",
      -2,
      16 + 4 * random.integer(4),
    );
    builder.addSprint(
      topic.key,
      `${topic.sprints} ${number + 1}`,
      "active",
      0,
      16 + 4 * random.integer(4),
    );
    if (random.boolean(0.7))
      builder.addSprint(
        topic.key,
        `${topic.sprints} ${number + 2}`,
        "planned",
        2,
        20 + 4 * random.integer(4),
      );
  }
  for (const { topic, workflow, isArchived } of [
    ...smallProjectPlans,
    ...listFullProjectPlans(cast),
  ]) {
    const usedTitles = new Set(Object.values(state.issues).map(it => it.title));
    for (const title of topic.titles)
      if (!usedTitles.has(title))
        addRandomIssue(builder, topic, title, workflow, isArchived ?? false);
  }
  addLinks(builder);
  addComments(builder);
}

const statusesByWorkflow: Readonly<Record<ProjectPlan["workflow"], readonly Issue["status"][]>> = {
  simple: ["todo", "todo", "todo", "in_progress", "in_progress", "done", "cancelled"],
  review: [
    "todo",
    "todo",
    "todo",
    "in_progress",
    "in_progress",
    "in_review",
    "in_review",
    "done",
    "cancelled",
  ],
  support: [
    "todo",
    "todo",
    "in_progress",
    "in_progress",
    "waiting",
    "waiting",
    "done",
    "cancelled",
  ],
};

/** Adds an issue with random values that its project allows, in a sprint that has room for it. */
function addRandomIssue(
  builder: IssueTrackerBuilder,
  { key, labels }: ProjectTexts,
  title: string,
  workflow: ProjectPlan["workflow"],
  isArchived: boolean,
): void {
  const { state, random } = builder;
  const status = isArchived
    ? random.pick(["todo", "done"] as const)
    : random.pick(statusesByWorkflow[workflow]);
  const project = state.projects[key]!;
  const isMine = project.members.includes(state.user) && random.boolean(0.4);
  const assignee =
    status === "todo" && random.boolean(0.45)
      ? undefined
      : isMine
        ? state.user
        : random.pick(project.members);
  const points =
    random.boolean(0.75) && workflow !== "support" ? random.pick([1, 2, 3, 5, 8]) : undefined;
  const isClosed = status === "done" || status === "cancelled";
  const sprint = points === undefined ? undefined : chooseSprint(builder, key, status, points);
  const closed = isArchived
    ? dayAfterStart(-160 - random.integer(30))
    : sprint && isClosed
      ? dayAfterStart(-11 + random.integer(8))
      : dayAfterStart(-2 - random.integer(20));
  const issueId = builder.addIssue(key, title, {
    status,
    type: random.pick(["bug", "task", "story", "request"] as const),
    priority: random.pick(["urgent", "high", "medium", "medium", "medium", "low"] as const),
    reporter: random.pick(project.members),
    created: dayAfterStart(isArchived ? -230 - random.integer(60) : -25 - random.integer(60)),
    ...(assignee === undefined ? {} : { assignee }),
    ...(points === undefined ? {} : { points }),
    ...(sprint === undefined ? {} : { sprint_id: sprint }),
    ...(isClosed ? { closed } : {}),
    ...(!isClosed && !isArchived && random.boolean(0.3)
      ? { due: dayAfterStart(random.integer(35) - 6) }
      : {}),
    ...(random.boolean(0.7)
      ? { labels: random.shuffle([...labels]).slice(0, 1 + random.integer(2)) }
      : {}),
    ...(random.boolean(0.2) ? { description: random.pick(descriptions) } : {}),
  });
  if (status !== "in_progress" && status !== "in_review" && status !== "done") return;
  for (let i = random.boolean(0.35) ? 1 + random.integer(2) : 0; i > 0; i--)
    builder.addSubtask(
      issueId,
      isClosed
        ? { status: "done", closed, assignee: assignee! }
        : { status: random.pick(["todo", "done"] as const), assignee: assignee! },
    );
}

/** A sprint of the project that fits the issue's status and has room for its points, if any. */
function chooseSprint(
  { state, random }: IssueTrackerBuilder,
  key: string,
  status: Issue["status"],
  points: number,
): string | undefined {
  const wantedStatus =
    status === "done" || status === "cancelled"
      ? "closed"
      : status === "todo"
        ? random.pick(["planned", "active", undefined] as const)
        : "active";
  const sprint = Object.entries(state.sprints).find(
    ([, it]) => it.project_id === key && it.status === wantedStatus,
  );
  if (!sprint) return undefined;
  const plannedPoints = Object.values(state.issues).reduce(
    (sum, it) => (it.sprint_id === sprint[0] ? sum + (it.points ?? 0) : sum),
    0,
  );
  return plannedPoints + points <= sprint[1].capacity ? sprint[0] : undefined;
}

/**
 * Adds blockers and relations within projects, always from an earlier issue to a later one, and
 * closed duplicates.
 */
function addLinks(builder: IssueTrackerBuilder): void {
  const { state, random } = builder;
  for (const [key, { status }] of Object.entries(state.projects)) {
    if (status === "archived") continue;
    const issues = Object.entries(state.issues).filter(
      ([issueId, it]) =>
        issueId.startsWith(`${key}-`) &&
        it.parent_id === undefined &&
        Number(issueId.slice(key.length + 1)) > 11,
    );
    const open = issues
      .filter(([, it]) => it.status !== "done" && it.status !== "cancelled")
      .map(([issueId]) => issueId);
    for (let i = 0; i + 3 < open.length; i += 4)
      builder.addLink(
        random.pick(["blocks", "blocks", "relates_to"] as const),
        open[i]!,
        open[i + 1 + random.integer(2)]!,
      );
    const cancelled = issues.find(([, it]) => it.status === "cancelled");
    if (cancelled && open[0]) builder.addLink("duplicates", cancelled[0], open[0]);
  }
}

/** Days of the last weeks, relative to today, all after the newest issue was created. */
const workdays = [-3, -4, -5, -6, -7, -10, -11, -12, -13, -14];

/** Adds comments, and logged work on started issues. */
function addComments(builder: IssueTrackerBuilder): void {
  const { state, random } = builder;
  for (const [issueId, { status, assignee, parent_id }] of Object.entries(state.issues)) {
    const project = state.projects[issueId.split("-")[0]!]!;
    if (project.status === "archived" || parent_id !== undefined) continue;
    if (status !== "todo" && assignee && random.boolean(0.6))
      builder.addWork(
        issueId,
        assignee,
        random.pick(workdays),
        15 * (1 + random.integer(14)),
        random.boolean(0.5) ? random.pick(workNotes) : undefined,
      );
    if (random.boolean(0.4))
      builder.addComment(
        issueId,
        random.pick(project.members),
        random.pick(workdays.slice(0, 5)),
        random.pick(remarks),
      );
  }
}
