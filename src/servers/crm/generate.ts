/**
 * The CRM's part of a world: the canon's clients and prospects with their people, and others who
 * have only asked so far.
 */
import type { Random } from "../../environment/random.ts";
import { addDays } from "../../environment/time.ts";
import { server, type Crm } from "./server.ts";
import type { SharedCast, Colleague } from "../shared/cast.ts";
import {
  asks,
  dealProjects,
  firmsBeyond,
  firstNames,
  jobs,
  lastNames,
  noteTexts,
  reasons,
  tasks as taskTexts,
} from "./generateTexts.ts";
import {
  defineGenerator,
  type GeneratorContext,
  type GeneratedStates,
} from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";

type Table<Name extends "users" | "firms" | "contacts" | "leads" | "deals" | "notes" | "tasks"> =
  Crm[Name][string];
type Stage = Table<"deals">["stage"];
type Status = Table<"leads">["status"];

/** A world's CRM while it is made: its rows, and the names that are still free. */
class Making {
  readonly state: Crm;
  readonly random: Random;
  readonly id: GeneratorContext["nextId"];
  readonly #names: string[];
  readonly #phones: () => string;
  /** What a lead asks for: everything once before anything twice. */
  readonly ask: () => string;

  constructor({ cast, random, nextId, size }: GeneratorContext) {
    this.random = random;
    this.id = nextId;
    const staff = size === "full" ? cast.staff : [0, 5, 7, 13].map(i => cast.staff[i]!);
    const users = Object.fromEntries(
      staff.map((it): [string, Table<"users">] => [
        nextId("usr"),
        { name: it.name, email: it.email, role: isViewer(it) ? "viewer" : "member" },
      ]),
    );
    this.state = {
      user: Object.keys(users)[0]!,
      users,
      firms: {},
      contacts: {},
      leads: {},
      deals: {},
      notes: {},
      tasks: {},
    };
    const family = random.shuffle([...lastNames]);
    this.#names = random
      .shuffle([...firstNames])
      .map((it, i) => `${it} ${family[i % family.length]!}`);
    const wishes = random.shuffle([...asks]);
    let asked = 0;
    this.ask = () => wishes[asked++ % wishes.length]!;
    let n = 0;
    this.#phones = () =>
      `+34 600 02 ${String(Math.floor(++n / 100)).padStart(2, "0")} ${String(n % 100).padStart(2, "0")}`;
  }

