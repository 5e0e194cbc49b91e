/** The issue tracker server: the projects of a studio, as one member sees them. */
import { defineServer } from "../../environment/server.ts";
import { invariants } from "./invariants.ts";
import { labelTools } from "./labelTools.ts";
import { linkTools } from "./linkTools.ts";
import { issueCommands } from "./issueCommands.ts";
import { workflowTools } from "./workflowTools.ts";
import { issueQueries } from "./issueQueries.ts";
import { sprintTools } from "./sprintTools.ts";
import { workTools } from "./workTools.ts";
import { IssueTrackerState, references } from "./state.ts";

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
