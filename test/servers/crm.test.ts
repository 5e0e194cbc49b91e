/** The tools of the CRM server: what they return, what they change, and what they refuse. */
import { describe, test } from "vitest";
import { server as crm } from "../../src/servers/crm/server.ts";
import { createChecks, returns, rejectsArguments, refuses, type Call } from "./check.ts";

const { check, checkAllTools } = createChecks(crm);

const [delia, robin, rafael, zora, willem, marta, gabor, antonLead] = [
  "lead_101",
  "lead_104",
  "lead_107",
  "lead_110",
  "lead_113",
  "lead_116",
  "lead_119",
  "lead_122",
] as const;
const [helena, viktor, , camille, rui, teresa, anton, , lazlo] = [
  "con_101",
  "con_104",
  "con_107",
  "con_110",
  "con_113",
  "con_116",
  "con_119",
  "con_122",
  "con_125",
] as const;
const [portal, report, catalogue, packaging, booking, recruiting, trailer, stand] = [
  "deal_101",
  "deal_104",
  "deal_107",
  "deal_110",
  "deal_113",
  "deal_116",
  "deal_119",
  "deal_122",
] as const;
const [northwind, alpenglow, castaway] = ["firm_101", "firm_110", "firm_116"] as const;
const [contract, followUp, dates, budget, files, storyboard] = [
  "task_101",
  "task_104",
  "task_107",
  "task_110",
  "task_113",
  "task_116",
] as const;

describe("leads", () => {
  test("are listed newest first", () =>
    check(
      [["list_leads", { limit: 2 }]],
      returns({
        leads: [
          { name: "Zora Ulrich", lead_id: zora, status: "qualified", firm: "Marlowe Pianos" },
          { lead_id: delia },
        ],
      }),
    ));
  test("are found by part of a name", () =>
    check(
      [["list_leads", { name: "rafa" }]],
      returns({ leads: [{ name: "Rafael Haas", lead_id: rafael }] }),
    ));
  test("are found by status, source and owner", () =>
    check(
      [["list_leads", { status: "qualified", source: "referral", owner: "hugo@harbor.example" }]],
      returns({ leads: [{ lead_id: zora }] }),
    ));
  test("of an unknown colleague are refused, with those there are", () =>
    check(
      [["list_leads", { owner: "Paul Ruiz" }]],
      refuses("not_found", /nobody called Paul Ruiz uses the CRM/),
    ));
  test("of no known status are refused", () =>
    check([["list_leads", { status: "hot" }]], refuses("invalid_params", /status/)));
  test("show what was asked and what they may spend", () =>
    check(
      [["get_lead", { lead_id: rafael }]],
      returns({
        name: "Rafael Haas",
        email: "rafael@sundialsolar.example",
        owner: "Ana Ruiz",
        estimate: 8100,
        created: "2026-02-19",
      }),
    ));
  test("show what they became", () =>
    check(
      [["get_lead", { lead_id: antonLead }]],
      returns({
        status: "converted",
        contact_id: anton,
        deal: "Alpenglow Hotels booking page",
        deal_id: booking,
      }),
    ));
  test("unknown ones are refused", () =>
    check([["get_lead", { lead_id: "__proto__" }]], refuses("not_found", /no lead __proto__/)));
  test("a contact is no lead", () =>
    check([["get_lead", { lead_id: helena }]], refuses("not_found", /no lead con_101/)));
});

