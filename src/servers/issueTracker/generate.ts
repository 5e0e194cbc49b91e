/**
 * The issue tracker's part of a world: the studio's projects for its clients and itself, with
 * issues in every state that a workflow has.
 */
import type { Random } from "../../environment/random.ts";
import { server, type Tracker } from "./server.ts";
import type { SharedCast } from "../shared/cast.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import {
  catalogue,
  descriptions,
  exhibition,
  newsletter,
  office,
  packaging,
  portal,
  remarks,
  subtasks,
  support,
  website,
  workNotes,
  type Topic,
} from "./generateTexts.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";

type Row<Name extends "projects" | "issues" | "sprints"> = Tracker[Name][string];
type Issue = Row<"issues">;

interface Plan {
  readonly topic: Topic;
  readonly name: string;
  readonly workflow: Row<"projects">["workflow"];
  /** Places in the staff, the lead first. */
  readonly people: readonly number[];
  readonly isArchived?: true;
}

/** What the small world has, and the full one begins with. */
const smallPlans: readonly Plan[] = [
  { topic: website, name: "Studio website", workflow: "review", people: [0, 1, 2, 8, 10] },
  { topic: support, name: "Client support", workflow: "support", people: [9, 0, 1, 11] },
  { topic: office, name: "Office and systems", workflow: "simple", people: [3, 1, 13] },
  {
    topic: newsletter,
    name: "Old newsletter",
    workflow: "simple",
    people: [11, 0, 2],
    isArchived: true,
  },
];
const fullPlans = ({ clients, getPlace }: SharedCast): readonly Plan[] => [
  {
    topic: portal,
    name: `${clients[0]!.name} claims portal`,
    workflow: "review",
    people: [1, 0, 2, 5, 9, 10],
  },
  {
    topic: catalogue,
    name: `${clients[1]!.name} spring catalogue`,
    workflow: "simple",
    people: [0, 2, 4, 5, 8],
  },
  {
    topic: packaging,
    name: `${clients[2]!.name} packaging`,
    workflow: "simple",
    people: [4, 0, 7, 8, 12],
  },
  {
    topic: exhibition,
    name: `${getPlace("museum").name} site`,
    workflow: "review",
    people: [0, 1, 4, 6, 10, 11],
  },
];

/** A tracker while it is made. */
class Making {
  readonly state: Tracker;
  readonly random: Random;
  readonly id: GeneratorContext["nextId"];
  readonly #users: readonly string[];
  readonly #subtasks: string[];

  constructor({ cast, random, nextId, size }: GeneratorContext) {
    this.random = random;
    this.id = nextId;
    const staff =
      size === "full"
        ? cast.staff
        : cast.staff.filter((_, i) => smallPlans.some(it => it.people.includes(i)));
    const users = Object.fromEntries(
      staff.map(({ name, email }) => [nextId("usr"), { name, email }]),
    );
    const ids = new Map(Object.entries(users).map(([key, it]) => [it.email, key]));
    this.#users = cast.staff.map(it => ids.get(it.email) ?? "");
    this.#subtasks = random.shuffle([...subtasks]);
    this.state = {
      user: this.#users[0]!,
      users,
      projects: {},
      issues: {},
      sprints: {},
      links: {},
      comments: {},
      work: {},
    };
  }

