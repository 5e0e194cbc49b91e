/**
 * The mailbox's part of a world: the threads that are told of roles, with the canon's people in
 * them, on days before its now. Knows which addresses there are.
 */
import { email, type Mailbox } from "./server.ts";
import { folders } from "./state.ts";
import type { Canon } from "../shared/cast.ts";
import { dayFrom } from "../shared/dates.ts";
import {
  firstThreads,
  moreThreads,
  ownLabels,
  senders,
  toldDrafts,
  type Told,
} from "./generateThreads.ts";
import { partOf, type Scene, type World } from "../shared/generator.ts";

interface Writer {
  readonly name: string;
  readonly email: string;
  /** How letters speak of them. */
  readonly called: string;
  readonly firm: string;
  readonly isDeaf?: boolean;
  readonly isGone?: boolean;
}

/** Whose mail comes back: the CRM's second contact of the second client has left. */
const gone = "client1b";

/** Whoever has that role. */
function writerOf(canon: Canon, role: string): Writer {
  const place = /^place:(\w+)$/.exec(role);
  if (place) {
    const { name } = canon.place(place[1]!);
    return { name, email: `office@${slug(name)}.example`, called: name, firm: name };
  }
  const [, kind, number, which] = /^([a-z]+)(\d*)([ab]?)$/.exec(role)!;
  const n = Number(number);
  const firm =
    kind === "client" ? canon.clients[n] : kind === "prospect" ? canon.prospects[n] : undefined;
  const person =
    firm?.contacts[which === "b" ? 1 : 0] ??
    (kind === "staff" ? canon.staff[n] : kind === "friend" ? canon.friends[n] : undefined);
  if (person)
    return {
      name: person.name,
      email: person.email,
      called: person.first,
      firm: firm?.name ?? canon.studio.name,
      isGone: role === gone,
    };
  const sender = senders[role]!;
  return { ...sender, called: sender.name, firm: sender.name };
}

const slug = (name: string) =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");

/** A told text with the names of this world. */
function told(
  text: string,
  canon: Canon,
  { called, firm }: Pick<Writer, "called" | "firm">,
): string {
  return text.replaceAll(/\{([\w:]+)\}/g, (_, slot: string) => {
    if (slot === "they") return called;
    if (slot === "firm") return firm;
    if (slot === "me") return canon.user.first;
    if (slot.startsWith("email:")) return writerOf(canon, slot.slice("email:".length)).email;
    if (/^client\d$/.test(slot)) return canon.clients[Number(slot.at(-1))]!.name;
    return writerOf(canon, slot).called;
  });
}

function make({ canon, random, size, id }: Scene): Mailbox {
  const isFull = size === "full";
  const mailbox: Mailbox = {
    user: "",
    limits: isFull
      ? { daily: 20, recipients: 12, drafts: 12 }
      : { daily: 4, recipients: 4, drafts: 3 },
    addresses: {},
    labels: {},
    threads: {},
    messages: {},
    drafts: {},
  };
  const ids = new Map<string, string>();
  const address = (role: string): string => {
    const known = ids.get(role);
    if (known) return known;
    const { name, email: mail, isDeaf, isGone } = writerOf(canon, role);
    const key = id("adr");
    ids.set(role, key);
    mailbox.addresses[key] = {
      name,
      email: mail,
      ...(isGone ? { bounces: `${dayFrom(-17)}T08:00` } : {}),
      ...(isDeaf ? { no_reply: true as const } : {}),
    };
    return key;
  };
  mailbox.user = address("staff0");
  const labels = new Map<string, string>();
  for (const name of [...folders, ...ownLabels.slice(0, isFull ? ownLabels.length : 5)]) {
    const key = id("lab");
    labels.set(name, key);
    mailbox.labels[key] = { name, kind: labels.size <= folders.length ? "system" : "own" };
  }
  /** When a message of that day came; none today is later than now. */
  const timeOn = (days: number) =>
    `${dayFrom(-days)}T${String(days === 0 ? 7 + random.integer(2) : 8 + random.integer(11)).padStart(2, "0")}:${String(5 * random.integer(12)).padStart(2, "0")}`;

  const write = (it: Told): void => {
    const writer = writerOf(canon, it.with);
    const thread = id("thr");
    mailbox.threads[thread] = {
      subject: told(it.subject, canon, writer),
      folder: it.folder ?? "Inbox",
      labels: (it.labels ?? []).map(name => labels.get(name)!),
    };
    const times: string[] = [];
    let { days } = it;
    for (const _ of it.lines) {
      times.unshift(timeOn(days));
      days += 1 + random.integer(2);
    }
    for (const [i, line] of it.lines.entries()) {
      const [, mark, text, files] = /^([<>]) (.*?)(?: \[([^\]]+)\])?$/.exec(line)!;
      const [from, to] =
        mark === ">" ? [mailbox.user, address(it.with)] : [address(it.with), mailbox.user];
      const cc = (it.cc ?? []).map(address);
      mailbox.messages[id("msg")] = {
        thread_id: thread,
        from,
        to: [to],
        ...(cc.length ? { cc } : {}),
        at: times[i]!,
        text: told(text!, canon, writer),
        ...(files ? { attachments: files.split(", ") } : {}),
        ...(it.unread && i === it.lines.length - 1 ? { unread: true as const } : {}),
      };
    }
  };
  for (const it of firstThreads) write(it);
  if (isFull) {
    for (const it of random.shuffle(moreThreads)) write(it);
    for (const [i] of canon.staff.entries()) address(`staff${i}`);
    for (const [i] of canon.friends.entries()) address(`friend${i}`);
    for (const [i] of canon.prospects.entries()) address(`prospect${i}`);
  }
  for (const [i] of canon.clients.entries())
    for (const which of ["a", "b"]) address(`client${i}${which}`);
  for (const { subject, to, text, days, attachments } of toldDrafts.slice(
    0,
    isFull ? toldDrafts.length : 2,
  ))
    mailbox.drafts[id("drf")] = {
      to: to.map(address),
      subject,
      text,
      ...(attachments ? { attachments: [...attachments] } : {}),
      saved: timeOn(days),
    };
  return mailbox;
}

