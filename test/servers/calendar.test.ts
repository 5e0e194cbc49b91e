/**
 * The tools of the calendar server: what they return, what they change, and what they refuse. Also
 * the dates of series.
 */
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import type { Json } from "../../src/environment/json.ts";
import { server as calendar } from "../../src/servers/calendar/server.ts";
import { catalog } from "../contracts/transports.ts";
import { walk } from "../contracts/walk.ts";
import { createChecks, refuses, returns, type Call } from "./check.ts";

const open = () =>
  openSessionByName(catalog, { servers: [{ name: "calendar", fixture: "small" }], seed: 1 });

const { check, checkAllTools } = createChecks(calendar);

/** The id of the first event that the session creates. */
const created = "evt_7314";

const titled = (...titles: string[]) => returns({ events: titles.map(title => ({ title })) });

const [work, personal, holidays] = ["cal_101", "cal_102", "cal_103"] as const;
const [standup, kickoff, review, planning, shoot, dentist, pottery, rent, workshop, lunch] = [
  "evt_101",
  "evt_102",
  "evt_103",
  "evt_104",
  "evt_105",
  "evt_108",
  "evt_109",
  "evt_110",
  "evt_112",
  "evt_113",
] as const;

const create = (start: string, more: Record<string, Json> = {}): Call => [
  "create_event",
  { calendar_id: work, title: "Budget review", start, ...more },
];
const repeat = (start: string, every: string, more: Record<string, Json> = {}): Call => [
  "create_recurring_event",
  { calendar_id: personal, title: "Choir", start, every, ...more },
];

describe("calendars", () => {
  test("are found by part of a name", () =>
    check(
      [["list_calendars", { name: "hol" }]],
      returns({ calendars: [{ name: "Studio holidays", calendar_id: holidays, access: "read" }] }),
    ));
  test("are listed with what the user may do", () =>
    check(
      [["list_calendars", {}]],
      returns({ calendars: [{ access: "owner" }, { access: "owner" }, { access: "read" }] }),
    ));
  test("of no text cannot be asked for", () =>
    check([["list_calendars", { name: "" }]], refuses("invalid_params", /name/)));
});

describe("events", () => {
  test("of a calendar are listed in order of time, the series apart", () =>
    check(
      [["list_events", { calendar_id: work, to: "2026-03-11" }]],
      returns({
        events: [{ title: "Northwind kickoff" }, { title: "Design review" }],
        series: [
          { title: "Morning standup", next: "2026-03-09T09:30" },
          { title: "One-on-one with Ben", repeats: "weekly" },
        ],
      }),
    ));
  test("are listed by words of the title too", () =>
    check([["list_events", { calendar_id: work, title: "standup" }]], {
      kind: "ok",
      value: {
        series: [
          {
            title: "Morning standup",
            event_id: standup,
            next: "2026-03-09T09:30",
            repeats: "weekdays",
          },
        ],
      },
    }));
  test("that are left out are counted: 7 - 2", () =>
    check(
      [["list_events", { calendar_id: work, to: "2026-03-13", limit: 2 }]],
      returns({ events: [{ event_id: kickoff }], series: [{ next: "2026-03-09T09:30" }], more: 5 }),
    ));
  test("of a person are those they organize or are invited to", () =>
    check(
      [["list_events", { calendar_id: work, person: "farid@harbor.example" }]],
      titled("Northwind kickoff", "Lunch with Northwind"),
    ));
  test("with a first day after the last day are refused", () =>
    check(
      [["list_events", { calendar_id: work, from: "2026-03-10", to: "2026-03-09" }]],
      refuses("invalid_params", /before from/),
    ));
  test("of more than a quarter are refused", () =>
    check(
      [["list_events", { calendar_id: work, to: "2026-12-31" }]],
      refuses("limit_exceeded", /more than 92 days/),
    ));
  test("of an unknown calendar are refused", () =>
    check([["list_events", { calendar_id: "cal_9" }]], refuses("not_found", /no calendar cal_9/)));
  test("are found by words of the title, what is ahead before what is over", () =>
    check(
      [
        create("2026-03-20T10:00", { title: "Workshop wrap-up" }),
        ["search_events", { query: "workshop" }],
      ],
      titled("Workshop wrap-up", "Brand workshop"),
    ));
  test("of that very title come first", () =>
    check(
      [create("2026-03-30T10:00", { title: "Review" }), ["search_events", { query: "review" }]],
      titled("Review", "Design review"),
    ));
  test("that repeat are found once, at their next occurrence", () =>
    check(
      [["search_events", { query: "standup" }]],
      returns({ events: [{ event_id: standup, start: "2026-03-09T09:30", repeats: "weekdays" }] }),
    ));
  test("without a query are bad arguments", () =>
    check([["search_events", {}]], { kind: "bad-arguments" }));
  test("show guests and reminders", () =>
    check(
      [["get_event", { event_id: kickoff }]],
      returns({
        end: "2026-03-10T12:00",
        attendees: [{ name: "Chloe Martin", response: "accepted" }, { name: "Farid Haddad" }],
        reminders: "30 minutes before",
      }),
    ));
  test("of others show who organizes them, and the user's own answer", () =>
    check(
      [["get_event", { event_id: shoot }]],
      returns({
        organizer: "Emma Novak",
        response: "accepted",
        attendees: [{ name: "Chloe Martin" }],
      }),
    ));
  test("of an unknown id are refused", () =>
    check([["get_event", { event_id: "evt_999" }]], refuses("not_found", /no event evt_999/)));
  test("__proto__ is an unknown id", () =>
    check(
      [["delete_event", { event_id: "__proto__" }]],
      refuses("not_found", /no event __proto__/),
    ));
});

