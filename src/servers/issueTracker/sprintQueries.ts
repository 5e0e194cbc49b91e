/** Tools that list sprints and show the issues of one. */
import { z } from "zod";
import { day, label } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { isClosed, sumSprintPoints, findProject, IssueTrackerState } from "./state.ts";
import { limit, projectId, projectKey, sprintRow } from "./parameters.ts";

const tool = createToolFactory(IssueTrackerState);

export const sprintQueries = {
  list_sprints: tool({
    effect: "read",
    summary:
      "List sprints in the order of their starts with the points they take and have, by name, project or status.",
    input: {
      name: label("sprint").optional().describe("Only sprints whose name contains this"),
      project_id: projectId.optional().describe("Only sprints of this project"),
      status: z
        .enum(["planned", "active", "closed"])
        .optional()
        .describe("Only sprints in this status"),
      limit,
    },
    returns: {
      sprints: z.array(
        z.object({
          ...sprintRow,
          project_id: projectKey(),
          status: z.string(),
          start: day(),
          end: day(),
          capacity: z.int(),
          planned_points: z.int(),
          open_issues: z.int(),
        }),
      ),
    },
    run(state, { name, project_id, status, limit = 10 }) {
      if (project_id !== undefined) findProject(state, project_id);
      const sprints = Object.entries(state.sprints)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) &&
            (!project_id || it.project_id === project_id) &&
            (!status || it.status === status),
        )
        .sort(([a, x], [b, y]) =>
          x.start === y.start ? (a < b ? -1 : 1) : x.start < y.start ? -1 : 1,
        );
      return {
        sprints: sprints.slice(0, limit).map(([sprint_id, { name: sprint, ...it }]) => ({
          sprint,
          sprint_id,
          ...it,
          planned_points: sumSprintPoints(state, sprint_id),
          open_issues: Object.values(state.issues).filter(
            issue => issue.sprint_id === sprint_id && !isClosed(issue),
          ).length,
        })),
      };
    },
  }),
};
