/** Finds inconsistencies within the mailbox, and with the shared cast and the CRM. */
import type { EmailState } from "./state.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratedStates } from "../shared/generator.ts";

export function findInvalidRows(
  { threads, messages, drafts, addresses, limits }: EmailState,
  cast: SharedCast,
): string[] {
  const problems: string[] = [];
  const subjects = Object.values(threads).map(it => it.subject.toLowerCase());
  for (const it of new Set(subjects.filter((subject, i) => subjects.indexOf(subject) < i)))
    problems.push(`two threads are called ${it}`);
  const emails = Object.values(addresses).map(it => it.email);
  if (
    new Set(emails).size < emails.length ||
    new Set(Object.values(addresses).map(it => it.name)).size < emails.length
  )
    problems.push("two addresses have the same name or e-mail address");
  for (const key of Object.keys(threads))
    if (Object.values(messages).every(it => it.thread_id !== key))
      problems.push(`${key} has no messages`);
  for (const [key, it] of Object.entries(messages))
    if (it.at > cast.now) problems.push(`${key} is from ${it.at}, which is in the future`);
  if (Object.keys(drafts).length > limits.drafts)
    problems.push(`${Object.keys(drafts).length} drafts are more than ${limits.drafts}`);
  return problems;
}

export function compareWithCast({ user, addresses }: EmailState, cast: SharedCast): string[] {
  const crmContacts = new Map(
    [
      ...cast.staff,
      ...cast.friends,
      ...[...cast.clients, ...cast.prospects].flatMap(it => it.contacts),
    ].map(it => [it.name, it.email]),
  );
  const problems = Object.values(addresses).flatMap(it =>
    crmContacts.has(it.name) && crmContacts.get(it.name) !== it.email
      ? [`${it.name} has the address ${it.email}, not ${crmContacts.get(it.name)!}`]
      : [],
  );
  return addresses[user]!.email === cast.user.email
    ? problems
    : [...problems, `the user is ${addresses[user]!.name}, not ${cast.user.name}`];
}

/** Contacts of clients are in the CRM, and mail to those who have left bounces. */
export function compareWithCrm(
  { addresses }: EmailState,
  states: GeneratedStates,
  cast: SharedCast,
): string[] {
  const crm = states.get("crm") as
    { contacts: Record<string, { email: string; status: string }> } | undefined;
  if (!crm) return [];
  const contacts = new Map(Object.values(crm.contacts).map(it => [it.email, it.status]));
  const clients = new Set(cast.clients.flatMap(it => it.contacts).map(it => it.email));
  return Object.values(addresses).flatMap(it => {
    const status = contacts.get(it.email);
    if (clients.has(it.email) && status === undefined)
      return [`${it.name} <${it.email}> is not a contact in the CRM`];
    return status !== undefined && (status === "left") !== (it.bounces !== undefined)
      ? [
          `${it.name} is ${status} in the CRM, but mail to them ${it.bounces ? "bounces" : "arrives"}`,
        ]
      : [];
  });
}
