/** Tests every video meeting tool: results, changes to the state, and refusals. */
import { describe, test } from "vitest";
import { server as videoMeeting } from "../../src/servers/videoMeeting/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(videoMeeting);

/**
 * The user's: running, soon, at one o'clock, full, called off, over. Others': running, soon and she
 * is co-host, and she is a guest.
 */
const [palette, critique, server, newsletter, archive, captions] = [
  "mtg_101",
  "mtg_107",
  "mtg_110",
  "mtg_119",
  "mtg_122",
  "mtg_125",
] as const;
const [brief, print, numbers, film] = ["mtg_104", "mtg_113", "mtg_116", "mtg_128"] as const;

describe("planning", () => {
  const schedule = (more: Call[1]): Call => [
    "schedule_meeting",
    { topic: "Handover", start: "2026-03-11T10:00", minutes: 30, ...more },
  ];
  test("a meeting gets a link and its guests", () =>
    check(
      [schedule({ participants: ["Ben Okafor", "helena@northwind.example", "ben okafor"] })],
      returns({ topic: "Handover", end: "2026-03-11T10:30", invited: 2 }),
    ));
  test("a meeting is found by its topic", () =>
    check(
      [schedule({}), ["list_meetings", { topic: "hand" }]],
      returns({
        meetings: [{ topic: "Handover", start: "2026-03-11T10:00", status: "scheduled" }],
      }),
    ));
  test("a meeting without a start begins when the host is free", () =>
    check(
      [["schedule_meeting", { topic: "Soon", minutes: 15 }]],
      returns({ start: "2026-03-09T09:45" }),
    ));
  test("the next free slot is long enough", () =>
    check(
      [["schedule_meeting", { topic: "Soon", minutes: 20 }]],
      returns({ start: "2026-03-09T10:30" }),
    ));
  test("overlapping meetings of a host are refused", () =>
    check(
      [schedule({ start: "2026-03-09T10:15" })],
      refuses(
        "conflict",
        /the user hosts Type specimen critique \(mtg_107\) from 2026-03-09T10:00 to 2026-03-09T10:30/,
      ),
    ));
  test("consecutive meetings are accepted", () =>
    check([schedule({ start: "2026-03-09T10:30" })], returns({ start: "2026-03-09T10:30" })));
  test("a meeting longer than the plan allows is refused", () =>
    check(
      [schedule({ minutes: 181 })],
      refuses("limit_exceeded", /the pro plan of Ana Ruiz allows meetings of 180 minutes, not 181/),
    ));
  test("a meeting with more people than the plan allows is refused", () =>
    check(
      [
        schedule({
          participants: [
            "Ben Okafor",
            "Chloe Martin",
            "David Chen",
            "Emma Novak",
            "Farid Haddad",
            "Grace Kim",
            "Hugo Silva",
            "Ines Costa",
            "Helena Brandt",
          ],
        }),
      ],
      refuses("limit_exceeded", /allows 9 people in a meeting, host included, not 10/),
    ));
  test("a meeting in the past is refused", () =>
    check(
      [schedule({ start: "2026-03-09T08:59" })],
      refuses("precondition_failed", /2026-03-09T08:59 has passed/),
    ));
  test("a meeting too far ahead is refused", () =>
    check(
      [schedule({ start: "2026-12-24T10:00" })],
      refuses("precondition_failed", /more than 180 days away/),
    ));
  test("unknown participants are refused", () =>
    check(
      [schedule({ participants: ["__proto__"] })],
      refuses("not_found", /no person __proto__/),
    ));
  test("an invalid time is refused", () =>
    check([schedule({ start: "2026-02-30T10:00" })], refuses("invalid_params", /start/)));
  test("a meeting of invalid length is refused", () =>
    check([schedule({ minutes: 1e308 })], { kind: "refused" }));
  test("length is a number", () =>
    check([schedule({ minutes: "half an hour" })], rejectsArguments(/minutes must be/)));

  test("what is ahead or running is listed in order", () =>
    check(
      [["list_meetings", { limit: 3 }]],
      returns({
        meetings: [
          { meeting_id: brief, status: "running" },
          { meeting_id: palette },
          { meeting_id: print, status: "scheduled" },
        ],
        more: 4,
      }),
    ));
  test("meetings are found by person", () =>
    check(
      [["list_meetings", { person: "Ines Costa" }]],
      returns({ meetings: [{ meeting_id: newsletter }] }),
    ));
  test("meetings are found by the role of the user", () =>
    check(
      [["list_meetings", { role: "co-host" }]],
      returns({ meetings: [{ meeting_id: brief }, { meeting_id: print }] }),
    ));
  test("reversed dates are refused", () =>
    check(
      [["list_meetings", { from: "2026-03-12", to: "2026-03-11" }]],
      refuses("invalid_params", /to 2026-03-11 is before from/),
    ));
  test("a meeting is shown with guests and places", () =>
    check(
      [["get_meeting", { meeting_id: critique }]],
      returns({
        host: "Ana Ruiz",
        user_is: "host",
        participants: [{ name: "Chloe Martin", role: "guest" }, { name: "Hugo Silva" }],
        places_left: 6,
        recording_now: false,
      }),
    ));
  test("a meeting without guests has none to show", () =>
    check(
      [schedule({}), ["get_meeting", { meeting_id: "mtg_8249" }]],
      returns({ places_left: 8, host: "Ana Ruiz" }),
    ));
  test("a basic plan records nothing", () =>
    check(
      [["get_meeting", { meeting_id: brief }]],
      returns({ user_is: "co-host", recording: "nobody" }),
    ));
  test("unknown ones are refused", () =>
    check([["get_meeting", { meeting_id: "mtg_1" }]], refuses("not_found", /no meeting mtg_1/)));

  const update = (meeting_id: string, changes: Call[1]): Call => [
    "update_meeting",
    { meeting_id, ...changes },
  ];
  test("a meeting is moved", () =>
    check(
      [update(server, { start: "2026-03-09T14:10" }), ["get_meeting", { meeting_id: server }]],
      returns({ start: "2026-03-09T14:10", end: "2026-03-09T14:55" }),
    ));
  test("only what is new counts as changed", () =>
    check(
      [update(server, { minutes: 45, waiting_room: true })],
      returns({ changed: ["waiting_room"] }),
    ));
  test("a meeting is not moved onto another", () =>
    check(
      [update(server, { start: "2026-03-09T10:10" })],
      refuses("conflict", /Type specimen critique/),
    ));
  test("a change to the same values is refused", () =>
    check([update(server, { minutes: 45 })], refuses("conflict", /is like that already/)));
  test("a change without values is refused", () =>
    check([update(server, {})], refuses("invalid_params", /nothing to change/)));
  test("a meeting is changed by the host only", () =>
    check(
      [update(numbers, { minutes: 20 })],
      refuses(
        "permission_denied",
        /Grace Kim hosts Month-end numbers \(mtg_116\): only the host can change it/,
      ),
    ));
  test("a running meeting is not changed", () =>
    check(
      [update(palette, { minutes: 20 })],
      refuses("precondition_failed", /Colour palette review \(mtg_101\) is running/),
    ));

  const cancel = (meeting_id: string): Call => ["cancel_meeting", { meeting_id }];
  test("a meeting is cancelled, and everybody is notified", () =>
    check([cancel(newsletter)], returns({ status: "cancelled", told: 8 })));
  test("a cancelled meeting frees its time", () =>
    check(
      [cancel(server), schedule({ start: "2026-03-09T13:00" })],
      returns({ start: "2026-03-09T13:00" }),
    ));
  test("a meeting is cancelled once", () =>
    check(
      [cancel(archive)],
      refuses("precondition_failed", /Photo archive clean-up \(mtg_122\) is cancelled/),
    ));
  test("meetings of others are not cancelled", () =>
    check([cancel(print)], refuses("permission_denied", /Emma Novak hosts Print quality round/)));
});

