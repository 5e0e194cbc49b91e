/** An issue tracker as one member of a studio sees it: 20 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { labelTools } from "./labelTools.ts";
import { linkTools } from "./linkTools.ts";
import { issueCommands } from "./issueCommands.ts";
import { workflowTools } from "./workflowTools.ts";
import { commentQueries } from "./commentQueries.ts";
import { issueQueries } from "./issueQueries.ts";
import { reportTools } from "./reportTools.ts";
import { sprintQueries } from "./sprintQueries.ts";
import { sprintCommands } from "./sprintCommands.ts";
import { workTools } from "./workTools.ts";
import { Tracker } from "./state.ts";

const { create_subtask, ...filing } = issueCommands;

export const server = defineServer({
  name: "issue_tracker",
  category: "Knowledge/CRM",
  summary:
    "projects with workflows, issues with subtasks and links, sprints, comments, logged work",
  schema: Tracker,
  tools: {
    ...issueQueries,
    ...filing,
    ...workflowTools,
    ...commentQueries,
    ...labelTools,
    ...linkTools,
    create_subtask,
    ...sprintQueries,
    ...sprintCommands,
    ...workTools,
    ...reportTools,
  },
});

export type { Tracker } from "./state.ts";
