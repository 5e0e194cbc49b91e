/** The tools of the email server: what they return, what they change, and what they refuse. */
import { describe, test } from "vitest";
import { server as email } from "../../src/servers/email/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(email);

const [kickoff, reminder, poster, jars, dentist, birthday, flight, cruise, numbers] = [
  "thr_101",
  "thr_104",
  "thr_107",
  "thr_110",
  "thr_113",
  "thr_116",
  "thr_119",
  "thr_122",
  "thr_125",
] as const;
const [asked, eleven, , paid, colours, , shelf, , , , boarding, congratulations, own] = [
  "msg_101",
  "msg_104",
  "msg_107",
  "msg_110",
  "msg_113",
  "msg_116",
  "msg_119",
  "msg_122",
  "msg_125",
  "msg_128",
  "msg_131",
  "msg_134",
  "msg_137",
] as const;
const [inbox, clients, invoices, travel, family, toAnswer] = [
  "lab_101",
  "lab_113",
  "lab_116",
  "lab_119",
  "lab_122",
  "lab_125",
] as const;
const [concept, evening] = ["drf_101", "drf_104"] as const;

describe("search", () => {
  const search = (args: Call[1]): Call => ["search_mail", args];
  test("without anything gives the inbox, the latest first", () =>
    check(
      [search({ limit: 2 })],
      returns({
        threads: [
          {
            subject: "Kickoff on Tuesday",
            thread_id: kickoff,
            from: "Helena Brandt",
            date: "2026-03-09",
            unread: 1,
          },
          { subject: "Colours for the poster" },
        ],
      }),
    ));
  test("by subject", () =>
    check(
      [search({ subject: "jam" })],
      returns({ threads: [{ thread_id: jars, from: "Rui Almeida" }] }),
    ));
  test("by who wrote, by name or address", () =>
    check(
      [search({ from: "julien@bluepeak.example" })],
      returns({ threads: [{ thread_id: reminder, from: "Julien Moreau" }] }),
    ));
  test("by words of a message", () =>
    check([search({ words: "CAKE" })], returns({ threads: [{ thread_id: birthday }] })));
  test("by label", () =>
    check(
      [search({ label_id: clients, since: "2026-03-01" })],
      returns({ threads: [{ thread_id: kickoff }, { thread_id: reminder }] }),
    ));
  test("by a folder's label", () =>
    check([search({ label_id: "lab_110" })], returns({ threads: [{ thread_id: cruise }] })));
  test("by read state keeps out Spam", () =>
    check(
      [search({ unread: true })],
      returns({ threads: [{ thread_id: kickoff }, { thread_id: poster }] }),
    ));
  test("by folder and day", () =>
    check(
      [search({ folder: "Sent", until: "2026-03-09" })],
      returns({ threads: [{ thread_id: numbers, from: "Ana Ruiz" }] }),
    ));
  test("without a match is an empty list", () =>
    check([search({ words: "elephant" })], returns({ threads: [] })));
  test("for somebody unknown suggests similar names", () =>
    check([search({ from: "Helena" })], {
      type: "not_found",
      message: "the address book has nobody called Helena",
      hint: "perhaps Helena Brandt (helena@northwind.example)",
    }));
  test("with a first day after the last day is refused", () =>
    check(
      [search({ since: "2026-03-09", until: "2026-03-01" })],
      refuses("invalid_params", /since 2026-03-09 is after/),
    ));
  test("on a day that does not exist is refused", () =>
    check([search({ since: "2026-02-30" })], refuses("invalid_params", /since/)));
});

describe("threads and messages", () => {
  test("a thread shows how its messages begin", () =>
    check(
      [["get_thread", { thread_id: kickoff }]],
      returns({
        folder: "Inbox",
        labels: [{ name: "Clients", label_id: clients }],
        messages: [
          { message_id: asked, from: "Ana Ruiz", date: "2026-03-07" },
          {
            message_id: eleven,
            from: "Helena Brandt",
            snippet: "Eleven suits us. I bring Viktor and the signed brief. Is …",
            unread: true,
            attachments: 1,
          },
        ],
      }),
    ));
  test("an unknown thread is refused", () =>
    check(
      [["get_thread", { thread_id: "__proto__" }]],
      refuses("not_found", /no thread __proto__/),
    ));
  test("a message shows who got it, and its attachments", () =>
    check(
      [["get_message", { message_id: eleven }]],
      returns({
        subject: "Kickoff on Tuesday",
        thread_id: kickoff,
        from: "Helena Brandt",
        to: ["Ana Ruiz"],
        cc: ["Farid Haddad"],
        at: "2026-03-09T07:45",
        attachments: ["brief-signed.pdf"],
      }),
    ));
  test("reading a thread does not mark it as read", () =>
    check(
      [
        ["get_message", { message_id: eleven }],
        ["get_thread", { thread_id: kickoff }],
      ],
      returns({ messages: [{}, { unread: true }] }),
    ));
  test("a thread is no message", () =>
    check([["get_message", { message_id: kickoff }]], refuses("not_found", /no message thr_101/)));
  test("a draft is no message", () =>
    check(
      [["get_message", { message_id: concept }]],
      refuses("precondition_failed", /is a draft/),
    ));
});