describe("creating", () => {
  test("says when it ends and who is invited", () =>
    check(
      [
        create("2026-03-10T14:00", {
          minutes: 45,
          attendees: ["Ben Okafor", "chloe@harbor.example"],
        }),
      ],
      returns({ end: "2026-03-10T14:45", invited: 2 }),
    ));
  test("shows in later reads", () =>
    check(
      [create("2026-03-10T14:00"), ["get_agenda", { day: "2026-03-10" }]],
      returns({ events: [{}, {}, { title: "Budget review", time: "14:00-14:30" }, {}] }),
    ));
  test("where the user is busy is refused", () =>
    check(
      [create("2026-03-10T11:30")],
      refuses("conflict", /clashes with Northwind kickoff \(evt_102\), 11:00 to 12:00/),
    ));
  test("right after something is fine", () =>
    check([create("2026-03-10T12:00")], returns({ start: "2026-03-10T12:00" })));
  test("where the user is busy goes through if that is allowed", () =>
    check(
      [create("2026-03-10T11:30", { allow_conflict: true })],
      returns({ start: "2026-03-10T11:30" }),
    ));
  test("over an invitation that waits is fine", () =>
    check([create("2026-03-12T11:00")], returns({ title: "Budget review" })));
  test("in a read-only calendar is refused", () =>
    check(
      [create("2026-03-10T14:00", { calendar_id: holidays })],
      refuses("permission_denied", /Studio holidays \(cal_103\) is read-only/),
    ));
  test("in the past is refused", () =>
    check(
      [create("2026-03-09T08:59")],
      refuses("precondition_failed", /2026-03-09T08:59 has passed/),
    ));
  test("at a weekend is refused by the work calendar", () =>
    check(
      [create("2026-03-14T10:00")],
      refuses("precondition_failed", /weekdays from 08:00 to 19:00/),
    ));
  test("past its closing time is refused too: 18:45 + 30 > 19:00", () =>
    check([create("2026-03-10T18:45")], refuses("precondition_failed", /Work takes events/)));
  test("at a weekend is fine in a calendar without hours", () =>
    check(
      [create("2026-03-14T10:00", { calendar_id: personal })],
      returns({ start: "2026-03-14T10:00" }),
    ));
  test("more than two years ahead is refused", () =>
    check([create("2028-03-09T10:00")], refuses("limit_exceeded", /two years/)));
  test("with an unknown guest is refused, and says who was meant", () =>
    check([create("2026-03-10T14:00", { attendees: ["Chloe"] })], {
      ...refuses("not_found", /no person Chloe/),
      hint: "did you mean Chloe Martin",
    }));
  for (const start of ["2026-02-30T10:00", "2026-03-10", "2026-03-10T10:00Z", "tomorrow"])
    test(`at ${start} is refused`, () =>
      check([create(start)], refuses("invalid_params", /^start: must be/)));
});

