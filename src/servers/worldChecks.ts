/**
 * Checks the fixtures of one world against each other: all servers have the same user, people,
 * companies, places and events. What holds within one server is in its schema and its rules.
 */
import { z } from "zod";
import type { Fixture } from "../environment/fixture.ts";
import type { BankingState } from "./banking/state.ts";
import type { Budget } from "./budget/state.ts";
import { findCurrentOccurrence } from "./calendar/eventRules.ts";
import { formatMinute, listAllOccurrences } from "./calendar/recurrence.ts";
import type { CalendarState } from "./calendar/state.ts";
import type { Crm } from "./crm/state.ts";
import type { EmailState } from "./email/state.ts";
import type { FilesystemState } from "./filesystem/state.ts";
import type { Deliveries } from "./foodDelivery/state.ts";
import type { Home } from "./iotDevices/state.ts";
import type { IssueTrackerState } from "./issueTracker/state.ts";
import type { MapsState } from "./maps/state.ts";
import type { MarketplaceState } from "./marketplace/state.ts";
import { computeTotal, type PaymentsState } from "./payments/state.ts";
import type { RetailChainState } from "./retailChain/state.ts";
import type { ShoppingState } from "./shopping/state.ts";
import type { SocialMediaState } from "./socialMedia/state.ts";
import type { TeamChatState } from "./teamChat/state.ts";
import type { TravelBookingState } from "./travelBooking/state.ts";
import type { VehicleState } from "./vehicle/state.ts";
import type { VideoMeetingState } from "./videoMeeting/state.ts";

const Person = z.strictObject({ name: z.string(), email: z.email(), phone: z.string() });
const Company = z.strictObject({
  name: z.string(),
  /** With what follows the name: "Northwind Insurance". */
  legalName: z.string(),
  contacts: z.array(Person),
});
const position = { latitude: z.number(), longitude: z.number() };

/** Who and what all servers of the shipped fixtures share: resources/servers/cast.json. */
export const Cast = z.strictObject({
  format: z.literal("prove/cast@1"),
  /** The name of the person for whom the agent works, who is one of the staff. */
  user: z.string(),
  staff: z.array(Person),
  friends: z.array(Person),
  clients: z.array(Company),
  prospects: z.array(Company),
  /** People whom only the social network knows. */
  creators: z.array(z.string()),
  cities: z.array(
    z.strictObject({ name: z.string(), country: z.string(), airport: z.string(), ...position }),
  ),
  /** Places in the home city, with their roles, such as `home` and `studio`. */
  places: z.array(
    z.strictObject({
      role: z.string(),
      name: z.string(),
      category: z.string(),
      address: z.string(),
      ...position,
    }),
  ),
});
export type Cast = z.infer<typeof Cast>;

/** The states of all servers of a world. */
interface States {
  readonly banking: BankingState;
  readonly budget: Budget;
  readonly calendar: CalendarState;
  readonly crm: Crm;
  readonly email: EmailState;
  readonly filesystem: FilesystemState;
  readonly food_delivery: Deliveries;
  readonly iot_devices: Home;
  readonly issue_tracker: IssueTrackerState;
  readonly maps: MapsState;
  readonly marketplace: MarketplaceState;
  readonly payments: PaymentsState;
  readonly retail_chain: RetailChainState;
  readonly shopping: ShoppingState;
  readonly social_media: SocialMediaState;
  readonly team_chat: TeamChatState;
  readonly travel_booking: TravelBookingState;
  readonly vehicle: VehicleState;
  readonly video_meeting: VideoMeetingState;
}

type Check = (states: States, cast: Cast, now: string) => Iterable<string>;

