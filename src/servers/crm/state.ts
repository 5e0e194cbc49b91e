/**
 * The state of the CRM: users, firms, contacts, leads, deals, notes and tasks. Also the rules on
 * who may change a row, and on the statuses of leads and deals.
 */
import { z } from "zod";
import { day, minute, money, id, label, spokenId, phrase } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse } from "../../environment/server.ts";
import { createTableFactory, ascending, type RowContext } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const sources = ["website", "referral", "event", "phone", "social"] as const;
export const leadStatuses = ["new", "contacted", "qualified", "disqualified", "converted"] as const;
export const stages = ["discovery", "proposal", "negotiation", "paused", "won", "lost"] as const;
export const lostReasons = ["price", "competitor", "timing", "budget", "silence"] as const;
export type LeadStatus = (typeof leadStatuses)[number];
export type Stage = (typeof stages)[number];

/** The statuses that follow each status of a lead. `converted` is reached only by conversion. */
export const leadSteps: Readonly<Record<LeadStatus, readonly LeadStatus[]>> = {
  new: ["contacted", "disqualified"],
  contacted: ["qualified", "disqualified"],
  qualified: ["contacted", "disqualified"],
  disqualified: ["contacted"],
  converted: [],
};

/** The stages that follow each stage of a deal. A closed deal stays closed. */
export const dealSteps: Readonly<Record<Stage, readonly Stage[]>> = {
  discovery: ["proposal", "paused", "lost"],
  proposal: ["discovery", "negotiation", "paused", "lost"],
  negotiation: ["proposal", "won", "paused", "lost"],
  paused: ["discovery", "proposal", "lost"],
  won: [],
  lost: [],
};

const User = z.strictObject({
  name: z.string().min(1),
  email: z.email(),
  /** Viewers cannot own anything. */
  role: z.enum(["member", "viewer"]),
});

const Firm = z.strictObject({
  name: z.string().min(1),
  industry: z.string(),
  city: z.string(),
  /** `blocked`: no new deals because of unpaid bills. */
  status: z.enum(["prospect", "client", "blocked"]),
});

const Contact = z.strictObject({
  name: z.string().min(1),
  firm_id: z.string(),
  job: z.string().optional(),
  email: z.email(),
  phone: z.string().optional(),
  /** A user. Everyone may change a contact without an owner. */
  owner: z.string().optional(),
  /** `left`: no longer with the firm. */
  status: z.enum(["active", "left"]),
});

const Lead = z.strictObject({
  name: z.string().min(1),
  firm: z.string().min(1),
  email: z.email(),
  phone: z.string().optional(),
  source: z.enum(sources),
  status: z.enum(leadStatuses),
  owner: z.string().optional(),
  created: day(),
  /** The expected budget, in euros. */
  estimate: money().optional(),
  asked: z.string().optional(),
  /** Why it was disqualified. */
  reason: z.string().optional(),
  /** The contact and the deal that it was converted to. */
  contact_id: z.string().optional(),
  deal_id: z.string().optional(),
});

const Deal = z.strictObject({
  title: z.string().min(1),
  /** The firm is that of the contact. */
  contact_id: z.string(),
  stage: z.enum(stages),
  owner: z.string(),
  opened: day(),
  amount: money().optional(),
  /** The day by which it should be decided. */
  closes: day().optional(),
  closed: day().optional(),
  lost_reason: z.enum(lostReasons).optional(),
});

const Note = z.strictObject({
  deal_id: z.string(),
  by: z.string(),
  at: minute(),
  text: z.string().min(1),
});

const Task = z.strictObject({
  title: z.string().min(1),
  contact_id: z.string(),
  deal_id: z.string().optional(),
  due: day(),
  owner: z.string(),
  /** `dropped`: its deal was lost. */
  status: z.enum(["open", "done", "dropped"]),
  done: day().optional(),
});

