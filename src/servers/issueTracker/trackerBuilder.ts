/** Builds projects, issues and sprints of a generated issue tracker state. */
import type { Random } from "../../environment/random.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { subtasks } from "./generateTexts.ts";
import { smallProjectPlans, type ProjectPlan, type Row } from "./projectPlans.ts";
import type { IssueTrackerState } from "./state.ts";

export type Issue = Row<"issues">;

/** Builds the state row by row. */
export class IssueTrackerBuilder {
  readonly state: IssueTrackerState;
  readonly random: Random;
  readonly nextId: GeneratorContext["nextId"];
  readonly #users: readonly string[];
  readonly #subtasks: string[];

  constructor({ cast, random, nextId, size }: GeneratorContext) {
    this.random = random;
    this.nextId = nextId;
    const staff =
      size === "full"
        ? cast.staff
        : cast.staff.filter((_, i) => smallProjectPlans.some(it => it.people.includes(i)));
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

  addProject({ topic, name, workflow, people, isArchived }: ProjectPlan): void {
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

  getUserId(place: number): string {
    return this.#users[place]!;
  }

  addIssue(key: string, title: string, issue: Partial<Issue> & Pick<Issue, "status">): string {
    const project = this.state.projects[key]!;
    const issueId = `${key}-${++project.last}`;
    const isClosed = issue.status === "done" || issue.status === "cancelled";
    const created = issue.created ?? dayAfterStart(-15 - this.random.integer(55));
    this.state.issues[issueId] = {
      title,
      type: "task",
      priority: "medium",
      reporter: project.lead,
      created,
      ...(isClosed ? { closed: dayAfterStart(-1 - this.random.integer(6)) } : {}),
      ...issue,
    };
    return issueId;
  }

  /** Adds nothing once every title has been used. */
  addSubtask(parentId: string, issue: Partial<Issue> & Pick<Issue, "status">): void {
    const { created, priority } = this.state.issues[parentId]!;
    const title = this.#subtasks.pop();
    if (title !== undefined)
      this.addIssue(parentId.split("-")[0]!, title, {
        created,
        priority,
        ...issue,
        parent_id: parentId,
      });
  }

  addSprint(
    key: string,
    name: string,
    status: Row<"sprints">["status"],
    week: number,
    capacity: number,
  ): string {
    const sprintId = this.nextId("spr");
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

  addLink(kind: IssueTrackerState["links"][string]["kind"], from: string, to: string): void {
    this.state.links[this.nextId("lnk")] = { kind, from, to };
  }

  addComment(issueId: string, by: string, day: number, text: string): void {
    const at = `${dayAfterStart(day)}T${String(9 + this.random.integer(9)).padStart(2, "0")}:${this.random.pick(["05", "10", "25", "30", "45", "55"])}`;
    this.state.comments[this.nextId("cmt")] = { issue_id: issueId, by, at, text };
  }

  addWork(issueId: string, by: string, day: number, minutes: number, note?: string): void {
    this.state.work[this.nextId("wrk")] = {
      issue_id: issueId,
      by,
      day: dayAfterStart(day),
      minutes,
      ...(note === undefined ? {} : { note }),
    };
  }
}
