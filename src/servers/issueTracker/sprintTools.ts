/** Tools that list and create sprints and plan issues into them. */
import { z } from "zod";
import { label, day, phrase } from "../../environment/fieldSchemas.ts";
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
} from "./state.ts";
import { issueLabel, projectKey, requireNotPast } from "./parameters.ts";
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
