/**
 * The issue tracker server: the projects of a studio, as one member sees them. Also its rules,
 * which hold whichever tools are used.
 */
import {
  defineRule,
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedRows,
  listChanges,
  listRemovedRows,
} from "../../environment/invariants.ts";
import { maxSubtasks, issueCommands, issueQueries } from "./issueTools.ts";
import { maxLabels, labelTools, linkTools, workflowTools } from "./workflowTools.ts";
import {
  getProjectId,
  hasLinkPath,
  isClosed,
  listOpenBlockers,
  listSubtasks,
  sumSprintPoints,
  workflows,
  type Issue,
  IssueTrackerState,
  references,
} from "./state.ts";
import { maxMinutesPerDay, workTools, sprintTools } from "./sprintTools.ts";
import { defineServer } from "../../environment/server.ts";

type State = IssueTrackerState;

const listChangedIssues = (state: State, before: State): [string, Issue, Issue][] =>
  listChangedRows(before.issues, state.issues);

const listOpenTitles = ({ issues }: State): string[] =>
  Object.entries(issues).flatMap(([key, it]) =>
    isClosed(it) ? [] : [`${getProjectId(key)} ${it.title.trim().toLowerCase()}`],
  );

const invariants = [
  defineWriteRule<State>(
    "The status of an issue changes only as the workflow of its project allows.",
    function* (state, before) {
      for (const [key, { status }, previous] of listChangedIssues(state, before)) {
        if (status === previous.status) continue;
        const { workflow } = state.projects[getProjectId(key)]!;
        if (!workflows[workflow][previous.status].includes(status))
          yield `${key} was ${previous.status} and is ${status}`;
      }
      for (const [key, { status }] of listAddedRows(before.issues, state.issues))
        if (status !== "todo") yield `${key} is new and ${status}`;
    },
  ),
  defineWriteRule<State>(
    "Work begins on assigned issues only, and goes on or ends on those that nothing open blocks.",
    function* (state, before) {
      for (const [key, { status, assignee }, previous] of listChangedIssues(state, before)) {
        if (status === previous.status || status === "todo" || status === "cancelled") continue;
        if (status === "in_progress" && assignee === undefined) yield `${key} has no assignee`;
        if (status !== "waiting" && listOpenBlockers(state, key).length > 0)
          yield `${key} is ${status} and blocked`;
      }
    },
  ),
  defineStateRule<State>(
    "An issue has a closing day if it is closed, and is in no closed sprint if it is open.",
    function* ({ issues, sprints }) {
      for (const [key, it] of Object.entries(issues)) {
        if (isClosed(it) !== (it.closed !== undefined)) yield `${key} is ${it.status}`;
        if (!isClosed(it) && it.sprint_id && sprints[it.sprint_id]!.status === "closed")
          yield `${key} is open in ${it.sprint_id}`;
      }
    },
  ),
  defineStateRule<State>(
    "A subtask is a part of an issue of its project, which is open as long as the subtask is.",
    function* ({ issues }) {
      for (const [key, it] of Object.entries(issues)) {
        if (it.parent_id === undefined) continue;
        const parent = issues[it.parent_id]!;
        if (!isClosed(it) && isClosed(parent)) yield `${key} is open, ${it.parent_id} is not`;
        if (getProjectId(key) !== getProjectId(it.parent_id)) yield `${key} of ${it.parent_id}`;
        if ((parent.parent_id ?? it.sprint_id ?? it.points) !== undefined)
          yield `${key} is more than a subtask`;
      }
    },
  ),
  defineStateRule<State>(
    "A sprint has issues of its own project with points, within its capacity.",
    function* (state) {
      for (const [key, { points, sprint_id }] of Object.entries(state.issues))
        if (
          sprint_id !== undefined &&
          (points === undefined || state.sprints[sprint_id]!.project_id !== getProjectId(key))
        )
          yield `${key} is in ${sprint_id}`;
      for (const [id, { capacity }] of Object.entries(state.sprints))
        if (sumSprintPoints(state, id) > capacity)
          yield `${id} has ${sumSprintPoints(state, id)} of ${capacity} points`;
    },
  ),
  defineStateRule<State>(
    "The sprints of a project do not overlap while they are not closed.",
    function* ({ sprints }) {
      const current = Object.entries(sprints).filter(([, it]) => it.status !== "closed");
      for (const [id, it] of current)
        for (const [other, { project_id, start, end }] of current)
          if (id < other && project_id === it.project_id && it.start <= end && start <= it.end)
            yield `${id} and ${other}`;
    },
  ),
  defineWriteRule<State>(
    "No write gives two open issues of a project the same title.",
    function* (state, before) {
      if (state.issues === before.issues) return;
      const [titles, previous] = [listOpenTitles(state), listOpenTitles(before)];
      const count = titles.length - new Set(titles).size;
      if (count > previous.length - new Set(previous).size) yield `${count} titles are there twice`;
    },
  ),
  defineRule<State>(
    "Links make no circles, and an issue is a duplicate of one other at most.",
    function* ({ links }, before) {
      const duplicates = Object.values(links).flatMap(it =>
        it.kind === "duplicates" ? [it.from] : [],
      );
      if (new Set(duplicates).size < duplicates.length) yield `duplicates: ${duplicates.join()}`;
      for (const [id, { kind, from, to }] of listAddedRows(before?.links ?? {}, links)) {
        if (from === to) yield `${id} links ${from} with itself`;
        if (kind !== "relates_to" && hasLinkPath(links, kind, to, from))
          yield `${id} makes a circle of ${from} and ${to}`;
      }
    },
  ),
  defineWriteRule<State>(
    "Only issues of active projects of which the user is a member change, and none is removed.",
    function* (state, before) {
      const { projects, user } = before;
      const isEditable = (key: string) => {
        const project = projects[getProjectId(key)];
        return project?.status === "active" && project.members.includes(user);
      };
      const keys = [
        ...listChanges(before.issues, state.issues).map(it => it.id),
        ...listAddedRows(before.links, state.links).flatMap(([, it]) => [it.from, it.to]),
        ...listAddedRows(before.comments, state.comments).map(([, it]) => it.issue_id),
        ...listAddedRows(before.work, state.work).map(([, it]) => it.issue_id),
      ];
      for (const key of keys) if (!isEditable(key)) yield `${key} has changed`;
      for (const [key] of listRemovedRows(before.issues, state.issues)) yield `${key} is gone`;
      for (const [id, { project_id }] of listAddedRows(before.sprints, state.sprints))
        if (projects[project_id]!.lead !== user) yield `${id} is not in a project of the user`;
    },
  ),
  defineWriteRule<State>(
    "Comments, work, links and sprints are only added, in the name of the user.",
    function* (state, before) {
      for (const table of ["comments", "work", "links", "sprints"] as const)
        for (const { id, before: old, after } of listChanges<object>(before[table], state[table]))
          if (old && !isSameJson(old, after)) yield `${id} has changed`;
      for (const table of ["comments", "work"] as const)
        for (const [id, { by }] of listAddedRows<{ by: string }>(before[table], state[table]))
          if (by !== state.user) yield `${id} is by ${by}`;
    },
  ),
  defineStateRule<State>("Nobody logs more than 12 hours on a day.", function* ({ work }) {
    const sums = new Map<string, number>();
    for (const { by, day, minutes } of Object.values(work)) {
      const key = `${by} ${day}`;
      sums.set(key, minutes + (sums.get(key) ?? 0));
      if (sums.get(key)! > maxMinutesPerDay) yield `${key}: ${sums.get(key)} minutes`;
    }
  }),
  defineStateRule<State>(
    "Assignees are members, labels are the project's, and both labels and subtasks have limits.",
    function* (state) {
      for (const [key, { assignee, labels = [] }] of Object.entries(state.issues)) {
        const project = state.projects[getProjectId(key)]!;
        if (assignee !== undefined && !project.members.includes(assignee))
          yield `${key} is assigned to ${assignee}`;
        if (labels.some(it => !project.labels.includes(it)) || labels.length > maxLabels)
          yield `${key} has the labels ${labels.join(", ")}`;
        if (listSubtasks(state, key).length > maxSubtasks) yield `${key} has too many subtasks`;
      }
    },
  ),
  defineWriteRule<State>(
    "The numbers of a project are given out once and in order.",
    function* ({ projects, issues }, before) {
      for (const [key, { last }] of Object.entries(projects)) {
        const added = listAddedRows(before.issues, issues).filter(
          ([issueId]) => getProjectId(issueId) === key,
        );
        if (last !== before.projects[key]!.last + added.length) yield `${key} is at ${last}`;
      }
    },
  ),
];

// the tools keep their published order
const { create_subtask, ...otherCommands } = issueCommands;

export const server = defineServer({
  name: "issue_tracker",
  category: "Knowledge/CRM",
  summary:
    "projects with workflows, issues with subtasks and links, sprints, comments, logged work",
  schema: IssueTrackerState,
  references,
  invariants,
  tools: {
    ...issueQueries,
    ...otherCommands,
    ...workflowTools,
    ...labelTools,
    ...linkTools,
    create_subtask,
    ...sprintTools,
    ...workTools,
  },
});