export const references = {
  user: "users",
  "contacts.*.firm_id": "firms",
  "contacts.*.owner": "users",
  "leads.*.contact_id": "contacts",
  "leads.*.deal_id": "deals",
  "leads.*.owner": "users",
  "deals.*.contact_id": "contacts",
  "deals.*.owner": "users",
  "notes.*.deal_id": "deals",
  "notes.*.by": "users",
  "tasks.*.contact_id": "contacts",
  "tasks.*.deal_id": "deals",
  "tasks.*.owner": "users",
} satisfies References;

export const Crm = z.strictObject({
  /** The id of the user the agent works for. */
  user: z.string(),
  users: z.record(z.string(), User),
  firms: z.record(z.string(), Firm),
  contacts: z.record(z.string(), Contact),
  leads: z.record(z.string(), Lead),
  deals: z.record(z.string(), Deal),
  notes: z.record(z.string(), Note),
  tasks: z.record(z.string(), Task),
});
export type Crm = z.infer<typeof Crm>;
export type Lead = z.infer<typeof Lead>;
export type Deal = z.infer<typeof Deal>;
type Contact = z.infer<typeof Contact>;
type Task = z.infer<typeof Task>;

const table = createTableFactory(Crm);
export const firms = table("firms", {
  entity: "firm",
  idsFrom: "crm_list_contacts",
  hint: "crm_list_contacts gives the ids of firms; a new firm comes with crm_convert_lead",
});
export const leads = table("leads", { entity: "lead", idsFrom: "crm_list_leads" });
export const contacts = table("contacts", { entity: "contact", idsFrom: "crm_list_contacts" });
export const deals = table("deals", { entity: "deal", idsFrom: "crm_list_deals" });
export const tasks = table("tasks", {
  entity: "task",
  idsFrom: "crm_get_contact and crm_get_deal",
  hint: "crm_get_contact and crm_get_deal give the ids of open tasks",
});
export const notes = table("notes", { entity: "note", idsFrom: "crm_get_deal" });

export const getUserName = (crm: Crm, userId: string): string => crm.users[userId]!.name;
export const getOwnerName = (crm: Crm, userId: string | undefined): string | undefined =>
  userId === undefined ? undefined : getUserName(crm, userId);

/** The id of the user with that full name or e-mail address. */
export function findUserId(crm: Crm, name: string): string {
  const searchedText = name.trim().toLowerCase();
  const entry = Object.entries(getOriginal(crm.users)).find(
    ([, it]) => it.name.toLowerCase() === searchedText || it.email.toLowerCase() === searchedText,
  );
  if (entry) return entry[0];
  return refuse(
    "not_found",
    `nobody called ${name} uses the CRM`,
    `choose one of ${Object.values(crm.users)
      .map(it => it.name)
      .join(", ")}`,
  );
}

/** As `findUserId`, but refuses users who cannot own anything. */
export function findOwnerId(crm: Crm, name: string): string {
  const userId = findUserId(crm, name);
  if (crm.users[userId]!.role === "viewer")
    refuse(
      "precondition_failed",
      `${getUserName(crm, userId)} may only view the CRM and cannot own anything`,
      "choose a colleague who is a member",
    );
  return userId;
}

/** Refuses a change of a colleague's record. */
export function requireOwnRecord(crm: Crm, noun: string, owner: string | undefined): void {
  if (owner !== undefined && owner !== crm.user)
    refuse(
      "permission_denied",
      `${noun} belongs to ${getUserName(crm, owner)}, and you may only change your own`,
      `ask ${getUserName(crm, owner)} to do it`,
    );
}

/** Refuses an e-mail address that a contact or an open lead has. */
export function requireUnusedEmail(crm: Crm, email: string, exceptLeadId?: string): void {
  const searchedText = email.toLowerCase();
  const contact = Object.entries(getOriginal(crm.contacts)).find(
    ([, it]) => it.email.toLowerCase() === searchedText,
  );
  if (contact)
    refuse(
      "conflict",
      `${email} belongs to the contact ${contact[1].name} (${contact[0]})`,
      "use that contact",
    );
  const lead = Object.entries(getOriginal(crm.leads)).find(
    ([key, it]) =>
      key !== exceptLeadId && it.status !== "converted" && it.email.toLowerCase() === searchedText,
  );
  if (lead)
    refuse(
      "conflict",
      `${email} belongs to the lead ${lead[1].name} (${lead[0]}), which is ${lead[1].status}`,
      "use that lead",
    );
}

