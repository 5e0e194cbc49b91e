/** Generates the contacts, leads and deals of the fixtures. */
import type { Random } from "../../environment/random.ts";
import { addDays } from "../../environment/time.ts";
import type { SharedCast } from "../shared/cast.ts";
import { type CrmBuilder, type Stage, type LeadStatus } from "./crmBuilder.ts";
import { dealProjects, otherFirms, noteTexts, tasks as taskTexts } from "./generateTexts.ts";

/**
 * Adds firms, contacts, deals and leads in every status: the whole small fixture, and the beginning
 * of the full one.
 */
export function addSmallFixture(builder: CrmBuilder, cast: SharedCast): void {
  const { random } = builder;
  const [user, farid, hugo] = [0, 5, 7].map(it => builder.getMemberId(cast, it)) as [
    string,
    string,
    string,
  ];
  const clients = cast.clients.map(it => builder.addFirm(it, "client"));
  const [hotels, books] = cast.prospects.slice(0, 2).map(it => builder.addFirm(it, "prospect")) as [
    string,
    string,
  ];
  const blocked = builder.addFirm({ ...otherFirms[0]!, city: cast.cities[3]!.name }, "blocked");
  const people = cast.clients.flatMap((it, i) =>
    it.contacts.map(person => ({ person, firm: clients[i]! })),
  );
  const owners = [user, user, user, undefined, farid, undefined];
  const contacts = people.map(({ person, firm }, i) =>
    builder.addContact(person, firm, owners[i], i === 3 ? "left" : "active"),
  );
  const [hotelier, bookseller] = [
    builder.addContact(cast.prospects[0]!.contacts[0]!, hotels, user),
    builder.addContact(cast.prospects[1]!.contacts[0]!, books, user),
  ];
  builder.addContact(builder.createStranger(otherFirms[0]!.domain), blocked, user);
  const portal = builder.addDeal(contacts[0]!, "claims portal", "negotiation", user, 11);
  const report = builder.addDeal(contacts[0]!, "annual report", "negotiation", user, 22);
  const catalogue = builder.addDeal(contacts[2]!, "spring catalogue", "proposal", user, -3);
  const packaging = builder.addDeal(contacts[4]!, "packaging design", "negotiation", farid, 18);
  const booking = builder.addDeal(hotelier, "booking page", "discovery", user, undefined);
  const won = builder.addDeal(contacts[1]!, "recruiting campaign", "won", user, -40);
  const lost = builder.addDeal(bookseller, "book trailer", "lost", user, -25);
  builder.addDeal(contacts[2]!, "trade fair stand", "paused", user, 80);
  builder.addTask(contacts[0]!, "Send the contract", 2, user, "open", portal);
  builder.addTask(contacts[2]!, "Follow up on the proposal", -2, user, "open", catalogue);
  builder.addTask(contacts[4]!, "Check the delivery dates", 4, farid, "open", packaging);
  builder.addTask(hotelier, "Call about the budget", 1, user, "open", booking);
  builder.addTask(contacts[1]!, "Send the final files", -42, user, "done", won);
  builder.addTask(bookseller, "Share the storyboard", -20, user, "dropped", lost);
  builder.addNote(portal, user, -6, "Legal has two questions on the contract");
  builder.addNote(report, farid, -12, "They want it in two languages");
  builder.addLead("new", user, otherFirms[1]!.name, otherFirms[1]!.domain);
  builder.addLead("contacted", user, otherFirms[2]!.name, otherFirms[2]!.domain, {
    estimate: undefined as never,
  });
  builder.addLead("qualified", user, otherFirms[3]!.name, otherFirms[3]!.domain);
  builder.addLead("qualified", hugo, otherFirms[4]!.name, otherFirms[4]!.domain);
  builder.addLead("disqualified", user, otherFirms[5]!.name, otherFirms[5]!.domain);
  builder.addLead("new", undefined, otherFirms[6]!.name, otherFirms[6]!.domain);
  builder.addLead("qualified", user, otherFirms[0]!.name, otherFirms[0]!.domain);
  addConvertedLead(builder, hotelier, booking, random);
}

/** Adds the converted lead from which a contact and a deal came. */
function addConvertedLead(
  builder: CrmBuilder,
  contactId: string,
  dealId: string,
  random: Random,
): void {
  const contact = builder.state.contacts[contactId]!;
  const opened = builder.state.deals[dealId]!.opened;
  const firm = builder.state.firms[contact.firm_id]!.name;
  builder.state.leads[builder.id("lead")] = {
    name: contact.name,
    firm,
    email: contact.email,
    phone: contact.phone!,
    source: random.pick(["referral", "event", "website"] as const),
    status: "converted",
    owner: builder.state.user,
    created: addDays(opened, -9),
    estimate: 100 * (10 + random.integer(60)),
    asked: builder.ask(),
    contact_id: contactId,
    deal_id: dealId,
  };
}