export const emailPart = partOf<Mailbox>({
  server: email,
  make,
  disagreements: (state, world, canon) => [
    ...within(state, canon),
    ...withCanon(state, canon),
    ...withCrm(state, world, canon),
  ],
});

function within({ threads, messages, drafts, addresses, limits }: Mailbox, canon: Canon): string[] {
  const wrong: string[] = [];
  const subjects = Object.values(threads).map(it => it.subject.toLowerCase());
  for (const it of new Set(subjects.filter((subject, i) => subjects.indexOf(subject) < i)))
    wrong.push(`two threads are called ${it}`);
  const emails = Object.values(addresses).map(it => it.email);
  if (
    new Set(emails).size < emails.length ||
    new Set(Object.values(addresses).map(it => it.name)).size < emails.length
  )
    wrong.push("two addresses are alike");
  for (const key of Object.keys(threads))
    if (Object.values(messages).every(it => it.thread_id !== key))
      wrong.push(`${key} has no messages`);
  for (const [key, it] of Object.entries(messages))
    if (it.at > canon.now) wrong.push(`${key} is from ${it.at}, which is to come`);
  if (Object.keys(drafts).length > limits.drafts)
    wrong.push(`${Object.keys(drafts).length} drafts are more than ${limits.drafts}`);
  return wrong;
}

function withCanon({ user, addresses }: Mailbox, canon: Canon): string[] {
  const known = new Map(
    [
      ...canon.staff,
      ...canon.friends,
      ...[...canon.clients, ...canon.prospects].flatMap(it => it.contacts),
    ].map(it => [it.name, it.email]),
  );
  const wrong = Object.values(addresses).flatMap(it =>
    known.has(it.name) && known.get(it.name) !== it.email
      ? [`${it.name} has the address ${it.email}, not ${known.get(it.name)!}`]
      : [],
  );
  return addresses[user]!.email === canon.user.email
    ? wrong
    : [...wrong, `the user is ${addresses[user]!.name}, not ${canon.user.name}`];
}

/** Clients' people who write are contacts of the CRM; mail to those who have left comes back. */
function withCrm({ addresses }: Mailbox, world: World, canon: Canon): string[] {
  const crm = world.get("crm") as
    { contacts: Record<string, { email: string; status: string }> } | undefined;
  if (!crm) return [];
  const contacts = new Map(Object.values(crm.contacts).map(it => [it.email, it.status]));
  const clients = new Set(canon.clients.flatMap(it => it.contacts).map(it => it.email));
  return Object.values(addresses).flatMap(it => {
    const status = contacts.get(it.email);
    if (clients.has(it.email) && status === undefined)
      return [`${it.name} <${it.email}> is no contact of the CRM`];
    return status !== undefined && (status === "left") !== (it.bounces !== undefined)
      ? [
          `${it.name} is ${status} in the CRM, and mail to them ${it.bounces ? "comes back" : "arrives"}`,
        ]
      : [];
  });
}