  stranger(domain: string) {
    const name = this.#names.pop()!;
    return { name, email: `${name.split(" ")[0]!.toLowerCase()}@${domain}`, phone: this.#phones() };
  }

  /** The id of a member by place in the studio. */
  member(cast: SharedCast, place: number): string {
    const { email } = cast.staff[place]!;
    return Object.entries(this.state.users).find(([, it]) => it.email === email)![0];
  }

  firm(
    it: { name: string; industry: string; city: string },
    status: Table<"firms">["status"],
  ): string {
    const firmId = this.id("firm");
    this.state.firms[firmId] = { name: it.name, industry: it.industry, city: it.city, status };
    return firmId;
  }

  contact(
    it: { name: string; email: string; phone: string },
    firmId: string,
    owner: string | undefined,
    status: "active" | "left" = "active",
  ): string {
    const contactId = this.id("con");
    this.state.contacts[contactId] = {
      name: it.name,
      firm_id: firmId,
      ...(this.random.boolean(0.35) ? { job: this.random.pick(jobs) } : {}),
      email: it.email,
      phone: it.phone,
      ...(owner ? { owner } : {}),
      status,
    };
    return contactId;
  }

  /** A deal with all that its stage demands. */
  deal(
    contactId: string,
    project: string,
    stage: Stage,
    owner: string,
    closes: number | undefined,
  ): string {
    const { random, state } = this;
    const dealId = this.id("deal");
    const isClosed = stage === "won" || stage === "lost";
    const amount =
      stage === "discovery" && (closes === undefined || random.boolean(0.6))
        ? undefined
        : 50 * (12 + random.integer(260));
    const opened = dayAfterStart(
      isClosed ? (closes ?? 0) - 20 - random.integer(60) : -5 - random.integer(70),
    );
    state.deals[dealId] = {
      title: `${state.firms[state.contacts[contactId]!.firm_id]!.name} ${project}`,
      contact_id: contactId,
      stage,
      owner,
      opened,
      ...(amount === undefined ? {} : { amount }),
      ...(closes === undefined
        ? {}
        : isClosed
          ? { closed: dayAfterStart(closes) }
          : { closes: dayAfterStart(closes) }),
      ...(stage === "lost"
        ? {
            lost_reason: random.pick([
              "price",
              "competitor",
              "timing",
              "budget",
              "silence",
            ] as const),
          }
        : {}),
    };
    return dealId;
  }

  lead(
    status: Status,
    owner: string | undefined,
    firm: string,
    domain: string,
    more: Partial<Table<"leads">> = {},
  ): void {
    const { random } = this;
    const { name, email, phone } = this.stranger(domain);
    const needsEstimate = status === "qualified" || status === "converted";
    this.state.leads[this.id("lead")] = {
      name,
      firm,
      email,
      ...(random.boolean(0.7) ? { phone } : {}),
      source: random.pick(["website", "referral", "event", "phone", "social"] as const),
      status,
      ...(owner ? { owner } : {}),
      created: dayAfterStart(
        -1 - random.integer(status === "new" || status === "qualified" ? 25 : 70),
      ),
      ...(needsEstimate || (status === "contacted" && random.boolean(0.4))
        ? { estimate: 100 * (8 + random.integer(110)) }
        : {}),
      asked: this.ask(),
      ...(status === "disqualified" ? { reason: random.pick(reasons) } : {}),
      ...more,
    };
  }

  task(
    contactId: string,
    title: string,
    due: number,
    owner: string,
    status: Table<"tasks">["status"],
    dealId?: string,
  ): void {
    this.state.tasks[this.id("task")] = {
      title,
      contact_id: contactId,
      ...(dealId ? { deal_id: dealId } : {}),
      due: dayAfterStart(due),
      owner,
      status,
      ...(status === "done" ? { done: dayAfterStart(Math.min(due, -1)) } : {}),
    };
  }

  note(dealId: string, by: string, day: number, text: string): void {
    const at = `${dayAfterStart(day)}T${String(9 + this.random.integer(9)).padStart(2, "0")}:${this.random.pick(["05", "15", "20", "30", "40", "50"])}`;
    this.state.notes[this.id("note")] = { deal_id: dealId, by, at, text };
  }
}

const isViewer = ({ job }: Colleague): boolean => job === "facilities" || job === "support";

/**
 * Firms, people, deals and leads in every state there is: what the small world has, and the full
 * one begins with.
 */
function first(making: Making, cast: SharedCast): void {
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
  converted(making, hotelier, booking, random);
}

/** The lead that a contact was, with their first deal. */
function converted(making: Making, contactId: string, dealId: string, random: Random): void {
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
function rest(making: Making, cast: SharedCast): void {
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
  for (const contactId of Object.keys(state.contacts)) dealsWith(making, contactId, anyone);
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
      converted(making, contact_id, dealId, random);
}

/**
 * Deals and tasks as one contact may have them: nobody left has an open one, no prospect has won
 * one.
 */
function dealsWith(making: Making, contactId: string, anyone: () => string): void {
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

export const generator = defineGenerator<Crm>({
  server,
  generate(context) {
    const making = new Making(context);
    first(making, context.cast);
    if (context.size === "full") rest(making, context.cast);
    return making.state;
  },
  findInconsistencies: (state, states, cast) => [
    ...within(state),
    ...withCanon(state, cast),
    ...withInvoices(state, states, cast),
  ],
});

function within({ firms, contacts, leads, deals, tasks }: Crm): string[] {
  const wrong: string[] = [];
  const emails = Object.values(contacts).map(it => it.email.toLowerCase());
  if (new Set(emails).size < emails.length) wrong.push("two contacts have one e-mail address");
  const openDeals = Object.entries(deals).filter(
    ([, it]) => it.stage !== "won" && it.stage !== "lost",
  );
  for (const [key, it] of Object.entries(deals)) {
    const firm = firms[contacts[it.contact_id]!.firm_id]!;
    const isClosed = it.stage === "won" || it.stage === "lost";
    if (isClosed !== (it.closed !== undefined))
      wrong.push(`${key} is in ${it.stage} and was closed ${it.closed ?? "never"}`);
    if ((it.stage === "lost") !== (it.lost_reason !== undefined))
      wrong.push(`${key} is in ${it.stage} with the reason ${it.lost_reason ?? "none"}`);
    if (["proposal", "negotiation", "won"].includes(it.stage) && it.amount === undefined)
      wrong.push(`${key} is in ${it.stage} without an amount`);
    if (it.stage === "won" && firm.status === "prospect")
      wrong.push(`${key} is won, and ${firm.name} is no client`);
  }
  for (const [key, it] of openDeals)
    if (contacts[it.contact_id]!.status === "left")
      wrong.push(`${key} is open with somebody who has left`);
  for (const [key, it] of Object.entries(tasks)) {
    const deal = it.deal_id === undefined ? undefined : deals[it.deal_id];
    if (deal && deal.contact_id !== it.contact_id)
      wrong.push(`${key} is about another contact than its deal`);
    if (deal && it.status === "open" && deal.closed !== undefined)
      wrong.push(`${key} is open on a closed deal`);
  }
  for (const [key, it] of Object.entries(leads)) {
    if ((it.status === "converted") !== (it.deal_id !== undefined))
      wrong.push(`${key} is ${it.status} with the deal ${it.deal_id ?? "none"}`);
    if (it.status !== "converted" && emails.includes(it.email.toLowerCase()))
      wrong.push(`${key} has the address of a contact`);
  }
  return wrong;
}

function withCanon({ user, users, firms, contacts }: Crm, cast: SharedCast): string[] {
  const staff = new Map(cast.staff.map(it => [it.name, it.email]));
  const wrong = Object.values(users).flatMap(it =>
    staff.get(it.name) === it.email ? [] : [`${it.name} <${it.email}> is not of the studio`],
  );
  if (users[user]!.name !== cast.user.name)
    wrong.push(`the user is ${users[user]!.name}, not ${cast.user.name}`);
  const known = new Map(Object.values(contacts).map(it => [it.email, it]));
  for (const firm of cast.clients) {
    if (Object.values(firms).every(it => it.name !== firm.name || it.status !== "client"))
      wrong.push(`${firm.name} is no client`);
    for (const it of firm.contacts)
      if (known.get(it.email)?.phone !== it.phone)
        wrong.push(`${it.name} of ${firm.name} is no contact with the phone number ${it.phone}`);
  }
  return wrong;
}

/** Whoever is billed is somebody the CRM knows. */
function withInvoices({ contacts }: Crm, states: GeneratedStates, cast: SharedCast): string[] {
  const text = JSON.stringify(states.get("payments") ?? null);
  const known = new Set(Object.values(contacts).map(it => it.email));
  const billed = [...cast.clients, ...cast.prospects]
    .flatMap(it => it.contacts)
    .filter(it => text.includes(`"${it.email}"`));
  return billed.flatMap(it =>
    known.has(it.email) ? [] : [`${it.name} <${it.email}> is billed and no contact`],
  );
}