describe("new leads", () => {
  const lena: Call = ["create_lead", { name: "Lena Fischer", email: "hello@seaglass.example" }];
  test("are new and found at once", () =>
    check(
      [lena, ["list_leads", { name: "Lena" }]],
      returns({ leads: [{ name: "Lena Fischer", status: "new", firm: "Lena Fischer" }] }),
    ));
  test("may be a colleague's", () =>
    check(
      [
        [
          "create_lead",
          { name: "Lena Fischer", email: "hello@seaglass.example", owner: "Farid Haddad" },
        ],
      ],
      returns({ owner: "Farid Haddad" }),
    ));
  test("cannot be a viewer's", () =>
    check(
      [
        [
          "create_lead",
          { name: "Lena Fischer", email: "hello@seaglass.example", owner: "Noah Berg" },
        ],
      ],
      refuses("precondition_failed", /Noah Berg may only view/),
    ));
  test("with a contact's address are refused", () =>
    check(
      [["create_lead", { name: "H. Brandt", email: "Helena@northwind.example" }]],
      refuses("conflict", /belongs to the contact Helena Brandt \(con_101\)/),
    ));
  test("with another lead's address are refused", () =>
    check([lena, lena], refuses("conflict", /belongs to the lead Lena Fischer/)));
  test("with an address that is none are refused", () =>
    check(
      [["create_lead", { name: "Lena Fischer", email: "seaglass" }]],
      refuses("invalid_params", /email/),
    ));
  for (const estimate of [0, -5, -0, 0.001, 1e308, Number.NaN])
    test(`with an estimate of ${estimate} are refused`, () =>
      check(
        [["create_lead", { name: "Lena Fischer", email: "hello@seaglass.example", estimate }]],
        { type: "invalid_params" },
      ));
});

describe("a lead's way", () => {
  const step = (lead_id: string, status: string, more: object = {}): Call => [
    "update_lead",
    { lead_id, status, ...more },
  ];
  test("goes from new to contacted", () =>
    check(
      [step(delia, "contacted"), ["get_lead", { lead_id: delia }]],
      returns({ status: "contacted" }),
    ));
  test("skips no status", () =>
    check(
      [step(delia, "qualified", { estimate: 900 })],
      refuses("precondition_failed", /new cannot become qualified/),
    ));
  test("needs an estimate to be qualified", () =>
    check(
      [step(robin, "qualified")],
      refuses("precondition_failed", /Robin Bellini .* has no estimate/),
    ));
  test("is qualified with one", () =>
    check(
      [step(robin, "qualified", { estimate: 1800 }), ["get_lead", { lead_id: robin }]],
      returns({ status: "qualified", estimate: 1800 }),
    ));
  test("ends in disqualified with a reason", () =>
    check(
      [step(delia, "disqualified", { reason: "Never answered" }), ["get_lead", { lead_id: delia }]],
      returns({ status: "disqualified", reason: "Never answered" }),
    ));
  test("does not end in disqualified without a reason", () =>
    check([step(delia, "disqualified")], refuses("invalid_params", /with a reason/)));
  test("may begin again", () =>
    check([step(willem, "contacted")], returns({ status: "contacted", changed: ["status"] })));
  test("does not repeat a status", () =>
    check([step(rafael, "qualified")], refuses("conflict", /already qualified/)));
  test("keeps its status while other fields change", () =>
    check(
      [step(rafael, "qualified", { estimate: 9000 })],
      returns({ status: "qualified", changed: ["estimate"] }),
    ));
  test("of a colleague's lead cannot be changed", () =>
    check([step(zora, "contacted")], refuses("permission_denied", /belongs to Hugo Silva/)));
  test("of a lead without an owner can be changed", () =>
    check(
      [["update_lead", { lead_id: marta, owner: "Ana Ruiz" }]],
      returns({ owner: "Ana Ruiz", changed: ["owner"] }),
    ));
  test("cannot be changed after the lead was given to a colleague", () =>
    check(
      [["update_lead", { lead_id: delia, owner: "Farid Haddad" }], step(delia, "contacted")],
      refuses("permission_denied", /Farid Haddad/),
    ));
  test("ends with conversion", () =>
    check(
      [["update_lead", { lead_id: antonLead, phone: "+34 600 01 77 01" }]],
      refuses("precondition_failed", /converted/),
    ));
  test("with nothing new is refused", () =>
    check(
      [["update_lead", { lead_id: rafael, estimate: 8100 }]],
      refuses("conflict", /like that already/),
    ));
  test("with nothing at all is refused", () =>
    check([["update_lead", { lead_id: rafael }]], refuses("invalid_params", /nothing to change/)));
});