describe("sending", () => {
  const send = (to: string[], more: object = {}): Call => [
    "send_message",
    { to, subject: "Print run", text: "The files are ready.", ...more },
  ];
  test("starts a thread in Sent", () =>
    check(
      [send(["Helena Brandt"]), ["search_mail", { folder: "Sent" }]],
      returns({ threads: [{ subject: "Print run", from: "Ana Ruiz" }, { thread_id: numbers }] }),
    ));
  test("counts the day's messages: 4 a day, one sent before", () =>
    check(
      [
        send(["helena@northwind.example"], {
          cc: ["Farid Haddad", "Helena Brandt"],
          attachments: ["offer.pdf"],
        }),
      ],
      returns({ to: ["Helena Brandt", "Farid Haddad"], left_today: 2 }),
    ));
  test("beyond the day's limit is refused", () =>
    check(
      [
        send(["Helena Brandt"]),
        send(["Helena Brandt"]),
        send(["Helena Brandt"]),
        send(["Helena Brandt"]),
      ],
      refuses("limit_exceeded", /4 messages have been sent today/),
    ));
  test("to a mailbox that is gone is refused", () =>
    check(
      [send(["Camille Girard"])],
      refuses(
        "precondition_failed",
        /mail to Camille Girard <camille@bluepeak.example> comes back since 2026-02-20/,
      ),
    ));
  test("to a sender that reads nothing is refused", () =>
    check([send(["Skyline Airways"])], refuses("precondition_failed", /takes no mail/)));
  test("to somebody unknown is refused", () =>
    check(
      [send(["nobody@nowhere.example"])],
      refuses("not_found", /nobody called nobody@nowhere.example/),
    ));
  test("to oneself is refused", () =>
    check([send(["Ana Ruiz"])], refuses("invalid_params", /user's own address/)));
  test("to too many is refused", () =>
    check(
      [send(["Helena Brandt", "Farid Haddad", "Julien Moreau", "Chloe Martin", "Grace Kim"])],
      refuses("limit_exceeded", /5 recipients are more than the 4/),
    ));
  test("to nobody is refused", () => check([send([])], refuses("invalid_params", /to/)));
  test("to a string instead of a list does not fit", () =>
    check(
      [["send_message", { to: "Helena Brandt", subject: "Hello", text: "Hello" }]],
      rejectsArguments(/to must be an array/),
    ));
  test("of a program is refused", () =>
    check(
      [send(["Helena Brandt"], { attachments: ["run.exe"] })],
      refuses("invalid_params", /attachments/),
    ));
});

describe("answers", () => {
  const reply = (message_id: string): Call => ["reply", { message_id, text: "Sounds good." }];
  test("go to the sender alone", () =>
    check(
      [reply(eleven)],
      returns({ subject: "Kickoff on Tuesday", thread_id: kickoff, to: ["Helena Brandt"] }),
    ));
  test("appear in the thread", () =>
    check(
      [reply(eleven), ["get_thread", { thread_id: kickoff }]],
      returns({ messages: [{}, {}, { from: "Ana Ruiz", snippet: "Sounds good." }] }),
    ));
  test("to one's own message go to the same people again", () =>
    check([reply(own)], returns({ to: ["Grace Kim"] })));
  test("to a draft are refused", () =>
    check(
      [reply(concept)],
      refuses("precondition_failed", /drf_101 \(Concept review\) is a draft/),
    ));
  test("to Spam are refused", () =>
    check([reply(congratulations)], refuses("precondition_failed", /is in Spam/)));
  test("to Spam go out once it is no longer there", () =>
    check(
      [["archive_thread", { thread_id: cruise }], reply(congratulations)],
      returns({ to: ["Lucky Prize Centre"] }),
    ));
  test("to a sender that reads nothing are refused", () =>
    check([reply(boarding)], refuses("precondition_failed", /Skyline Airways .* takes no mail/)));
  test("to all go to all", () =>
    check(
      [["reply_all", { message_id: eleven, text: "See you then." }]],
      returns({ to: ["Helena Brandt", "Farid Haddad"], left_today: 2 }),
    ));
  test("to all of one's own message go to all of them", () =>
    check(
      [["reply_all", { message_id: asked, text: "One more thing." }]],
      returns({ to: ["Helena Brandt", "Farid Haddad"] }),
    ));
  test("to all need more than one", () =>
    check(
      [["reply_all", { message_id: paid, text: "Thanks." }]],
      refuses("precondition_failed", /nobody but Julien Moreau and the user/),
    ));
});

describe("forwarding", () => {
  const forward = (to: string, message_id: string = colours): Call => [
    "forward",
    { message_id, to: [to], text: "What do you think?" },
  ];
  test("takes the attachments along, in a thread of its own", () =>
    check(
      [forward("Grace Kim"), ["search_mail", { subject: "Fwd: Colours" }]],
      returns({ threads: [{ subject: "Fwd: Colours for the poster", from: "Ana Ruiz" }] }),
    ));
  test("names whom it goes to", () =>
    check(
      [forward("Grace Kim", shelf)],
      returns({ subject: "Fwd: Labels for the jam jars", to: ["Grace Kim"] }),
    ));
  test("to somebody who has it is refused", () =>
    check(
      [forward("Farid Haddad", eleven)],
      refuses("conflict", /Farid Haddad has this message already/),
    ));
  test("of nothing is refused", () =>
    check([forward("Grace Kim", "msg_1")], refuses("not_found", /no message msg_1/)));
});

describe("drafts", () => {
  test("are listed, the latest first", () =>
    check(
      [["list_drafts", {}]],
      returns({
        drafts: [
          {
            subject: "Concept review",
            draft_id: concept,
            to: ["Helena Brandt"],
            saved: "2026-03-08",
          },
          { draft_id: evening, to: [] },
        ],
      }),
    ));
  test("are found by subject", () =>
    check([["list_drafts", { subject: "studio" }]], returns({ drafts: [{ draft_id: evening }] })));
  test("with a subject beyond bounds are not looked for", () =>
    check([["list_drafts", { subject: "x".repeat(201) }]], refuses("invalid_params", /subject/)));
  const begin = (subject: string): Call => ["create_draft", { subject, text: "More soon." }];
  test("may begin without recipients", () =>
    check(
      [begin("Summer plans"), ["list_drafts", { subject: "summer" }]],
      returns({ drafts: [{ subject: "Summer plans", to: [], saved: "2026-03-09" }] }),
    ));
  test("of one subject are not begun twice", () =>
    check(
      [begin("concept review")],
      refuses("conflict", /already a draft "Concept review" \(drf_101\)/),
    ));
  test("beyond three are refused", () =>
    check(
      [begin("One thing"), begin("Another thing")],
      refuses("limit_exceeded", /3 drafts are kept, and 3 is the most/),
    ));
  test("without recipients are not sent", () =>
    check(
      [["send_draft", { draft_id: evening }]],
      refuses("precondition_failed", /has no recipients/),
    ));
  test("are sent once they have some", () =>
    check(
      [
        ["update_draft", { draft_id: evening, to: ["Grace Kim", "Chloe Martin"] }],
        ["send_draft", { draft_id: evening }],
      ],
      returns({ subject: "Open studio evening", to: ["Grace Kim", "Chloe Martin"], left_today: 2 }),
    ));
  test("that are sent are drafts no longer", () =>
    check(
      [
        ["send_draft", { draft_id: concept }],
        ["list_drafts", {}],
      ],
      returns({ drafts: [{ draft_id: evening }] }),
    ));
  test("that are sent are found in Sent", () =>
    check(
      [
        ["send_draft", { draft_id: concept }],
        ["search_mail", { folder: "Sent", words: "two directions" }],
      ],
      returns({ threads: [{ subject: "Concept review" }] }),
    ));
  test("are refused a change without effect", () =>
    check(
      [["update_draft", { draft_id: concept, to: ["Helena Brandt"] }]],
      refuses("conflict", /like that already/),
    ));
  test("do not take each other's subject", () =>
    check(
      [["update_draft", { draft_id: concept, subject: "open studio evening" }]],
      refuses("conflict", /already a draft "Open studio evening"/),
    ));
  test("without a change are refused", () =>
    check(
      [["update_draft", { draft_id: concept }]],
      refuses("invalid_params", /nothing to change/),
    ));
  test("to a mailbox that is gone are not sent", () =>
    check(
      [
        ["update_draft", { draft_id: concept, to: ["Camille Girard"] }],
        ["send_draft", { draft_id: concept }],
      ],
      refuses("precondition_failed", /comes back/),
    ));
  test("can be thrown away", () =>
    check(
      [["delete_draft", { draft_id: concept }]],
      returns({ deleted: "Concept review", drafts: 1 }),
    ));
  test("is not repeated", () =>
    check(
      [
        ["delete_draft", { draft_id: concept }],
        ["delete_draft", { draft_id: concept }],
      ],
      refuses("not_found", /no draft drf_101/),
    ));
});

describe("labels, archive and read state", () => {
  test("labels count their threads", () =>
    check(
      [["list_labels", { name: "in" }]],
      returns({
        labels: [{ name: "Invoices", label_id: invoices, threads: 1 }],
        folders: [{ name: "Inbox", folder_id: inbox, threads: 6 }],
      }),
    ));
  test("labels are not looked for by nothing", () =>
    check([["list_labels", { name: "" }]], refuses("invalid_params", /name/)));
  const add = (thread_id: string, label_id: string): Call => ["add_label", { thread_id, label_id }];
  test("a label is put on", () =>
    check(
      [add(dentist, family), ["search_mail", { label_id: family }]],
      returns({ threads: [{ thread_id: birthday }, { thread_id: dentist }] }),
    ));
  test("is not repeated", () =>
    check([add(kickoff, clients)], refuses("conflict", /has the label Clients already/)));
  test("a folder is no label to put on", () =>
    check([add(kickoff, inbox)], refuses("permission_denied", /Inbox \(lab_101\) is a folder/)));
  test("Spam takes no labels", () =>
    check([add(cruise, family)], refuses("precondition_failed", /in Spam/)));
  test("a fifth label is refused", () =>
    check(
      [add(reminder, family), add(reminder, travel), add(reminder, toAnswer)],
      refuses("limit_exceeded", /Clients, Invoices, Family, Travel/),
    ));
  const remove = (thread_id: string, label_id: string): Call => [
    "remove_label",
    { thread_id, label_id },
  ];
  test("a label is taken off", () =>
    check(
      [remove(reminder, clients)],
      returns({ subject: "Reminder for invoice 42", labels: ["Invoices"] }),
    ));
  test("a label that is not on the thread is not taken off", () =>
    check([remove(flight, clients)], refuses("conflict", /does not have the label Clients/)));
  test("an unknown label is refused", () =>
    check([remove(flight, "lab_1")], refuses("not_found", /no label lab_1/)));
  test("an archived thread leaves the inbox, and is read", () =>
    check(
      [
        ["archive_thread", { thread_id: kickoff }],
        ["search_mail", { folder: "Archive" }],
      ],
      returns({ threads: [{ thread_id: kickoff }, { thread_id: jars }] }),
    ));
  test("archiving tells the previous folder", () =>
    check(
      [["archive_thread", { thread_id: cruise }]],
      returns({ folder: "Archive", was_in: "Spam" }),
    ));
  test("an archived thread stays there", () =>
    check(
      [["archive_thread", { thread_id: jars }]],
      refuses("conflict", /in the archive already/),
    ));
  test("reading leaves fewer unread", () =>
    check([["mark_read", { thread_id: kickoff }]], returns({ unread: 0, inbox_unread: 1 })));
  test("a thread can be unread again", () =>
    check(
      [
        ["mark_read", { thread_id: birthday, read: false }],
        ["search_mail", { unread: true }],
      ],
      returns({
        threads: [
          { thread_id: kickoff },
          { thread_id: poster },
          { thread_id: birthday, unread: 1 },
        ],
      }),
    ));
  test("a read thread is not marked as read again", () =>
    check([["mark_read", { thread_id: dentist }]], refuses("conflict", /is read already/)));
  test("one's own messages are never unread", () =>
    check(
      [["mark_read", { thread_id: numbers, read: false }]],
      refuses("precondition_failed", /user's own/),
    ));
});

describe("loopholes", () => {
  const draft = (title: string): Call => [
    "create_draft",
    { subject: title, text: "Not sent before May" },
  ];
  test("spaces around a subject do not make a second draft of that subject", () =>
    check([draft("Print run "), draft("Print run")], refuses("conflict", /already a draft/), {
      edits: { "limits.drafts": 9 },
    }));
  test("a note to oneself is not answered to nobody", () => {
    const edits = { [`messages.${own}.to`]: ["adr_101"] };
    check(
      [["reply", { message_id: own, text: "Still true" }]],
      refuses("precondition_failed", /nobody but the user/),
      { edits },
    );
    check(
      [["reply_all", { message_id: own, text: "Still true" }]],
      refuses("precondition_failed", /nobody but the user/),
      { edits: { ...edits, [`messages.${own}.cc`]: ["adr_104", "adr_107"] } },
    );
  });
});

checkAllTools();