/** The contact, or a refusal if no new deal can be opened with them. */
export function findContactForDeal(crm: Crm, contactId: string): Contact {
  const contact = contacts.find(crm, contactId);
  const firm = crm.firms[contact.firm_id]!;
  if (contact.status === "left")
    refuse(
      "precondition_failed",
      `${contact.name} (${contactId}) has left ${firm.name}`,
      `choose another contact of ${firm.name}`,
    );
  if (firm.status === "blocked")
    refuse(
      "precondition_failed",
      `${firm.name} is blocked for unpaid bills: no new deals with it`,
      "choose a contact of another firm",
    );
  return contact;
}

export const isClosed = (deal: Deal): boolean => deal.stage === "won" || deal.stage === "lost";

/** Refuses a closed deal. */
export function requireOpenDeal(deal: Deal, dealId: string): void {
  if (isClosed(deal))
    refuse(
      "precondition_failed",
      `${deal.title} (${dealId}) was ${deal.stage} on ${deal.closed} and stays closed`,
      "crm_create_deal opens a new one",
    );
}

/** A name or title without the differences that are no differences: case and extra spaces. */
export const normalizeText = (text: string): string =>
  text.trim().replace(/\s+/g, " ").toLowerCase();

/** Refuses a title that an open deal with the same firm has. */
export function requireFreeTitle(crm: Crm, title: string, firmId: string): void {
  const { deals, contacts } = getOriginal(crm);
  const searchedText = normalizeText(title);
  const duplicate = Object.entries(deals).find(
    ([, it]) =>
      !isClosed(it) &&
      normalizeText(it.title) === searchedText &&
      contacts[it.contact_id]?.firm_id === firmId,
  );
  if (duplicate)
    refuse(
      "conflict",
      `there is already an open deal ${duplicate[1].title} (${duplicate[0]}) with that firm`,
      "choose another title, or go on with that deal",
    );
}

export function requireNotPast(date: string, now: string, noun: string): void {
  if (date < now.slice(0, 10))
    refuse(
      "precondition_failed",
      `${noun} ${date} is past: today is ${now.slice(0, 10)}`,
      "choose today or a later day",
    );
}

/** The open tasks that match, the most urgent first. */
export const listOpenTasks = (crm: Crm, passes: (it: Task) => boolean): [string, Task][] =>
  Object.entries(getOriginal(crm.tasks))
    .filter(([, it]) => it.status === "open" && passes(it))
    .sort(([a, x], [b, y]) => (x.due === y.due ? (a < b ? -1 : 1) : x.due < y.due ? -1 : 1));

/** Colleagues are identified by their names, not by ids. */
export const person = () => spokenId("person");
export const owner = person().optional();

export const email = z.email().max(80);
export const emails = vocabulary.emails;
export const phone = z
  .string()
  .regex(/^\+?[0-9][0-9 ]{5,18}$/)
  .meta({ examples: vocabulary.phones });
export const personName = phrase(2, 60).meta({ examples: vocabulary.people });
export const firmName = phrase(2, 60).meta({ examples: vocabulary.firms });
export const title = phrase(3, 80)
  .describe("Title of the deal")
  .meta({ examples: vocabulary.titles });
export const amount = money().meta({ examples: vocabulary.amounts });

export const firmFields = contacts.fields({
  firm: [label("firm"), (it, { world }) => world.firms[it.firm_id]!.name],
  firm_id: id("firm"),
});
export const dealRow = deals.fields({
  title: label("deal"),
  deal_id: deals.idField,
  stage: z.string(),
});
export const taskRow = tasks.fields({
  task: [label("task"), it => it.title],
  task_id: tasks.idField,
  due: day(),
});
/** The open tasks of a contact or a deal, the most urgent first. */
export const openTasks = (where: (task: Task, owner: RowContext<Crm>) => boolean) =>
  tasks.related({
    row: taskRow,
    where: (it, owner) => it.status === "open" && where(it, owner),
    order: ascending(it => it.due),
  });