describe("conversion", () => {
  const convert = (lead_id: string, title = "Solar website"): Call => [
    "convert_lead",
    { lead_id, title },
  ];
  test("makes a contact, a firm and a deal worth the estimate", () =>
    check(
      [convert(rafael)],
      returns({
        name: "Rafael Haas",
        firm: "Sundial Solar",
        is_new_firm: true,
        deal: "Solar website",
        amount: 8100,
      }),
    ));
  test("shows on the lead", () =>
    check(
      [convert(rafael), ["get_lead", { lead_id: rafael }]],
      returns({ status: "converted", contact: "Rafael Haas", deal: "Solar website" }),
    ));
  test("shows among the contacts", () =>
    check(
      [convert(rafael), ["list_contacts", { firm: "sundial" }]],
      returns({ contacts: [{ name: "Rafael Haas", firm: "Sundial Solar" }] }),
    ));
  test("shows among the deals", () =>
    check(
      [convert(rafael), ["list_deals", { stage: "discovery" }]],
      returns({ deals: [{ deal_id: booking }, { title: "Solar website", stage: "discovery" }] }),
    ));
  test("is refused the second time", () =>
    check([convert(rafael), convert(rafael)], refuses("conflict", /converted already/)));
  test("is refused for leads that are not qualified", () =>
    check(
      [convert(delia)],
      refuses("precondition_failed", /Delia Marchetti .* is new, and only a qualified/),
    ));
  test("is refused to others than the owner", () =>
    check([convert(zora)], refuses("permission_denied", /Hugo Silva/)));
  test("stops at a firm that is blocked", () =>
    check([convert(gabor)], refuses("precondition_failed", /Castaway Furnishings is blocked/)));
});

describe("contacts", () => {
  test("are listed by name", () =>
    check(
      [["list_contacts", { limit: 2 }]],
      returns({
        contacts: [
          { name: "Anton Gruber", contact_id: anton, firm: "Alpenglow Hotels", firm_id: alpenglow },
          { name: "Beatrix Holm" },
        ],
      }),
    ));
  test("are found by firm and status", () =>
    check(
      [["list_contacts", { firm: "bluepeak", status: "left" }]],
      returns({ contacts: [{ name: "Camille Girard", contact_id: camille }] }),
    ));
  test("without a match are an empty list", () =>
    check([["list_contacts", { name: "xyz" }]], returns({ contacts: [] })));
  test("are listed up to a limit", () =>
    check([["list_contacts", { limit: 51 }]], refuses("invalid_params", /limit/)));
  test("show their open deals and tasks", () =>
    check(
      [["get_contact", { contact_id: helena }]],
      returns({
        email: "helena@northwind.example",
        owner: "Ana Ruiz",
        firm_status: "client",
        deals: [
          { title: "Northwind claims portal", deal_id: portal, stage: "negotiation" },
          { deal_id: report },
        ],
        tasks: [{ task: "Send the contract", task_id: contract, due: "2026-03-11" }],
      }),
    ));
  test("unknown ones are refused", () =>
    check(
      [["get_contact", { contact_id: "con_999" }]],
      refuses("not_found", /no contact con_999/),
    ));
  test("new ones are the user's", () =>
    check(
      [
        [
          "create_contact",
          { name: "Mira Stein", firm_id: northwind, email: "mira@northwind.example", job: "Buyer" },
        ],
        ["list_contacts", { firm: "Northwind", owner: "Ana Ruiz", name: "Mira" }],
      ],
      returns({ contacts: [{ name: "Mira Stein" }] }),
    ));
  test("with a known address are refused", () =>
    check(
      [
        [
          "create_contact",
          { name: "H. Brandt", firm_id: northwind, email: "helena@northwind.example" },
        ],
      ],
      refuses("conflict", /Helena Brandt/),
    ));
  test("with a lead's address are refused", () =>
    check(
      [
        [
          "create_contact",
          { name: "Rafael Haas", firm_id: northwind, email: "rafael@sundialsolar.example" },
        ],
      ],
      refuses("conflict", /the lead Rafael Haas \(lead_107\), which is qualified/),
    ));
  test("of no known firm are refused", () =>
    check(
      [["create_contact", { name: "Mira Stein", firm_id: "firm_1", email: "m@x.example" }]],
      refuses("not_found", /no firm firm_1/),
    ));
  test("change", () =>
    check(
      [
        ["update_contact", { contact_id: viktor, job: "Head of sales" }],
        ["get_contact", { contact_id: viktor }],
      ],
      returns({ job: "Head of sales" }),
    ));
  test("are refused a change without effect", () =>
    check(
      [["update_contact", { contact_id: viktor, email: "viktor@northwind.example" }]],
      refuses("conflict", /like that already/),
    ));
  test("do not take each other's address", () =>
    check(
      [["update_contact", { contact_id: viktor, email: "helena@northwind.example" }]],
      refuses("conflict", /Helena Brandt/),
    ));
  test("of colleagues are theirs to change", () =>
    check(
      [["update_contact", { contact_id: rui, job: "Buyer" }]],
      refuses("permission_denied", /belongs to Farid Haddad/),
    ));
  test("do not leave with open deals", () =>
    check(
      [["update_contact", { contact_id: helena, status: "left" }]],
      refuses("precondition_failed", /open deal Northwind claims portal/),
    ));
  test("leave without open deals", () =>
    check(
      [
        ["update_contact", { contact_id: viktor, status: "left" }],
        ["list_contacts", { status: "left" }],
      ],
      returns({ contacts: [{ contact_id: camille }, { contact_id: viktor }] }),
    ));
});

