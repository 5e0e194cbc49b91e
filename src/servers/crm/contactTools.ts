/** Tools that list, show, add and change contacts. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { id, label } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  contactId,
  dealRow,
  email,
  emails,
  limit,
  owner,
  person,
  personName,
  phone,
  taskRow,
} from "./parameters.ts";
import {
  findContact,
  Crm,
  isClosed,
  requireUnusedEmail,
  listOpenTasks,
  requireOwnRecord,
  getOwnerName,
  findOwnerId,
  findUserId,
} from "./state.ts";

const tool = createToolFactory(Crm);

const contactRow = { name: label("contact"), contact_id: id("contact"), status: z.string() };
const job = z
  .string()
  .min(2)
  .max(60)
  .regex(/\S/)
  .meta({
    examples: [
      "Marketing lead",
      "Head of sales",
      "Managing director",
      "Press officer",
      "Buyer",
      "Brand manager",
      "Office manager",
      "Product lead",
      "Head of design",
      "Events manager",
    ],
  });

export const contactTools = {
  list_contacts: tool({
    effect: "read",
    summary:
      "List contacts by name, with their firms: all of them, or those of a name, a firm, an owner or a status.",
    input: {
      name: label("contact").optional().describe("Only contacts whose name contains this"),
      firm: label("firm").optional().describe("Only contacts of firms whose name contains this"),
      status: z
        .enum(["active", "left"])
        .optional()
        .describe("Only contacts who are still with their firm, or who have left it"),
      owner: owner.describe("Only contacts of this colleague, by full name or e-mail address"),
      limit,
    },
    returns: {
      contacts: z.array(
        z.object({
          name: label("contact"),
          contact_id: id("contact"),
          firm: label("firm"),
          firm_id: id("firm"),
          left: z.literal(true).optional().describe("No longer with the firm"),
        }),
      ),
    },
    run(crm, { name, firm, status, owner: requestedOwner, limit: maxRows = 7 }) {
      const userId = requestedOwner === undefined ? undefined : findUserId(crm, requestedOwner);
      const rows = Object.entries(crm.contacts)
        .filter(
          ([, it]) =>
            (!name || containsText(it.name, name)) &&
            (!firm || containsText(crm.firms[it.firm_id]!.name, firm)) &&
            (!status || it.status === status) &&
            (!userId || it.owner === userId),
        )
        .sort(([a, x], [b, y]) =>
          x.name === y.name ? (a < b ? -1 : 1) : x.name < y.name ? -1 : 1,
        );
      return {
        contacts: rows.slice(0, maxRows).map(([contact_id, it]) => ({
          name: it.name,
          contact_id,
          firm: crm.firms[it.firm_id]!.name,
          firm_id: it.firm_id,
          ...(it.status === "left" ? { left: true as const } : {}),
        })),
      };
    },
  }),
  get_contact: tool({
    effect: "read",
    summary:
      "Get one contact in full: job, e-mail, phone, firm and owner, the deals with them that are open, and the tasks that wait.",
    input: { contact_id: contactId },
    returns: {
      ...contactRow,
      job: z.string().optional(),
      email: z.string(),
      phone: z.string().optional(),
      owner: person().optional().describe("Absent where nobody owns the contact"),
      firm: label("firm"),
      firm_id: id("firm"),
      firm_status: z.string(),
      deals: z.array(z.object(dealRow)).optional(),
      tasks: z.array(z.object(taskRow)).optional(),
    },
    run(crm, { contact_id }) {
      const {
        name,
        status,
        job: work,
        email: address,
        phone: number,
        owner: userId,
        firm_id,
      } = findContact(crm, contact_id);
      const firm = crm.firms[firm_id]!;
      const deals = Object.entries(crm.deals).flatMap(([deal_id, it]) =>
        it.contact_id === contact_id && !isClosed(it)
          ? [{ title: it.title, deal_id, stage: it.stage }]
          : [],
      );
      const tasks = listOpenTasks(crm, it => it.contact_id === contact_id).map(([task_id, it]) => ({
        task: it.title,
        task_id,
        due: it.due,
      }));
      return omitUndefined({
        name,
        contact_id,
        status,
        job: work,
        email: address,
        phone: number,
        owner: getOwnerName(crm, userId),
        firm: firm.name,
        firm_id,
        firm_status: firm.status,
        deals: deals.length ? deals : undefined,
        tasks: tasks.length ? tasks : undefined,
      });
    },
  }),
  create_contact: tool({
    effect: "write",
    summary:
      "Add a person of a firm that the CRM knows as the user's contact. Refused if the e-mail address is known already, also from an open lead.",
    input: {
      name: personName.describe("Full name"),
      firm_id: id("firm").describe("Id of the firm, as crm_list_contacts gives it"),
      email: email.describe("E-mail address").meta({ examples: emails }),
      job: job.optional().describe("What they do there"),
      phone: phone.optional().describe("Phone number"),
    },
    returns: { ...contactRow, firm: label("firm"), firm_id: id("firm") },
    run(crm, { name, firm_id, email: address, job: work, phone: number }, { newId }) {
      const firm = findEntity(
        crm.firms,
        firm_id,
        "firm",
        "crm_list_contacts gives the ids of firms; a new firm comes with crm_convert_lead",
      );
      requireUnusedEmail(crm, address);
      const contact_id = newId("con");
      crm.contacts[contact_id] = {
        name,
        firm_id,
        email: address,
        owner: crm.user,
        status: "active",
        ...omitUndefined({ job: work, phone: number }),
      };
      return { name, contact_id, status: "active", firm: firm.name, firm_id };
    },
  }),
  update_contact: tool({
    effect: "write",
    summary:
      "Change a contact of the user's own, or one that nobody owns: job, phone, e-mail, owner, or that they have left their firm.",
    input: {
      contact_id: contactId,
      job: job.optional().describe("New job"),
      phone: phone.optional().describe("New phone number"),
      email: email.optional().describe("New e-mail address").meta({ examples: emails }),
      status: z
        .enum(["active", "left"])
        .optional()
        .describe("Whether they are still with their firm; nobody leaves with open deals"),
      owner: owner.describe("Colleague who takes the contact over, by full name or e-mail address"),
    },
    returns: { ...contactRow, owner: person().optional(), changed: z.array(z.string()) },
    run(crm, { contact_id, owner: requestedOwner, ...values }) {
      const contact = findContact(crm, contact_id);
      requireOwnRecord(crm, `contact ${contact_id} (${contact.name})`, contact.owner);
      const changes = omitUndefined({
        ...values,
        owner: requestedOwner === undefined ? undefined : findOwnerId(crm, requestedOwner),
      });
      if (Object.keys(changes).length === 0)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a job, phone, email, status or owner",
        );
      const changedFields = (Object.keys(changes) as (keyof typeof changes)[]).filter(
        key => changes[key] !== contact[key],
      );
      if (changedFields.length === 0)
        refuse("conflict", `${contact.name} (${contact_id}) is like that already`);
      if (changedFields.includes("email")) requireUnusedEmail(crm, changes.email!);
      if (changedFields.includes("status") && changes.status === "left")
        requireNoOpenDeals(crm, contact_id);
      for (const key of changedFields) Object.assign(contact, { [key]: changes[key] });
      return omitUndefined({
        name: contact.name,
        contact_id,
        status: contact.status,
        owner: getOwnerName(crm, contact.owner),
        changed: changedFields,
      });
    },
  }),
};

function requireNoOpenDeals(crm: Crm, contactId: string): void {
  const open = Object.entries(getOriginal(crm).deals).find(
    ([, it]) => it.contact_id === contactId && !isClosed(it),
  );
  if (open)
    refuse(
      "precondition_failed",
      `${crm.contacts[contactId]!.name} still has the open deal ${open[1].title} (${open[0]}), in ${open[1].stage}`,
      "close it with crm_update_deal_stage first",
    );
}
