/** Finds inconsistencies in a generated CRM state and with the other servers. */
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratedStates } from "../shared/generator.ts";
import type { Crm } from "./server.ts";

export function findStateInconsistencies({ firms, contacts, leads, deals, tasks }: Crm): string[] {
  const problems: string[] = [];
  const emails = Object.values(contacts).map(it => it.email.toLowerCase());
  if (new Set(emails).size < emails.length) problems.push("two contacts have one e-mail address");
  const openDeals = Object.entries(deals).filter(
    ([, it]) => it.stage !== "won" && it.stage !== "lost",
  );
  for (const [key, it] of Object.entries(deals)) {
    const firm = firms[contacts[it.contact_id]!.firm_id]!;
    const isClosed = it.stage === "won" || it.stage === "lost";
    if (isClosed !== (it.closed !== undefined))
      problems.push(`${key} is in ${it.stage} and was closed ${it.closed ?? "never"}`);
    if ((it.stage === "lost") !== (it.lost_reason !== undefined))
      problems.push(`${key} is in ${it.stage} with the reason ${it.lost_reason ?? "none"}`);
    if (["proposal", "negotiation", "won"].includes(it.stage) && it.amount === undefined)
      problems.push(`${key} is in ${it.stage} without an amount`);
    if (it.stage === "won" && firm.status === "prospect")
      problems.push(`${key} is won, and ${firm.name} is no client`);
  }
  for (const [key, it] of openDeals)
    if (contacts[it.contact_id]!.status === "left")
      problems.push(`${key} is open with somebody who has left`);
  for (const [key, it] of Object.entries(tasks)) {
    const deal = it.deal_id === undefined ? undefined : deals[it.deal_id];
    if (deal && deal.contact_id !== it.contact_id)
      problems.push(`${key} is about another contact than its deal`);
    if (deal && it.status === "open" && deal.closed !== undefined)
      problems.push(`${key} is open on a closed deal`);
  }
  for (const [key, it] of Object.entries(leads)) {
    if ((it.status === "converted") !== (it.deal_id !== undefined))
      problems.push(`${key} is ${it.status} with the deal ${it.deal_id ?? "none"}`);
    if (it.status !== "converted" && emails.includes(it.email.toLowerCase()))
      problems.push(`${key} has the address of a contact`);
  }
  return problems;
}

export function findCastInconsistencies(
  { user, users, firms, contacts }: Crm,
  cast: SharedCast,
): string[] {
  const staff = new Map(cast.staff.map(it => [it.name, it.email]));
  const problems = Object.values(users).flatMap(it =>
    staff.get(it.name) === it.email ? [] : [`${it.name} <${it.email}> is not of the studio`],
  );
  if (users[user]!.name !== cast.user.name)
    problems.push(`the user is ${users[user]!.name}, not ${cast.user.name}`);
  const knownContacts = new Map(Object.values(contacts).map(it => [it.email, it]));
  for (const firm of cast.clients) {
    if (Object.values(firms).every(it => it.name !== firm.name || it.status !== "client"))
      problems.push(`${firm.name} is no client`);
    for (const it of firm.contacts)
      if (knownContacts.get(it.email)?.phone !== it.phone)
        problems.push(`${it.name} of ${firm.name} is no contact with the phone number ${it.phone}`);
  }
  return problems;
}

/** The recipients of invoices are contacts. */
export function findInvoiceInconsistencies(
  { contacts }: Crm,
  states: GeneratedStates,
  cast: SharedCast,
): string[] {
  const text = JSON.stringify(states.get("payments") ?? null);
  const knownContacts = new Set(Object.values(contacts).map(it => it.email));
  const billedContacts = [...cast.clients, ...cast.prospects]
    .flatMap(it => it.contacts)
    .filter(it => text.includes(`"${it.email}"`));
  return billedContacts.flatMap(it =>
    knownContacts.has(it.email) ? [] : [`${it.name} <${it.email}> is billed and no contact`],
  );
}