/** Adds the rows that only the full fixture has. */
export function addRemainingRecords(builder: CrmBuilder, cast: SharedCast): void {
  const { random, state } = builder;
  const members = [0, 5, 7, 11, 1, 4].map(it => builder.getMemberId(cast, it));
  const pickOwner = () => (random.boolean(0.7) ? state.user : random.pick(members));
  const pickOptionalOwner = () => (random.boolean(0.12) ? undefined : pickOwner());
  for (const it of cast.prospects.slice(2))
    builder.addContact(
      it.contacts[0]!,
      builder.addFirm(it, random.boolean(0.25) ? "client" : "prospect"),
      pickOwner(),
    );
  for (const it of otherFirms.slice(7, 19)) {
    const firmId = builder.addFirm(
      { ...it, city: random.pick(cast.cities).name },
      random.pick(["client", "prospect", "prospect", "blocked"] as const),
    );
    for (let i = 0; i < 1 + random.integer(3); i++)
      builder.addContact(
        builder.createStranger(it.domain),
        firmId,
        pickOptionalOwner(),
        random.boolean(0.12) ? "left" : "active",
      );
  }
  for (const contactId of Object.keys(state.contacts)) addDeals(builder, contactId, pickOwner);
  for (const [dealId, deal] of Object.entries(state.deals))
    if (deal.stage !== "won" && random.boolean(0.6))
      builder.addNote(dealId, pickOwner(), -1 - random.integer(40), random.pick(noteTexts));
  const leadStatuses: readonly LeadStatus[] = [
    "new",
    "new",
    "contacted",
    "contacted",
    "qualified",
    "qualified",
    "disqualified",
  ];
  for (const it of otherFirms.slice(19))
    builder.addLead(random.pick(leadStatuses), pickOptionalOwner(), it.name, it.domain);
  for (const [dealId, { contact_id, stage }] of Object.entries(state.deals))
    if (
      stage === "proposal" &&
      Object.values(state.leads).every(it => it.contact_id !== contact_id) &&
      random.boolean(0.35)
    )
      addConvertedLead(builder, contact_id, dealId, random);
}

/**
 * Adds deals and tasks of a contact: contacts who left have no open deals, prospects have won none.
 */
function addDeals(builder: CrmBuilder, contactId: string, pickOwner: () => string): void {
  const { random, state } = builder;
  const contact = state.contacts[contactId]!;
  const firm = state.firms[contact.firm_id]!;
  const usedTitles = new Set(Object.values(state.deals).map(it => it.title));
  const isInactive = contact.status === "left" || firm.status === "blocked";
  const stages: readonly Stage[] = isInactive
    ? ["lost"]
    : [
        "discovery",
        "discovery",
        "proposal",
        "proposal",
        "negotiation",
        "negotiation",
        "paused",
        "lost",
      ];
  for (let i = 0; i < 1 + random.integer(2); i++) {
    const project = random.pick(dealProjects.filter(it => !usedTitles.has(`${firm.name} ${it}`)));
    const stage = firm.status === "client" && random.boolean(0.2) ? "won" : random.pick(stages);
    const isClosed = stage === "won" || stage === "lost";
    const owner = random.boolean(0.75) ? (contact.owner ?? state.user) : pickOwner();
    const dealId = builder.addDeal(
      contactId,
      project,
      stage,
      owner,
      isClosed
        ? -3 - random.integer(120)
        : random.boolean(0.15)
          ? undefined
          : random.integer(75) - 12,
    );
    usedTitles.add(`${firm.name} ${project}`);
    if (random.boolean(0.55))
      builder.addTask(
        contactId,
        random.pick(taskTexts),
        isClosed ? -20 : random.integer(24) - 5,
        owner,
        stage === "won" ? "done" : stage === "lost" ? "dropped" : "open",
        dealId,
      );
  }
  const titles = random
    .shuffle([...taskTexts])
    .filter(title =>
      Object.values(state.tasks).every(it => it.contact_id !== contactId || it.title !== title),
    );
  if (!isInactive && random.boolean(0.5))
    builder.addTask(
      contactId,
      titles[0]!,
      random.integer(20) - 3,
      contact.owner ?? state.user,
      "open",
    );
}