const checks: Readonly<Partial<Record<keyof States, readonly Check[]>>> = {
  banking: [({ banking }, cast) => checkUser(banking.customer, cast)],
  budget: [({ budget }, cast) => checkUser(budget.owner, cast), checkLedger],
  calendar: [({ calendar }, cast) => checkPeople(Object.values(calendar.people), cast.staff)],
  crm: [
    ({ crm }, cast) => checkUser(crm.users[crm.user]?.name, cast),
    ({ crm }, cast) => checkPeople(Object.values(crm.users), cast.staff),
    checkClients,
  ],
  email: [
    ({ email }, cast) => checkUser(email.addresses[email.user]?.name, cast),
    checkCorrespondents,
  ],
  filesystem: [
    ({ filesystem }, { staff }) =>
      listStrangers(
        Object.values(filesystem.users).map(it => it.name),
        [...staff.map(it => it.name), "System"],
      ),
  ],
  food_delivery: [
    ({ food_delivery }, cast) => checkUser(food_delivery.customer, cast),
    checkRestaurants,
  ],
  iot_devices: [
    ({ iot_devices }, cast) => checkUser(iot_devices.owner, cast),
    ({ iot_devices }, cast) => checkAddress(iot_devices.address, "home", cast),
  ],
  issue_tracker: [
    ({ issue_tracker: { users, user } }, cast) => checkUser(users[user]?.name, cast),
    ({ issue_tracker }, cast) => checkPeople(Object.values(issue_tracker.users), cast.staff),
  ],
  maps: [({ maps }, cast) => checkUser(maps.user, cast), checkMap],
  marketplace: [
    ({ marketplace: { members, customer } }, cast) => checkUser(members[customer]?.name, cast),
  ],
  payments: [checkCustomers, checkWrittenInvoices],
  retail_chain: [({ retail_chain }, cast) => checkUser(retail_chain.user.name, cast), checkStores],
  shopping: [
    ({ shopping }, cast) => checkUser(shopping.customer, cast),
    ({ shopping }, cast) => checkAddress(shopping.address, "home", cast),
  ],
  social_media: [
    ({ social_media: { profiles, user } }, cast) => checkUser(profiles[user]?.name, cast),
    checkProfiles,
  ],
  team_chat: [
    ({ team_chat: { members, user } }, cast) => checkUser(members[user]?.name, cast),
    ({ team_chat }, { staff, clients }) =>
      checkPeople(
        Object.values(team_chat.members).filter(it => it.status !== "deactivated"),
        [...staff, ...clients.flatMap(it => it.contacts)],
      ),
  ],
  travel_booking: [
    ({ travel_booking }, cast) => checkUser(travel_booking.customer, cast),
    checkAirportsAndHotels,
  ],
  vehicle: [({ vehicle }, cast) => checkUser(vehicle.user, cast), checkDestinations],
  video_meeting: [
    ({ video_meeting: { people, user } }, cast) => checkUser(people[user]?.name, cast),
    ({ video_meeting }, cast) =>
      checkPeople(Object.values(video_meeting.people), [...cast.staff, ...listContacts(cast)]),
    checkVideoCalls,
  ],
};

/**
 * Describes, in one line each, where the fixtures of a world disagree, such as
 * `crm: Northwind is no client`. `fixtures` has one of every server, by its name.
 */
export function findDisagreements(fixtures: ReadonlyMap<string, Fixture>, cast: Cast): string[] {
  const entries = [...fixtures].map(([server, it]) => [server, it.state]);
  const states = Object.fromEntries(entries) as unknown as States;
  const { now } = fixtures.get("calendar")!;
  return Object.entries(checks).flatMap(([server, of]) =>
    of.flatMap(check => [...check(states, cast, now)].map(it => `${server}: ${it}`)),
  );
}

const listContacts = ({ clients, prospects }: Cast) =>
  [...clients, ...prospects].flatMap(it => it.contacts);

function* checkUser(name: string | undefined, { user }: Cast): Generator<string> {
  if (name !== user) yield `the user is ${name ?? "unknown"}, not ${user}`;
}

function* checkAddress(address: string, role: string, { places }: Cast): Generator<string> {
  const expected = places.find(it => it.role === role)!.address;
  if (address !== expected) yield `the address is ${address}, not ${expected}`;
}

/** All people are known, with the same e-mail addresses. */
function* checkPeople(
  people: readonly { readonly name: string; readonly email: string }[],
  known: readonly z.infer<typeof Person>[],
): Generator<string> {
  const emails = new Map(known.map(it => [it.name, it.email]));
  for (const { name, email } of people)
    if (emails.get(name) !== email) yield `${name} <${email}> is unknown`;
}

function* listStrangers(names: readonly string[], known: Iterable<string>): Generator<string> {
  const knownNames = new Set(known);
  for (const it of names) if (!knownNames.has(it)) yield `${it} is unknown`;
}

/** Clients are clients in the CRM, with their contacts; who is billed is a contact. */
function* checkClients({ crm, payments }: States, cast: Cast): Generator<string> {
  const contacts = new Map(Object.values(crm.contacts).map(it => [it.email, it]));
  for (const { name, contacts: people } of cast.clients) {
    if (Object.values(crm.firms).every(it => it.name !== name || it.status !== "client"))
      yield `${name} is no client`;
    for (const it of people)
      if (contacts.get(it.email)?.phone !== it.phone)
        yield `${it.name} of ${name} is no contact with the phone number ${it.phone}`;
  }
  for (const { email, contact } of Object.values(payments.customers))
    if (!contacts.has(email)) yield `${contact} <${email}> is billed and no contact`;
}

