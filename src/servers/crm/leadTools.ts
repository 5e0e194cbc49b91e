/** Tools that list, show, add and change leads, and convert them to contacts and deals. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, phrase, money } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { contains, descending, equals, getSchemas, type RowContext } from "../kit/table.ts";
import {
  amount,
  email,
  emails,
  firmName,
  owner,
  person,
  personName,
  phone,
  Crm,
  findOwnerId,
  findUserId,
  getOwnerName,
  leads,
  leadStatuses,
  leadSteps,
  requireOwnRecord,
  requireUnusedEmail,
  sources,
  type Lead,
  type LeadStatus,
  normalizeText,
  requireFreeTitle,
  title as dealTitle,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { getOriginal } from "../../environment/draft.ts";

const tool = createToolFactory(Crm);

const ownerName = (it: Lead, { world }: RowContext<Crm>) => getOwnerName(world, it.owner);
const leadRow = leads.fields({ name: label("lead"), lead_id: leads.idField, status: z.string() });
const ownedRow = leads.fields({ ...leadRow, owner: [person().optional(), ownerName] });

/** Refuses a status that the lead cannot change to from its current status. */
function requireStatusChange(
  lead: Lead,
  leadId: string,
  status: LeadStatus,
  reason: string | undefined,
): void {
  if (lead.status === status) refuse("conflict", `${lead.name} (${leadId}) is already ${status}`);
  const nextStatuses = leadSteps[lead.status];
  if (!nextStatuses.includes(status))
    refuse(
      "precondition_failed",
      `a lead that is ${lead.status} cannot become ${status}`,
      `from ${lead.status} it may become ${nextStatuses.join(" or ")}`,
    );
  if (status === "qualified" && lead.estimate === undefined)
    refuse(
      "precondition_failed",
      `${lead.name} (${leadId}) has no estimate, without which it cannot be qualified`,
      "give an estimate in the same call",
    );
  if (status === "disqualified" && reason === undefined)
    refuse("invalid_params", "a lead is disqualified with a reason", "give a reason");
}

export const leadTools = {
  list_leads: leads.list({
    summary:
      "List leads, the newest first, by name, status, source or owner: people who have asked for something and are not contacts yet.",
    filters: {
      name: contains(label("lead"), "Only leads whose name contains this", it => it.name),
      status: equals(z.enum(leadStatuses), "Only leads of this status", it => it.status),
      source: equals(z.enum(sources), "Only leads that came this way", it => it.source),
      owner: equals(
        person(),
        "Only leads of this colleague, by full name or e-mail address",
        it => it.owner,
        findUserId,
      ),
    },
    order: descending(it => it.created),
    limit: 7,
    row: { ...leadRow, firm: z.string() },
  }),
  get_lead: leads.get({
    summary:
      "Get one lead in full: what they asked for, how to reach them, their estimate, and what they became if converted.",
    row: {
      ...leadRow,
      firm: z.string(),
      email: z.string(),
      phone: z.string().optional(),
      source: z.string(),
      created: day(),
      owner: [person().optional().describe("Absent where nobody owns it"), ownerName],
      estimate: cents().optional(),
      asked: z.string().optional(),
      reason: z.string().optional(),
      contact: [
        label("contact").optional(),
        (it, { world }) => it.contact_id && world.contacts[it.contact_id]!.name,
      ],
      contact_id: id("contact").optional(),
      deal: [
        label("deal").optional(),
        (it, { world }) => it.deal_id && world.deals[it.deal_id]!.title,
      ],
      deal_id: id("deal").optional(),
    },
  }),
  create_lead: tool({
    effect: "write",
    summary:
      "Enter somebody who has asked for something as a new lead. Refused if the e-mail address is known already.",
    input: {
      name: personName.describe("Full name"),
      email: email.describe("E-mail address").meta({ examples: emails }),
      firm: firmName.optional().describe("The firm they are from, their own name if not given"),
      phone: phone.optional().describe("Phone number"),
      source: z.enum(sources).optional().describe("How they came to us, website if not given"),
      estimate: amount.optional().describe("What they may spend, in euros"),
      owner: owner.describe(
        "Colleague who takes care of it, by full name or e-mail address, the user if not given",
      ),
    },
    returns: getSchemas({ ...leadRow, owner: [person(), ownerName] }),
    run(
      crm,
      {
        name,
        email: address,
        firm = name,
        phone: number,
        source = "website",
        estimate,
        owner: requestedOwner,
      },
      { now, newId },
    ) {
      const userId = requestedOwner === undefined ? crm.user : findOwnerId(crm, requestedOwner);
      requireUnusedEmail(crm, address);
      const lead_id = newId("lead");
      crm.leads[lead_id] = {
        name,
        firm,
        email: address,
        source,
        status: "new",
        owner: userId,
        created: now.slice(0, 10),
        ...omitUndefined({ phone: number, estimate }),
      };
      return leads.show(ownedRow, crm, lead_id, now);
    },
  }),
  update_lead: tool({
    effect: "write",
    summary:
      "Change a lead of the user's own, or one that nobody owns: its status, estimate, phone, e-mail or owner. Conversion is crm_convert_lead.",
    input: {
      lead_id: leads.id,
      status: z
        .enum(["contacted", "qualified", "disqualified"])
        .optional()
        .describe("New status; qualified needs an estimate, disqualified a reason"),
      reason: phrase(3, 120)
        .optional()
        .describe("Why it is disqualified")
        .meta({ examples: vocabulary.reasons }),
      estimate: amount.optional().describe("New estimate, in euros"),
      phone: phone.optional().describe("New phone number"),
      email: email.optional().describe("New e-mail address").meta({ examples: emails }),
      owner: owner.describe("Colleague who takes it over, by full name or e-mail address"),
    },
    returns: { ...getSchemas(ownedRow), changed: z.array(z.string()) },
    run(crm, { lead_id, status, reason, owner: requestedOwner, ...values }, { now }) {
      const lead = leads.find(crm, lead_id);
      if (lead.status === "converted")
        refuse(
          "precondition_failed",
          `${lead.name} (${lead_id}) is converted and stays as it was`,
          `change the contact ${lead.contact_id} or the deal ${lead.deal_id} instead`,
        );
      requireOwnRecord(crm, `lead ${lead_id} (${lead.name})`, lead.owner);
      if (reason !== undefined && status !== "disqualified")
        refuse("invalid_params", "a reason is given with the status disqualified alone");
      const userId = requestedOwner === undefined ? undefined : findOwnerId(crm, requestedOwner);
      const changes = omitUndefined({ ...values, owner: userId });
      if (status === undefined && Object.keys(changes).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a status, estimate, phone, email or owner",
        );
      if (values.email !== undefined && values.email !== lead.email)
        requireUnusedEmail(crm, values.email, lead_id);
      const changedFields = (Object.keys(changes) as (keyof typeof changes)[]).filter(
        key => changes[key] !== lead[key],
      );
      if (status === undefined && changedFields.length === 0)
        refuse("conflict", `${lead.name} (${lead_id}) is like that already`);
      for (const key of changedFields) Object.assign(lead, { [key]: changes[key] });
      const isStep = status !== undefined && (status !== lead.status || changedFields.length === 0);
      if (isStep) {
        requireStatusChange(lead, lead_id, status, reason);
        lead.status = status;
        if (status === "disqualified") lead.reason = reason;
        else delete lead.reason;
      }
      const changed = [...(isStep ? ["status"] : []), ...changedFields];
      return { ...leads.show(ownedRow, crm, lead_id, now), changed };
    },
  }),
};

