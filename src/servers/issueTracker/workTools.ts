/** Tools that log work on issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { latest } from "./sprintCommands.ts";
import { named, ownIssue, Tracker } from "./state.ts";
import { issueId, issueKey } from "./parameters.ts";

const tool = createToolFactory(Tracker);

/** Of work, a day and person. */
const mostMinutes = 720;

export const workTools = {
  log_work: tool({
    effect: "write",
    summary:
      "Log time that the user has worked on an issue, today or on a day of the past month; at most twelve hours a day over all issues.",
    input: {
      issue_id: issueId,
      minutes: z
        .int()
        .min(5)
        .max(mostMinutes)
        .describe("Minutes worked, from 5 to 720")
        .meta({ examples: [15, 20, 30, 45, 60, 90, 120, 150, 180, 240] }),
      day: day().optional().describe("Day of the work, today if not given"),
      note: z
        .string()
        .min(2)
        .max(200)
        .regex(/\S/)
        .optional()
        .describe("What was done")
        .meta({
          examples: [
            "first draft",
            "call with the client",
            "testing on phones",
            "corrections",
            "review",
            "research",
            "set-up",
            "clean-up",
          ],
        }),
    },
    returns: {
      title: label("issue"),
      issue_id: issueKey(),
      work_id: id("work"),
      day: day(),
      logged_minutes: z.int().describe("On the issue, by everybody"),
      day_minutes: z.int().describe("By the user on that day"),
    },
    run(tracker, { issue_id, minutes, day: on, note }, { now, newId }) {
      const issue = ownIssue(tracker, issue_id);
      const today = now.slice(0, 10);
      const worked = on ?? today;
      if (issue.status === "cancelled")
        refuse(
          "precondition_failed",
          `${named(issue, issue_id)} was cancelled on ${issue.closed}`,
          "choose another issue, or open it again",
        );
      if (worked > today)
        refuse(
          "precondition_failed",
          `${worked} is still to come: today is ${today}`,
          "log work when it is done",
        );
      if (daysBetween(worked, today) > latest)
        refuse(
          "precondition_failed",
          `${worked} is more than ${latest} days ago, and its time sheet is closed`,
          "choose a later day",
        );
      const lines = Object.values(getOriginal(tracker).work);
      const used = lines.reduce(
        (sum, it) => (it.by === tracker.user && it.day === worked ? sum + it.minutes : sum),
        0,
      );
      if (used + minutes > mostMinutes)
        refuse(
          "limit_exceeded",
          `a day takes ${mostMinutes} minutes, and ${used} are logged on ${worked}`,
          `log at most ${mostMinutes - used} minutes, or another day`,
        );
      const work_id = newId("wrk");
      tracker.work[work_id] = omitUndefined({
        issue_id,
        by: tracker.user,
        day: worked,
        minutes,
        note,
      });
      return {
        title: issue.title,
        issue_id,
        work_id,
        day: worked,
        logged_minutes: lines.reduce(
          (sum, it) => (it.issue_id === issue_id ? sum + it.minutes : sum),
          minutes,
        ),
        day_minutes: used + minutes,
      };
    },
  }),
};