describe("running", () => {
  const start = (meeting_id: string): Call => ["start_meeting", { meeting_id }];
  const end = (meeting_id: string): Call => ["end_meeting", { meeting_id }];
  const record = (meeting_id: string): Call => ["start_recording", { meeting_id }];
  test("a host starts hours before", () =>
    check([start(server)], returns({ status: "running", started_at: "2026-03-09T09:00" })));
  test("a host runs at most three meetings at once", () =>
    check(
      [
        ["schedule_meeting", { topic: "Soon", minutes: 15 }],
        start(server),
        start(critique),
        start("mtg_8249"),
      ],
      refuses(
        "limit_exceeded",
        /the pro plan of Ana Ruiz lets 3 meetings run at once, and Colour palette review and Type specimen critique and Server move dry run run already/,
      ),
    ));
  test("a host starts another meeting when one has ended", () =>
    check(
      [
        ["schedule_meeting", { topic: "Soon", minutes: 15 }],
        start(server),
        start(critique),
        end(palette),
        start("mtg_8249"),
      ],
      returns({ status: "running" }),
    ));
  test("a co-host starts shortly before", () =>
    check([start(print)], returns({ started_at: "2026-03-09T09:00" })));
  test("a guest does not start a meeting", () =>
    check(
      [start(numbers)],
      refuses(
        "permission_denied",
        /Grace Kim hosts Month-end numbers \(mtg_116\), and the user is no co-host/,
      ),
    ));
  test("a host starts early, even on the day before", () =>
    check([start(newsletter)], returns({ status: "running" })));
  test("a host does not start a meeting weeks before", () =>
    check(
      [
        ["update_meeting", { meeting_id: newsletter, start: "2026-03-17T09:00" }],
        start(newsletter),
      ],
      refuses(
        "precondition_failed",
        /is on 2026-03-17T09:00, and a host can start it 7 days before at the earliest/,
      ),
    ));
  test("a running meeting is not started", () =>
    check([start(palette)], refuses("conflict", /running since 2026-03-09T08:45/)));
  test("an ended meeting is not started", () =>
    check([start(captions)], refuses("precondition_failed", /is ended/)));
  test("the host ends it for everybody: 09:00 - 08:45", () =>
    check([end(palette)], returns({ status: "ended", minutes: 15 })));
  test("a co-host does not end a meeting", () =>
    check([end(brief)], refuses("permission_denied", /only the host can end it/)));
  test("a meeting that has not started is not ended", () =>
    check([end(server)], refuses("precondition_failed", /is scheduled, not running/)));

  test("a running meeting is recorded until it ends", () =>
    check(
      [record(palette), end(palette), ["list_recordings", { meeting_id: palette }]],
      returns({
        recordings: [
          {
            topic: "Colour palette review",
            started_at: "2026-03-09T09:00",
            minutes: 1,
            status: "processing",
          },
        ],
      }),
    ));
  test("the end of a meeting returns its recording", () =>
    check([record(palette), end(palette)], returns({ recording_id: "rec_8249" })));
  test("a meeting is recorded once at a time", () =>
    check([record(palette), record(palette)], refuses("conflict", /being recorded already/)));
  test("a meeting is not recorded before it starts", () =>
    check([record(server)], refuses("precondition_failed", /is scheduled, not running/)));
  test("a meeting on a basic plan is not recorded", () =>
    check([record(brief)], refuses("permission_denied", /the basic plan of Helena Brandt/)));
  test("a meeting with a person who objects is not recorded", () =>
    check(
      [start(critique), record(critique)],
      refuses("precondition_failed", /Hugo Silva is in Type specimen critique and does not agree/),
    ));
  test("recordings are newest first", () =>
    check(
      [["list_recordings", {}]],
      returns({
        recordings: [
          { topic: "Portfolio captions", minutes: 31, status: "processing" },
          { topic: "Film cut review", status: "ready" },
        ],
      }),
    ));
  test("recordings are found by topic and day", () =>
    check(
      [["list_recordings", { topic: "film", since: "2026-03-01" }]],
      returns({ recordings: [] }),
    ));
  test("recordings of an unknown meeting are refused", () =>
    check(
      [["list_recordings", { meeting_id: "rec_101" }]],
      refuses("not_found", /no meeting rec_101/),
    ));
});

