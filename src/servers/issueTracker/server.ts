/** An issue tracker as one member of a studio sees it: 20 tools, in their fixed order. */
import { defineServer } from "../../environment/server.ts";
import { labelling, linking, making, moving } from "./issues.ts";
import { comments, projects, reports, sprintLists } from "./reading.ts";
import { sprints, timekeeping } from "./sprints.ts";
import { Tracker } from "./state.ts";

const { create_subtask, ...filing } = making;

export const server = defineServer({
  name: "issue_tracker",
  category: "Knowledge/CRM",
  summary:
    "projects with workflows, issues with subtasks and links, sprints, comments, logged work",
  schema: Tracker,
  tools: {
    ...projects,
    ...filing,
    ...moving,
    ...comments,
    ...labelling,
    ...linking,
    create_subtask,
    ...sprintLists,
    ...sprints,
    ...timekeeping,
    ...reports,
  },
});

export type { Tracker } from "./state.ts";
