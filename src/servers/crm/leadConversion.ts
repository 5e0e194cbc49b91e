/** The tool that converts a lead into a contact, a company and a deal. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { id, label, money } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import {
  Crm,
  leads,
  normalizeText,
  requireUnusedEmail,
  requireOwnRecord,
  requireFreeTitle,
  type Lead,
} from "./state.ts";
import { amount, title as dealTitle } from "./parameters.ts";

const tool = createToolFactory(Crm);

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
