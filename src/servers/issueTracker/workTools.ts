/** Tools that log work on issues. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { formatIssue, findEditableIssue, IssueTrackerState } from "./state.ts";
import { issueId, issueKey } from "./parameters.ts";

const tool = createToolFactory(IssueTrackerState);

/** For how many days afterwards work can be logged. */
const maxLogAgeDays = 31;
/** The most work of a person on one day. */
export const maxMinutesPerDay = 720;

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
        .max(maxMinutesPerDay)
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
    run(state, { issue_id, minutes, day, note }, { now, newId }) {
      const issue = findEditableIssue(state, issue_id);
      const today = now.slice(0, 10);
      const workDay = day ?? today;
      if (issue.status === "cancelled")
        refuse(
          "precondition_failed",
          `${formatIssue(issue, issue_id)} was cancelled on ${issue.closed}`,
          "choose another issue, or open it again",
        );
      if (workDay > today)
        refuse(
          "precondition_failed",
          `${workDay} is still to come: today is ${today}`,
          "log work when it is done",
        );
      if (daysBetween(workDay, today) > maxLogAgeDays)
        refuse(
          "precondition_failed",
          `${workDay} is more than ${maxLogAgeDays} days ago, and its time sheet is closed`,
          "choose a later day",
        );
      const entries = Object.values(getOriginal(state).work);
      const loggedToday = entries.reduce(
        (sum, it) => (it.by === state.user && it.day === workDay ? sum + it.minutes : sum),
        0,
      );
      if (loggedToday + minutes > maxMinutesPerDay)
        refuse(
          "limit_exceeded",
          `a day takes ${maxMinutesPerDay} minutes, and ${loggedToday} are logged on ${workDay}`,
          `log at most ${maxMinutesPerDay - loggedToday} minutes, or another day`,
        );
      const work_id = newId("wrk");
      state.work[work_id] = omitUndefined({
        issue_id,
        by: state.user,
        day: workDay,
        minutes,
        note,
      });
      return {
        title: issue.title,
        issue_id,
        work_id,
        day: workDay,
        logged_minutes: entries.reduce(
          (sum, it) => (it.issue_id === issue_id ? sum + it.minutes : sum),
          minutes,
        ),
        day_minutes: loggedToday + minutes,
      };
    },
  }),
};