describe("changing", () => {
  test("the location", () =>
    check(
      [["update_event", { event_id: review, location: "Studio 2" }]],
      returns({ title: "Design review", changed: ["location"] }),
    ));
  test("nothing is refused", () =>
    check(
      [["update_event", { event_id: review }]],
      refuses("invalid_params", /nothing to change/),
    ));
  test("to what it is already is refused", () =>
    check(
      [["update_event", { event_id: review, location: "Atlas Room", minutes: 45 }]],
      refuses("conflict", /like that already/),
    ));
  test("the length into something else is refused: 10:00 + 75 minutes meets 11:00", () =>
    check(
      [create("2026-03-10T10:00"), ["update_event", { event_id: created, minutes: 75 }]],
      refuses("conflict", /Northwind kickoff/),
    ));
  test("what is over is refused", () =>
    check(
      [["update_event", { event_id: workshop, title: "Brand day" }]],
      refuses("precondition_failed", /Brand workshop \(evt_112\) is over/),
    ));
  test("somebody else's event is refused", () =>
    check(
      [["update_event", { event_id: shoot, title: "Shoot" }]],
      refuses("permission_denied", /only the organizer, Emma Novak/),
    ));
  test("the time asks guests again", () =>
    check(
      [["move_event", { event_id: review, start: "2026-03-12T15:00" }]],
      returns({ end: "2026-03-12T15:45", asked_again: 2 }),
    ));
  test("the time puts every answer back", () =>
    check(
      [
        ["move_event", { event_id: review, start: "2026-03-12T15:00" }],
        ["get_event", { event_id: review }],
      ],
      returns({
        start: "2026-03-12T15:00",
        attendees: [{ response: "pending" }, { response: "pending" }],
      }),
    ));
  test("the time to where it is already is refused", () =>
    check(
      [["move_event", { event_id: review, start: "2026-03-11T14:00" }]],
      refuses("conflict", /already at/),
    ));
  test("the time by a quarter of an hour does not clash with itself", () =>
    check(
      [["move_event", { event_id: review, start: "2026-03-11T14:15" }]],
      returns({ start: "2026-03-11T14:15" }),
    ));
  test("the time of what has begun is refused", () =>
    check(
      [
        create("2026-03-09T09:00"),
        ["move_event", { event_id: created, start: "2026-03-09T12:00" }],
      ],
      refuses("precondition_failed", /Budget review \(evt_\d+\) has begun/),
    ));
  test("deleting tells the guests, and takes the reminders along", () =>
    check(
      [["delete_event", { event_id: kickoff }]],
      returns({ deleted: "Northwind kickoff", notified: 2 }),
    ));
  test("what is deleted is gone", () =>
    check(
      [
        ["delete_event", { event_id: kickoff }],
        ["get_event", { event_id: kickoff }],
      ],
      refuses("not_found", /evt_102/),
    ));
  test("somebody else's event is not deleted", () =>
    check([["delete_event", { event_id: lunch }]], refuses("permission_denied", /Farid Haddad/)));
});

