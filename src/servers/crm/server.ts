/**
 * The CRM server: the CRM of a studio as used by a member of its staff. Also its rules, which
 * hold whichever tools are used.
 */
import {
  defineStateRule,
  defineWriteRule,
  isSameJson,
  listAddedRows,
  listChangedFields,
  listChanges,
} from "../../environment/invariants.ts";
import { maxTasks, activityTools, dealTools } from "./dealTools.ts";
import { dealSteps, isClosed, leadSteps, normalizeText, Crm, references } from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { contactTools } from "./contactTools.ts";
import { leadConversion, leadTools } from "./leadTools.ts";
export type { Crm } from "./state.ts";

const leadsFollowSteps = defineWriteRule<Crm>(
  "A lead's status changes step by step, and a converted lead does not change.",
  function* (crm, before) {
    for (const { id, before: old, after } of listChanges(before.leads, crm.leads)) {
      if (!after) yield `${id} is gone`;
      if (!after || isSameJson(old, after)) continue;
      if (old?.status === "converted") yield `${id} was converted and changed`;
      if (!old && after.status !== "new") yield `${id} begins as ${after.status}`;
      if (!old || old.status === after.status) continue;
      const isConversion = old.status === "qualified" && after.status === "converted";
      if (!isConversion && !leadSteps[old.status].includes(after.status))
        yield `${id} was ${old.status} and is ${after.status}`;
    }
  },
);

const leadsAreComplete = defineStateRule<Crm>(
  "A qualified lead has an estimate, a disqualified one a reason, a converted one a contact and a deal.",
  function* ({ leads }) {
    for (const [id, it] of Object.entries(leads)) {
      if (it.status === "qualified" && it.estimate === undefined) yield `${id} has no estimate`;
      if ((it.status === "disqualified") !== (it.reason !== undefined))
        yield `${id} is ${it.status} with the reason ${it.reason ?? "none"}`;
      for (const key of [it.contact_id, it.deal_id])
        if ((it.status === "converted") !== (key !== undefined))
          yield `${id} is ${it.status} with ${key ?? "no contact or deal"}`;
    }
  },
);

const dealsFollowSteps = defineWriteRule<Crm>(
  "A deal moves from stage to stage in order, and a closed deal does not change.",
  function* (crm, before) {
    for (const { id, before: old, after } of listChanges(before.deals, crm.deals)) {
      if (!after) yield `${id} is gone`;
      if (!after || isSameJson(old, after)) continue;
      if (!old) {
        if (after.stage !== "discovery") yield `${id} begins in ${after.stage}`;
        continue;
      }
      if (isClosed(old)) yield `${id} was ${old.stage} and changed`;
      if (old.stage !== after.stage && !dealSteps[old.stage].includes(after.stage))
        yield `${id} was in ${old.stage} and is in ${after.stage}`;
    }
  },
);

const dealsAreComplete = defineStateRule<Crm>(
  "A deal from proposal on has an amount, a closed one its day, a lost one its reason; only an open deal has open tasks.",
  function* ({ deals, tasks }) {
    for (const [id, it] of Object.entries(deals)) {
      if (["proposal", "negotiation", "won"].includes(it.stage) && it.amount === undefined)
        yield `${id} has no amount`;
      if (isClosed(it) !== (it.closed !== undefined)) yield `${id} is in ${it.stage}: ${it.closed}`;
      if ((it.stage === "lost") !== (it.lost_reason !== undefined))
        yield `${id} is in ${it.stage}: ${it.lost_reason}`;
    }
    for (const [id, { deal_id, status, contact_id }] of Object.entries(tasks)) {
      const deal = deal_id === undefined ? undefined : deals[deal_id]!;
      if (status === "open" && deal && isClosed(deal)) yield `${id} is open on a closed deal`;
      if (deal && deal.contact_id !== contact_id) yield `${id} is about another contact`;
    }
  },
);

const colleaguesKeepTheirs = defineWriteRule<Crm>(
  "The user changes nothing that belongs to a colleague, except tasks on an own deal that is lost.",
  function* (crm, before) {
    for (const table of ["contacts", "leads", "deals", "tasks"] as const)
      for (const { id, before: old, after } of listChanges<{
        readonly owner?: string | undefined;
        readonly deal_id?: string | undefined;
        readonly status?: string;
      }>(before[table], crm[table])) {
        if (!old || old.owner === undefined || old.owner === crm.user || isSameJson(old, after))
          continue;
        const deal = old.deal_id === undefined ? undefined : crm.deals[old.deal_id];
        const isDropped = table === "tasks" && after?.status === "dropped";
        if (!isDropped || deal?.stage !== "lost" || deal.owner !== crm.user)
          yield `${id} belongs to ${old.owner} and changed`;
      }
  },
);

const membersOwn = defineStateRule<Crm>(
  "Only members own contacts, leads, deals and tasks.",
  function* ({ users, contacts, leads, deals, tasks }) {
    for (const rows of [contacts, leads, deals, tasks])
      for (const [id, { owner }] of Object.entries<{ readonly owner?: string | undefined }>(rows))
        if (owner !== undefined && users[owner]!.role === "viewer")
          yield `${id} belongs to ${owner}`;
  },
);