/** People have one address each, and mail to those who have left their firm bounces. */
function* checkCorrespondents({ email, crm }: States, cast: Cast): Generator<string> {
  const known = [...cast.staff, ...cast.friends, ...listContacts(cast)];
  const emails = new Map(known.map(it => [it.name, it.email]));
  const statuses = new Map(Object.values(crm.contacts).map(it => [it.email, it.status]));
  const clients = new Set(cast.clients.flatMap(it => it.contacts).map(it => it.email));
  for (const it of Object.values(email.addresses)) {
    if ((emails.get(it.name) ?? it.email) !== it.email)
      yield `${it.name} has the address ${it.email}, not ${emails.get(it.name)!}`;
    const status = statuses.get(it.email);
    if (clients.has(it.email) && status === undefined)
      yield `${it.name} <${it.email}> is not a contact in the CRM`;
    if (status !== undefined && (status === "left") !== (it.bounces !== undefined))
      yield `${it.name} is ${status} in the CRM, but mail to them ${it.bounces ? "bounces" : "arrives"}`;
  }
}

/** Expenses paid through the bank, and the income, are those of the bank's ledger. */
function* checkLedger({ budget, banking }: States): Generator<string> {
  const ledger = Object.values(banking.transactions).filter(
    it => banking.accounts[it.account_id]!.access === "full",
  );
  const remaining = new Map<string, number>();
  const format = (day: string, amount: number, text: string, method: string) =>
    `${day} ${amount} ${text} by ${method}`;
  const income = new Map<string, number>();
  for (const { at, amount, text, kind } of ledger) {
    if (amount < 0 && (kind === "card" || kind === "bill")) {
      const line = format(at.slice(0, 10), -amount, text, kind);
      remaining.set(line, (remaining.get(line) ?? 0) + 1);
    }
    const isTransfer = kind === "transfer" && !text.startsWith("Transfer ");
    if (amount > 0 && (kind === "salary" || isTransfer)) {
      const month = at.slice(0, 7);
      income.set(month, Math.round(((income.get(month) ?? 0) + amount) * 100) / 100);
    }
  }
  for (const [key, { source, day, amount, text, method }] of Object.entries(budget.expenses)) {
    if (source !== "bank") continue;
    const line = format(day, amount, text, method);
    const count = remaining.get(line) ?? 0;
    if (count === 0) yield `${key} is not in the bank's ledger: ${line}`;
    remaining.set(line, count - 1);
  }
  for (const [line, count] of remaining)
    if (count > 0) yield `the bank's ledger has what the budget lacks: ${line}`;
  for (const [month, it] of Object.entries(budget.months))
    if (income.get(month) !== it.income)
      yield `${month} has an income of ${it.income}, and the bank's ledger ${income.get(month) ?? 0}`;
}

function* checkRestaurants({ food_delivery }: States, cast: Cast): Generator<string> {
  const { addresses, restaurants } = food_delivery;
  for (const role of ["home", "studio"] as const) yield* checkAddress(addresses[role], role, cast);
  const places = new Map(cast.places.map(it => [it.name, it]));
  for (const [key, { name, address }] of Object.entries(restaurants)) {
    const place = places.get(name);
    if (place?.address !== address || !["restaurant", "bakery", "cafe"].includes(place.category))
      yield `restaurant ${key} (${name}, ${address}) is not in the town`;
  }
}

/** The places of the cast are on the map where they should be. */
function* checkMap({ maps }: States, { cities, places }: Cast): Generator<string> {
  // the map of `small` has only some of the places
  if (Object.keys(maps.cities).length < cities.length) return;
  for (const { name, category, latitude, longitude } of places)
    if (
      !Object.values(maps.places).some(
        it =>
          it.name === name &&
          it.category === category &&
          it.latitude === latitude &&
          it.longitude === longitude,
      )
    )
      yield `${name} is not on the map where it should be`;
}

function* checkCustomers({ payments }: States, cast: Cast): Generator<string> {
  const companies = new Map([...cast.clients, ...cast.prospects].map(it => [it.name, it]));
  for (const [key, { name, contact, email }] of Object.entries(payments.customers)) {
    const person = companies.get(name)?.contacts.find(it => it.name === contact);
    if (person?.email !== email)
      yield `the customer ${key} (${name}, ${contact} <${email}>) is not a company with that contact`;
  }
}

