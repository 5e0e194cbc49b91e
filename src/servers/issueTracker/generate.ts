/**
 * The issue tracker's part of a world: the studio's projects for its clients and itself, with
 * issues in every state that a workflow has.
 */
import { defineGenerator } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { addRemainingIssues } from "./generateIssues.ts";
import { descriptions, newsletter, office, remarks, support, website } from "./generateTexts.ts";
import { findCastInconsistencies, findStateInconsistencies } from "./inconsistencies.ts";
import { smallPlans } from "./projectPlans.ts";
import { server, type Tracker } from "./server.ts";
import { TrackerBuilder } from "./trackerBuilder.ts";

/**
 * One issue of every kind that a rule asks for: blocked, divided, without points, unassigned, of
 * others, archived.
 */
function addSmallFixture(making: TrackerBuilder): void {
  for (const it of smallPlans) making.project(it);
  const [ana, ben, chloe, david, ines, jonas, kira] = [0, 1, 2, 3, 8, 9, 10].map(it =>
    making.member(it),
  ) as [string, string, string, string, string, string, string];
  const [w, s, o, n] = [website, support, office, newsletter].map(it => it.titles) as [
    readonly string[],
    readonly string[],
    readonly string[],
    readonly string[],
  ];
  const past = making.sprint("WEB", `${website.sprints} 6`, "closed", -2, 20);
  const active = making.sprint("WEB", `${website.sprints} 7`, "active", 0, 16);
  const planned = making.sprint("WEB", `${website.sprints} 8`, "planned", 2, 24);
  const slow = making.issue("WEB", w[0]!, {
    status: "in_progress",
    type: "bug",
    priority: "high",
    assignee: ana,
    points: 5,
    sprint_id: active,
    labels: ["performance"],
    due: dayAfterStart(4),
  });
  const cases = making.issue("WEB", w[1]!, {
    status: "in_review",
    type: "story",
    assignee: ana,
    points: 8,
    sprint_id: active,
    labels: ["content", "design"],
  });
  making.issue("WEB", w[2]!, {
    status: "todo",
    type: "bug",
    priority: "urgent",
    points: 3,
    labels: ["mobile"],
  });
  const contrast = making.issue("WEB", w[3]!, {
    status: "in_progress",
    assignee: kira,
    points: 2,
    sprint_id: active,
    labels: ["accessibility"],
  });
  const banner = making.issue("WEB", w[4]!, {
    status: "todo",
    type: "bug",
    assignee: ana,
    points: 2,
    sprint_id: planned,
    description: descriptions[1]!,
  });
  making.issue("WEB", w[5]!, { status: "todo", type: "story", priority: "low", assignee: ben });
  making.issue("WEB", w[6]!, {
    status: "done",
    type: "bug",
    assignee: ana,
    points: 1,
    sprint_id: past,
    closed: dayAfterStart(-4),
  });
  const rework = making.issue("WEB", w[7]!, {
    status: "todo",
    type: "story",
    assignee: chloe,
    points: 13,
  });
  making.subtask(cases, { status: "in_progress", assignee: ines });
  making.subtask(cases, { status: "done", assignee: ana });
  making.subtask(slow, { status: "done", assignee: ben });
  making.link("blocks", contrast, banner);
  making.link("relates_to", slow, rework);
  const reset = making.issue("SUP", s[0]!, {
    status: "waiting",
    type: "bug",
    priority: "high",
    assignee: ana,
    labels: ["login"],
  });
  making.issue("SUP", s[1]!, {
    status: "in_progress",
    type: "request",
    assignee: jonas,
    labels: ["print"],
  });
  making.issue("SUP", s[2]!, { status: "todo", type: "request", priority: "low" });
  making.issue("OPS", o[0]!, {
    status: "in_progress",
    type: "bug",
    assignee: david,
    labels: ["hardware"],
  });
  making.issue("NWS", n[0]!, { status: "todo", type: "bug", created: dayAfterStart(-200) });
  making.issue("NWS", n[1]!, {
    status: "done",
    assignee: ana,
    created: dayAfterStart(-240),
    closed: dayAfterStart(-180),
  });
  making.comment(slow, ben, -4, remarks[0]!);
  making.comment(reset, jonas, -3, remarks[5]!);
  making.work(slow, ana, -3, 90, "research");
  making.work(slow, ben, -3, 60);
  making.work(cases, ana, -4, 240, "first draft");
}

export const generator = defineGenerator<Tracker>({
  server,
  generate(context) {
    const making = new TrackerBuilder(context);
    addSmallFixture(making);
    if (context.size === "full") addRemainingIssues(making, context.cast);
    return making.state;
  },
  findInconsistencies: (state, _world, cast) => [
    ...findStateInconsistencies(state),
    ...findCastInconsistencies(state, cast),
  ],
});
