/** Generates the contacts, leads and deals of the fixtures. */
import type { Random } from "../../environment/random.ts";
import { addDays } from "../../environment/time.ts";
import type { SharedCast } from "../shared/cast.ts";
import { type CrmBuilder, type Stage, type Status } from "./crmBuilder.ts";
import { dealProjects, firmsBeyond, noteTexts, tasks as taskTexts } from "./generateTexts.ts";

/**
 * Firms, people, deals and leads in every state there is: what the small world has, and the full
 * one begins with.
 */
export function addSmallFixture(making: CrmBuilder, cast: SharedCast): void {
  const { random } = making;
  const [user, farid, hugo] = [0, 5, 7].map(it => making.member(cast, it)) as [
    string,
    string,
    string,
  ];
  const clients = cast.clients.map(it => making.firm(it, "client"));
  const [hotels, books] = cast.prospects.slice(0, 2).map(it => making.firm(it, "prospect")) as [
    string,
    string,
  ];
  const blocked = making.firm({ ...firmsBeyond[0]!, city: cast.cities[3]!.name }, "blocked");
  const people = cast.clients.flatMap((it, i) =>
    it.contacts.map(person => ({ person, firm: clients[i]! })),
  );
  const owners = [user, user, user, undefined, farid, undefined];
  const contacts = people.map(({ person, firm }, i) =>
    making.contact(person, firm, owners[i], i === 3 ? "left" : "active"),
  );
  const [hotelier, bookseller] = [
    making.contact(cast.prospects[0]!.contacts[0]!, hotels, user),
    making.contact(cast.prospects[1]!.contacts[0]!, books, user),
  ];
  making.contact(making.stranger(firmsBeyond[0]!.domain), blocked, user);
  const portal = making.deal(contacts[0]!, "claims portal", "negotiation", user, 11);
  const report = making.deal(contacts[0]!, "annual report", "negotiation", user, 22);
  const catalogue = making.deal(contacts[2]!, "spring catalogue", "proposal", user, -3);
  const packaging = making.deal(contacts[4]!, "packaging design", "negotiation", farid, 18);
  const booking = making.deal(hotelier, "booking page", "discovery", user, undefined);
  const won = making.deal(contacts[1]!, "recruiting campaign", "won", user, -40);
  const lost = making.deal(bookseller, "book trailer", "lost", user, -25);
  making.deal(contacts[2]!, "trade fair stand", "paused", user, 80);
  making.task(contacts[0]!, "Send the contract", 2, user, "open", portal);
  making.task(contacts[2]!, "Follow up on the proposal", -2, user, "open", catalogue);
  making.task(contacts[4]!, "Check the delivery dates", 4, farid, "open", packaging);
  making.task(hotelier, "Call about the budget", 1, user, "open", booking);
  making.task(contacts[1]!, "Send the final files", -42, user, "done", won);
  making.task(bookseller, "Share the storyboard", -20, user, "dropped", lost);
  making.note(portal, user, -6, "Legal has two questions on the contract");
  making.note(report, farid, -12, "They want it in two languages");
  making.lead("new", user, firmsBeyond[1]!.name, firmsBeyond[1]!.domain);
  making.lead("contacted", user, firmsBeyond[2]!.name, firmsBeyond[2]!.domain, {
    estimate: undefined as never,
  });
  making.lead("qualified", user, firmsBeyond[3]!.name, firmsBeyond[3]!.domain);
  making.lead("qualified", hugo, firmsBeyond[4]!.name, firmsBeyond[4]!.domain);
  making.lead("disqualified", user, firmsBeyond[5]!.name, firmsBeyond[5]!.domain);
  making.lead("new", undefined, firmsBeyond[6]!.name, firmsBeyond[6]!.domain);
  making.lead("qualified", user, firmsBeyond[0]!.name, firmsBeyond[0]!.domain);
  addConvertedLead(making, hotelier, booking, random);
}