describe("people", () => {
  const add = (meeting_id: string, person: string, role?: string): Call => [
    "add_participant",
    { meeting_id, person, ...(role ? { role } : {}) },
  ];
  test("a host invites, by name or e-mail", () =>
    check(
      [add(server, "helena@northwind.example"), ["get_meeting", { meeting_id: server }]],
      returns({
        participants: [
          { name: "David Chen" },
          { name: "Emma Novak", role: "co-host" },
          { name: "Helena Brandt", role: "guest" },
        ],
      }),
    ));
  test("a co-host invites too", () =>
    check(
      [add(brief, "Emma Novak")],
      returns({ person: "Emma Novak", participants: 3, places_left: 1 }),
    ));
  test("a co-host does not appoint co-hosts", () =>
    check(
      [add(brief, "Emma Novak", "co-host")],
      refuses("permission_denied", /only Helena Brandt, the host, names co-hosts/),
    ));
  test("a guest becomes co-host", () =>
    check([add(server, "David Chen", "co-host")], returns({ role: "co-host", participants: 2 })));
  test("nobody is invited twice", () =>
    check(
      [add(server, "Emma Novak")],
      refuses("conflict", /Emma Novak is invited to Server move dry run already, as co-host/),
    ));
  test("the host is not invited", () =>
    check(
      [add(brief, "Helena Brandt")],
      refuses("conflict", /Helena Brandt hosts Insurance brief/),
    ));
  test("people beyond the plan are not invited", () =>
    check(
      [add(newsletter, "Helena Brandt")],
      refuses(
        "limit_exceeded",
        /Newsletter planning is full: the pro plan of Ana Ruiz allows 9 people/,
      ),
    ));
  test("a guest does not invite", () =>
    check(
      [add(numbers, "Emma Novak")],
      refuses("permission_denied", /no co-host: only hosts can invite people/),
    ));
  test("nobody is invited to an ended meeting", () =>
    check(
      [add(captions, "Emma Novak")],
      refuses("precondition_failed", /Portfolio captions \(mtg_125\) is ended/),
    ));
  test("nobody is invited to ended meetings of others", () =>
    check(
      [add(film, "Emma Novak")],
      refuses("permission_denied", /Chloe Martin hosts Film cut review/),
    ));
  test("unknown people are not invited", () =>
    check([add(server, "Nobody")], refuses("not_found", /no person Nobody/)));
});

describe("loopholes", () => {
  test("nobody is recorded against their will by joining after the recording began", () =>
    check(
      [
        ["start_recording", { meeting_id: palette }],
        ["add_participant", { meeting_id: palette, person: "Hugo Silva" }],
      ],
      refuses(
        "precondition_failed",
        /Colour palette review \(mtg_101\) is being recorded, and Hugo Silva does not agree/,
      ),
    ));
  const blank = refuses("invalid_params", /the topic has no words/);
  test("no meeting is hidden from searches by a topic of spaces", () =>
    check([["schedule_meeting", { topic: "   ", start: "2026-03-11T10:00", minutes: 30 }]], blank));
  test("nor is one that is changed", () =>
    check([["update_meeting", { meeting_id: server, topic: "   " }]], blank));
  test("who agrees may join a recording", () =>
    check(
      [
        ["start_recording", { meeting_id: palette }],
        ["add_participant", { meeting_id: palette, person: "Emma Novak" }],
      ],
      returns({ role: "guest", participants: 3 }),
    ));
});

checkAllTools();
