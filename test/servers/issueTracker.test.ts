/** Tests every issue tracker tool: results, changes to the state, and refusals. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { readFixture } from "../../src/environment/fixture.ts";
import type { JsonObject } from "../../src/environment/json.ts";
import { server as issueTracker } from "../../src/servers/issueTracker/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkInvariants, checkAllTools } = createChecks(issueTracker);

const [slow, cases, contact, contrast, banner, portfolio, imprint, rework] = [
  "WEB-1",
  "WEB-2",
  "WEB-3",
  "WEB-4",
  "WEB-5",
  "WEB-6",
  "WEB-7",
  "WEB-8",
] as const;
const [openPart, donePart] = ["WEB-9", "WEB-10"] as const;
const [reset, proof, address, printer, archived] = [
  "SUP-1",
  "SUP-2",
  "SUP-3",
  "OPS-1",
  "NWS-1",
] as const;
const [past, active, planned] = ["spr_101", "spr_104", "spr_107"] as const;

const to = (issue_id: string, status: string): Call => ["transition_issue", { issue_id, status }];
const get = (issue_id: string): Call => ["get_issue", { issue_id }];
const assign = (issue_id: string, assignee: string): Call => [
  "assign_issue",
  { issue_id, assignee },
];

describe("projects", () => {
  test("are listed with keys, members, labels and open issues", () =>
    check(
      [["list_projects", { name: "web" }]],
      returns({
        projects: [
          {
            name: "Studio website",
            project_id: "WEB",
            open_issues: 8,
            lead: "Ana Ruiz",
            labels: ["accessibility", "content", "design", "performance", "mobile", "seo"],
          },
        ],
      }),
    ));
  test("are found by member and status", () =>
    check(
      [["list_projects", { member: "liam@harbor.example", status: "active" }]],
      returns({ projects: [{ project_id: "SUP" }] }),
    ));
  test("of an unknown person are refused", () =>
    check([["list_projects", { member: "Nobody" }]], refuses("not_found", /nobody called Nobody/)));
});

describe("lists", () => {
  const list = (more: object): Call => ["list_issues", { project_id: "WEB", ...more }];
  test("have open issues, the most urgent first", () =>
    check(
      [list({ limit: 2 })],
      returns({
        issues: [
          { issue_id: contact, priority: "urgent" },
          { issue_id: slow, priority: "high", assignee: "Ana Ruiz", due: "2026-03-13" },
        ],
      }),
    ));
  test("have issues of all projects", () =>
    check(
      [["list_issues", { assignee: "Jonas Weber" }]],
      returns({ issues: [{ issue_id: proof }] }),
    ));
  test("filter by label, by assignee and without assignee", () => {
    check([list({ label: "design" })], returns({ issues: [{ issue_id: cases }] }));
    check([list({ assignee: "Ben Okafor" })], returns({ issues: [{ issue_id: portfolio }] }));
    check([list({ unassigned: true })], returns({ issues: [{ issue_id: contact }] }));
  });
  test("have closed issues if the status is given", () =>
    check(
      [list({ status: "done", sprint_id: past })],
      returns({ issues: [{ issue_id: imprint }] }),
    ));
  test("of an unknown project or label are refused", () => {
    check(
      [["list_issues", { project_id: "__proto__" }]],
      refuses("not_found", /no project __proto__/),
    );
    check([list({ label: "login" })], refuses("not_found", /WEB has no label login/));
  });
  test("search looks in titles before descriptions, over all projects", () =>
    check([["search_issues", { query: "PHONE" }]], returns({ issues: [{ issue_id: banner }] })));
  test("search finds keys", () =>
    check(
      [["search_issues", { query: "sup-1" }]],
      returns({ issues: [{ issue_id: reset, assignee: "Ana Ruiz" }] }),
    ));
  test("search without words is refused", () =>
    check([["search_issues", {}]], rejectsArguments(/query/)));
  test("an issue has its next statuses, subtasks, links and logged work: 90 + 60 minutes", () => {
    check(
      [get(slow)],
      returns({
        next_statuses: ["todo", "in_review"],
        sprint: "Website sprint 7",
        logged_minutes: 150,
        comments: 1,
        blocked: false,
        links: [{ issue_id: rework, link: "relates_to" }],
        subtasks: [{ status: "done" }],
      }),
    );
    check(
      [get(banner)],
      returns({
        blocked: true,
        links: [{ title: "Contrast of the footer links", issue_id: contrast, link: "blocked_by" }],
      }),
    );
    check([get(openPart)], returns({ parent_id: cases, sprint_id: active }));
  });
  test("unknown issues are refused", () =>
    check([get("WEB-99")], refuses("not_found", /no issue WEB-99/)));
});

describe("filing", () => {
  const create = (title: string, more: object = {}): Call => [
    "create_issue",
    { project_id: "WEB", title, type: "bug", ...more },
  ];
  test("takes the next number and begins in todo", () =>
    check(
      [create("Logo is blurred", { assignee: "ines costa", due: "2026-03-12" })],
      returns({ issue_id: "WEB-12", status: "todo", assignee: "Ines Costa" }),
    ));
  test("increments the number", () =>
    check(
      [create("Logo is blurred"), create("Logo is too small"), get("WEB-13")],
      returns({ title: "Logo is too small", priority: "medium", reporter: "Ana Ruiz" }),
    ));
  test("appears in the list", () =>
    check(
      [create("Logo is blurred", { priority: "urgent" }), ["search_issues", { query: "blurred" }]],
      returns({ issues: [{ issue_id: "WEB-12" }] }),
    ));
  test("refuses the title of an open issue", () =>
    check(
      [create("contact form sends twice")],
      refuses("conflict", /already has an open issue WEB-3/),
    ));
  test("accepts the title of a closed issue", () =>
    check([create("Broken link in the imprint")], returns({ issue_id: "WEB-12" })));
  test("refuses an assignee outside the project", () =>
    check(
      [create("Logo is blurred", { assignee: "Liam Walsh" })],
      refuses("precondition_failed", /Liam Walsh is not a member of project WEB/),
    ));
  test("refuses a past due day", () =>
    check(
      [create("Logo is blurred", { due: "2026-03-08" })],
      refuses("precondition_failed", /2026-03-08 is past/),
    ));
  test("refuses an archived project and one without the user", () => {
    check(
      [create("Logo is blurred", { project_id: "NWS" })],
      refuses("precondition_failed", /NWS \(Old newsletter\) is archived/),
    );
    check(
      [create("Logo is blurred", { project_id: "OPS" })],
      refuses("permission_denied", /not a member of project OPS/),
    );
  });
  for (const points of [0, -0, -3, 41, 1e308])
    test(`of ${points} points is refused`, () =>
      check([create("Logo is blurred", { points })], refuses("invalid_params", /points/)));
  for (const points of [1.5, Number.NaN])
    test(`of ${points} points does not fit`, () =>
      check([create("Logo is blurred", { points })], rejectsArguments(/points/)));
  test("a subtask belongs to its parent", () =>
    check(
      [["create_subtask", { parent_id: rework, title: "Sketch the start page" }], get(rework)],
      returns({
        subtasks: [{ title: "Sketch the start page", issue_id: "WEB-12", status: "todo" }],
      }),
    ));
  test("a subtask has no subtasks", () =>
    check(
      [["create_subtask", { parent_id: openPart, title: "Sketch the start page" }]],
      refuses("precondition_failed", /itself a subtask of WEB-2/),
    ));
  test("a closed issue gets no subtask", () =>
    check(
      [["create_subtask", { parent_id: imprint, title: "Sketch the start page" }]],
      refuses("precondition_failed", /WEB-7 .* is done since 2026-03-05/),
    ));
  test("an issue can be changed", () =>
    check(
      [["update_issue", { issue_id: contact, priority: "low", points: 5 }]],
      returns({ changed: ["priority", "points"] }),
    ));
  test("a change to the same values is refused", () =>
    check(
      [["update_issue", { issue_id: contact, points: 3 }]],
      refuses("conflict", /like that already/),
    ));
  test("points must fit the sprint: 5 + 8 + 2 - 2 + 4 > 16", () =>
    check(
      [["update_issue", { issue_id: contrast, points: 4 }]],
      refuses("limit_exceeded", /takes 16 points, 13 are planned, and WEB-4 has 4/),
    ));
  test("a subtask has no points", () =>
    check(
      [["update_issue", { issue_id: openPart, points: 2 }]],
      refuses("precondition_failed", /is a subtask/),
    ));
});

describe("workflow", () => {
  test("moves an issue step by step and returns the next statuses", () =>
    check(
      [to(slow, "in_review"), to(slow, "done")],
      returns({ status: "done", next_statuses: ["in_progress"] }),
    ));
  test("refuses to skip a step", () =>
    check(
      [to(slow, "done")],
      refuses(
        "precondition_failed",
        /in Studio website an issue that is in_progress cannot become done/,
      ),
    ));
  test("differs by project", () => check([to(proof, "done")], returns({ status: "done" })));
  test("refuses the current status", () =>
    check([to(slow, "in_progress")], refuses("conflict", /already in_progress/)));
  test("does not close an issue with open subtasks", () =>
    check([to(cases, "done")], refuses("precondition_failed", /open subtasks: WEB-9/)));
  test("closes it once they are closed", () =>
    check(
      [to(openPart, "in_review"), to(openPart, "done"), to(cases, "done"), get(cases)],
      returns({ status: "done", closed: "2026-03-09" }),
    ));
  test("does not start a blocked issue", () =>
    check(
      [to(banner, "in_progress")],
      refuses(
        "precondition_failed",
        /blocked by WEB-4 \(Contrast of the footer links\), which is in_progress/,
      ),
    ));
  test("returns the issues that are no longer blocked", () =>
    check([to(contrast, "in_review"), to(contrast, "done")], returns({ unblocked: [banner] })));
  test("starts an issue that is no longer blocked", () =>
    check(
      [to(contrast, "in_review"), to(contrast, "done"), to(banner, "in_progress")],
      returns({ status: "in_progress" }),
    ));
  test("does not start an issue without an assignee", () =>
    check(
      [to(contact, "in_progress")],
      refuses("precondition_failed", /nobody is assigned to WEB-3/),
    ));
  test("starts it once it has an assignee", () =>
    check(
      [assign(contact, "Ana Ruiz"), to(contact, "in_progress")],
      returns({ status: "in_progress" }),
    ));
  test("reopens an issue outside its closed sprint", () =>
    check(
      [to(imprint, "in_progress"), ["list_issues", { project_id: "WEB", sprint_id: past }]],
      returns({ issues: [] }),
    ));
  test("does not reopen a subtask of a closed issue", () =>
    check(
      [
        to(openPart, "in_review"),
        to(openPart, "done"),
        to(cases, "done"),
        to(donePart, "in_progress"),
      ],
      refuses("precondition_failed", /part of WEB-2, which is done/),
    ));
  test("refuses changes in an archived project", () =>
    check([to(archived, "in_progress")], refuses("precondition_failed", /archived/)));
  test("refuses an unknown status", () =>
    check([to(slow, "finished")], refuses("invalid_params", /status/)));
});

describe("people and words", () => {
  test("an issue is reassigned", () =>
    check(
      [assign(rework, "ben@harbor.example")],
      returns({ assignee: "Ben Okafor", before: "Chloe Martin" }),
    ));
  test("an issue is assigned to members only", () =>
    check(
      [assign(rework, "Jonas Weber")],
      refuses("precondition_failed", /Jonas Weber is not a member of project WEB/),
    ));
  test("assigning it to the same person is refused", () =>
    check(
      [assign(rework, "Chloe Martin")],
      refuses("conflict", /already assigned to Chloe Martin/),
    ));
  test("a closed issue cannot be assigned", () =>
    check([assign(imprint, "Ben Okafor")], refuses("precondition_failed", /is done since/)));
  test("comments are newest first", () =>
    check(
      [
        ["comment_issue", { issue_id: slow, text: "I will take it." }],
        ["list_comments", { issue_id: slow }],
      ],
      returns({
        comments: [
          { by: "Ana Ruiz", at: "2026-03-09T09:00", text: "I will take it." },
          { by: "Ben Okafor" },
        ],
      }),
    ));
  test("comments are counted, and the same one is refused", () => {
    const say: Call = ["comment_issue", { issue_id: slow, text: "I will take it." }];
    check([say], returns({ comments: 2 }));
    check([say, say], refuses("conflict", /exactly this/));
  });
  test("comments in projects of others are refused", () =>
    check(
      [["comment_issue", { issue_id: printer, text: "Mine too" }]],
      refuses("permission_denied", /not a member of project OPS/),
    ));
  test("comments on unknown issues are refused", () =>
    check([["list_comments", { issue_id: "x" }]], refuses("not_found", /no issue x/)));
  test("labels must be labels of the project", () => {
    check(
      [["add_label", { issue_id: slow, label: "mobile" }]],
      returns({ labels: ["performance", "mobile"] }),
    );
    check(
      [["add_label", { issue_id: slow, label: "login" }]],
      refuses("not_found", /WEB has no label login/),
    );
    check(
      [["add_label", { issue_id: slow, label: "performance" }]],
      refuses("conflict", /already has/),
    );
  });
  test("an issue has at most five labels", () => {
    const add = (label: string): Call => ["add_label", { issue_id: slow, label }];
    check(
      [add("accessibility"), add("content"), add("design"), add("mobile"), add("seo")],
      refuses("limit_exceeded", /5 labels already/),
    );
  });
  test("labels are removed", () => {
    check(
      [["remove_label", { issue_id: cases, label: "content" }]],
      returns({ labels: ["design"] }),
    );
    check(
      [["remove_label", { issue_id: banner, label: "content" }]],
      refuses("not_found", /has no label content/),
    );
  });
});

describe("links", () => {
  const link = (issue_id: string, kind: string, other_id: string): Call => [
    "link_issues",
    { issue_id, kind, other_id },
  ];
  test("block", () =>
    check(
      [link(contact, "blocks", slow), to(slow, "in_review")],
      refuses("precondition_failed", /blocked by WEB-3/),
    ));
  test("do not form a cycle", () =>
    check(
      [link(banner, "blocks", slow), link(slow, "blocks", contrast)],
      refuses("conflict", /WEB-4 already blocks WEB-1, directly or over others/),
    ));
  test("exist once, relations in either direction", () =>
    check([link(rework, "relates_to", slow)], refuses("conflict", /relates to WEB-1 already/)));
  test("need two issues, both open to block", () => {
    check([link(slow, "blocks", slow)], refuses("invalid_params", /same issue/));
    check(
      [link(imprint, "blocks", slow)],
      refuses("precondition_failed", /WEB-7 .* is done and blocks nothing/),
    );
  });
  test("close a duplicate", () =>
    check(
      [link(address, "duplicates", reset), get(address)],
      returns({
        status: "cancelled",
        closed: "2026-03-09",
        links: [{ issue_id: reset, link: "duplicates" }],
      }),
    ));
  test("do not close a duplicate with open subtasks", () =>
    check(
      [link(cases, "duplicates", rework)],
      refuses("precondition_failed", /open subtasks: WEB-9/),
    ));
});

describe("sprints", () => {
  const add = (issue_id: string, sprint_id: string): Call => [
    "add_to_sprint",
    { issue_id, sprint_id },
  ];
  const plan = (more: object): Call => [
    "create_sprint",
    {
      project_id: "WEB",
      name: "Spring polish",
      start: "2026-04-06",
      end: "2026-04-17",
      capacity: 20,
      ...more,
    },
  ];
  test("are listed with their points: 5 + 8 + 2 of 16", () =>
    check(
      [["list_sprints", { status: "active" }]],
      returns({
        sprints: [
          {
            sprint: "Website sprint 7",
            sprint_id: active,
            capacity: 16,
            planned_points: 15,
            open_issues: 3,
          },
        ],
      }),
    ));
  test("of an unknown project are refused", () =>
    check([["list_sprints", { project_id: "XXX" }]], refuses("not_found", /no project XXX/)));
  test("get issues: 2 + 3 of 24", () =>
    check([add(contact, planned)], returns({ planned_points: 5, capacity: 24 })));
  test("move issues to another sprint", () =>
    check(
      [add(contrast, planned)],
      returns({ planned_points: 4, moved_from: "Website sprint 7" }),
    ));
  test("have a capacity: 15 + 3 > 16", () =>
    check(
      [add(contact, active)],
      refuses("limit_exceeded", /takes 16 points, 15 are planned, and WEB-3 has 3/),
    ));
  test("have room after an issue is removed", () =>
    check(
      [["remove_from_sprint", { issue_id: contrast }], add(contact, active)],
      returns({ planned_points: 16 }),
    ));
  test("that are closed do not change", () => {
    check(
      [add(contact, past)],
      refuses("precondition_failed", /ended on 2026-03-06 and is closed/),
    );
    check(
      [["remove_from_sprint", { issue_id: imprint }]],
      refuses("precondition_failed", /closed/),
    );
  });
  test("refuse subtasks, issues without points, duplicates and other projects", () => {
    check([add(openPart, planned)], refuses("precondition_failed", /goes with WEB-2/));
    check([add(portfolio, planned)], refuses("precondition_failed", /has no points/));
    check([add(slow, active)], refuses("conflict", /already in/));
    check([add(reset, planned)], refuses("precondition_failed", /sprint of project WEB/));
  });
  test("return an issue to the backlog once", () =>
    check(
      [
        ["remove_from_sprint", { issue_id: slow }],
        ["remove_from_sprint", { issue_id: slow }],
      ],
      refuses("precondition_failed", /in no sprint/),
    ));
  test("are planned by the lead", () =>
    check(
      [plan({}), ["list_sprints", { name: "polish" }]],
      returns({ sprints: [{ status: "planned", capacity: 20, planned_points: 0 }] }),
    ));
  test("are planned by nobody else", () =>
    check([plan({ project_id: "SUP" })], refuses("permission_denied", /only its lead/)));
  test("do not overlap, have unique names and a valid length", () => {
    check(
      [plan({ start: "2026-03-30" })],
      refuses("conflict", /Website sprint 8 runs from 2026-03-23 to 2026-04-03/),
    );
    check(
      [plan({ name: "website sprint 7" })],
      refuses("conflict", /already has a sprint Website sprint 7/),
    );
    check([plan({ end: "2026-04-06" })], refuses("invalid_params", /0 days after/));
    check([plan({ start: "2026-02-31" })], refuses("invalid_params", /start/));
  });
});

describe("hours", () => {
  const log = (minutes: number, more: object = {}): Call => [
    "log_work",
    { issue_id: slow, minutes, ...more },
  ];
  test("add up: 90 + 60 + 30", () =>
    check(
      [log(30, { note: "tests" })],
      returns({ day: "2026-03-09", logged_minutes: 180, day_minutes: 30 }),
    ));
  test("are at most twelve a day", () =>
    check([log(700), log(30)], refuses("limit_exceeded", /700 are logged on 2026-03-09/)));
  test("are logged for past days within a month", () => {
    check([log(30, { day: "2026-03-10" })], refuses("precondition_failed", /still to come/));
    check(
      [log(30, { day: "2026-01-10" })],
      refuses("precondition_failed", /more than 31 days ago/),
    );
  });
  test("on a cancelled issue are refused", () =>
    check(
      [to(rework, "cancelled"), log(30, { issue_id: rework })],
      refuses("precondition_failed", /was cancelled/),
    ));
  for (const minutes of [4, -60, 1e308])
    test(`of ${minutes} minutes are refused`, () =>
      check([log(minutes)], refuses("invalid_params", /minutes/)));
  test("are reported: 90 + 60 + 240", () =>
    check(
      [["get_time_report", { project_id: "WEB" }]],
      returns({
        minutes: 390,
        entries: 3,
        issues: [
          { issue_id: cases, minutes: 240 },
          { issue_id: slow, minutes: 150 },
        ],
      }),
    ));
  test("are reported by person and day", () =>
    check(
      [log(30), ["get_time_report", { project_id: "WEB", person: "Ana Ruiz", from: "2026-03-06" }]],
      returns({ minutes: 120, entries: 2 }),
    ));
  test("of days the wrong way round are refused", () =>
    check(
      [["get_time_report", { project_id: "WEB", from: "2026-03-08", to: "2026-03-01" }]],
      refuses("invalid_params", /is after/),
    ));
});

describe("loopholes", () => {
  const move = (issue_id: string, status: string): Call => [
    "transition_issue",
    { issue_id, status },
  ];
  const file = (title: string): Call => [
    "create_issue",
    { project_id: "WEB", title, type: "task" },
  ];
  test("marking an issue as a duplicate does not cancel it past the workflow", () =>
    check(
      [["link_issues", { issue_id: "WEB-4", kind: "duplicates", other_id: "WEB-5" }]],
      refuses("precondition_failed", /an issue that is in_progress cannot become cancelled/),
    ));
  test("an issue that may be cancelled is cancelled as a duplicate", () =>
    check(
      [
        move("WEB-4", "todo"),
        ["link_issues", { issue_id: "WEB-4", kind: "duplicates", other_id: "WEB-5" }],
      ],
      returns({ status: "cancelled", closed: "2026-03-09" }),
    ));
  test("an issue is not opened again beside a new one of its title", () =>
    check(
      [file("Broken link in the imprint"), move("WEB-7", "in_progress")],
      refuses("conflict", /already has an open issue WEB-12 \(Broken link in the imprint\)/),
    ));
  test("a space after the title does not make it another one", () =>
    check(
      [file("Print style for recipes "), file("Print style for recipes")],
      refuses("conflict", /already has an open issue WEB-12/),
    ));
  test("a state whose next number is taken, so that a new issue replaced one, is refused", () => {
    const folder = join(import.meta.dirname, "../../resources/servers");
    const { state } = readFixture([folder], issueTracker, "small");
    const { WEB } = state["projects"] as { WEB: JsonObject };
    const parsed = issueTracker.schema.safeParse({
      ...state,
      projects: { ...(state["projects"] as JsonObject), WEB: { ...WEB, last: 10 } },
    });
    expect(parsed.error?.message).toMatch(/WEB-11 has a higher number/);
  });
});

describe("every rule can be broken", () => {
  const issue = {
    title: "Contact form sends twice ",
    type: "bug",
    status: "todo",
    priority: "low",
    reporter: "usr_101",
    created: "2026-03-09",
  };
  checkInvariants({
    "The status of an issue changes only as the workflow of its project allows.": {
      "issues.WEB-4.status": "cancelled",
    },
    "Work begins on assigned issues only, and goes on or ends on those that nothing open blocks.": {
      "issues.WEB-3.status": "in_progress",
    },
    "An issue has a closing day if it is closed, and is in no closed sprint if it is open.": {
      "issues.WEB-7.status": "todo",
    },
    "A subtask is a part of an issue of its project, which is open as long as the subtask is.": {
      "issues.WEB-2.status": "done",
    },
    "A sprint has issues of its own project with points, within its capacity.": {
      "issues.WEB-8.sprint_id": "spr_104",
    },
    "The sprints of a project do not overlap while they are not closed.": {
      "sprints.spr_107.start": "2026-03-20",
    },
    "No write gives two open issues of a project the same title.": { "issues.WEB-12": issue },
    "Links make no circles, and an issue is a duplicate of one other at most.": {
      "links.lnk_900": { kind: "blocks", from: "WEB-5", to: "WEB-4" },
    },
    "Only issues of active projects of which the user is a member change, and none is removed.": {
      "issues.WEB-3": undefined,
    },
    "Comments, work, links and sprints are only added, in the name of the user.": {
      "work.wrk_104.minutes": 61,
    },
    "Nobody logs more than 12 hours on a day.": {
      "work.wrk_900": { issue_id: "WEB-2", by: "usr_101", day: "2026-03-05", minutes: 481 },
    },
    "Assignees are members, labels are the project's, and both labels and subtasks have limits.": {
      "issues.WEB-3.labels": ["urgent"],
    },
    "The numbers of a project are given out once and in order.": { "projects.WEB.last": 10 },
  });
});

checkAllTools();
