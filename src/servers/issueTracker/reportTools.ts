/** Tools that report on a sprint. */
import { z } from "zod";
import { day, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { compareKeys, getProjectId, findProject, IssueTrackerState, findUserId } from "./state.ts";
import { issueKey, person, projectId, projectKey } from "./parameters.ts";

const tool = createToolFactory(IssueTrackerState);

export const reportTools = {
  get_time_report: tool({
    effect: "read",
    summary:
      "Get the minutes logged on a project between two days, all of them or one person's, in all and by issue, the most first.",
    input: {
      project_id: projectId,
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
      issues: z
        .array(z.object({ title: label("issue"), issue_id: issueKey(), minutes: z.int() }))
        .describe("The ten with the most time"),
    },
    run(state, { project_id, from, to, person: personName }, { now }) {
      const { name: project } = findProject(state, project_id);
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
      const topIssues = [...byIssue]
        .sort(([a, x], [b, y]) => y - x || compareKeys(a, b))
        .slice(0, 10);
      return {
        project,
        project_id,
        minutes: entries.reduce((sum, it) => sum + it.minutes, 0),
        entries: entries.length,
        issues: topIssues.map(([issue_id, minutes]) => ({
          title: state.issues[issue_id]!.title,
          issue_id,
          minutes,
        })),
      };
    },
  }),
};
