/** Tools that log work on issues and report the time of a project. */
import { z } from "zod";
import { day, id, label, phrase } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { daysBetween } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import {
  compareKeys,
  findEditableIssue,
  findUserId,
  formatIssue,
  getProjectId,
  issues,
  IssueTrackerState,
  projects,
  sumMinutes,
} from "./state.ts";
import { issueLabel, person, projectKey } from "./parameters.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
      issue_id: issues.id,
      minutes: z
        .int()
        .min(5)
        .max(maxMinutesPerDay)
        .describe("Minutes worked, from 5 to 720")
        .meta({ examples: vocabulary.minutes }),
      day: day().optional().describe("Day of the work, today if not given"),
      note: phrase(2, 200)
        .optional()
        .describe("What was done")
        .meta({ examples: vocabulary.workNotes }),
    },
    returns: {
      ...getSchemas(issueLabel),
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
      const loggedToday = sumMinutes(state, it => it.by === state.user && it.day === workDay);
      if (loggedToday + minutes > maxMinutesPerDay)
        refuse(
          "limit_exceeded",
          `a day takes ${maxMinutesPerDay} minutes, and ${loggedToday} are logged on ${workDay}`,
          `log at most ${maxMinutesPerDay - loggedToday} minutes, or another day`,
        );
      const work_id = newId("wrk");
      state.work[work_id] = { issue_id, by: state.user, day: workDay, minutes, note };
      return {
        title: issue.title,
        issue_id,
        work_id,
        day: workDay,
        logged_minutes: sumMinutes(state, it => it.issue_id === issue_id) + minutes,
        day_minutes: loggedToday + minutes,
      };
    },
  }),
  get_time_report: tool({
    effect: "read",
    summary:
      "Get the minutes logged on a project between two days, all of them or one person's, in all and by issue, the most first.",
    input: {
      project_id: projects.id,
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
        .array(z.object({ ...getSchemas(issueLabel), minutes: z.int() }))
        .describe("The ten with the most time"),
    },
    run(state, { project_id, from, to, person: personName }, { now }) {
      const { name: project } = projects.find(state, project_id);
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
