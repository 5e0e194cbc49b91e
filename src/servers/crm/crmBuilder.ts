/** Builds companies, contacts, leads, deals and tasks of a generated CRM state. */
import type { Random } from "../../environment/random.ts";
import type { Colleague, SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import { asks, firstNames, jobs, lastNames, reasons } from "./generateTexts.ts";
import type { Crm } from "./server.ts";

type Table<Name extends "users" | "firms" | "contacts" | "leads" | "deals" | "notes" | "tasks"> =
  Crm[Name][string];

export type Stage = Table<"deals">["stage"];

export type LeadStatus = Table<"leads">["status"];

/** Adds rows to a CRM state, with names that are not used yet. */
export class CrmBuilder {
  readonly state: Crm;
  readonly random: Random;
  readonly id: GeneratorContext["nextId"];
  readonly #names: string[];
  readonly #phones: () => string;
  /** Returns what a lead asks for. It repeats a text only after all have been used. */
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
    let askCount = 0;
    this.ask = () => wishes[askCount++ % wishes.length]!;
    let n = 0;
    this.#phones = () =>
      `+34 600 02 ${String(Math.floor(++n / 100)).padStart(2, "0")} ${String(n % 100).padStart(2, "0")}`;
  }

  createStranger(domain: string) {
    const name = this.#names.pop()!;
    return { name, email: `${name.split(" ")[0]!.toLowerCase()}@${domain}`, phone: this.#phones() };
  }

  /** The id of a member by their index in the studio's staff. */
  getMemberId(cast: SharedCast, place: number): string {
    const { email } = cast.staff[place]!;
    return Object.entries(this.state.users).find(([, it]) => it.email === email)![0];
  }

  addFirm(
    it: { name: string; industry: string; city: string },
    status: Table<"firms">["status"],
  ): string {
    const firmId = this.id("firm");
    this.state.firms[firmId] = { name: it.name, industry: it.industry, city: it.city, status };
    return firmId;
  }

  addContact(
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

  /** Adds a deal with the fields that its stage requires, and returns its id. */
  addDeal(
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

  addLead(
    status: LeadStatus,
    owner: string | undefined,
    firm: string,
    domain: string,
    more: Partial<Table<"leads">> = {},
  ): void {
    const { random } = this;
    const { name, email, phone } = this.createStranger(domain);
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

  addTask(
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

  addNote(dealId: string, by: string, day: number, text: string): void {
    const at = `${dayAfterStart(day)}T${String(9 + this.random.integer(9)).padStart(2, "0")}:${this.random.pick(["05", "15", "20", "30", "40", "50"])}`;
    this.state.notes[this.id("note")] = { deal_id: dealId, by, at, text };
  }
}

const isViewer = ({ job }: Colleague): boolean => job === "facilities" || job === "support";