describe("series", () => {
  test("of days the month lacks fall on its last day: 31 Jan, 28 Feb, 31 Mar, 30 Apr", () =>
    check(
      [repeat("2027-01-31T20:00", "monthly", { count: 4 })],
      returns({ occurrences: 4, first: "2027-01-31", last: "2027-04-30" }),
    ));
  test("include leap days: 2028 has one", () =>
    check(
      [repeat("2027-12-30T20:00", "monthly", { until: "2028-02-29" })],
      returns({ occurrences: 3, last: "2028-02-29" }),
    ));
  test("over weekdays skip weekends: Thursday, Friday, Monday", () =>
    check(
      [repeat("2026-03-12T12:30", "weekdays", { count: 3 })],
      returns({ first: "2026-03-12", last: "2026-03-16" }),
    ));
  test("every two weeks: 10 March + 4 × 14 days", () =>
    check(
      [repeat("2026-03-10T20:00", "every_two_weeks", { count: 5 })],
      returns({ last: "2026-05-05" }),
    ));
  test("have ten occurrences by default", () =>
    check(
      [repeat("2026-03-10T20:00", "daily", { allow_conflict: true })],
      returns({ occurrences: 10, last: "2026-03-19" }),
    ));
  test("end by whichever comes first", () =>
    check(
      [repeat("2026-03-10T21:00", "daily", { count: 9, until: "2026-03-12" })],
      returns({ occurrences: 3 }),
    ));
  test("that end before they start are refused", () =>
    check(
      [repeat("2026-03-10T20:00", "daily", { until: "2026-03-09" })],
      refuses("invalid_params", /leaves 0 occurrences/),
    ));
  test("without an end in sight are refused", () =>
    check(
      [repeat("2026-03-10T21:00", "daily", { until: "2027-12-31" })],
      refuses("limit_exceeded", /fewer than 262/),
    ));
  test("in which one occurrence clashes are refused: pottery is on Wednesdays", () =>
    check(
      [repeat("2026-03-10T20:00", "daily")],
      refuses("conflict", /2026-03-11T20:00 clashes with Pottery class/),
    ));
  test("in a calendar with hours must fit every time: 31 May 2026 is a Sunday", () =>
    check(
      [repeat("2026-03-31T13:00", "monthly", { calendar_id: work })],
      refuses("precondition_failed", /2026-05-31T13:00/),
    ));
  test("of an unknown rhythm are refused", () =>
    check([repeat("2026-03-10T20:00", "yearly")], refuses("invalid_params", /every/)));
  test("show their next occurrence: the rent, begun on 31 January, is due on 31 March", () =>
    check(
      [["get_event", { event_id: rent }]],
      returns({ repeats: "monthly", next: "2026-03-31" }),
    ));
  test("lose an occurrence", () =>
    check(
      [["cancel_occurrence", { event_id: standup, occurrence: "2026-03-09" }]],
      returns({ cancelled: "2026-03-09", next: "2026-03-10" }),
    ));
  test("lose the next one where no day is given", () =>
    check(
      [["cancel_occurrence", { event_id: pottery }]],
      returns({ cancelled: "2026-03-11", next: "2026-03-18" }),
    ));
  test("do not show a cancelled occurrence", () =>
    check(
      [
        ["cancel_occurrence", { event_id: standup, occurrence: "2026-03-09" }],
        ["get_agenda", {}],
      ],
      returns({ events: [] }),
    ));
  test("do not lose an occurrence twice", () =>
    check(
      [["cancel_occurrence", { event_id: standup, occurrence: "2026-03-13" }]],
      refuses("conflict", /already cancelled on 2026-03-13/),
    ));
  test("have no occurrence on other days, and say which are next", () =>
    check([["cancel_occurrence", { event_id: pottery, occurrence: "2026-03-12" }]], {
      ...refuses("not_found", /no occurrence on 2026-03-12/),
      hint: "the next are 2026-03-11, 2026-03-18, 2026-03-25",
    }));
  test("keep what is past", () =>
    check(
      [["cancel_occurrence", { event_id: standup, occurrence: "2026-03-06" }]],
      refuses("precondition_failed", /has begun or is over/),
    ));
  test("single events have no occurrences", () =>
    check(
      [["cancel_occurrence", { event_id: dentist, occurrence: "2026-03-12" }]],
      refuses("precondition_failed", /does not repeat/),
    ));
  test("are moved one occurrence at a time", () =>
    check(
      [["move_event", { event_id: standup, start: "2026-03-10T10:00" }]],
      refuses("precondition_failed", /repeats weekdays/),
    ));
  test("show a moved occurrence, the others stay", () =>
    check(
      [
        ["move_event", { event_id: pottery, start: "2026-03-12T18:00", occurrence: "2026-03-11" }],
        ["list_events", { calendar_id: personal, to: "2026-03-18" }],
      ],
      returns({
        events: [{ event_id: dentist }],
        series: [{ event_id: pottery, next: "2026-03-12T18:00" }],
      }),
    ));
  test("a moved occurrence goes by its new day too", () =>
    check(
      [
        ["move_event", { event_id: pottery, start: "2026-03-12T18:00", occurrence: "2026-03-11" }],
        ["cancel_occurrence", { event_id: pottery, occurrence: "2026-03-12" }],
      ],
      returns({ cancelled: "2026-03-11", next: "2026-03-18" }),
    ));
});

