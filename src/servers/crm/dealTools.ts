/**
 * Tools that list, show and create deals and move them through the stages, and tools for their
 * notes and tasks.
 */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, minute, phrase } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { ascending, contains, descending, equals, getSchemas, meets } from "../kit/table.ts";
import {
  amount,
  dealRow,
  openTasks,
  person,
  title as dealTitle,
  contacts,
  Crm,
  deals,
  dealSteps,
  findContactForDeal,
  findUserId,
  getUserName,
  isClosed,
  listOpenTasks,
  lostReasons,
  notes,
  requireFreeTitle,
  requireNotPast,
  requireOpenDeal,
  requireOwnRecord,
  stages,
  type Deal,
  type Stage,
  owner,
  taskRow,
  tasks,
  findOwnerId,
  normalizeText,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(Crm);

const firmName = (it: Deal, crm: Crm) => crm.firms[contacts.find(crm, it.contact_id).firm_id]!.name;
const firmFields = deals.fields({
  contact: [label("contact"), (it, { world }) => world.contacts[it.contact_id]!.name],
  contact_id: id("contact"),
  firm: [label("firm"), (it, { world }) => firmName(it, world)],
  firm_id: [id("firm"), (it, { world }) => world.contacts[it.contact_id]!.firm_id],
});

export const dealTools = {
  list_deals: deals.list({
    summary:
      "List deals in the order of their closing days, by title, firm, stage or owner: the open ones, unless a closed stage is asked for.",
    filters: {
      title: contains(
        label("deal"),
        "Only deals whose title contains this, closed ones as well",
        it => it.title,
      ),
      firm: contains(label("firm"), "Only deals with firms whose name contains this", firmName),
      stage: equals(z.enum(stages), "Only deals in this stage", it => it.stage),
      owner: equals(
        person(),
        "Only deals of this colleague, by full name or e-mail address",
        it => it.owner,
        findUserId,
      ),
      overdue: meets(
        z.boolean(),
        "True for open deals only whose closing day is past",
        (it, overdue, { now }) =>
          !overdue || (!isClosed(it) && it.closes !== undefined && it.closes < now.slice(0, 10)),
      ),
    },
    where: (it, { stage, title }) => stage !== undefined || title !== undefined || !isClosed(it),
    order: ascending(it => it.closed ?? it.closes),
    limit: 7,
    row: { ...dealRow, closes: day().optional() },
  }),
  get_deal: deals.get({
    summary:
      "Get one deal in full: stage and the stages it may go to, amount, contact and firm, its open tasks and its latest notes.",
    row: {
      ...dealRow,
      next_stages: [
        z.array(z.string()).optional(),
        it => (isClosed(it) ? undefined : [...dealSteps[it.stage]]),
      ],
      amount: cents().optional(),
      closes: day().optional(),
      closed: day().optional(),
      lost_reason: z.string().optional(),
      owner: [person(), (it, { world }) => getUserName(world, it.owner)],
      ...firmFields,
      tasks: openTasks((it, { id: dealId }) => it.deal_id === dealId),
      notes: notes.related({
        description: "The latest three",
        row: {
          note_id: notes.idField,
          by: [person(), (it, { world }) => getUserName(world, it.by)],
          at: minute(),
          text: z.string(),
        },
        where: (it, { id: dealId }) => it.deal_id === dealId,
        order: descending(it => it.at, { latestId: true }),
        limit: 3,
      }),
    },
  }),
  create_deal: tool({
    effect: "write",
    summary:
      "Open a deal of the user's own with a contact, in the stage discovery. For somebody who is still a lead, convert the lead instead.",
    input: {
      title: dealTitle,
      contact_id: contacts.id.describe("Contact it is with, as crm_list_contacts gives the id"),
      amount: amount.optional().describe("What it is worth, in euros"),
      closes: day().optional().describe("Day by which it should be decided, today or later"),
    },
    returns: getSchemas({ ...dealRow, ...firmFields }),
    run(crm, { title, contact_id, amount: dealAmount, closes }, { now, newId }) {
      const contact = findContactForDeal(crm, contact_id);
      if (closes !== undefined) requireNotPast(closes, now, "the closing day");
      requireFreeTitle(crm, title, contact.firm_id);
      const deal_id = newId("deal");
      crm.deals[deal_id] = {
        title,
        contact_id,
        stage: "discovery",
        owner: crm.user,
        opened: now.slice(0, 10),
        ...omitUndefined({ amount: dealAmount, closes }),
      };
      return deals.show({ ...dealRow, ...firmFields }, crm, deal_id, now);
    },
  }),
  update_deal_stage: tool({
    effect: "write",
    summary:
      "Move a deal of the user's own to another stage, or give it another amount where it is. Won needs all its tasks done; lost needs a reason and drops its tasks; both are final.",
    destructive: true,
    input: {
      deal_id: deals.id,
      stage: z
        .enum(stages)
        .describe(
          "The new stage: from discovery to proposal, negotiation and won, step by step; paused and lost from any open stage",
        ),
      lost_reason: z
        .enum(lostReasons)
        .optional()
        .describe("Why it is lost; for the stage lost alone"),
      amount: amount.optional().describe("The amount in euros, where it is agreed or has changed"),
    },
    returns: {
      ...getSchemas(dealRow),
      amount: cents().optional(),
      next_stages: z.array(z.string()),
      dropped_tasks: z.int().optional(),
    },
    run(crm, { deal_id, stage, lost_reason, amount: dealAmount }, context) {
      const deal = deals.find(crm, deal_id);
      requireOpenDeal(deal, deal_id);
      requireOwnRecord(crm, `deal ${deal_id} (${deal.title})`, deal.owner);
      const isNewAmount = dealAmount !== undefined && dealAmount !== deal.amount;
      if (isNewAmount) deal.amount = dealAmount;
      if (deal.stage !== stage || !isNewAmount)
        requireStageChange(deal, deal_id, stage, lost_reason);
      deal.stage = stage;
      const droppedTasks =
        stage === "won" || stage === "lost" ? closeDeal(crm, deal_id, lost_reason, context) : 0;
      return omitUndefined({
        title: deal.title,
        deal_id,
        stage,
        amount: deal.amount,
        next_stages: [...dealSteps[stage]],
        dropped_tasks: droppedTasks || undefined,
      });
    },
  }),
};

/** Refuses a stage that the deal cannot move to from its current stage. */
function requireStageChange(
  deal: Deal,
  dealId: string,
  stage: Stage,
  lostReason: string | undefined,
): void {
  if (deal.stage === stage) refuse("conflict", `${deal.title} (${dealId}) is already in ${stage}`);
  if (!dealSteps[deal.stage].includes(stage))
    refuse(
      "precondition_failed",
      `a deal in ${deal.stage} cannot go to ${stage}`,
      `from ${deal.stage} it may go to ${dealSteps[deal.stage].join(", ")}`,
    );
  if (stage === "lost" && lostReason === undefined)
    refuse(
      "invalid_params",
      "a deal is lost for a reason",
      `give lost_reason: ${lostReasons.join(", ")}`,
    );
  if (stage !== "lost" && lostReason !== undefined)
    refuse("invalid_params", "lost_reason is for the stage lost alone");
  if (stage === "proposal" && deal.amount === undefined)
    refuse(
      "precondition_failed",
      `${deal.title} (${dealId}) has no amount, and a proposal needs one`,
      "give the amount in the same call",
    );
}

/** Closes a deal that was won or lost and returns the number of tasks that were dropped. */
function closeDeal(
  crm: Crm,
  dealId: string,
  lostReason: Deal["lost_reason"],
  { now }: Pick<ToolContext, "now">,
): number {
  const deal = crm.deals[dealId]!;
  const tasks = listOpenTasks(crm, it => it.deal_id === dealId);
  deal.closed = now.slice(0, 10);
  if (deal.stage === "won") {
    const [first] = tasks;
    if (first)
      refuse(
        "precondition_failed",
        `${deal.title} (${dealId}) still has ${tasks.length} open ${tasks.length === 1 ? "task" : "tasks"}: ${first[1].title} (${first[0]})`,
        "crm_complete_task closes a task",
      );
    const { firm_id } = getOriginal(crm).contacts[deal.contact_id]!;
    if (crm.firms[firm_id]!.status === "prospect") crm.firms[firm_id]!.status = "client";
    return 0;
  }
  deal.lost_reason = lostReason;
  for (const [taskId] of tasks) crm.tasks[taskId]!.status = "dropped";
  return tasks.length;
}

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
