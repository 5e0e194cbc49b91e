/** Tests every team chat tool: results, changes to the state, and refusals. */
import { describe, test } from "vitest";
import { server as teamChat } from "../../src/servers/teamChat/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(teamChat);

const [general, announcements, client, website, lunch, salaries, party, poster] = [
  "chn_101",
  "chn_104",
  "chn_107",
  "chn_110",
  "chn_113",
  "chn_116",
  "chn_119",
  "chn_122",
] as const;
const [plotter, behind, folder, holiday, agenda, eyes, tacos, secret, lamps, blue] = [
  "msg_101",
  "msg_104",
  "msg_107",
  "msg_113",
  "msg_128",
  "msg_131",
  "msg_137",
  "msg_140",
  "msg_143",
  "msg_146",
] as const;

describe("channels", () => {
  test("are listed by name, without archived ones and without private ones of others", () =>
    check(
      [["list_channels", {}]],
      returns({
        channels: [
          { name: "announcements" },
          {
            name: "client-northwind",
            channel_id: client,
            kind: "private",
            members: 5,
            joined: true,
          },
          { name: "general" },
          { name: "lunch", joined: false },
          { name: "poster-series" },
          { name: "website" },
        ],
      }),
    ));
  test("are found by name, with or without #", () =>
    check(
      [["list_channels", { name: "#summer" }]],
      returns({ channels: [{ name: "summer-party", channel_id: party, archived: true }] }),
    ));
  test("are found by kind, and by being in them", () =>
    check(
      [["list_channels", { kind: "public", joined: false }]],
      returns({ channels: [{ channel_id: lunch }] }),
    ));
  test("that are archived are found as such", () =>
    check([["list_channels", { archived: true }]], returns({ channels: [{ channel_id: party }] })));
  test("of no known kind are refused", () =>
    check([["list_channels", { kind: "secret" }]], refuses("invalid_params", /kind/)));
  test("show topic, owner and the latest messages", () =>
    check(
      [["get_channel", { channel_id: general }]],
      returns({
        topic: "What concerns all of us",
        owner: "Grace Kim",
        members: 6,
        joined: true,
        messages: [
          { by: "Ben Okafor", date: "2026-03-09" },
          { message_id: folder },
          { message_id: plotter, by: "Grace Kim", replies: 1 },
        ],
      }),
    ));
  test("that are public can be read from outside", () =>
    check(
      [["get_channel", { channel_id: lunch }]],
      returns({ joined: false, messages: [{ message_id: tacos }] }),
    ));
  test("that are private cannot be read from outside", () =>
    check(
      [["get_channel", { channel_id: salaries }]],
      refuses("permission_denied", /is private, and you are not in it/),
    ));
  test("that are unknown are refused", () =>
    check(
      [["get_channel", { channel_id: "__proto__" }]],
      refuses("not_found", /no channel __proto__/),
    ));
});