describe("guests", () => {
  const invite = (person: string, event: string = review): Call => [
    "add_attendee",
    { event_id: event, person },
  ];
  test("are invited by name, and known to be free", () =>
    check(
      [invite("David Chen")],
      returns({ name: "David Chen", response: "pending", attendees: 3, free: true }),
    ));
  test("are known to be busy: Chloe is at the kickoff", () =>
    check(
      [create("2026-03-10T11:00", { allow_conflict: true }), invite("Chloe Martin", created)],
      returns({ free: false }),
    ));
  test("are not invited twice", () =>
    check(
      [invite("emma@harbor.example")],
      refuses("conflict", /Emma Novak is already invited to Design review \(tentative\)/),
    ));
  test("nobody invites the organizer", () =>
    check([invite("Ana Ruiz")], refuses("conflict", /Ana Ruiz organizes/)));
  test("unknown people are not invited", () =>
    check([invite("Zoe Adler")], {
      ...refuses("not_found", /no person Zoe Adler/),
      hint: "give a full name or an e-mail address",
    }));
  test("nobody is invited to somebody else's event", () =>
    check([invite("David Chen", shoot)], refuses("permission_denied", /Emma Novak/)));
  test("are taken off the list", () =>
    check(
      [["remove_attendee", { event_id: review, person: "Ben Okafor" }]],
      returns({ name: "Ben Okafor", attendees: 1 }),
    ));
  test("who are not on it cannot be", () =>
    check(
      [["remove_attendee", { event_id: review, person: "David Chen" }]],
      refuses("not_found", /David Chen is not invited/),
    ));
});

describe("invitations", () => {
  const answer = (event: string, response: string, more: Record<string, Json> = {}): Call => [
    "respond_to_invite",
    { event_id: event, response, ...more },
  ];
  test("that wait are part of the agenda", () =>
    check(
      [["get_agenda", {}]],
      returns({
        events: [{ title: "Morning standup", time: "09:30-09:45" }],
        invitations: [{ title: "Quarterly planning", event_id: planning }, { event_id: lunch }],
      }),
    ));
  test("are accepted", () =>
    check(
      [answer(planning, "accepted")],
      returns({ title: "Quarterly planning", response: "accepted", start: "2026-03-12T10:00" }),
    ));
  test("then take up time", () =>
    check(
      [answer(planning, "accepted"), create("2026-03-12T11:00")],
      refuses("conflict", /Quarterly planning/),
    ));
  test("that clash are not accepted by the way", () =>
    check(
      [answer(planning, "accepted"), answer(lunch, "accepted")],
      refuses("conflict", /Quarterly planning/),
    ));
  test("that clash can be, though", () =>
    check(
      [answer(planning, "accepted"), answer(lunch, "accepted", { allow_conflict: true })],
      returns({ response: "accepted" }),
    ));
  test("once declined free the time", () =>
    check(
      [answer(shoot, "declined"), ["check_conflicts", { start: "2026-03-13T14:00" }]],
      returns({ free: true }),
    ));
  test("are answered differently, or not", () =>
    check([answer(shoot, "accepted")], refuses("conflict", /already accepted/)));
  test("to one's own events do not exist", () =>
    check([answer(kickoff, "declined")], refuses("precondition_failed", /organizes/)));
  test("for others are refused", () =>
    check(
      [answer("evt_111", "accepted")],
      refuses("permission_denied", /not invited to Good Friday/),
    ));
});

