/**
 * The three servers whose fixtures are written by hand: in other worlds they tell the same of other
 * people. Knows what in them is about people, and no more.
 */
import { variantOf } from "../../environment/variant.ts";
import { fixtureFormat } from "../../environment/fixture.ts";
import { banking } from "../banking/server.ts";
import { calendar } from "../calendar/server.ts";
import { filesystem } from "../filesystem/server.ts";
import type { Server } from "../../environment/server.ts";
import { canonOf, shippedSeed, type Canon } from "./cast.ts";
import type { Part } from "./generator.ts";
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

const handWritten = (server: Server, disagreements: Part["disagreements"]): Part => ({
  server,
  make({ canon, shipped }) {
    const state = shipped(server.name);
    if (canon.seed === shippedSeed) return state;
    const told = recast(state, canonOf(shippedSeed), canon);
    return variantOf(
      { format: fixtureFormat, server: server.name, name: "full", now: canon.now, state: told },
      canon.seed,
    ).state;
  },
  disagreements,
});

const namesOf = (canon: Canon) => new Set(canon.staff.map(it => it.name));

export const handWrittenParts: readonly Part[] = [
  handWritten(banking, (world, canon) => {
    const { customer } = world.get("banking") as unknown as Bank;
    return customer === canon.user.name
      ? []
      : [`the customer ${customer} is not ${canon.user.name}`];
  }),
  handWritten(calendar, (world, canon) => {
    const { people } = world.get("calendar") as unknown as Diary;
    const emails = new Map(canon.staff.map(it => [it.name, it.email]));
    return Object.values(people).flatMap(it =>
      emails.get(it.name) === it.email ? [] : [`${it.name} <${it.email}> is not of the studio`],
    );
  }),
  handWritten(filesystem, (world, canon) => {
    const { users } = world.get("filesystem") as unknown as Disk;
    const names = namesOf(canon).add("System");
    return Object.values(users).flatMap(it =>
      names.has(it.name) ? [] : [`the user ${it.name} is not of the studio`],
    );
  }),
];
