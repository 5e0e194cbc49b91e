/** Finds inconsistencies in a generated issue tracker state and with the shared cast. */
import type { SharedCast } from "../shared/cast.ts";
import { smallProjectPlans } from "./projectPlans.ts";
import type { IssueTrackerState } from "./state.ts";
import type { Issue } from "./trackerBuilder.ts";

export function findStateInconsistencies({
  projects,
  issues,
  sprints,
  links,
  work,
}: IssueTrackerState): string[] {
  const problems: string[] = [];
  const isOpen = (it: Issue) => it.status !== "done" && it.status !== "cancelled";
  const titles = new Set<string>();
  for (const [key, it] of Object.entries(issues)) {
    const [projectId, number] = key.split("-") as [string, string];
    const project = projects[projectId]!;
    const parent = it.parent_id === undefined ? undefined : issues[it.parent_id]!;
    const sprint = it.sprint_id === undefined ? undefined : sprints[it.sprint_id]!;
    if (titles.has(it.title)) problems.push(`${key} is called ${it.title}, and so is another`);
    titles.add(it.title);
    if (Number(number) > project.last)
      problems.push(`${key} is beyond the last number of ${projectId}, ${project.last}`);
    if (isOpen(it) === (it.closed !== undefined))
      problems.push(`${key} is ${it.status} and was closed ${it.closed ?? "never"}`);
    if (it.closed !== undefined && it.closed < it.created)
      problems.push(`${key} was closed before it was filed`);
    if (it.assignee !== undefined && !project.members.includes(it.assignee))
      problems.push(`${key} is assigned to somebody outside ${projectId}`);
    for (const label of it.labels ?? [])
      if (!project.labels.includes(label))
        problems.push(`${key} has the label ${label}, which ${projectId} lacks`);
    if (parent && isOpen(it) && !isOpen(parent))
      problems.push(`${key} is open, and ${it.parent_id} is ${parent.status}`);
    if (parent && (parent.parent_id ?? it.sprint_id ?? it.points) !== undefined)
      problems.push(`${key} is more than a subtask can be`);
    if (sprint && (sprint.project_id !== projectId || it.points === undefined))
      problems.push(`${key} cannot be in ${sprint.name}`);
    if (sprint?.status === "closed" && isOpen(it))
      problems.push(`${key} is ${it.status} in ${sprint.name}, which is closed`);
  }
  for (const [key, it] of Object.entries(sprints)) {
    const points = Object.values(issues).reduce(
      (sum, issue) => (issue.sprint_id === key ? sum + (issue.points ?? 0) : sum),
      0,
    );
    if (points > it.capacity) problems.push(`${key} holds ${points} of ${it.capacity} points`);
  }
  for (const [key, { kind, from }] of Object.entries(links))
    if (kind === "duplicates" && isOpen(issues[from]!))
      problems.push(`${key} says that ${from} is a duplicate, and it is open`);
  for (const [key, it] of Object.entries(work))
    if (issues[it.issue_id]!.created > it.day)
      problems.push(`${key} is work on ${it.issue_id} before it was filed`);
  return problems;
}

export function findCastInconsistencies(
  { user, users, projects }: IssueTrackerState,
  cast: SharedCast,
): string[] {
  const emails = new Map(cast.staff.map(it => [it.email, it.name]));
  const strangers = Object.values(users)
    .filter(it => emails.get(it.email) !== it.name)
    .map(it => `${it.name} <${it.email}> is not of the studio`);
  const projectNames = Object.values(projects).map(it => it.name);
  const missing =
    projectNames.length > smallProjectPlans.length
      ? cast.clients
          .filter(it => !projectNames.some(name => name.startsWith(it.name)))
          .map(it => `no project is for ${it.name}`)
      : [];
  return [
    ...(users[user]?.email === cast.user.email ? [] : [`the user is not ${cast.user.name}`]),
    ...strangers,
    ...missing,
  ];
}
