/**
 * A chain of stores: what each has on its shelves, what is reserved there and what is on its way to
 * it. What can be sold is what lies there less what is reserved; a reservation lapses by the clock
 * and the store's hours.
 */
import { z } from "zod";
import { day, minute, money } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { addDays, getWeekday } from "../../environment/time.ts";

export const categories = [
  "tents",
  "clothing",
  "footwear",
  "climbing",
  "cooking",
  "packs",
  "lights",
  "water",
] as const;
export const weekdays = [
  "sunday",
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
] as const;

const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);
const count = z.int().min(0).max(9999);

const Store = z.strictObject({
  name: z.string().min(1).max(80),
  city: z.string(),
  address: z.string(),
  latitude: z.number().min(-90).max(90),
  longitude: z.number().min(-180).max(180),
  phone: z.string(),
  opens: time,
  closes: time,
  closed_on: z.array(z.enum(weekdays)).max(7),
  /** Whether it keeps things for customers. */
  pickup: z.boolean(),
  /** First day after a renovation, during which nothing is sold and nothing comes in. */
  reopens: day().optional(),
});
export type Store = z.infer<typeof Store>;

const Item = z.strictObject({
  name: z.string().min(1).max(80),
  brand: z.string(),
  category: z.enum(categories),
  price: money(),
});

const Reservation = z.strictObject({
  item_id: z.string(),
  store_id: z.string(),
  quantity: z.int().min(1).max(99),
  made: minute(),
  until: minute(),
  status: z.enum(["held", "collected", "cancelled"]),
});
export type Reservation = z.infer<typeof Reservation>;

const Shipment = z.strictObject({
  /** Of the delivery note. */
  number: z.int().min(1),
  store_id: z.string(),
  sender: z.string(),
  expected: day(),
  received: minute().optional(),
  lines: z.record(z.string(), z.int().min(1).max(999)),
});
export type Shipment = z.infer<typeof Shipment>;

export const Chain = z.strictObject({
  name: z.string(),
  /** For whom the agent works, and the stores whose shelves they look after. */
  user: z.strictObject({ name: z.string(), looks_after: z.array(z.string()).min(1).max(20) }),
  terms: z.strictObject({
    /** For how many of a store's opening days after today a reservation is kept. */
    hold_days: z.int().min(1).max(14),
    most_reservations: z.int().min(1).max(50),
    most_units: z.int().min(1).max(99),
    /** Of one item, in one store. */
    shelf_space: z.int().min(1).max(9999),
  }),
  stores: z.record(z.string(), Store),
  items: z.record(z.string(), Item),
  /** By store, then by item. What a store does not sell is not there. */
  stock: z.record(z.string(), z.record(z.string(), count)),
  reservations: z.record(z.string(), Reservation),
  shipments: z.record(z.string(), Shipment),
});
export type Chain = z.infer<typeof Chain>;

export const storeOf = (chain: Pick<Chain, "stores">, storeId: string) =>
  findEntity(chain.stores, storeId, "store", "retail_chain_list_stores gives the ids");
export const itemOf = (chain: Pick<Chain, "items">, itemId: string) =>
  findEntity(chain.items, itemId, "item", "retail_chain_search_items gives the ids");

export const statusOf = (
  { status, until }: Reservation,
  now: string,
): "held" | "expired" | "collected" | "cancelled" =>
  status === "held" && until <= now ? "expired" : status;

/** How many of an item lie in a store, or nothing where it is not sold. */
export const onHand = (
  { stock }: Pick<Chain, "stock">,
  storeId: string,
  itemId: string,
): number | undefined => {
  const shelf = Object.hasOwn(stock, storeId) ? stock[storeId]! : {};
  return Object.hasOwn(shelf, itemId) ? shelf[itemId] : undefined;
};

/** How many of an item are reserved in a store now, for any store and item. */
export function reservedNow(
  { reservations }: Pick<Chain, "reservations">,
  now: string,
): (storeId: string, itemId: string) => number {
  const held = new Map<string, number>();
  for (const it of Object.values(reservations)) {
    const key = `${it.store_id} ${it.item_id}`;
    if (statusOf(it, now) === "held") held.set(key, it.quantity + (held.get(key) ?? 0));
  }
  return (storeId, itemId) => held.get(`${storeId} ${itemId}`) ?? 0;
}

/** How many of an item a store can sell now, for any store and item. */
export function availableNow(
  chain: Pick<Chain, "stock" | "reservations">,
  now: string,
): (storeId: string, itemId: string) => number {
  const reserved = reservedNow(chain, now);
  return (storeId, itemId) => (onHand(chain, storeId, itemId) ?? 0) - reserved(storeId, itemId);
}

const dayNameOf = (date: string) => weekdays[getWeekday(date)]!;

export const isClosedOn = (store: Store, date: string) =>
  store.closed_on.includes(dayNameOf(date)) ||
  (store.reopens !== undefined && date < store.reopens);
export const isOpenAt = (store: Store, now: string) =>
  !isClosedOn(store, now.slice(0, 10)) &&
  now.slice(11) >= store.opens &&
  now.slice(11) < store.closes;

/** When a store opens next, or nothing where it is open. */
export function opensNext(store: Store, now: string): string | undefined {
  if (isOpenAt(store, now)) return undefined;
  let date = now.slice(0, 10);
  if (now.slice(11) >= store.closes) date = addDays(date, 1);
  for (let i = 0; i < 400 && isClosedOn(store, date); i++) date = addDays(date, 1);
  return `${date}T${store.opens}`;
}

/**
 * When a reservation made now lapses: as the store closes on the last of so many opening days after
 * today.
 */
export function lapses(store: Store, now: string, days: number): string {
  let date = now.slice(0, 10);
  for (let left = days; left > 0;) {
    date = addDays(date, 1);
    if (!isClosedOn(store, date)) left--;
  }
  return `${date}T${store.closes}`;
}

/** Turns down what nobody can do in a store that is being renovated. */
export function trading(store: Store, storeId: string, now: string): void {
  if (store.reopens !== undefined && now.slice(0, 10) < store.reopens)
    refuse(
      "precondition_failed",
      `the store ${store.name} (${storeId}) is closed for renovation until ${store.reopens}`,
      "retail_chain_find_item_nearby finds other stores",
    );
}

/** Turns down who does not look after a store. */
export function mayMove(chain: Pick<Chain, "user" | "stores">, storeId: string): void {
  const { looks_after } = chain.user;
  if (!looks_after.includes(storeId))
    refuse(
      "permission_denied",
      `you do not look after the store ${chain.stores[storeId]!.name} (${storeId}), only after ${looks_after.map(it => `${chain.stores[it]!.name} (${it})`).join(", ")}`,
      "choose one of those stores",
    );
}

/** Turns down more than the shelf takes. */
export function fitsShelf(
  { terms, items }: Pick<Chain, "terms" | "items">,
  itemId: string,
  after: number,
): void {
  if (after > terms.shelf_space)
    refuse(
      "limit_exceeded",
      `a store has room for ${terms.shelf_space} of ${items[itemId]!.name} (${itemId}), and ${after} would lie there`,
      "move some to another store with retail_chain_transfer_stock first",
    );
}

/** Whole kilometres as the crow flies. */
export function kilometres(a: Store, b: Store): number {
  const radians = Math.PI / 180;
  const h =
    Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2 +
    Math.cos(a.latitude * radians) *
      Math.cos(b.latitude * radians) *
      Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2;
  return Math.round(2 * 6371 * Math.asin(Math.sqrt(h)));
}