  project({ topic, name, workflow, people, isArchived }: Plan): void {
    const members = people.map(it => this.#users[it]!);
    this.state.projects[topic.key] = {
      name,
      status: isArchived ? "archived" : "active",
      workflow,
      lead: members[0]!,
      members: members.toSorted(),
      labels: [...topic.labels],
      last: 0,
    };
  }

  member(place: number): string {
    return this.#users[place]!;
  }

  issue(key: string, title: string, issue: Partial<Issue> & Pick<Issue, "status">): string {
    const project = this.state.projects[key]!;
    const issueId = `${key}-${++project.last}`;
    const isClosed = issue.status === "done" || issue.status === "cancelled";
    const made = issue.created ?? dayAfterStart(-15 - this.random.integer(55));
    this.state.issues[issueId] = {
      title,
      type: "task",
      priority: "medium",
      reporter: project.lead,
      created: made,
      ...(isClosed ? { closed: dayAfterStart(-1 - this.random.integer(6)) } : {}),
      ...issue,
    };
    return issueId;
  }

  /** None once every title has been used. */
  subtask(parentId: string, issue: Partial<Issue> & Pick<Issue, "status">): void {
    const { created, priority } = this.state.issues[parentId]!;
    const title = this.#subtasks.pop();
    if (title !== undefined)
      this.issue(parentId.split("-")[0]!, title, {
        created,
        priority,
        ...issue,
        parent_id: parentId,
      });
  }

  sprint(
    key: string,
    name: string,
    status: Row<"sprints">["status"],
    week: number,
    capacity: number,
  ): string {
    const sprintId = this.id("spr");
    this.state.sprints[sprintId] = {
      name,
      project_id: key,
      status,
      start: dayAfterStart(7 * week),
      end: dayAfterStart(7 * week + 11),
      capacity,
    };
    return sprintId;
  }

  link(kind: Tracker["links"][string]["kind"], from: string, to: string): void {
    this.state.links[this.id("lnk")] = { kind, from, to };
  }

  comment(issueId: string, by: string, day: number, text: string): void {
    const at = `${dayAfterStart(day)}T${String(9 + this.random.integer(9)).padStart(2, "0")}:${this.random.pick(["05", "10", "25", "30", "45", "55"])}`;
    this.state.comments[this.id("cmt")] = { issue_id: issueId, by, at, text };
  }

  work(issueId: string, by: string, day: number, minutes: number, note?: string): void {
    this.state.work[this.id("wrk")] = {
      issue_id: issueId,
      by,
      day: dayAfterStart(day),
      minutes,
      ...(note === undefined ? {} : { note }),
    };
  }
}

/**
 * One issue of every kind that a rule asks for: blocked, divided, without points, unassigned, of
 * others, archived.
 */
function first(making: Making): void {
  for (const it of smallPlans) making.project(it);
  const [ana, ben, chloe, david, ines, jonas, kira] = [0, 1, 2, 3, 8, 9, 10].map(it =>
    making.member(it),
  ) as [string, string, string, string, string, string, string];
  const [w, s, o, n] = [website, support, office, newsletter].map(it => it.titles) as [
    readonly string[],
    readonly string[],
    readonly string[],
    readonly string[],
  ];
  const past = making.sprint("WEB", `${website.sprints} 6`, "closed", -2, 20);
  const active = making.sprint("WEB", `${website.sprints} 7`, "active", 0, 16);
  const planned = making.sprint("WEB", `${website.sprints} 8`, "planned", 2, 24);
  const slow = making.issue("WEB", w[0]!, {
    status: "in_progress",
    type: "bug",
    priority: "high",
    assignee: ana,
    points: 5,
    sprint_id: active,
    labels: ["performance"],
    due: dayAfterStart(4),
  });
  const cases = making.issue("WEB", w[1]!, {
    status: "in_review",
    type: "story",
    assignee: ana,
    points: 8,
    sprint_id: active,
    labels: ["content", "design"],
  });
  making.issue("WEB", w[2]!, {
    status: "todo",
    type: "bug",
    priority: "urgent",
    points: 3,
    labels: ["mobile"],
  });
  const contrast = making.issue("WEB", w[3]!, {
    status: "in_progress",
    assignee: kira,
    points: 2,
    sprint_id: active,
    labels: ["accessibility"],
  });
  const banner = making.issue("WEB", w[4]!, {
    status: "todo",
    type: "bug",
    assignee: ana,
    points: 2,
    sprint_id: planned,
    description: descriptions[1]!,
  });
  making.issue("WEB", w[5]!, { status: "todo", type: "story", priority: "low", assignee: ben });
  making.issue("WEB", w[6]!, {
    status: "done",
    type: "bug",
    assignee: ana,
    points: 1,
    sprint_id: past,
    closed: dayAfterStart(-4),
  });
  const rework = making.issue("WEB", w[7]!, {
    status: "todo",
    type: "story",
    assignee: chloe,
    points: 13,
  });
  making.subtask(cases, { status: "in_progress", assignee: ines });
  making.subtask(cases, { status: "done", assignee: ana });
  making.subtask(slow, { status: "done", assignee: ben });
  making.link("blocks", contrast, banner);
  making.link("relates_to", slow, rework);
  const reset = making.issue("SUP", s[0]!, {
    status: "waiting",
    type: "bug",
    priority: "high",
    assignee: ana,
    labels: ["login"],
  });
  making.issue("SUP", s[1]!, {
    status: "in_progress",
    type: "request",
    assignee: jonas,
    labels: ["print"],
  });
  making.issue("SUP", s[2]!, { status: "todo", type: "request", priority: "low" });
  making.issue("OPS", o[0]!, {
    status: "in_progress",
    type: "bug",
    assignee: david,
    labels: ["hardware"],
  });
  making.issue("NWS", n[0]!, { status: "todo", type: "bug", created: dayAfterStart(-200) });
  making.issue("NWS", n[1]!, {
    status: "done",
    assignee: ana,
    created: dayAfterStart(-240),
    closed: dayAfterStart(-180),
  });
  making.comment(slow, ben, -4, remarks[0]!);
  making.comment(reset, jonas, -3, remarks[5]!);
  making.work(slow, ana, -3, 90, "research");
  making.work(slow, ben, -3, 60);
  making.work(cases, ana, -4, 240, "first draft");
}

/** What the full world has beyond the small one's. */
function rest(making: Making, cast: SharedCast): void {
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
      if (!taken.has(title)) someIssue(making, topic, title, workflow, isArchived ?? false);
  }
  linked(making);
  conversation(making);
}