/** The lead that a contact was, with their first deal. */
function addConvertedLead(
  making: CrmBuilder,
  contactId: string,
  dealId: string,
  random: Random,
): void {
  const contact = making.state.contacts[contactId]!;
  const opened = making.state.deals[dealId]!.opened;
  const firm = making.state.firms[contact.firm_id]!.name;
  making.state.leads[making.id("lead")] = {
    name: contact.name,
    firm,
    email: contact.email,
    phone: contact.phone!,
    source: random.pick(["referral", "event", "website"] as const),
    status: "converted",
    owner: making.state.user,
    created: addDays(opened, -9),
    estimate: 100 * (10 + random.integer(60)),
    asked: making.ask(),
    contact_id: contactId,
    deal_id: dealId,
  };
}

/** What the full world has beyond the small one's. */
export function addRemainingRecords(making: CrmBuilder, cast: SharedCast): void {
  const { random, state } = making;
  const members = [0, 5, 7, 11, 1, 4].map(it => making.member(cast, it));
  const anyone = () => (random.boolean(0.7) ? state.user : random.pick(members));
  const someone = () => (random.boolean(0.12) ? undefined : anyone());
  for (const it of cast.prospects.slice(2))
    making.contact(
      it.contacts[0]!,
      making.firm(it, random.boolean(0.25) ? "client" : "prospect"),
      anyone(),
    );
  for (const it of firmsBeyond.slice(7, 19)) {
    const firmId = making.firm(
      { ...it, city: random.pick(cast.cities).name },
      random.pick(["client", "prospect", "prospect", "blocked"] as const),
    );
    for (let i = 0; i < 1 + random.integer(3); i++)
      making.contact(
        making.stranger(it.domain),
        firmId,
        someone(),
        random.boolean(0.12) ? "left" : "active",
      );
  }
  for (const contactId of Object.keys(state.contacts)) addDeals(making, contactId, anyone);
  for (const [dealId, deal] of Object.entries(state.deals))
    if (deal.stage !== "won" && random.boolean(0.6))
      making.note(dealId, anyone(), -1 - random.integer(40), random.pick(noteTexts));
  const leadStatuses: readonly Status[] = [
    "new",
    "new",
    "contacted",
    "contacted",
    "qualified",
    "qualified",
    "disqualified",
  ];
  for (const it of firmsBeyond.slice(19))
    making.lead(random.pick(leadStatuses), someone(), it.name, it.domain);
  for (const [dealId, { contact_id, stage }] of Object.entries(state.deals))
    if (
      stage === "proposal" &&
      Object.values(state.leads).every(it => it.contact_id !== contact_id) &&
      random.boolean(0.35)
    )
      addConvertedLead(making, contact_id, dealId, random);
}

/**
 * Deals and tasks as one contact may have them: nobody left has an open one, no prospect has won
 * one.
 */
function addDeals(making: CrmBuilder, contactId: string, anyone: () => string): void {
  const { random, state } = making;
  const contact = state.contacts[contactId]!;
  const firm = state.firms[contact.firm_id]!;
  const taken = new Set(Object.values(state.deals).map(it => it.title));
  const isOver = contact.status === "left" || firm.status === "blocked";
  const stages: readonly Stage[] = isOver
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
    const project = random.pick(dealProjects.filter(it => !taken.has(`${firm.name} ${it}`)));
    const stage = firm.status === "client" && random.boolean(0.2) ? "won" : random.pick(stages);
    const isClosed = stage === "won" || stage === "lost";
    const owner = random.boolean(0.75) ? (contact.owner ?? state.user) : anyone();
    const dealId = making.deal(
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
    taken.add(`${firm.name} ${project}`);
    if (random.boolean(0.55))
      making.task(
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
  if (!isOver && random.boolean(0.5))
    making.task(contactId, titles[0]!, random.integer(20) - 3, contact.owner ?? state.user, "open");
}