describe("new channels", () => {
  const create = (name: string, more: object = {}): Call => ["create_channel", { name, ...more }];
  test("have the user in them, and whom they name", () =>
    check(
      [create("book-club", { people: ["Ben Okafor", "chloe@harbor.example", "Ben Okafor"] })],
      returns({ name: "book-club", kind: "public", members: 3 }),
    ));
  test("are found", () =>
    check(
      [
        create("book-club", { topic: "Read it first", kind: "private" }),
        ["list_channels", { name: "book" }],
      ],
      returns({ channels: [{ name: "book-club", kind: "private", joined: true }] }),
    ));
  test("refuse an existing name", () =>
    check([create("lunch")], refuses("conflict", /already a channel #lunch \(chn_113\)/)));
  test("refuse the name of an archived channel", () =>
    check([create("summer-party")], refuses("conflict", /which is archived/)));
  test("have names in small letters", () =>
    check([create("Book Club")], refuses("invalid_params", /name/)));
  test("are at most three for one owner", () =>
    check(
      [create("book-club"), create("running")],
      refuses("limit_exceeded", /you own 3 channels, and 3 is the most/),
    ));
  test("can be created after another is archived", () =>
    check(
      [create("book-club"), ["archive_channel", { channel_id: poster }], create("running")],
      returns({ name: "running" }),
    ));
  test("refuse deactivated members", () =>
    check(
      [create("book-club", { people: ["Ewa Kranz"] })],
      refuses("precondition_failed", /Ewa Kranz is deactivated/),
    ));
  test("refuse guests who are in another channel", () =>
    check(
      [create("book-club", { people: ["Helena Brandt"] })],
      refuses("limit_exceeded", /guests are in no more than 1 channel: #client-northwind/),
    ));
});

describe("archiving", () => {
  const archive = (channel_id: string): Call => ["archive_channel", { channel_id }];
  test("notifies the other members", () =>
    check(
      [archive(client)],
      returns({ name: "client-northwind", archived: "2026-03-09", told: 4 }),
    ));
  test("prevents new messages", () =>
    check(
      [archive(poster), ["post_message", { channel_id: poster, text: "Green" }]],
      refuses("precondition_failed", /#poster-series \(chn_122\) is archived since 2026-03-09/),
    ));
  test("keeps the channel readable", () =>
    check(
      [archive(poster), ["get_channel", { channel_id: poster }]],
      returns({ archived: "2026-03-09", messages: [{ message_id: blue }] }),
    ));
  test("frees the guest's place", () =>
    check(
      [archive(client), ["create_channel", { name: "book-club", people: ["Helena Brandt"] }]],
      returns({ members: 2 }),
    ));
  test("is done by the owner only", () =>
    check([archive(website)], refuses("permission_denied", /belongs to Ben Okafor/)));
  test("happens once", () =>
    check([archive(party)], refuses("conflict", /archived since 2026-02-17/)));
});

describe("people", () => {
  test("of a channel are listed by name", () =>
    check(
      [["list_members", { channel_id: website }]],
      returns({
        members: [
          { person: "Ana Ruiz" },
          { person: "Ben Okafor", title: "web lead", status: "active" },
          { person: "David Chen" },
          { person: "Grace Kim", role: "admin" },
        ],
      }),
    ));
  test("are found by status", () =>
    check(
      [["list_members", { status: "deactivated" }]],
      returns({ members: [{ person: "Ewa Kranz" }] }),
    ));
  test("are found by role", () =>
    check(
      [["list_members", { role: "guest" }]],
      returns({ members: [{ person: "Helena Brandt", title: "guest from Northwind" }] }),
    ));
  test("of a private channel are hidden from others", () =>
    check(
      [["list_members", { channel_id: salaries }]],
      refuses("permission_denied", /is private/),
    ));
  const invite = (channel_id: string, person: string): Call => [
    "invite_member",
    { channel_id, person },
  ];
  test("are invited to a channel", () =>
    check(
      [invite(website, "Chloe Martin"), ["list_members", { channel_id: website }]],
      returns({
        members: [
          { person: "Ana Ruiz" },
          { person: "Ben Okafor" },
          { person: "Chloe Martin" },
          {},
          {},
        ],
      }),
    ));
  test("join a public channel themselves", () =>
    check(
      [invite(lunch, "Ana Ruiz"), ["list_channels", { name: "lunch" }]],
      returns({ channels: [{ joined: true, members: 4 }] }),
    ));
  test("are invited to a private channel by its owner", () =>
    check([invite(client, "Ben Okafor")], returns({ name: "client-northwind", members: 6 })));
  test("are invited once", () =>
    check([invite(website, "Grace Kim")], refuses("conflict", /Grace Kim is in #website/)));
  test("are not invited from outside", () =>
    check([invite(lunch, "Grace Kim")], refuses("permission_denied", /not a member of #lunch/)));
  test("who have left are not invited", () =>
    check([invite(website, "Ewa Kranz")], refuses("precondition_failed", /deactivated/)));
  test("who are unknown are not invited", () =>
    check([invite(website, "Paul Ruiz")], refuses("not_found", /nobody called Paul Ruiz/)));
  test("who are guests are invited to one channel only", () =>
    check([invite(general, "Helena Brandt")], refuses("limit_exceeded", /#client-northwind/)));
  test("are not invited to an archived channel", () =>
    check([invite(party, "Ben Okafor")], refuses("precondition_failed", /archived/)));
});

describe("messages", () => {
  const post = (channel_id: string, more: object = {}): Call => [
    "post_message",
    { channel_id, text: "Here is the agenda", ...more },
  ];
  test("are the latest of their channel", () =>
    check(
      [post(client), ["get_channel", { channel_id: client }]],
      returns({
        messages: [
          { text: "Here is the agenda", by: "Ana Ruiz", date: "2026-03-09" },
          { message_id: agenda },
          {},
        ],
      }),
    ));
  test("notify whom they mention", () =>
    check(
      [post(client, { mentions: ["Helena Brandt", "Grace Kim"] })],
      returns({ channel: "client-northwind", notified: 2 }),
    ));
  test("mention members of the channel only", () =>
    check(
      [post(client, { mentions: ["Ben Okafor"] })],
      refuses("precondition_failed", /Ben Okafor is not in #client-northwind/),
    ));
  test("do not mention their writer", () =>
    check(
      [post(client, { mentions: ["Ana Ruiz"] })],
      refuses("invalid_params", /need not be mentioned/),
    ));
  test("are written by members alone", () =>
    check([post(lunch)], refuses("permission_denied", /not a member of #lunch/)));
  test("can be written after joining", () =>
    check(
      [["invite_member", { channel_id: lunch, person: "ana@harbor.example" }], post(lunch)],
      returns({ channel: "lunch" }),
    ));
  test("in announcement channels are written by admins", () =>
    check(
      [post(announcements)],
      refuses("permission_denied", /announcements, which Grace Kim and the admins write/),
    ));
  test("are not empty", () =>
    check(
      [["post_message", { channel_id: general, text: " \n " }]],
      refuses("invalid_params", /text/),
    ));
  test("are texts", () =>
    check(
      [["post_message", { channel_id: general, text: 7 }]],
      rejectsArguments(/text must be a string/),
    ));
});

describe("threads", () => {
  const reply = (message_id: string, more: object = {}): Call => [
    "reply_in_thread",
    { message_id, text: "On my desk", ...more },
  ];
  test("grow", () =>
    check(
      [reply(folder), ["get_thread", { message_id: folder }]],
      returns({
        text: "Who has seen the blue folder with the samples?",
        by: "Chloe Martin",
        replies: [{ text: "On my desk", by: "Ana Ruiz" }],
      }),
    ));
  test("notify the author of the first message", () =>
    check(
      [reply(plotter, { mentions: ["Grace Kim", "Ben Okafor"] })],
      returns({ notified: 2, replies: 2 }),
    ));
  test("can be answered in announcement channels", () =>
    check([reply(holiday)], returns({ channel: "announcements", replies: 3 })));
  test("do not start at an answer", () =>
    check(
      [reply(behind)],
      refuses(
        "precondition_failed",
        /what David Chen wrote there \(msg_104\) is an answer itself, to Grace Kim \(msg_101\)/,
      ),
    ));
  test("in channels of others cannot be answered", () =>
    check([reply(tacos)], refuses("permission_denied", /not a member of #lunch/)));
  test("in archived channels cannot be answered", () =>
    check([reply(lamps)], refuses("precondition_failed", /archived/)));
  test("an answer shows the whole thread", () =>
    check(
      [["get_thread", { message_id: behind }]],
      returns({
        message_id: plotter,
        reactions: "thumbs_up 2",
        mentions: ["David Chen"],
        replies: [{ message_id: behind, reactions: "laugh 2" }],
      }),
    ));
  test("in private channels are hidden from others", () =>
    check([["get_thread", { message_id: secret }]], refuses("permission_denied", /private/)));
});

describe("search", () => {
  const search = (args: Call[1]): Call => ["search_messages", args];
  test("finds by words", () =>
    check(
      [search({ words: "BLUE" })],
      returns({
        messages: [
          {
            text: "Who has seen the blue folder with the samples?",
            message_id: folder,
            where: "#general",
          },
          { message_id: blue },
        ],
      }),
    ));
  test("finds by author and day", () =>
    check(
      [search({ from: "Ben Okafor", since: "2026-03-05", until: "2026-03-08" })],
      returns({ messages: [{ message_id: eyes, where: "#website" }] }),
    ));
  test("finds mentions of the user", () =>
    check(
      [search({ mentions_me: true })],
      returns({ messages: [{ message_id: agenda }, { message_id: eyes }] }),
    ));
  test("finds by channel, the latest first", () =>
    check(
      [search({ channel_id: general, limit: 1 })],
      returns({ messages: [{ by: "Ben Okafor", date: "2026-03-09" }] }),
    ));
  test("does not look into other people's private channels", () =>
    check([search({ words: "between us" })], returns({ messages: [] })));
  test("refuses the private channels of others", () =>
    check([search({ channel_id: salaries })], refuses("permission_denied", /private/)));
  test("refuses reversed dates", () =>
    check(
      [search({ since: "2026-03-09", until: "2026-03-08" })],
      refuses("invalid_params", /since 2026-03-09 is after/),
    ));
});

describe("reactions", () => {
  const react = (message_id: string, emoji: string): Call => ["react", { message_id, emoji }];
  test("are counted", () =>
    check([react(plotter, "thumbs_up")], returns({ by: "Grace Kim", reactions: "thumbs_up 3" })));
  test("of several kinds stand side by side", () =>
    check(
      [react(plotter, "heart"), ["get_thread", { message_id: plotter }]],
      returns({ reactions: "thumbs_up 2, heart 1" }),
    ));
  test("are added once", () =>
    check([react(eyes, "eyes")], refuses("conflict", /you have put eyes under message msg_131/)));
  test("of another kind are added too", () =>
    check([react(eyes, "check")], returns({ reactions: "eyes 1, check 1" })));
  test("are added by members only", () =>
    check([react(tacos, "heart")], refuses("permission_denied", /not a member of #lunch/)));
  test("are not added in archived channels", () =>
    check([react(lamps, "heart")], refuses("precondition_failed", /archived/)));
  test("of no known kind are refused", () =>
    check([react(plotter, "shrug")], refuses("invalid_params", /emoji/)));
});

describe("loopholes", () => {
  const create = (args: Call[1]): Call => ["create_channel", args];
  test("creating a channel does not tell the ids of private ones", () =>
    check([create({ name: "salaries" })], {
      kind: "refused",
      type: "conflict",
      message: "the name salaries is taken",
      hint: "choose another name",
    }));
  const invitesGuest: Call = ["invite_member", { channel_id: poster, person: "Helena Brandt" }];
  const guestInSalaries = {
    edits: {
      [`channels.${client}.members`]: ["mem_101", "mem_107", "mem_113", "mem_116"],
      [`channels.${salaries}.members`]: ["mem_113", "mem_116", "mem_119"],
    },
  };
  test("inviting a guest does not tell in which private channels they are", () =>
    check(
      [invitesGuest],
      refuses("limit_exceeded", /no more than 1 channel: a private one$/),
      guestInSalaries,
    ));
  test("nor does creating a channel with them", () =>
    check(
      [create({ name: "guests", people: ["Helena Brandt"] })],
      refuses("limit_exceeded", /no more than 1 channel: a private one$/),
      guestInSalaries,
    ));
});

checkAllTools();
