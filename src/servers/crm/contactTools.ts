/** Tools that list, show, add and change contacts. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { id, label, phrase } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { ascending, contains, equals, getSchemas } from "../kit/table.ts";
import {
  dealRow,
  email,
  emails,
  firmFields,
  openTasks,
  owner,
  person,
  personName,
  phone,
  contacts,
  Crm,
  deals,
  findOwnerId,
  findUserId,
  firms,
  getOwnerName,
  isClosed,
  requireOwnRecord,
  requireUnusedEmail,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Crm);

const contactRow = contacts.fields({
  name: label("contact"),
  contact_id: contacts.idField,
  status: z.string(),
});
const job = phrase(2, 60).meta({ examples: vocabulary.jobs });

const ownedRow = contacts.fields({
  ...contactRow,
  owner: [person().optional(), (it, { world }) => getOwnerName(world, it.owner)],
});

export const contactTools = {
  list_contacts: contacts.list({
    summary:
      "List contacts by name, with their firms: all of them, or those of a name, a firm, an owner or a status.",
    filters: {
      name: contains(label("contact"), "Only contacts whose name contains this", it => it.name),
      firm: contains(
        label("firm"),
        "Only contacts of firms whose name contains this",
        (it, crm) => crm.firms[it.firm_id]!.name,
      ),
      status: equals(
        z.enum(["active", "left"]),
        "Only contacts who are still with their firm, or who have left it",
        it => it.status,
      ),
      owner: equals(
        person(),
        "Only contacts of this colleague, by full name or e-mail address",
        it => it.owner,
        findUserId,
      ),
    },
    order: ascending(it => it.name),
    limit: 7,
    row: {
      name: label("contact"),
      contact_id: contacts.idField,
      ...firmFields,
      left: [
        z.literal(true).optional().describe("No longer with the firm"),
        it => (it.status === "left" ? true : undefined),
      ],
    },
  }),
  get_contact: contacts.get({
    summary:
      "Get one contact in full: job, e-mail, phone, firm and owner, the deals with them that are open, and the tasks that wait.",
    row: {
      ...contactRow,
      job: z.string().optional(),
      email: z.string(),
      phone: z.string().optional(),
      owner: [
        person().optional().describe("Absent where nobody owns the contact"),
        (it, { world }) => getOwnerName(world, it.owner),
      ],
      ...firmFields,
      firm_status: [z.string(), (it, { world }) => world.firms[it.firm_id]!.status],
      deals: deals.related({
        row: dealRow,
        where: (it, { id }) => it.contact_id === id && !isClosed(it),
      }),
      tasks: openTasks((it, { id }) => it.contact_id === id),
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
    returns: getSchemas({ ...contactRow, ...firmFields }),
    run(crm, { name, firm_id, email: address, job: work, phone: number }, { now, newId }) {
      firms.find(crm, firm_id);
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
      return contacts.show({ ...contactRow, ...firmFields }, crm, contact_id, now);
    },
  }),
  update_contact: tool({
    effect: "write",
    summary:
      "Change a contact of the user's own, or one that nobody owns: job, phone, e-mail, owner, or that they have left their firm.",
    input: {
      contact_id: contacts.id,
      job: job.optional().describe("New job"),
      phone: phone.optional().describe("New phone number"),
      email: email.optional().describe("New e-mail address").meta({ examples: emails }),
      status: z
        .enum(["active", "left"])
        .optional()
        .describe("Whether they are still with their firm; nobody leaves with open deals"),
      owner: owner.describe("Colleague who takes the contact over, by full name or e-mail address"),
    },
    returns: { ...getSchemas(ownedRow), changed: z.array(z.string()) },
    run(crm, { contact_id, owner: requestedOwner, ...values }, { now }) {
      const contact = contacts.find(crm, contact_id);
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
      return { ...contacts.show(ownedRow, crm, contact_id, now), changed: changedFields };
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
