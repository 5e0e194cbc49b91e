/** Builds projects, issues and sprints of a generated issue tracker state. */
import type { Random } from "../../environment/random.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { subtasks } from "./generateTexts.ts";
import { smallPlans, type Plan } from "./projectPlans.ts";
import type { Tracker } from "./server.ts";
import type { Row } from "./projectPlans.ts";

export type Issue = Row<"issues">;

/** A tracker while it is made. */
export class TrackerBuilder {
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