describe("deals", () => {
  test("are listed by closing day, the open ones", () =>
    check(
      [["list_deals", { limit: 2 }]],
      returns({
        deals: [
          {
            title: "Bluepeak spring catalogue",
            deal_id: catalogue,
            stage: "proposal",
            closes: "2026-03-06",
          },
          { deal_id: portal },
        ],
      }),
    ));
  test("are late when their day is past", () =>
    check([["list_deals", { overdue: true }]], returns({ deals: [{ deal_id: catalogue }] })));
  test("closed ones are found by title", () =>
    check(
      [["list_deals", { title: "trailer" }]],
      returns({
        deals: [{ title: "Tidewater Books book trailer", deal_id: trailer, stage: "lost" }],
      }),
    ));
  test("are found by firm and owner", () =>
    check(
      [["list_deals", { firm: "Orchard", owner: "Farid Haddad" }]],
      returns({ deals: [{ deal_id: packaging }] }),
    ));
  test("in no known stage are refused", () =>
    check([["list_deals", { stage: "closing" }]], refuses("invalid_params", /stage/)));
  test("show where they may go, what is to do and what was said", () =>
    check(
      [["get_deal", { deal_id: portal }]],
      returns({
        stage: "negotiation",
        next_stages: ["proposal", "won", "paused", "lost"],
        contact: "Helena Brandt",
        contact_id: helena,
        firm_id: northwind,
        tasks: [{ task_id: contract }],
        notes: [
          {
            by: "Ana Ruiz",
            at: "2026-03-03T17:50",
            text: "Legal has two questions on the contract",
          },
        ],
      }),
    ));
  test("unknown ones are refused", () =>
    check([["get_deal", { deal_id: "deal_1" }]], refuses("not_found", /no deal deal_1/)));
  test("begin in discovery", () =>
    check(
      [
        [
          "create_deal",
          { title: "Northwind intranet", contact_id: viktor, amount: 900, closes: "2026-03-09" },
        ],
        ["list_deals", { title: "intranet" }],
      ],
      returns({
        deals: [{ title: "Northwind intranet", stage: "discovery", closes: "2026-03-09" }],
      }),
    ));
  test("with somebody who has left are refused", () =>
    check(
      [["create_deal", { title: "Bluepeak film", contact_id: camille }]],
      refuses("precondition_failed", /Camille Girard \(con_110\) has left Bluepeak/),
    ));
  test("with a blocked firm are refused", () =>
    check(
      [["create_deal", { title: "Castaway film", contact_id: lazlo }]],
      refuses("precondition_failed", /blocked for unpaid bills/),
    ));
  test("of one title are not opened twice", () =>
    check(
      [["create_deal", { title: "northwind claims portal", contact_id: viktor }]],
      refuses("conflict", /already an open deal Northwind claims portal/),
    ));
  test("to be decided yesterday are refused", () =>
    check(
      [["create_deal", { title: "Film", contact_id: teresa, closes: "2026-03-08" }]],
      refuses("precondition_failed", /2026-03-08 is past/),
    ));
  test("to be decided on no day are refused", () =>
    check(
      [["create_deal", { title: "Film", contact_id: teresa, closes: "2026-02-30" }]],
      refuses("invalid_params", /closes/),
    ));
});

