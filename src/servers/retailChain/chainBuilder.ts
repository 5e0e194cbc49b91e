/** Builds stores, items, reservations and shipments of a generated retail chain. */
import { addDays } from "../../environment/time.ts";
import type { SharedCast } from "../shared/cast.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import { branchPlans, itemPlans } from "./generateValues.ts";
import { computeReservationEnd, type RetailChainState } from "./state.ts";

type Store = RetailChainState["stores"][string];

/**
 * The stores of the home city: the role of a place on their street, house number, metres north and
 * east of the centre.
 */
const homeStores = [
  ["books", 47, -90, 320],
  ["optician", 14, 65, 10],
  ["printer", 71, -690, -380],
] as const;

const degreesPerKilometer = 0.00898;

/** Builds the state row by row. */
export class RetailChainBuilder {
  readonly context: GeneratorContext;
  readonly state: RetailChainState;
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
    for (const [name, brand, category, price] of itemPlans.slice(
      0,
      isFull ? itemPlans.length : 8,
    )) {
      const key = context.nextId("itm");
      this.#items.set(name, key);
      this.state.items[key] = { name, brand, category, price };
    }
  }

  get today(): string {
    return this.context.cast.now.slice(0, 10);
  }

  /**
   * Adds the stores. Those of the home city are named after their street, others after city and
   * quarter.
   */
  addStores(): void {
    const { cast, size } = this.context;
    for (const [i, [role, house, north, east]] of homeStores.entries()) {
      const street = cast.getPlace(role).address.split(",")[0]!.replace(/^\d+ /, "");
      this.#addStore(
        street,
        cast.home,
        `${house} ${street}, ${cast.home.name}`,
        north / 1000,
        east / 1000,
        { closed_on: ["sunday"] },
      );
      if (i < 2) this.state.user.looks_after.push(this.#stores.get(street)!);
    }
    for (const [i, [name, quarter, address, north, east]] of branchPlans
      .slice(0, size === "full" ? branchPlans.length : 3)
      .entries()) {
      const city = cast.cities.find(it => it.name === name)!;
      const overrides: Partial<Store> = {
        closed_on: i % 3 === 0 ? ["sunday", "monday"] : i % 5 === 1 ? [] : ["sunday"],
        ...(i % 4 === 1 ? { pickup: false } : {}),
        ...(i % 6 === 2 ? { reopens: addDays(this.today, 12 + i) } : {}),
        ...(i % 4 === 3 ? { opens: "10:00", closes: "19:00" } : {}),
      };
      this.#addStore(`${name} ${quarter}`, city, `${address}, ${name}`, north, east, overrides);
    }
    if (size === "full")
      this.state.user.looks_after.push(
        this.getStoreId("Porto Baixa"),
        this.getStoreId("Hamburg Ottensen"),
      );
  }

  #addStore(
    name: string,
    city: SharedCast["home"],
    address: string,
    north: number,
    east: number,
    overrides: Partial<Store>,
  ): void {
    const key = this.context.nextId("sto");
    this.#stores.set(name, key);
    const round = (degrees: number) => Math.round(degrees * 1e5) / 1e5;
    const degreesEastPerKilometer = degreesPerKilometer / Math.cos((city.latitude * Math.PI) / 180);
    this.state.stores[key] = {
      name,
      city: city.name,
      address,
      latitude: round(city.latitude + north * degreesPerKilometer),
      longitude: round(city.longitude + east * degreesEastPerKilometer),
      phone: `+34 600 02 ${String(Math.floor(this.#stores.size / 10)).padStart(2, "0")} ${this.#stores.size % 10}0`,
      opens: "09:00",
      closes: "20:00",
      closed_on: [],
      pickup: true,
      ...overrides,
    };
    this.state.stock[key] = {};
  }

  getStoreId = (name: string): string => this.#stores.get(name)!;
  getItemId = (name: string): string => this.#items.get(name)!;
  /** The ids of the stores, in the order in which they were added. */
  get storeIds(): string[] {
    return [...this.#stores.values()];
  }

  setStock(store: string, item: string, n: number): void {
    this.state.stock[store]![item] = n;
  }

  addReservation(
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
      until: computeReservationEnd(this.state.stores[store]!, made, this.state.terms.hold_days),
      status,
    };
  }

  /** Adds a shipment that is expected `days` from today. */
  addShipment(
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
