/** The rows by which results list issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day } from "../../environment/fieldSchemas.ts";
import { type Tracker, userName, type Issue } from "./state.ts";
import { issueRow, person } from "./parameters.ts";

export const rowOf = (tracker: Tracker, [issue_id, it]: [string, Issue]) =>
  omitUndefined({
    title: it.title,
    issue_id,
    status: it.status,
    priority: it.priority,
    assignee: it.assignee && userName(tracker, it.assignee),
    due: it.due,
  });

export const listed = z.array(
  z.object({
    ...issueRow,
    priority: z.string(),
    assignee: person().optional(),
    due: day().optional(),
  }),
);
