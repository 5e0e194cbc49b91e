/** Generates the issues, sprints, links and comments beyond the small fixture. */
import type { SharedCast } from "../shared/cast.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { descriptions, remarks, workNotes, type Topic } from "./generateTexts.ts";
import { fullPlans, smallPlans, type Plan } from "./projectPlans.ts";
import { type TrackerBuilder, type Issue } from "./trackerBuilder.ts";

/** What the full world has beyond the small one's. */
export function addRemainingIssues(making: TrackerBuilder, cast: SharedCast): void {
  const { state, random } = making;
  for (const plan of fullPlans(cast)) {
    making.project(plan);
    const { topic } = plan;
    if (!topic.sprints) continue;
    const n = 2 + random.integer(9);
    making.sprint(topic.key, `${topic.sprints} ${n}`, "closed", -2, 16 + 4 * random.integer(4));
    making.sprint(topic.key, `${topic.sprints} ${n + 1}`, "active", 0, 16 + 4 * random.integer(4));
    if (random.boolean(0.7))
      making.sprint(
        topic.key,
        `${topic.sprints} ${n + 2}`,
        "planned",
        2,
        20 + 4 * random.integer(4),
      );
  }
  for (const { topic, workflow, isArchived } of [...smallPlans, ...fullPlans(cast)]) {
    const taken = new Set(Object.values(state.issues).map(it => it.title));
    for (const title of topic.titles)
      if (!taken.has(title)) addRandomIssue(making, topic, title, workflow, isArchived ?? false);
  }
  addLinks(making);
  addComments(making);
}

const statusesByWorkflow: Readonly<Record<Plan["workflow"], readonly Issue["status"][]>> = {
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

/** An issue as its project may have it, in a sprint where there is room. */
function addRandomIssue(
  making: TrackerBuilder,
  { key, labels }: Topic,
  title: string,
  workflow: Plan["workflow"],
  isArchived: boolean,
): void {
  const { state, random } = making;
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
  const sprint = points === undefined ? undefined : chooseSprint(making, key, status, points);
  const closed = isArchived
    ? dayAfterStart(-160 - random.integer(30))
    : sprint && isClosed
      ? dayAfterStart(-11 + random.integer(8))
      : dayAfterStart(-2 - random.integer(20));
  const issueId = making.issue(key, title, {
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
    making.subtask(
      issueId,
      isClosed
        ? { status: "done", closed, assignee: assignee! }
        : { status: random.pick(["todo", "done"] as const), assignee: assignee! },
    );
}

/** A sprint of the project that such an issue can be in, if one has room. */
function chooseSprint(
  { state, random }: TrackerBuilder,
  key: string,
  status: Issue["status"],
  points: number,
): string | undefined {
  const wanted =
    status === "done" || status === "cancelled"
      ? "closed"
      : status === "todo"
        ? random.pick(["planned", "active", undefined] as const)
        : "active";
  const found = Object.entries(state.sprints).find(
    ([, it]) => it.project_id === key && it.status === wanted,
  );
  if (!found) return undefined;
  const taken = Object.values(state.issues).reduce(
    (sum, it) => (it.sprint_id === found[0] ? sum + (it.points ?? 0) : sum),
    0,
  );
  return taken + points <= found[1].capacity ? found[0] : undefined;
}

/**
 * Blockers and relations within projects, always from an earlier issue to a later one, and
 * duplicates that are closed.
 */
function addLinks(making: TrackerBuilder): void {
  const { state, random } = making;
  for (const [key, { status }] of Object.entries(state.projects)) {
    if (status === "archived") continue;
    const own = Object.entries(state.issues).filter(
      ([issueId, it]) =>
        issueId.startsWith(`${key}-`) &&
        it.parent_id === undefined &&
        Number(issueId.slice(key.length + 1)) > 11,
    );
    const open = own
      .filter(([, it]) => it.status !== "done" && it.status !== "cancelled")
      .map(([issueId]) => issueId);
    for (let i = 0; i + 3 < open.length; i += 4)
      making.link(
        random.pick(["blocks", "blocks", "relates_to"] as const),
        open[i]!,
        open[i + 1 + random.integer(2)]!,
      );
    const cancelled = own.find(([, it]) => it.status === "cancelled");
    if (cancelled && open[0]) making.link("duplicates", cancelled[0], open[0]);
  }
}

/** Of the last weeks, all after the latest issue was filed. */
const workdays = [-3, -4, -5, -6, -7, -10, -11, -12, -13, -14];

/** Comments and hours on what has been worked on. */
function addComments(making: TrackerBuilder): void {
  const { state, random } = making;
  for (const [issueId, { status, assignee, parent_id }] of Object.entries(state.issues)) {
    const project = state.projects[issueId.split("-")[0]!]!;
    if (project.status === "archived" || parent_id !== undefined) continue;
    if (status !== "todo" && assignee && random.boolean(0.6))
      making.work(
        issueId,
        assignee,
        random.pick(workdays),
        15 * (1 + random.integer(14)),
        random.boolean(0.5) ? random.pick(workNotes) : undefined,
      );
    if (random.boolean(0.4))
      making.comment(
        issueId,
        random.pick(project.members),
        random.pick(workdays.slice(0, 5)),
        random.pick(remarks),
      );
  }
}