describe("planning", () => {
  test("finds free times between events, on the half hour", () =>
    check(
      [["find_free_slots", { day: "2026-03-10", minutes: 60 }]],
      returns({
        slots: [
          { start: "2026-03-10T10:00" },
          { start: "2026-03-10T12:00" },
          { start: "2026-03-10T13:00", end: "2026-03-10T14:00" },
        ],
      }),
    ));
  test("counts what others have: Grace has nothing but planning, 10 to 12, and lunch until 13", () =>
    check(
      [["find_free_slots", { day: "2026-03-12", minutes: 60, people: ["Grace Kim"], limit: 1 }]],
      returns({ slots: [{ start: "2026-03-12T13:00" }] }),
    ));
  test("offers nothing at weekends, and goes on on Monday", () =>
    check(
      [["find_free_slots", { day: "2026-03-14", until: "2026-03-16", minutes: 30, limit: 1 }]],
      returns({ slots: [{ start: "2026-03-16T09:00" }] }),
    ));
  test("offers nothing that has passed", () =>
    check([["find_free_slots", { day: "2026-03-06", minutes: 30 }]], returns({ slots: [] })));
  test("looks at a month at most", () =>
    check(
      [["find_free_slots", { day: "2026-03-10", until: "2026-05-10", minutes: 30 }]],
      refuses("limit_exceeded", /31 days/),
    ));
  test("a time is free", () =>
    check([["check_conflicts", { start: "2026-03-10T12:00" }]], {
      kind: "ok",
      value: { free: true, start: "2026-03-10T12:00" },
    }));
  test("a time is not free, with the conflicts", () =>
    check(
      [["check_conflicts", { start: "2026-03-10T11:45" }]],
      returns({
        free: false,
        conflicts: [{ title: "Northwind kickoff", event_id: kickoff, start: "2026-03-10T11:00" }],
      }),
    ));
  test("a time is not free for others", () =>
    check(
      [["check_conflicts", { start: "2026-03-12T10:30", people: ["Ben Okafor"] }]],
      returns({ free: false, conflicts: [{ event_id: planning }] }),
    ));
  test("strangers cannot be checked", () =>
    check(
      [["check_conflicts", { start: "2026-03-12T10:30", people: ["Zoe"] }]],
      refuses("not_found", /Zoe/),
    ));
  test("holidays block nothing", () =>
    check([["check_conflicts", { start: "2026-04-03T13:00" }]], returns({ free: true })));
  test("an agenda of no day is refused", () =>
    check(
      [["get_agenda", { day: "2026-02-29" }]],
      refuses("invalid_params", /^day: must be a day that exists/),
    ));
});