const moods: Readonly<Record<Plan["workflow"], readonly Issue["status"][]>> = {
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
function someIssue(
  making: Making,
  { key, labels }: Topic,
  title: string,
  workflow: Plan["workflow"],
  isArchived: boolean,
): void {
  const { state, random } = making;
  const status = isArchived ? random.pick(["todo", "done"] as const) : random.pick(moods[workflow]);
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
  const sprint = points === undefined ? undefined : sprintFor(making, key, status, points);
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
function sprintFor(
  { state, random }: Making,
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
function linked(making: Making): void {
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
function conversation(making: Making): void {
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

export const generator = defineGenerator<Tracker>({
  server,
  generate(context) {
    const making = new Making(context);
    first(making);
    if (context.size === "full") rest(making, context.cast);
    return making.state;
  },
  findInconsistencies: (state, _world, cast) => [...within(state), ...withCanon(state, cast)],
});

function within({ projects, issues, sprints, links, work }: Tracker): string[] {
  const wrong: string[] = [];
  const isOpen = (it: Issue) => it.status !== "done" && it.status !== "cancelled";
  const titles = new Set<string>();
  for (const [key, it] of Object.entries(issues)) {
    const [projectId, number] = key.split("-") as [string, string];
    const project = projects[projectId]!;
    const parent = it.parent_id === undefined ? undefined : issues[it.parent_id]!;
    const sprint = it.sprint_id === undefined ? undefined : sprints[it.sprint_id]!;
    if (titles.has(it.title)) wrong.push(`${key} is called ${it.title}, and so is another`);
    titles.add(it.title);
    if (Number(number) > project.last)
      wrong.push(`${key} is beyond the last number of ${projectId}, ${project.last}`);
    if (isOpen(it) === (it.closed !== undefined))
      wrong.push(`${key} is ${it.status} and was closed ${it.closed ?? "never"}`);
    if (it.closed !== undefined && it.closed < it.created)
      wrong.push(`${key} was closed before it was filed`);
    if (it.assignee !== undefined && !project.members.includes(it.assignee))
      wrong.push(`${key} is assigned to somebody outside ${projectId}`);
    for (const label of it.labels ?? [])
      if (!project.labels.includes(label))
        wrong.push(`${key} has the label ${label}, which ${projectId} lacks`);
    if (parent && isOpen(it) && !isOpen(parent))
      wrong.push(`${key} is open, and ${it.parent_id} is ${parent.status}`);
    if (parent && (parent.parent_id ?? it.sprint_id ?? it.points) !== undefined)
      wrong.push(`${key} is more than a subtask can be`);
    if (sprint && (sprint.project_id !== projectId || it.points === undefined))
      wrong.push(`${key} cannot be in ${sprint.name}`);
    if (sprint?.status === "closed" && isOpen(it))
      wrong.push(`${key} is ${it.status} in ${sprint.name}, which is closed`);
  }
  for (const [key, it] of Object.entries(sprints)) {
    const points = Object.values(issues).reduce(
      (sum, issue) => (issue.sprint_id === key ? sum + (issue.points ?? 0) : sum),
      0,
    );
    if (points > it.capacity) wrong.push(`${key} holds ${points} of ${it.capacity} points`);
  }
  for (const [key, { kind, from }] of Object.entries(links))
    if (kind === "duplicates" && isOpen(issues[from]!))
      wrong.push(`${key} says that ${from} is a duplicate, and it is open`);
  for (const [key, it] of Object.entries(work))
    if (issues[it.issue_id]!.created > it.day)
      wrong.push(`${key} is work on ${it.issue_id} before it was filed`);
  return wrong;
}

function withCanon({ user, users, projects }: Tracker, cast: SharedCast): string[] {
  const emails = new Map(cast.staff.map(it => [it.email, it.name]));
  const strangers = Object.values(users)
    .filter(it => emails.get(it.email) !== it.name)
    .map(it => `${it.name} <${it.email}> is not of the studio`);
  const named = Object.values(projects).map(it => it.name);
  const missing =
    named.length > smallPlans.length
      ? cast.clients
          .filter(it => !named.some(name => name.startsWith(it.name)))
          .map(it => `no project is for ${it.name}`)
      : [];
  return [
    ...(users[user]?.email === cast.user.email ? [] : [`the user is not ${cast.user.name}`]),
    ...strangers,
    ...missing,
  ];
}
