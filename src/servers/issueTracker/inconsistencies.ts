/** Finds inconsistencies in a generated issue tracker state and with the shared cast. */
import type { SharedCast } from "../shared/cast.ts";
import { smallPlans } from "./projectPlans.ts";
import type { Tracker } from "./server.ts";
import type { Issue } from "./trackerBuilder.ts";

export function findStateInconsistencies({
  projects,
  issues,
  sprints,
  links,
  work,
}: Tracker): string[] {
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

export function findCastInconsistencies(
  { user, users, projects }: Tracker,
  cast: SharedCast,
): string[] {
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
