/** Builds stores, items, reservations and shipments of a generated retail chain. */
import { addDays } from "../../environment/time.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { branches, gear } from "./generateValues.ts";
import { lapses, type RetailChainWorld } from "./server.ts";

export type Chain = RetailChainWorld;

type Store = Chain["stores"][string];

/**
 * Of the home city's stores: by which place's street, house number, metres north and east of the
 * centre.
 */
const atHome = [
  ["books", 47, -90, 320],
  ["optician", 14, 65, 10],
  ["printer", 71, -690, -380],
] as const;

const kilometre = 0.00898;

/** Puts up the chain row by row; stores and items are found by name. */
export class ChainBuilder {
  readonly context: GeneratorContext;
  readonly state: Chain;
  readonly #stores = new Map<string, string>();
  readonly #items = new Map<string, string>();
  #number = 20_400;

  constructor(context: GeneratorContext) {
    const isFull = context.size === "full";
    this.context = context;
    this.state = {
      name: context.cast.clients[1]!.legalName,
      user: { name: context.cast.user.name, looks_after: [] },
      terms: {
        hold_days: 2,
        most_reservations: isFull ? 9 : 3,
        most_units: 4,
        shelf_space: isFull ? 60 : 40,
      },
      stores: {},
      items: {},
      stock: {},
      reservations: {},
      shipments: {},
    };
    for (const [name, brand, category, price] of gear.slice(0, isFull ? gear.length : 8)) {
      const key = context.nextId("itm");
      this.#items.set(name, key);
      this.state.items[key] = { name, brand, category, price };
    }
  }

  get today(): string {
    return this.context.cast.now.slice(0, 10);
  }

  /** Stores of the home city are called by their street, others by city and quarter. */
  open(): void {
    const { cast, size } = this.context;
    for (const [i, [role, house, north, east]] of atHome.entries()) {
      const street = cast.getPlace(role).address.split(",")[0]!.replace(/^\d+ /, "");
      this.#put(
        street,
        cast.home,
        `${house} ${street}, ${cast.home.name}`,
        north / 1000,
        east / 1000,
        { closed_on: ["sunday"] },
      );
      if (i < 2) this.state.user.looks_after.push(this.#stores.get(street)!);
    }
    for (const [i, [name, quarter, address, north, east]] of branches
      .slice(0, size === "full" ? branches.length : 3)
      .entries()) {
      const city = cast.cities.find(it => it.name === name)!;
      const quirks: Partial<Store> = {
        closed_on: i % 3 === 0 ? ["sunday", "monday"] : i % 5 === 1 ? [] : ["sunday"],
        ...(i % 4 === 1 ? { pickup: false } : {}),
        ...(i % 6 === 2 ? { reopens: addDays(this.today, 12 + i) } : {}),
        ...(i % 4 === 3 ? { opens: "10:00", closes: "19:00" } : {}),
      };
      this.#put(`${name} ${quarter}`, city, `${address}, ${name}`, north, east, quirks);
    }
    if (size === "full")
      this.state.user.looks_after.push(this.store("Porto Baixa"), this.store("Hamburg Ottensen"));
  }

  #put(
    name: string,
    city: SharedCast["home"],
    address: string,
    north: number,
    east: number,
    quirks: Partial<Store>,
  ): void {
    const key = this.context.nextId("sto");
    this.#stores.set(name, key);
    const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
    const east1 = kilometre / Math.cos((city.latitude * Math.PI) / 180);
    this.state.stores[key] = {
      name,
      city: city.name,
      address,
      latitude: round(city.latitude + north * kilometre),
      longitude: round(city.longitude + east * east1),
      phone: `+34 600 02 ${String(Math.floor(this.#stores.size / 10)).padStart(2, "0")} ${this.#stores.size % 10}0`,
      opens: "09:00",
      closes: "20:00",
      closed_on: [],
      pickup: true,
      ...quirks,
    };
    this.state.stock[key] = {};
  }

  store = (name: string): string => this.#stores.get(name)!;
  item = (name: string): string => this.#items.get(name)!;
  /** The stores in the order in which they were put up. */
  get keys(): string[] {
    return [...this.#stores.values()];
  }

  lay(store: string, item: string, n: number): void {
    this.state.stock[store]![item] = n;
  }

  reserve(
    item: string,
    store: string,
    quantity: number,
    daysAgo: number,
    status: "held" | "collected" | "cancelled",
  ): void {
    const made = `${addDays(this.today, -daysAgo)}T${daysAgo === 0 ? "08" : "16"}:${String(5 + ((quantity * 13 + daysAgo * 7) % 50)).padStart(2, "0")}`;
    this.state.reservations[this.context.nextId("res")] = {
      item_id: item,
      store_id: store,
      quantity,
      made,
      until: lapses(this.state.stores[store]!, made, this.state.terms.hold_days),
      status,
    };
  }

  /** Expected so many days from today; earlier ones may have been taken in. */
  ship(
    store: string,
    sender: string,
    days: number,
    lines: Readonly<Record<string, number>>,
    isReceived = false,
  ): void {
    const expected = addDays(this.today, days);
    this.#number += 1 + (this.#number % 3);
    this.state.shipments[this.context.nextId("shp")] = {
      number: this.#number,
      store_id: store,
      sender,
      expected,
      ...(isReceived ? { received: `${expected}T10:${10 + (this.#number % 50)}` } : {}),
      lines: { ...lines },
    };
  }
}
