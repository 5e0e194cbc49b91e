/** Tools that list, show and create deals and move them through the stages. */
import { z } from "zod";
import { omitUndefined } from "../../environment/json.ts";
import { cents, day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { refuse, createToolFactory, type ToolContext } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import {
  amount,
  contactId,
  dealId,
  dealRow,
  limit,
  maxNotes,
  owner,
  person,
  taskRow,
  titles,
} from "./parameters.ts";
import {
  findContact,
  Crm,
  findContactForDeal,
  findDeal,
  dealSteps,
  isClosed,
  lostReasons,
  requireNotPast,
  listOpenTasks,
  requireOwnRecord,
  stages,
  requireOpenDeal,
  requireFreeTitle,
  getUserName,
  findUserId,
  type Deal,
  type Stage,
} from "./state.ts";

const tool = createToolFactory(Crm);

const getFirm = (crm: Crm, deal: Deal) => crm.firms[findContact(crm, deal.contact_id).firm_id]!;

/** Orders deals by closing day; those without one are last. */
const compareByClosingDay = ([a, x]: [string, Deal], [b, y]: [string, Deal]) => {
  const [first, second] = [x.closed ?? x.closes ?? "9999", y.closed ?? y.closes ?? "9999"];
  return first === second ? (a < b ? -1 : 1) : first < second ? -1 : 1;
};

export const dealTools = {
  list_deals: tool({
    effect: "read",
    summary:
      "List deals in the order of their closing days, by title, firm, stage or owner: the open ones, unless a closed stage is asked for.",
    input: {
      title: label("deal")
        .optional()
        .describe("Only deals whose title contains this, closed ones as well"),
      firm: label("firm").optional().describe("Only deals with firms whose name contains this"),
      stage: z.enum(stages).optional().describe("Only deals in this stage"),
      owner: owner.describe("Only deals of this colleague, by full name or e-mail address"),
      overdue: z
        .boolean()
        .optional()
        .describe("True for open deals only whose closing day is past"),
      limit,
    },
    returns: { deals: z.array(z.object({ ...dealRow, closes: day().optional() })) },
    run(crm, { title, firm, stage, owner: requestedOwner, overdue, limit: maxRows = 7 }, { now }) {
      const userId = requestedOwner === undefined ? undefined : findUserId(crm, requestedOwner);
      const matchesStage = (it: Deal) =>
        stage ? it.stage === stage : title !== undefined || !isClosed(it);
      const isOverdue = (it: Deal) =>
        !isClosed(it) && it.closes !== undefined && it.closes < now.slice(0, 10);
      const rows = Object.entries(crm.deals)
        .filter(
          ([, it]) =>
            matchesStage(it) &&
            (!title || containsText(it.title, title)) &&
            (!firm || containsText(getFirm(crm, it).name, firm)) &&
            (!userId || it.owner === userId) &&
            (!overdue || isOverdue(it)),
        )
        .sort(compareByClosingDay);
      return {
        deals: rows
          .slice(0, maxRows)
          .map(([deal_id, it]) =>
            omitUndefined({ title: it.title, deal_id, stage: it.stage, closes: it.closes }),
          ),
      };
    },
  }),
  get_deal: tool({
    effect: "read",
    summary:
      "Get one deal in full: stage and the stages it may go to, amount, contact and firm, its open tasks and its latest notes.",
    input: { deal_id: dealId },
    returns: {
      ...dealRow,
      next_stages: z.array(z.string()).optional(),
      amount: cents().optional(),
      closes: day().optional(),
      closed: day().optional(),
      lost_reason: z.string().optional(),
      owner: person(),
      contact: label("contact"),
      contact_id: id("contact"),
      firm: label("firm"),
      firm_id: id("firm"),
      tasks: z.array(z.object(taskRow)).optional(),
      notes: z
        .array(z.object({ note_id: id("note"), by: person(), at: minute(), text: z.string() }))
        .optional()
        .describe("The latest three"),
    },
    run(crm, { deal_id }) {
      const deal = findDeal(crm, deal_id);
      const { title, stage, amount: dealAmount, closes, closed, lost_reason, contact_id } = deal;
      const contact = findContact(crm, contact_id);
      const tasks = listOpenTasks(crm, it => it.deal_id === deal_id).map(([task_id, it]) => ({
        task: it.title,
        task_id,
        due: it.due,
      }));
      const notes = Object.entries(crm.notes)
        .filter(([, it]) => it.deal_id === deal_id)
        .sort(([a, x], [b, y]) => (x.at === y.at ? (a < b ? 1 : -1) : x.at < y.at ? 1 : -1))
        .slice(0, maxNotes)
        .map(([note_id, it]) => ({
          note_id,
          by: getUserName(crm, it.by),
          at: it.at,
          text: it.text,
        }));
      return omitUndefined({
        title,
        deal_id,
        stage,
        next_stages: isClosed(deal) ? undefined : [...dealSteps[stage]],
        amount: dealAmount,
        closes,
        closed,
        lost_reason,
        owner: getUserName(crm, deal.owner),
        contact: contact.name,
        contact_id,
        firm: crm.firms[contact.firm_id]!.name,
        firm_id: contact.firm_id,
        tasks: tasks.length ? tasks : undefined,
        notes: notes.length ? notes : undefined,
      });
    },
  }),
  create_deal: tool({
    effect: "write",
    summary:
      "Open a deal of the user's own with a contact, in the stage discovery. For somebody who is still a lead, convert the lead instead.",
    input: {
      title: z
        .string()
        .min(3)
        .max(80)
        .regex(/\S/)
        .describe("Title of the deal")
        .meta({ examples: titles }),
      contact_id: contactId.describe("Contact it is with, as crm_list_contacts gives the id"),
      amount: amount.optional().describe("What it is worth, in euros"),
      closes: day().optional().describe("Day by which it should be decided, today or later"),
    },
    returns: {
      ...dealRow,
      contact: label("contact"),
      contact_id: id("contact"),
      firm: label("firm"),
      firm_id: id("firm"),
    },
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
      return {
        title,
        deal_id,
        stage: "discovery",
        contact: contact.name,
        contact_id,
        firm: crm.firms[contact.firm_id]!.name,
        firm_id: contact.firm_id,
      };
    },
  }),
  update_deal_stage: tool({
    effect: "write",
    summary:
      "Move a deal of the user's own to another stage, or give it another amount where it is. Won needs all its tasks done; lost needs a reason and drops its tasks; both are final.",
    destructive: true,
    input: {
      deal_id: dealId,
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
      ...dealRow,
      amount: cents().optional(),
      next_stages: z.array(z.string()),
      dropped_tasks: z.int().optional(),
    },
    run(crm, { deal_id, stage, lost_reason, amount: dealAmount }, context) {
      const deal = findDeal(crm, deal_id);
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
