/**
 * The mailbox's part of a world: the threads that are told of roles, with the canon's people in
 * them, on days before its now.
 */
import { server, type Mailbox } from "./server.ts";
import { folders } from "./state.ts";
import type { SharedCast } from "../shared/cast.ts";
import { dayAfterStart } from "../shared/startTime.ts";
import {
  firstThreads,
  moreThreads,
  ownLabels,
  senders,
  toldDrafts,
  type Told,
} from "./generateThreads.ts";
import {
  defineGenerator,
  type GeneratorContext,
  type GeneratedStates,
} from "../shared/generator.ts";

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
function writerOf(cast: SharedCast, role: string): Writer {
  const place = /^place:(\w+)$/.exec(role);
  if (place) {
    const { name } = cast.getPlace(place[1]!);
    return { name, email: `office@${slug(name)}.example`, called: name, firm: name };
  }
  const [, kind, number, which] = /^([a-z]+)(\d*)([ab]?)$/.exec(role)!;
  const n = Number(number);
  const firm =
    kind === "client" ? cast.clients[n] : kind === "prospect" ? cast.prospects[n] : undefined;
  const person =
    firm?.contacts[which === "b" ? 1 : 0] ??
    (kind === "staff" ? cast.staff[n] : kind === "friend" ? cast.friends[n] : undefined);
  if (person)
    return {
      name: person.name,
      email: person.email,
      called: person.firstName,
      firm: firm?.name ?? cast.studio.name,
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
  cast: SharedCast,
  { called, firm }: Pick<Writer, "called" | "firm">,
): string {
  return text.replaceAll(/\{([\w:]+)\}/g, (_, slot: string) => {
    if (slot === "they") return called;
    if (slot === "firm") return firm;
    if (slot === "me") return cast.user.firstName;
    if (slot.startsWith("email:")) return writerOf(cast, slot.slice("email:".length)).email;
    if (/^client\d$/.test(slot)) return cast.clients[Number(slot.at(-1))]!.name;
    return writerOf(cast, slot).called;
  });
}

function generate({ cast, random, size, nextId }: GeneratorContext): Mailbox {
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
    const { name, email: mail, isDeaf, isGone } = writerOf(cast, role);
    const key = nextId("adr");
    ids.set(role, key);
    mailbox.addresses[key] = {
      name,
      email: mail,
      ...(isGone ? { bounces: `${dayAfterStart(-17)}T08:00` } : {}),
      ...(isDeaf ? { no_reply: true as const } : {}),
    };
    return key;
  };
  mailbox.user = address("staff0");
  const labels = new Map<string, string>();
  for (const name of [...folders, ...ownLabels.slice(0, isFull ? ownLabels.length : 5)]) {
    const key = nextId("lab");
    labels.set(name, key);
    mailbox.labels[key] = { name, kind: labels.size <= folders.length ? "system" : "own" };
  }
  /** When a message of that day came; none today is later than now. */
  const timeOn = (days: number) =>
    `${dayAfterStart(-days)}T${String(days === 0 ? 7 + random.integer(2) : 8 + random.integer(11)).padStart(2, "0")}:${String(5 * random.integer(12)).padStart(2, "0")}`;

  const write = (it: Told): void => {
    const writer = writerOf(cast, it.with);
    const thread = nextId("thr");
    mailbox.threads[thread] = {
      subject: told(it.subject, cast, writer),
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
      mailbox.messages[nextId("msg")] = {
        thread_id: thread,
        from,
        to: [to],
        ...(cc.length ? { cc } : {}),
        at: times[i]!,
        text: told(text!, cast, writer),
        ...(files ? { attachments: files.split(", ") } : {}),
        ...(it.unread && i === it.lines.length - 1 ? { unread: true as const } : {}),
      };
    }
  };
  for (const it of firstThreads) write(it);
  if (isFull) {
    for (const it of random.shuffle(moreThreads)) write(it);
    for (const [i] of cast.staff.entries()) address(`staff${i}`);
    for (const [i] of cast.friends.entries()) address(`friend${i}`);
    for (const [i] of cast.prospects.entries()) address(`prospect${i}`);
  }
  for (const [i] of cast.clients.entries())
    for (const which of ["a", "b"]) address(`client${i}${which}`);
  for (const { subject, to, text, days, attachments } of toldDrafts.slice(
    0,
    isFull ? toldDrafts.length : 2,
  ))
    mailbox.drafts[nextId("drf")] = {
      to: to.map(address),
      subject,
      text,
      ...(attachments ? { attachments: [...attachments] } : {}),
      saved: timeOn(days),
    };
  return mailbox;
}

export const generator = defineGenerator<Mailbox>({
  server,
  generate,
  findInconsistencies: (state, states, cast) => [
    ...within(state, cast),
    ...withCanon(state, cast),
    ...withCrm(state, states, cast),
  ],
});

function within(
  { threads, messages, drafts, addresses, limits }: Mailbox,
  cast: SharedCast,
): string[] {
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
    if (it.at > cast.now) wrong.push(`${key} is from ${it.at}, which is to come`);
  if (Object.keys(drafts).length > limits.drafts)
    wrong.push(`${Object.keys(drafts).length} drafts are more than ${limits.drafts}`);
  return wrong;
}

function withCanon({ user, addresses }: Mailbox, cast: SharedCast): string[] {
  const known = new Map(
    [
      ...cast.staff,
      ...cast.friends,
      ...[...cast.clients, ...cast.prospects].flatMap(it => it.contacts),
    ].map(it => [it.name, it.email]),
  );
  const wrong = Object.values(addresses).flatMap(it =>
    known.has(it.name) && known.get(it.name) !== it.email
      ? [`${it.name} has the address ${it.email}, not ${known.get(it.name)!}`]
      : [],
  );
  return addresses[user]!.email === cast.user.email
    ? wrong
    : [...wrong, `the user is ${addresses[user]!.name}, not ${cast.user.name}`];
}

/** Clients' people who write are contacts of the CRM; mail to those who have left comes back. */
function withCrm({ addresses }: Mailbox, states: GeneratedStates, cast: SharedCast): string[] {
  const crm = states.get("crm") as
    { contacts: Record<string, { email: string; status: string }> } | undefined;
  if (!crm) return [];
  const contacts = new Map(Object.values(crm.contacts).map(it => [it.email, it.status]));
  const clients = new Set(cast.clients.flatMap(it => it.contacts).map(it => it.email));
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