describe("reminders", () => {
  const remind = (event: string, minutes: number): Call => [
    "set_reminder",
    { event_id: event, minutes_before: minutes },
  ];
  test("say when", () =>
    check([remind(review, 15)], returns({ title: "Design review", at: "2026-03-11T13:45" })));
  test("show in the event", () =>
    check(
      [remind(kickoff, 5), ["get_event", { event_id: kickoff }]],
      returns({ reminders: "5 and 30 minutes before" }),
    ));
  test("are not set twice", () =>
    check([remind(kickoff, 30)], refuses("conflict", /already has a reminder 30 minutes before/)));
  test("cannot be for a time that has passed: a week before tomorrow", () =>
    check([remind(kickoff, 10_080)], refuses("precondition_failed", /has passed/)));
  test("of a series start with the next that can still be announced: not 9:30 today, but tomorrow", () =>
    check([remind(standup, 60)], returns({ at: "2026-03-10T08:30" })));
  test("of what was declined are refused", () =>
    check(
      [["respond_to_invite", { event_id: shoot, response: "declined" }], remind(shoot, 5)],
      refuses("precondition_failed", /declined/),
    ));
  test("of what is over are refused", () =>
    check([remind(workshop, 5)], refuses("precondition_failed", /is over/)));
  test("beyond five are refused", () =>
    check(
      [...[1, 2, 3, 4].map(n => remind(kickoff, n)), remind(kickoff, 5)],
      refuses("limit_exceeded", /5 reminders/),
    ));
});

describe("loopholes", () => {
  const move = (start: string, more: Record<string, Json> = {}): Call => [
    "move_event",
    { event_id: pottery, start, occurrence: "2026-03-11", ...more },
  ];
  test("an occurrence is not moved onto another one of its series", () =>
    check(
      [move("2026-03-18T20:00")],
      refuses(
        "conflict",
        /2026-03-18T20:00 clashes with Pottery class \(evt_109\), 19:00 to 20:30/,
      ),
    ));
  test("it is where the user allows the conflict", () =>
    check(
      [move("2026-03-18T20:00", { allow_conflict: true })],
      returns({ start: "2026-03-18T20:00" }),
    ));
  test("a declined event reminds nobody any more", () =>
    check(
      [
        ["set_reminder", { event_id: planning, minutes_before: 30 }],
        ["respond_to_invite", { event_id: planning, response: "declined" }],
        ["respond_to_invite", { event_id: planning, response: "tentative" }],
        ["set_reminder", { event_id: planning, minutes_before: 30 }],
      ],
      returns({ event_id: planning }),
    ));
  test("an occurrence does not clash with itself", () =>
    check([move("2026-03-11T19:30")], returns({ start: "2026-03-11T19:30" })));
});

test("after any calls, nothing breaks and the state fits its schema, references included", () => {
  const malformed = fc.record({
    name: fc.constantFrom(...calendar.tools.keys()),
    arguments: fc.anything(),
  });
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e6 }),
      fc.array(malformed, { maxLength: 20 }),
      (seed, malformedCalls) => {
        const session = open();
        for (const call of [...walk(calendar, open(), 100, seed), ...malformedCalls]) {
          const { outcome } = session.call(call.name, call.arguments);
          expect(outcome.kind, JSON.stringify([call.name, outcome])).toMatch(
            /^(ok|refused|bad-arguments)$/,
          );
        }
        expect(calendar.schema.safeParse(session.state["calendar"]!.world).error).toBeUndefined();
      },
    ),
    { numRuns: 25 },
  );
});

test("a monthly series falls on the same day of every month, or on its last", () => {
  const lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 12 }),
      fc.integer({ min: 1, max: 31 }),
      fc.integer({ min: 2, max: 12 }),
      (month, day, count) => {
        fc.pre(day <= lengths[month - 1]!);
        const session = open();
        const two = (n: number) => String(n).padStart(2, "0");
        const result = session.call("calendar_create_recurring_event", {
          calendar_id: personal,
          title: "Choir",
          start: `2026-${two(month)}-${two(day)}T21:30`,
          every: "monthly",
          count,
          allow_conflict: true,
        });
        const last = month - 1 + count - 1;
        const expected = `${2026 + Math.floor(last / 12)}-${two((last % 12) + 1)}-${two(Math.min(day, lengths[last % 12]!))}`;
        expect(result.outcome).toMatchObject(returns({ occurrences: count, last: expected }));
      },
    ),
    { numRuns: 200 },
  );
});

checkAllTools();