describe("stages", () => {
  const move = (deal_id: string, stage: string, more: object = {}): Call => [
    "update_deal_stage",
    { deal_id, stage, ...more },
  ];
  test("follow one another", () =>
    check(
      [move(booking, "proposal", { amount: 3200 }), move(booking, "negotiation")],
      returns({ stage: "negotiation", amount: 3200 }),
    ));
  test("are not skipped", () =>
    check([move(booking, "won")], refuses("precondition_failed", /discovery cannot go to won/)));
  test("a proposal needs an amount", () =>
    check([move(booking, "proposal")], refuses("precondition_failed", /has no amount/)));
  test("on hold, a deal is not negotiated", () =>
    check(
      [move(stand, "negotiation")],
      refuses("precondition_failed", /paused cannot go to negotiation/),
    ));
  test("that are current are refused", () =>
    check([move(portal, "negotiation")], refuses("conflict", /already in negotiation/)));
  test("the amount may change where the deal is", () =>
    check(
      [move(portal, "negotiation", { amount: 5000 }), ["get_deal", { deal_id: portal }]],
      returns({ amount: 5000 }),
    ));
  test("a deal with open tasks is not won", () =>
    check(
      [move(portal, "won")],
      refuses("precondition_failed", /1 open task: Send the contract \(task_101\)/),
    ));
  test("a deal without open tasks is won", () =>
    check(
      [["complete_task", { task_id: contract }], move(portal, "won")],
      returns({ stage: "won", next_stages: [] }),
    ));
  test("a deal that is won makes a client", () =>
    check(
      [
        ["complete_task", { task_id: budget }],
        move(booking, "proposal", { amount: 3200 }),
        move(booking, "negotiation"),
        move(booking, "won"),
        ["get_contact", { contact_id: anton }],
      ],
      returns({ firm_status: "client" }),
    ));
  test("lost needs a reason", () =>
    check([move(catalogue, "lost")], refuses("invalid_params", /for a reason/)));
  test("a reason is refused for other stages than lost", () =>
    check(
      [move(catalogue, "negotiation", { lost_reason: "price" })],
      refuses("invalid_params", /lost alone/),
    ));
  test("lost drops the tasks", () =>
    check(
      [move(catalogue, "lost", { lost_reason: "price" })],
      returns({ stage: "lost", dropped_tasks: 1 }),
    ));
  test("dropped tasks are no longer listed", () =>
    check(
      [move(catalogue, "lost", { lost_reason: "price" }), ["complete_task", { task_id: followUp }]],
      refuses("precondition_failed", /dropped/),
    ));
  test("closed deals stay closed", () =>
    check(
      [move(recruiting, "negotiation")],
      refuses("precondition_failed", /was won on 2026-01-28 and stays closed/),
    ));
  test("of a colleague's deal are theirs", () =>
    check([move(packaging, "won")], refuses("permission_denied", /Farid Haddad/)));
});

