/**
 * The CRM's tools for leads: who asked, what became of them, and their conversion into contact,
 * firm and deal.
 */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  Crm,
  leadOf,
  leadStatuses,
  leadSteps,
  notKnown,
  own,
  ownerName,
  ownerNamed,
  sources,
  userName,
  userNamed,
  type Lead,
  type LeadStatus,
} from "./state.ts";
import {
  amount,
  email,
  emails,
  firmName,
  leadId,
  limit,
  owner,
  person,
  personName,
  phone,
} from "./parameters.ts";

const tool = createToolFactory(Crm);

const leadRow = { name: label("lead"), lead_id: id("lead"), status: z.string() };

/** Turns down a step that a lead may not take from where it is. */
function changeLeadStatus(
  lead: Lead,
  leadId: string,
  status: LeadStatus,
  reason: string | undefined,
): void {
  if (lead.status === status) refuse("conflict", `${lead.name} (${leadId}) is already ${status}`);
  const open = leadSteps[lead.status];
  if (!open.includes(status))
    refuse(
      "precondition_failed",
      `a lead that is ${lead.status} cannot become ${status}`,
      `from ${lead.status} it may become ${open.join(" or ")}`,
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
  list_leads: tool({
    effect: "read",
    summary:
      "List leads, the newest first, by name, status, source or owner: people who have asked for something and are not contacts yet.",
    input: {
      name: label("lead").optional().describe("Only leads whose name contains this"),
      status: z.enum(leadStatuses).optional().describe("Only leads of this status"),
      source: z.enum(sources).optional().describe("Only leads that came this way"),
      owner: owner.describe("Only leads of this colleague, by full name or e-mail address"),
      limit,
    },
    returns: { leads: z.array(z.object({ ...leadRow, firm: z.string() })) },
    run(crm, { name, status, source, owner: whose, limit: most = 7 }) {
      const userId = whose === undefined ? undefined : userNamed(crm, whose);
      const found = Object.entries(crm.leads)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) &&
            (!status || it.status === status) &&
            (!source || it.source === source) &&
            (!userId || it.owner === userId),
        )
        .sort(([a, x], [b, y]) =>
          x.created === y.created ? (a < b ? -1 : 1) : x.created < y.created ? 1 : -1,
        );
      return {
        leads: found
          .slice(0, most)
          .map(([lead_id, it]) => ({ name: it.name, lead_id, status: it.status, firm: it.firm })),
      };
    },
  }),
  get_lead: tool({
    effect: "read",
    summary:
      "Get one lead in full: what they asked for, how to reach them, their estimate, and what they became if converted.",
    input: { lead_id: leadId },
    returns: {
      ...leadRow,
      firm: z.string(),
      email: z.string(),
      phone: z.string().optional(),
      source: z.string(),
      created: day(),
      owner: person().optional().describe("Absent where nobody owns it"),
      estimate: cents().optional(),
      asked: z.string().optional(),
      reason: z.string().optional(),
      contact: label("contact").optional(),
      contact_id: id("contact").optional(),
      deal: label("deal").optional(),
      deal_id: id("deal").optional(),
    },
    run(crm, { lead_id }) {
      const {
        name,
        status,
        firm,
        email: address,
        phone: number,
        source,
        created,
        owner: userId,
        estimate,
        asked,
        reason,
        contact_id,
        deal_id,
      } = leadOf(crm, lead_id);
      return omitUndefined({
        name,
        lead_id,
        status,
        firm,
        email: address,
        phone: number,
        source,
        created,
        owner: ownerName(crm, userId),
        estimate,
        asked,
        reason,
        contact: contact_id && crm.contacts[contact_id]!.name,
        contact_id,
        deal: deal_id && crm.deals[deal_id]!.title,
        deal_id,
      });
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
    returns: { ...leadRow, owner: person() },
    run(
      crm,
      {
        name,
        email: address,
        firm = name,
        phone: number,
        source = "website",
        estimate,
        owner: whose,
      },
      { now, newId },
    ) {
      const userId = whose === undefined ? crm.user : ownerNamed(crm, whose);
      notKnown(crm, address);
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
      return { name, lead_id, status: "new", owner: userName(crm, userId) };
    },
  }),
  update_lead: tool({
    effect: "write",
    summary:
      "Change a lead of the user's own, or one that nobody owns: its status, estimate, phone, e-mail or owner. Conversion is crm_convert_lead.",
    input: {
      lead_id: leadId,
      status: z
        .enum(["contacted", "qualified", "disqualified"])
        .optional()
        .describe("New status; qualified needs an estimate, disqualified a reason"),
      reason: z
        .string()
        .min(3)
        .max(120)
        .regex(/\S/)
        .optional()
        .describe("Why it is disqualified")
        .meta({
          examples: [
            "No budget this year",
            "Wanted a print shop",
            "Chose another studio",
            "Never answered",
            "Too small a project",
            "Outside our field",
            "Asked for free work",
            "Postponed to next year",
          ],
        }),
      estimate: amount.optional().describe("New estimate, in euros"),
      phone: phone.optional().describe("New phone number"),
      email: email.optional().describe("New e-mail address").meta({ examples: emails }),
      owner: owner.describe("Colleague who takes it over, by full name or e-mail address"),
    },
    returns: { ...leadRow, owner: person().optional(), changed: z.array(z.string()) },
    run(crm, { lead_id, status, reason, owner: whose, ...values }) {
      const lead = leadOf(crm, lead_id);
      if (lead.status === "converted")
        refuse(
          "precondition_failed",
          `${lead.name} (${lead_id}) is converted and stays as it was`,
          `change the contact ${lead.contact_id} or the deal ${lead.deal_id} instead`,
        );
      own(crm, `lead ${lead_id} (${lead.name})`, lead.owner);
      if (reason !== undefined && status !== "disqualified")
        refuse("invalid_params", "a reason is given with the status disqualified alone");
      const userId = whose === undefined ? undefined : ownerNamed(crm, whose);
      const wanted = omitUndefined({ ...values, owner: userId });
      if (status === undefined && Object.keys(wanted).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a status, estimate, phone, email or owner",
        );
      if (values.email !== undefined && values.email !== lead.email)
        notKnown(crm, values.email, lead_id);
      const changed = (Object.keys(wanted) as (keyof typeof wanted)[]).filter(
        key => wanted[key] !== lead[key],
      );
      if (status === undefined && changed.length === 0)
        refuse("conflict", `${lead.name} (${lead_id}) is like that already`);
      for (const key of changed) Object.assign(lead, { [key]: wanted[key] });
      const isStep = status !== undefined && (status !== lead.status || changed.length === 0);
      if (isStep) {
        changeLeadStatus(lead, lead_id, status, reason);
        lead.status = status;
        if (status === "disqualified") lead.reason = reason;
        else delete lead.reason;
      }
      return omitUndefined({
        name: lead.name,
        lead_id,
        status: lead.status,
        owner: ownerName(crm, lead.owner),
        changed: [...(isStep ? ["status"] : []), ...changed],
      });
    },
  }),
};
