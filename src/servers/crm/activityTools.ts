/** Tools for notes on deals and tasks with contacts. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { day, id, label, phrase } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { getSchemas } from "../kit/table.ts";
import { owner, person, taskRow } from "./parameters.ts";
import {
  contacts,
  Crm,
  deals,
  tasks,
  requireNotPast,
  listOpenTasks,
  requireOwnRecord,
  findOwnerId,
  requireOpenDeal,
  normalizeText,
  getUserName,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Crm);

export const maxTasks = 6;

export const activityTools = {
  add_note: tool({
    effect: "write",
    summary:
      "Write a note on a deal, one's own or a colleague's, open or closed. Notes stay as they are written.",
    input: {
      deal_id: deals.id,
      text: phrase(3, 300).describe("What to remember").meta({ examples: vocabulary.notes }),
    },
    returns: {
      title: label("deal"),
      deal_id: id("deal"),
      note_id: id("note"),
      notes: z.int().describe("Notes on the deal now"),
    },
    run(crm, { deal_id, text }, { now, newId }) {
      const { title } = deals.find(crm, deal_id);
      const dealNotes = Object.values(getOriginal(crm.notes)).filter(it => it.deal_id === deal_id);
      const duplicate = dealNotes.find(it => it.text.trim() === text.trim());
      if (duplicate)
        refuse(
          "conflict",
          `${getUserName(crm, duplicate.by)} wrote the same note on ${title} (${deal_id}) at ${duplicate.at}`,
        );
      const note_id = newId("note");
      crm.notes[note_id] = { deal_id, by: crm.user, at: now, text };
      return { title, deal_id, note_id, notes: dealNotes.length + 1 };
    },
  }),
  create_task: tool({
    effect: "write",
    summary:
      "Plan something to do with a contact by a day, for the user or a colleague, on a deal of that contact or in general.",
    input: {
      title: phrase(3, 80).describe("What is to do").meta({ examples: vocabulary.taskTitles }),
      contact_id: contacts.id.describe("Contact it is about, as crm_list_contacts gives the id"),
      due: day().describe("Day by which it must be done, today or later"),
      deal_id: deals.id
        .optional()
        .describe("Open deal of that contact it is for, as crm_list_deals gives the id"),
      owner: owner.describe(
        "Colleague who does it, by full name or e-mail address, the user if not given",
      ),
    },
    returns: {
      ...getSchemas(taskRow),
      contact: label("contact"),
      contact_id: id("contact"),
      owner: person(),
      open_tasks: z.int().describe("Open tasks with the contact now"),
    },
    run(crm, { title, contact_id, due, deal_id, owner: requestedOwner }, { now, newId }) {
      const contact = contacts.find(crm, contact_id);
      if (contact.status === "left")
        refuse(
          "precondition_failed",
          `${contact.name} (${contact_id}) has left ${crm.firms[contact.firm_id]!.name}`,
          "choose another contact of that firm",
        );
      requireNotPast(due, now, "the due day");
      if (deal_id !== undefined) requireDealOfContact(crm, deal_id, contact_id);
      const userId = requestedOwner === undefined ? crm.user : findOwnerId(crm, requestedOwner);
      const contactTasks = listOpenTasks(crm, it => it.contact_id === contact_id);
      const duplicate = contactTasks.find(
        ([, it]) => normalizeText(it.title) === normalizeText(title) && it.deal_id === deal_id,
      );
      if (duplicate)
        refuse(
          "conflict",
          `${duplicate[1].title} with ${contact.name} is planned already, for ${duplicate[1].due} (${duplicate[0]})`,
        );
      if (contactTasks.length >= maxTasks)
        refuse(
          "limit_exceeded",
          `${contact.name} (${contact_id}) has ${contactTasks.length} open tasks, and no more than ${maxTasks} may wait`,
          "crm_complete_task closes one",
        );
      const task_id = newId("task");
      crm.tasks[task_id] = {
        title,
        contact_id,
        due,
        owner: userId,
        status: "open",
        ...omitUndefined({ deal_id }),
      };
      return {
        task: title,
        task_id,
        due,
        contact: contact.name,
        contact_id,
        owner: getUserName(crm, userId),
        open_tasks: contactTasks.length + 1,
      };
    },
  }),
  complete_task: tool({
    effect: "write",
    summary: "Mark a task of the user's own as done.",
    input: { task_id: tasks.id.describe("Task id, as crm_get_contact and crm_get_deal give it") },
    returns: {
      ...getSchemas(taskRow),
      done: day(),
      contact: label("contact"),
      contact_id: id("contact"),
      open_tasks: z.int().describe("Open tasks with the contact now"),
    },
    run(crm, { task_id }, { now }) {
      const task = tasks.find(crm, task_id);
      if (task.status === "done")
        refuse("conflict", `${task.title} (${task_id}) was done on ${task.done}`);
      if (task.status === "dropped")
        refuse(
          "precondition_failed",
          `${task.title} (${task_id}) was dropped when its deal was lost`,
        );
      requireOwnRecord(crm, `task ${task_id} (${task.title})`, task.owner);
      task.status = "done";
      task.done = now.slice(0, 10);
      const { title, due, done, contact_id } = task;
      const openTaskCount = listOpenTasks(crm, it => it.contact_id === contact_id).length - 1;
      return {
        task: title,
        task_id,
        due,
        done,
        contact: contacts.find(crm, contact_id).name,
        contact_id,
        open_tasks: openTaskCount,
      };
    },
  }),
};

/** Refuses a deal that is closed or with another contact. */
function requireDealOfContact(crm: Crm, dealId: string, contactId: string): void {
  const deal = deals.find(crm, dealId);
  requireOpenDeal(deal, dealId);
  if (deal.contact_id === contactId) return;
  refuse(
    "precondition_failed",
    `${deal.title} (${dealId}) is with ${contacts.find(crm, deal.contact_id).name} (${deal.contact_id}), not with ${contacts.find(crm, contactId).name}`,
    "choose that contact, or leave the deal out",
  );
}