export const leadConversion = {
  convert_lead: tool({
    effect: "write",
    summary:
      "Turn a qualified lead into a contact, with its firm, and a first deal. The lead is closed by it.",
    destructive: true,
    input: {
      lead_id: leads.id,
      title: dealTitle,
      amount: amount
        .optional()
        .describe("Amount of the deal in euros, the lead's estimate if not given"),
    },
    returns: {
      name: label("contact"),
      contact_id: id("contact"),
      firm: label("firm"),
      firm_id: id("firm"),
      is_new_firm: z.boolean(),
      deal: label("deal"),
      deal_id: id("deal"),
      amount: money().optional(),
    },
    run(crm, { lead_id, title, amount: dealAmount }, context) {
      const lead = leads.find(crm, lead_id);
      if (lead.status === "converted")
        refuse(
          "conflict",
          `${lead.name} (${lead_id}) is converted already, into the contact ${lead.contact_id} and the deal ${lead.deal_id}`,
        );
      requireOwnRecord(crm, `lead ${lead_id} (${lead.name})`, lead.owner);
      if (lead.status !== "qualified")
        refuse(
          "precondition_failed",
          `${lead.name} (${lead_id}) is ${lead.status}, and only a qualified lead can be converted`,
          "crm_update_lead changes the status",
        );
      requireUnusedEmail(crm, lead.email, lead_id);
      const { firm_id, is_new_firm } = findOrAddFirm(crm, lead, context);
      requireFreeTitle(crm, title, firm_id);
      const [contact_id, deal_id] = [context.newId("con"), context.newId("deal")];
      crm.contacts[contact_id] = {
        name: lead.name,
        firm_id,
        email: lead.email,
        owner: crm.user,
        status: "active",
        ...omitUndefined({ phone: lead.phone }),
      };
      crm.deals[deal_id] = {
        title,
        contact_id,
        stage: "discovery",
        owner: crm.user,
        opened: context.now.slice(0, 10),
        ...omitUndefined({ amount: dealAmount ?? lead.estimate }),
      };
      Object.assign(lead, { status: "converted", contact_id, deal_id });
      return omitUndefined({
        name: lead.name,
        contact_id,
        firm: crm.firms[firm_id]!.name,
        firm_id,
        is_new_firm,
        deal: title,
        deal_id,
        amount: dealAmount ?? lead.estimate,
      });
    },
  }),
};

/** Finds the firm of a lead, or adds it. */
function findOrAddFirm(
  crm: Crm,
  lead: Lead,
  { newId }: ToolContext,
): { firm_id: string; is_new_firm: boolean } {
  const firmName = normalizeText(lead.firm);
  const existingFirm = Object.entries(getOriginal(crm.firms)).find(
    ([, it]) => normalizeText(it.name) === firmName,
  );
  if (existingFirm?.[1].status === "blocked")
    refuse(
      "precondition_failed",
      `${existingFirm[1].name} is blocked for unpaid bills: no new deals with it`,
    );
  if (existingFirm) return { firm_id: existingFirm[0], is_new_firm: false };
  const firm_id = newId("firm");
  crm.firms[firm_id] = {
    name: lead.firm.trim(),
    industry: "unknown",
    city: "unknown",
    status: "prospect",
  };
  return { firm_id, is_new_firm: true };
}