/** Invoices that are text files, also in the trash, are those of the payments. */
function* checkWrittenInvoices({ payments, filesystem }: States): Generator<string> {
  for (const text of listTexts(filesystem)) {
    const heading = /^Invoice (\d+) for (.+)\n/.exec(text);
    if (!heading) continue;
    const [, number, company] = heading;
    const invoice = Object.values(payments.invoices).find(it => it.number === Number(number));
    if (!invoice) {
      yield `invoice ${number} in the file system is missing`;
      continue;
    }
    const rows = [...text.matchAll(/^(.+) (\d+)$/gm)].filter(it => it[1] !== "Total");
    const total = rows.reduce((sum, it) => sum + Number(it[2]), 0);
    const due = /^Due (\d{4}-\d\d-\d\d)$/m.exec(text)?.[1] ?? invoice.due;
    if (
      payments.customers[invoice.customer_id]?.name !== company ||
      computeTotal(invoice) !== total ||
      (invoice.status === "paid") !== /^Status: paid$/m.test(text) ||
      invoice.due !== due
    )
      yield `invoice ${number} differs from the file system`;
  }
}

function* listTexts(node: unknown): Generator<string> {
  if (node === null || typeof node !== "object") return;
  if ("text" in node && typeof node.text === "string") yield node.text;
  for (const it of Object.values(node)) yield* listTexts(it);
}

function* checkStores({ retail_chain }: States, cast: Cast): Generator<string> {
  if (retail_chain.name !== cast.clients[1]!.legalName)
    yield `${retail_chain.name} is not ${cast.clients[1]!.legalName}`;
  for (const [key, { city, address }] of Object.entries(retail_chain.stores)) {
    if (!cast.cities.some(it => it.name === city) || !address.endsWith(city))
      yield `store ${key} is at ${address}, which is in no city`;
    if (cast.places.some(it => it.address === address))
      yield `store ${key} is where another place is`;
  }
}

function checkProfiles({ social_media }: States, cast: Cast): Iterable<string> {
  const { staff, friends, clients, prospects, places, creators } = cast;
  const known = [...staff, ...friends, ...clients, ...prospects, ...places].map(it => it.name);
  const names = Object.values(social_media.profiles).map(it => it.name);
  return listStrangers(names, [...known, ...creators]);
}

function* checkAirportsAndHotels(
  { travel_booking: { airports, hotels }, maps }: States,
  { cities }: Cast,
): Generator<string> {
  const cityNames = new Map(cities.map(it => [it.airport, it.name]));
  for (const [code, { city }] of Object.entries(airports))
    if (cityNames.get(code) !== city) yield `${code} is not the airport of ${city}`;
  // the map of `small` has only some of the places
  if (Object.keys(airports).length < cities.length) return;
  const placed = new Set(Object.values(maps.places).map(it => `${it.name} ${it.address}`));
  for (const { name, address } of Object.values(hotels))
    if (!placed.has(`${name} ${address}`)) yield `${name} is not on the map`;
}

function* checkDestinations({ vehicle, maps }: States, cast: Cast): Generator<string> {
  const destinations = [
    ...cast.places,
    ...cast.cities.map(it => ({ ...it, address: `${it.name}, ${it.country}` })),
  ];
  const onMap = new Set(
    [...Object.values(maps.places), ...Object.values(maps.cities)].map(it => it.name),
  );
  const isWholeMap = Object.keys(maps.cities).length >= cast.cities.length;
  for (const { name, address, latitude, longitude } of Object.values(vehicle.places)) {
    const isPlace = (it: (typeof destinations)[number]) =>
      it.name === name &&
      it.address === address &&
      it.latitude === latitude &&
      it.longitude === longitude;
    if (!destinations.some(isPlace)) yield `${name} is not at ${address}`;
    if (isWholeMap && !onMap.has(name)) yield `${name} is not on the map`;
  }
}

/** Each video call of the calendar has a meeting; of a series, its next occurrence. */
function* checkVideoCalls(
  { video_meeting, calendar }: States,
  _cast: Cast,
  now: string,
): Generator<string> {
  const getName = (id: string) => video_meeting.people[id]?.name;
  const getInvitedName = (id: string) => calendar.people[id]!.name;
  for (const [key, event] of Object.entries(calendar.events)) {
    if (event.location !== "Video call" || !findCurrentOccurrence(event, now)) continue;
    const meeting = Object.values(video_meeting.meetings).find(it => it.event_id === key);
    if (!meeting) {
      yield `there is no meeting for ${event.title} (${key})`;
      continue;
    }
    const invited = new Set(Object.keys(meeting.participants).map(getName));
    const expected = Object.keys(event.attendees).map(getInvitedName);
    const starts = listAllOccurrences(event).map(it => formatMinute(it.start));
    if (
      meeting.topic !== event.title ||
      meeting.minutes !== event.minutes ||
      !starts.includes(meeting.start) ||
      getName(meeting.host) !== getInvitedName(event.organizer) ||
      invited.size !== expected.length ||
      expected.some(it => !invited.has(it))
    )
      yield `${meeting.topic} is not as ${key} in the calendar`;
  }
}
