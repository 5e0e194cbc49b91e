/** Tools that plan sprints, log work on issues and report the time of a project. */
import { z } from "zod";
import { label, day, phrase, id, rowTotal } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { ascending, contains, equals, getSchemas, refersTo } from "../kit/table.ts";
import {
  requireSprintCapacity,
  formatIssue,
  findOpenIssue,
  findEditableIssue,
  findEditableProject,
  sumSprintPoints,
  getProjectId,
  isClosed,
  issues,
  IssueTrackerState,
  getUserName,
  projects,
  sprints,
  issueLabel,
  projectKey,
  requireNotPast,
  compareKeys,
  findUserId,
  sumMinutes,
  person,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(IssueTrackerState);

const maxSprintDays = 42;

const sprintLabel = sprints.fields({
  sprint: [label("sprint"), it => it.name],
  sprint_id: sprints.idField,
});
const terms = { status: z.string(), start: day(), end: day(), capacity: z.int() };
const newRow = sprints.fields({ ...sprintLabel, project_id: projects.id, ...terms });
const plannedRow = {
  ...getSchemas(issueLabel),
  ...getSchemas(sprintLabel),
  planned_points: z.int(),
};

export const sprintTools = {
  list_sprints: sprints.list({
    summary:
      "List sprints in the order of their starts with the points they take and have, by name, project or status.",
    filters: {
      name: contains(label("sprint"), "Only sprints whose name contains this", it => it.name),
      project_id: refersTo(projects, "Only sprints of this project", it => it.project_id),
      status: equals(
        z.enum(["planned", "active", "closed"]),
        "Only sprints in this status",
        it => it.status,
      ),
    },
    order: ascending(it => it.start),
    limit: 10,
    row: {
      ...sprintLabel,
      project_id: projectKey(),
      ...terms,
      planned_points: [z.int(), (_, { id, world }) => sumSprintPoints(world, id)],
      open_issues: [
        z.int(),
        (_, { id, world }) =>
          Object.values(world.issues).filter(it => it.sprint_id === id && !isClosed(it)).length,
      ],
    },
  }),
  create_sprint: tool({
    effect: "write",
    summary: "Plan a sprint in a project that the user leads. A project has one sprint at a time.",
    input: {
      project_id: projects.id,
      name: phrase(3, 60).describe("Name of the sprint").meta({ examples: vocabulary.sprintNames }),
      start: day().describe("First day, today or later"),
      end: day().describe("Last day, at most six weeks after the first"),
      capacity: z
        .int()
        .min(1)
        .max(200)
        .describe("Story points that it takes")
        .meta({ examples: vocabulary.capacities }),
    },
    returns: getSchemas(newRow),
    run(state, { project_id, name, start, end, capacity }, { now, newId }) {
      const project = findEditableProject(state, project_id);
      if (project.lead !== state.user)
        refuse(
          "permission_denied",
          `only its lead plans the sprints of ${project.name} (${project_id})`,
          `ask ${getUserName(state, project.lead)}`,
        );
      requireNotPast(start, now, "the first day");
      if (end <= start || daysBetween(start, end) > maxSprintDays)
        refuse(
          "invalid_params",
          `a sprint ends 1 to ${maxSprintDays} days after it starts, and ${end} is ${daysBetween(start, end)} days after ${start}`,
        );
      const others = Object.values(getOriginal(state).sprints).filter(
        it => it.project_id === project_id,
      );
      const sameName = others.find(it => it.name.toLowerCase() === name.trim().toLowerCase());
      if (sameName)
        refuse(
          "conflict",
          `${project.name} already has a sprint ${sameName.name}`,
          "choose another name",
        );
      const overlapping = others.find(
        it => it.status !== "closed" && it.start <= end && start <= it.end,
      );
      if (overlapping)
        refuse(
          "conflict",
          `${overlapping.name} runs from ${overlapping.start} to ${overlapping.end}, and ${project.name} has one sprint at a time`,
          "choose other days",
        );
      const sprint_id = newId("spr");
      state.sprints[sprint_id] = {
        name: name.trim(),
        project_id,
        status: "planned",
        start,
        end,
        capacity,
      };
      return sprints.show(newRow, state, sprint_id, now);
    },
  }),
  add_to_sprint: tool({
    effect: "write",
    summary:
      "Put an open issue into a planned or active sprint of its project, out of any sprint it is in. It needs points, and the sprint room for them.",
    input: { issue_id: issues.id, sprint_id: sprints.id },
    returns: {
      ...plannedRow,
      capacity: z.int(),
      moved_from: label("sprint").optional(),
    },
    run(state, { issue_id, sprint_id }) {
      const issue = findOpenIssue(state, issue_id);
      const sprint = sprints.find(state, sprint_id);
      if (sprint.project_id !== getProjectId(issue_id))
        refuse(
          "precondition_failed",
          `${sprint.name} is a sprint of project ${sprint.project_id}, and ${issue_id} is not in it`,
          `issue_tracker_list_sprints gives those of ${getProjectId(issue_id)}`,
        );
      if (sprint.status === "closed")
        refuse(
          "precondition_failed",
          `${sprint.name} (${sprint_id}) ended on ${sprint.end} and is closed`,
          "choose a planned or active sprint",
        );
      if (issue.parent_id !== undefined)
        refuse(
          "precondition_failed",
          `${formatIssue(issue, issue_id)} is a subtask and goes with ${issue.parent_id}`,
          `add ${issue.parent_id} to the sprint`,
        );
      if (issue.sprint_id === sprint_id)
        refuse("conflict", `${formatIssue(issue, issue_id)} is already in ${sprint.name}`);
      if (issue.points === undefined)
        refuse(
          "precondition_failed",
          `${formatIssue(issue, issue_id)} has no points`,
          "issue_tracker_update_issue gives it points",
        );
      requireSprintCapacity(state, sprint_id, issue_id, issue.points);
      const moved_from = issue.sprint_id && state.sprints[issue.sprint_id]!.name;
      issue.sprint_id = sprint_id;
      return {
        title: issue.title,
        issue_id,
        sprint: sprint.name,
        sprint_id,
        planned_points: sumSprintPoints(getOriginal(state), sprint_id, issue_id) + issue.points,
        capacity: sprint.capacity,
        moved_from,
      };
    },
  }),
  remove_from_sprint: tool({
    effect: "write",
    summary:
      "Take an issue out of the sprint it is in, back to the backlog. What was in a closed sprint stays there.",
    input: { issue_id: issues.id },
    returns: plannedRow,
    run(state, { issue_id }) {
      const issue = findEditableIssue(state, issue_id);
      const { sprint_id } = issue;
      if (sprint_id === undefined)
        return refuse(
          "precondition_failed",
          `${formatIssue(issue, issue_id)} is in no sprint`,
          issue.parent_id && `it is a subtask and goes with ${issue.parent_id}`,
        );
      const sprint = state.sprints[sprint_id]!;
      if (sprint.status === "closed")
        refuse(
          "precondition_failed",
          `${sprint.name} (${sprint_id}) ended on ${sprint.end} and is closed: what was in it stays`,
        );
      delete issue.sprint_id;
      return {
        title: issue.title,
        issue_id,
        sprint: sprint.name,
        sprint_id,
        planned_points: sumSprintPoints(getOriginal(state), sprint_id, issue_id),
      };
    },
  }),
};

/** For how many days afterwards work can be logged. */
const maxLogAgeDays = 31;
/** The most work of a person on one day. */
export const maxMinutesPerDay = 720;

export const workTools = {
  log_work: tool({
    effect: "write",
    summary:
      "Log time that the user has worked on an issue, today or on a day of the past month; at most twelve hours a day over all issues.",
    input: {
      issue_id: issues.id,
      minutes: z
        .int()
        .min(5)
        .max(maxMinutesPerDay)
        .describe("Minutes worked, from 5 to 720")
        .meta({ examples: vocabulary.minutes }),
      day: day().optional().describe("Day of the work, today if not given"),
      note: phrase(2, 200)
        .optional()
        .describe("What was done")
        .meta({ examples: vocabulary.workNotes }),
    },
    returns: {
      ...getSchemas(issueLabel),
      work_id: id("work"),
      day: day(),
      logged_minutes: z.int().describe("On the issue, by everybody"),
      day_minutes: z.int().describe("By the user on that day"),
    },
    run(state, { issue_id, minutes, day, note }, { now, newId }) {
      const issue = findEditableIssue(state, issue_id);
      const today = now.slice(0, 10);
      const workDay = day ?? today;
      if (issue.status === "cancelled")
        refuse(
          "precondition_failed",
          `${formatIssue(issue, issue_id)} was cancelled on ${issue.closed}`,
          "choose another issue, or open it again",
        );
      if (workDay > today)
        refuse(
          "precondition_failed",
          `${workDay} is still to come: today is ${today}`,
          "log work when it is done",
        );
      if (daysBetween(workDay, today) > maxLogAgeDays)
        refuse(
          "precondition_failed",
          `${workDay} is more than ${maxLogAgeDays} days ago, and its time sheet is closed`,
          "choose a later day",
        );
      const loggedToday = sumMinutes(state, it => it.by === state.user && it.day === workDay);
      if (loggedToday + minutes > maxMinutesPerDay)
        refuse(
          "limit_exceeded",
          `a day takes ${maxMinutesPerDay} minutes, and ${loggedToday} are logged on ${workDay}`,
          `log at most ${maxMinutesPerDay - loggedToday} minutes, or another day`,
        );
      const work_id = newId("wrk");
      state.work[work_id] = { issue_id, by: state.user, day: workDay, minutes, note };
      return {
        title: issue.title,
        issue_id,
        work_id,
        day: workDay,
        logged_minutes: sumMinutes(state, it => it.issue_id === issue_id) + minutes,
        day_minutes: loggedToday + minutes,
      };
    },
  }),
  get_time_report: tool({
    effect: "read",
    summary:
      "Get the minutes logged on a project between two days, all of them or one person's, in all and by issue, the most first.",
    input: {
      project_id: projects.id,
      from: day().optional().describe("First day; the beginning of the project if not given"),
      to: day().optional().describe("Last day; today if not given"),
      person: person()
        .optional()
        .describe("Only the work of this person, by full name or e-mail address"),
    },
    returns: {
      project: label("project"),
      project_id: projectKey(),
      minutes: z.int(),
      entries: z.int(),
      total: rowTotal("issues"),
      issues: z
        .array(z.object({ ...getSchemas(issueLabel), minutes: z.int() }))
        .describe("The ten with the most time"),
    },
    run(state, { project_id, from, to, person: personName }, { now }) {
      const { name: project } = projects.find(state, project_id);
      const userId = personName === undefined ? undefined : findUserId(state, personName);
      const last = to ?? now.slice(0, 10);
      if (from !== undefined && from > last)
        refuse("invalid_params", `from ${from} is after to ${last}`);
      const entries = Object.values(state.work).filter(
        it =>
          getProjectId(it.issue_id) === project_id &&
          (!from || it.day >= from) &&
          it.day <= last &&
          (!userId || it.by === userId),
      );
      const byIssue = new Map<string, number>();
      for (const it of entries)
        byIssue.set(it.issue_id, (byIssue.get(it.issue_id) ?? 0) + it.minutes);
      const sorted = [...byIssue].sort(([a, x], [b, y]) => y - x || compareKeys(a, b));
      return {
        project,
        project_id,
        minutes: entries.reduce((sum, it) => sum + it.minutes, 0),
        entries: entries.length,
        total: sorted.length,
        issues: sorted.slice(0, 10).map(([issue_id, minutes]) => ({
          title: state.issues[issue_id]!.title,
          issue_id,
          minutes,
        })),
      };
    },
  }),
};