const emailsAreUnique = defineStateRule<Crm>(
  "An e-mail address belongs to one contact or one lead that is not converted.",
  function* ({ contacts, leads }) {
    const seen = new Map<string, string>();
    const openLeads = Object.entries(leads).filter(([, it]) => it.status !== "converted");
    for (const [id, { email }] of [...Object.entries(contacts), ...openLeads]) {
      const other = seen.get(email.toLowerCase());
      if (other !== undefined) yield `${id} and ${other} have the address ${email}`;
      seen.set(email.toLowerCase(), id);
    }
  },
);

const newDealsArePossible = defineWriteRule<Crm>(
  "No new deal is with a blocked firm or with somebody who left, and nobody leaves with an open deal.",
  function* (crm, before) {
    for (const [id, it] of listAddedRows(before.deals, crm.deals))
      if (crm.firms[crm.contacts[it.contact_id]!.firm_id]!.status === "blocked")
        yield `${id} is with a blocked firm`;
    for (const [id, it] of Object.entries(crm.deals))
      if (!isClosed(it) && crm.contacts[it.contact_id]!.status === "left")
        yield `${id} is open with somebody who left`;
  },
);

const namesAreUnique = defineWriteRule<Crm>(
  "A new firm has a name of its own, a new deal a title that no open deal of its firm has, a new task one that no open task of its contact and deal has.",
  function* (crm, before) {
    const getDealKey = (id: string) => {
      const { title, contact_id } = crm.deals[id]!;
      return `${crm.contacts[contact_id]!.firm_id} ${normalizeText(title)}`;
    };
    const openDeals = Object.keys(crm.deals).filter(id => !isClosed(crm.deals[id]!));
    const getTaskKey = (id: string) => {
      const { title, contact_id, deal_id } = crm.tasks[id]!;
      return `${contact_id} ${deal_id} ${normalizeText(title)}`;
    };
    const openTasks = Object.keys(crm.tasks).filter(id => crm.tasks[id]!.status === "open");
    for (const [table, ids, getKey] of [
      ["firms", Object.keys(crm.firms), (id: string) => normalizeText(crm.firms[id]!.name)],
      ["deals", openDeals, getDealKey],
      ["tasks", openTasks, getTaskKey],
    ] as const)
      for (const [id] of listAddedRows<object>(before[table], crm[table])) {
        const twin = ids.find(it => it !== id && getKey(it) === getKey(id));
        if (twin !== undefined) yield `${id} and ${twin} are both ${getKey(id)}`;
      }
  },
);

const fewTasksWait = defineWriteRule<Crm>(
  `A contact gets no more open tasks than ${maxTasks}.`,
  function* (crm, before) {
    for (const [id, { contact_id }] of listAddedRows(before.tasks, crm.tasks)) {
      const count = Object.values(crm.tasks).filter(
        it => it.contact_id === contact_id && it.status === "open",
      ).length;
      if (count > maxTasks) yield `${id} is task ${count} of ${contact_id}`;
    }
  },
);

const historyStays = defineWriteRule<Crm>(
  "Users and notes never change, a task that is done or dropped neither, and a firm only from prospect to client with a deal that is won.",
  function* (crm, before) {
    if (!isSameJson(crm.users, before.users)) yield "the users changed";
    for (const it of listChanges(before.notes, crm.notes))
      if (it.before && !isSameJson(it.before, it.after)) yield `${it.id} changed`;
    for (const it of listChanges(before.tasks, crm.tasks))
      if (it.before && it.before.status !== "open" && !isSameJson(it.before, it.after))
        yield `${it.id} was ${it.before.status} and changed`;
    for (const { id, before: old, after } of listChanges(before.firms, crm.firms)) {
      if (!after) yield `${id} is gone`;
      if (!old || !after || isSameJson(old, after)) continue;
      const isWon = Object.values(crm.deals).some(
        it => it.stage === "won" && crm.contacts[it.contact_id]!.firm_id === id,
      );
      const isNewClient = old.status === "prospect" && after.status === "client" && isWon;
      if (!isNewClient || listChangedFields(old, after).length > 1) yield `${id} changed`;
    }
  },
);

const invariants = [
  leadsFollowSteps,
  leadsAreComplete,
  dealsFollowSteps,
  dealsAreComplete,
  colleaguesKeepTheirs,
  membersOwn,
  emailsAreUnique,
  newDealsArePossible,
  namesAreUnique,
  fewTasksWait,
  historyStays,
];

export const server = defineServer({
  name: "crm",
  category: "Knowledge/CRM",
  summary: "leads, contacts and their firms, deals with stages, notes, tasks",
  schema: Crm,
  references,
  tools: { ...leadTools, ...leadConversion, ...contactTools, ...dealTools, ...activityTools },
  invariants,
});
