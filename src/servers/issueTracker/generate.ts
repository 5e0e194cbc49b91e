/**
 * Generates the issue tracker of a fixture set: the studio's projects for its clients and itself,
 * with issues in every status of their workflows.
 */
import { defineGenerator } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { addRemainingIssues } from "./generateIssues.ts";
import { descriptions, newsletter, office, remarks, support, website } from "./generateTexts.ts";
import { findCastInconsistencies, findStateInconsistencies } from "./inconsistencies.ts";
import { smallProjectPlans } from "./projectPlans.ts";
import { server } from "./server.ts";
import type { IssueTrackerState } from "./state.ts";
import { IssueTrackerBuilder } from "./trackerBuilder.ts";

/**
 * Adds an issue for every rule of the server: blocked, with subtasks, without points, unassigned,
 * assigned to others, in an archived project.
 */
function addSmallFixture(builder: IssueTrackerBuilder): void {
  for (const it of smallProjectPlans) builder.addProject(it);
  const [ana, ben, chloe, david, ines, jonas, kira] = [0, 1, 2, 3, 8, 9, 10].map(it =>
    builder.getUserId(it),
  ) as [string, string, string, string, string, string, string];
  const [websiteTitles, supportTitles, officeTitles, newsletterTitles] = [
    website,
    support,
    office,
    newsletter,
  ].map(it => it.titles) as [
    readonly string[],
    readonly string[],
    readonly string[],
    readonly string[],
  ];
  const past = builder.addSprint("WEB", `${website.sprints} 6`, "closed", -2, 20);
  const active = builder.addSprint("WEB", `${website.sprints} 7`, "active", 0, 16);
  const planned = builder.addSprint("WEB", `${website.sprints} 8`, "planned", 2, 24);
  const slowPage = builder.addIssue("WEB", websiteTitles[0]!, {
    status: "in_progress",
    type: "bug",
    priority: "high",
    assignee: ana,
    points: 5,
    sprint_id: active,
    labels: ["performance"],
    due: dayAfterStart(4),
  });
  const caseStudies = builder.addIssue("WEB", websiteTitles[1]!, {
    status: "in_review",
    type: "story",
    assignee: ana,
    points: 8,
    sprint_id: active,
    labels: ["content", "design"],
  });
  builder.addIssue("WEB", websiteTitles[2]!, {
    status: "todo",
    type: "bug",
    priority: "urgent",
    points: 3,
    labels: ["mobile"],
  });
  const contrast = builder.addIssue("WEB", websiteTitles[3]!, {
    status: "in_progress",
    assignee: kira,
    points: 2,
    sprint_id: active,
    labels: ["accessibility"],
  });
  const banner = builder.addIssue("WEB", websiteTitles[4]!, {
    status: "todo",
    type: "bug",
    assignee: ana,
    points: 2,
    sprint_id: planned,
    description: descriptions[1]!,
  });
  builder.addIssue("WEB", websiteTitles[5]!, {
    status: "todo",
    type: "story",
    priority: "low",
    assignee: ben,
  });
  builder.addIssue("WEB", websiteTitles[6]!, {
    status: "done",
    type: "bug",
    assignee: ana,
    points: 1,
    sprint_id: past,
    closed: dayAfterStart(-4),
  });
  const rework = builder.addIssue("WEB", websiteTitles[7]!, {
    status: "todo",
    type: "story",
    assignee: chloe,
    points: 13,
  });
  builder.addSubtask(caseStudies, { status: "in_progress", assignee: ines });
  builder.addSubtask(caseStudies, { status: "done", assignee: ana });
  builder.addSubtask(slowPage, { status: "done", assignee: ben });
  builder.addLink("blocks", contrast, banner);
  builder.addLink("relates_to", slowPage, rework);
  const resetBug = builder.addIssue("SUP", supportTitles[0]!, {
    status: "waiting",
    type: "bug",
    priority: "high",
    assignee: ana,
    labels: ["login"],
  });
  builder.addIssue("SUP", supportTitles[1]!, {
    status: "in_progress",
    type: "request",
    assignee: jonas,
    labels: ["print"],
  });
  builder.addIssue("SUP", supportTitles[2]!, { status: "todo", type: "request", priority: "low" });
  builder.addIssue("OPS", officeTitles[0]!, {
    status: "in_progress",
    type: "bug",
    assignee: david,
    labels: ["hardware"],
  });
  builder.addIssue("NWS", newsletterTitles[0]!, {
    status: "todo",
    type: "bug",
    created: dayAfterStart(-200),
  });
  builder.addIssue("NWS", newsletterTitles[1]!, {
    status: "done",
    assignee: ana,
    created: dayAfterStart(-240),
    closed: dayAfterStart(-180),
  });
  builder.addComment(slowPage, ben, -4, remarks[0]!);
  builder.addComment(resetBug, jonas, -3, remarks[5]!);
  builder.addWork(slowPage, ana, -3, 90, "research");
  builder.addWork(slowPage, ben, -3, 60);
  builder.addWork(caseStudies, ana, -4, 240, "first draft");
}

export const generator = defineGenerator<IssueTrackerState>({
  server,
  generate(context) {
    const builder = new IssueTrackerBuilder(context);
    addSmallFixture(builder);
    if (context.size === "full") addRemainingIssues(builder, context.cast);
    return builder.state;
  },
  findInconsistencies: (state, _states, cast) => [
    ...findStateInconsistencies(state),
    ...findCastInconsistencies(state, cast),
  ],
});
