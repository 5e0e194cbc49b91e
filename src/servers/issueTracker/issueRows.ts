/** The rows of lists of issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day } from "../../environment/fieldSchemas.ts";
import { type IssueTrackerState, getUserName, type Issue } from "./state.ts";
import { issueRow, person } from "./parameters.ts";

export const createIssueRow = (state: IssueTrackerState, [issue_id, it]: [string, Issue]) =>
  omitUndefined({
    title: it.title,
    issue_id,
    status: it.status,
    priority: it.priority,
    assignee: it.assignee && getUserName(state, it.assignee),
    due: it.due,
  });

export const issueRows = z.array(
  z.object({
    ...issueRow,
    priority: z.string(),
    assignee: person().optional(),
    due: day().optional(),
  }),
);
