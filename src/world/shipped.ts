/** The three servers whose fixtures are written by hand: in other worlds they tell the same of other people. Knows what in them is about people, and no more. */
import { variantOf } from "../environment/variant.ts";
import { fixtureFormat } from "../environment/fixture.ts";
import { banking } from "../servers/banking.ts";
import { calendar } from "../servers/calendar/calendar.ts";
import { filesystem } from "../servers/filesystem/server.ts";
import type { Server } from "../environment/server.ts";
import { canonOf, shippedSeed, type Canon } from "./canon.ts";
import { partOf, type Part } from "./part.ts";
import { recast } from "./recast.ts";

interface Bank {
  readonly customer: string;
}
interface Diary {
  readonly user: string;
  readonly people: Readonly<Record<string, { readonly name: string; readonly email: string }>>;
}
interface Disk {
  readonly users: Readonly<Record<string, { readonly name: string }>>;
}

const handWritten = <State extends object>(server: Server, disagreements: (state: State, canon: Canon) => string[]): Part => partOf<State>({
  server,
  make({ canon, shipped }) {
    const state = shipped(server.name);
    if (canon.seed === shippedSeed) return state as unknown as State;
    const told = recast(state, canonOf(shippedSeed), canon);
    return variantOf({ format: fixtureFormat, server: server.name, name: "full", now: canon.now, state: told }, canon.seed).state as unknown as State;
  },
  disagreements: (state, _world, canon) => disagreements(state, canon),
});

const named = (canon: Canon) => new Set(canon.staff.map(it => it.name));

export const handWrittenParts: readonly Part[] = [
  handWritten<Bank>(banking, ({ customer }, canon) => (customer === canon.user.name ? [] : [`the customer ${customer} is not ${canon.user.name}`])),
  handWritten<Diary>(calendar, ({ people }, canon) => {
    const emails = new Map(canon.staff.map(it => [it.name, it.email]));
    return Object.values(people).flatMap(it => (emails.get(it.name) === it.email ? [] : [`${it.name} <${it.email}> is not of the studio`]));
  }),
  handWritten<Disk>(filesystem, ({ users }, canon) =>
    Object.values(users).flatMap(it => (it.name === "System" || named(canon).has(it.name) ? [] : [`the user ${it.name} is not of the studio`])),
  ),
];