describe("notes and tasks", () => {
  const note = (deal_id: string, text: string): Call => ["add_note", { deal_id, text }];
  test("a note is the latest of its deal", () =>
    check(
      [note(portal, "Signed on paper"), ["get_deal", { deal_id: portal }]],
      returns({
        notes: [{ text: "Signed on paper", at: "2026-03-09T09:00" }, { note_id: "note_101" }],
      }),
    ));
  test("a colleague's deal takes notes as well", () =>
    check(
      [note(packaging, "Ask about the lids")],
      returns({ title: "Orchard Foods packaging design", notes: 1 }),
    ));
  test("a note is not written twice", () =>
    check(
      [note(portal, "Legal has two questions on the contract")],
      refuses("conflict", /Ana Ruiz wrote the same note/),
    ));
  test("an empty note is refused", () =>
    check([note(portal, "   ")], refuses("invalid_params", /text/)));
  const task = (title: string, contact_id: string, more: object = {}): Call => [
    "create_task",
    { title, contact_id, due: "2026-03-12", ...more },
  ];
  test("a task shows on contact and deal", () =>
    check(
      [task("Send references", helena, { deal_id: portal }), ["get_deal", { deal_id: portal }]],
      returns({ tasks: [{ task_id: contract }, { task: "Send references", due: "2026-03-12" }] }),
    ));
  test("a task may be a colleague's, who alone completes it", () =>
    check(
      [task("Send references", viktor, { owner: "Hugo Silva" })],
      returns({ owner: "Hugo Silva", open_tasks: 1 }),
    ));
  test("a task is not for yesterday", () =>
    check(
      [task("Send references", helena, { due: "2026-03-08" })],
      refuses("precondition_failed", /due day 2026-03-08 is past/),
    ));
  test("a task is on a deal of the same contact", () =>
    check(
      [task("Send references", viktor, { deal_id: portal })],
      refuses("precondition_failed", /is with Helena Brandt \(con_101\), not with Viktor Larsen/),
    ));
  test("a task is on an open deal", () =>
    check(
      [task("Send references", viktor, { deal_id: recruiting })],
      refuses("precondition_failed", /stays closed/),
    ));
  test("a task is not for somebody who has left", () =>
    check([task("Send references", camille)], refuses("precondition_failed", /has left/)));
  test("a task is not planned twice", () =>
    check(
      [task("send the contract", helena, { deal_id: portal })],
      refuses("conflict", /planned already, for 2026-03-11/),
    ));
  test("a seventh open task is refused", () =>
    check(
      [...[1, 2, 3, 4, 5, 6].map(i => task(`Call ${i}`, viktor)), task("Call 7", viktor)],
      refuses("limit_exceeded", /has 6 open tasks/),
    ));
  test("a task without a day is a bad argument", () =>
    check([["create_task", { title: "Call", contact_id: helena }]], rejectsArguments(/due/)));
  test("a completed task is no longer open", () =>
    check(
      [
        ["complete_task", { task_id: contract }],
        ["get_contact", { contact_id: helena }],
      ],
      returns({ name: "Helena Brandt" }),
    ));
  test("a task is done on a day", () =>
    check(
      [["complete_task", { task_id: contract }]],
      returns({ task: "Send the contract", done: "2026-03-09", open_tasks: 0 }),
    ));
  test("a completed task is not completed again", () =>
    check([["complete_task", { task_id: files }]], refuses("conflict", /was done on 2026-01-26/)));
  test("a dropped task is not completed", () =>
    check([["complete_task", { task_id: storyboard }]], refuses("precondition_failed", /dropped/)));
  test("a colleague's task is not completed", () =>
    check([["complete_task", { task_id: dates }]], refuses("permission_denied", /Farid Haddad/)));
});

test("ids of one kind are unknown to tools for another", () =>
  check(
    [["create_contact", { name: "Mira Stein", firm_id: helena, email: "m@x.example" }]],
    refuses("not_found", /no firm con_101/),
  ));
test("a blocked firm still takes contacts", () =>
  check(
    [["create_contact", { name: "Mira Stein", firm_id: castaway, email: "mira@castaway.example" }]],
    returns({ firm: "Castaway Furnishings" }),
  ));

describe("loopholes", () => {
  const deal = (title: string): Call => ["create_deal", { title, contact_id: helena }];
  const task = (title: string): Call => [
    "create_task",
    { title, contact_id: helena, due: "2026-03-20" },
  ];
  test("a blocked firm is not avoided by spaces in its name", () =>
    check(
      [["convert_lead", { lead_id: rafael, title: "Chairs online" }]],
      refuses("precondition_failed", /Castaway Furnishings is blocked for unpaid bills/),
      { edits: { [`leads.${rafael}.firm`]: " Castaway  Furnishings " } },
    ));
  test("spaces in a firm's name do not make a second firm", () =>
    check(
      [["convert_lead", { lead_id: rafael, title: "Chairs online" }]],
      returns({ firm: "Northwind", firm_id: northwind, is_new_firm: false }),
      { edits: { [`leads.${rafael}.firm`]: "Northwind " } },
    ));
  test("spaces in a title do not make a second deal of that title", () =>
    check(
      [deal("Trade fair  stand "), deal("Trade fair stand")],
      refuses("conflict", /already an open deal/),
    ));
  test("spaces in a title do not make a second task of that title", () =>
    check([task("Send the offer "), task("Send the offer")], refuses("conflict", /is planned/)));
});

checkAllTools();
