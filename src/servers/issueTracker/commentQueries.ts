/** Tools that list the comments on an issue. */
import { z } from "zod";
import { id, minute } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { findIssue, IssueTrackerState, getUserName, findUserId } from "./state.ts";
import { issueId, limit, person } from "./parameters.ts";

const tool = createToolFactory(IssueTrackerState);

export const commentQueries = {
  list_comments: tool({
    effect: "read",
    summary: "List the comments on one issue, newest first.",
    input: {
      issue_id: issueId,
      by: person()
        .optional()
        .describe("Only comments by this person, by full name or e-mail address"),
      limit,
    },
    returns: {
      comments: z.array(
        z.object({ comment_id: id("comment"), by: person(), at: minute(), text: z.string() }),
      ),
    },
    run(state, { issue_id, by, limit = 10 }) {
      findIssue(state, issue_id);
      const userId = by === undefined ? undefined : findUserId(state, by);
      const comments = Object.entries(state.comments)
        .filter(([, it]) => it.issue_id === issue_id && (!userId || it.by === userId))
        .sort(([a, x], [b, y]) => (x.at === y.at ? (a < b ? 1 : -1) : x.at < y.at ? 1 : -1));
      return {
        comments: comments.slice(0, limit).map(([comment_id, it]) => ({
          comment_id,
          by: getUserName(state, it.by),
          at: it.at,
          text: it.text,
        })),
      };
    },
  }),
};
