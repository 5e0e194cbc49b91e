/**
 * The state of a chain of stores: stock, reservations and shipments by store. The available stock
 * is the stock without reserved items; a reservation ends at a time that depends on the store's
 * hours.
 */
import { z } from "zod";
import { day, minute, money, label, rowLimit } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { addDays, getWeekday } from "../../environment/time.ts";
import { createTableFactory } from "../kit/table.ts";

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
  closed_on: z
    .array(z.enum(weekdays))
    .max(7)
    .refine(it => new Set(it).size < 7, "must leave a day on which the store is open"),
  /** Whether it takes reservations. */
  pickup: z.boolean(),
  /** The first day after a renovation, during which nothing is sold or received. */
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
type Reservation = z.infer<typeof Reservation>;

const Shipment = z.strictObject({
  /** The number of the delivery note. */
  number: z.int().min(1),
  store_id: z.string(),
  sender: z.string(),
  expected: day(),
  received: minute().optional(),
  lines: z.record(z.string(), z.int().min(1).max(999)),
});

export const references = {
  "user.looks_after.*": "stores",
  "stock.@": "stores",
  "stock.*.@": "items",
  "reservations.*.item_id": "items",
  "reservations.*.store_id": "stores",
  "shipments.*.store_id": "stores",
  "shipments.*.lines.@": "items",
} satisfies References;

export const RetailChainState = z.strictObject({
  name: z.string(),
  /** The person for whom the agent works, and the stores whose stock they manage. */
  user: z.strictObject({ name: z.string(), looks_after: z.array(z.string()).min(1).max(20) }),
  terms: z.strictObject({
    /** The number of the store's opening days after today for which a reservation is held. */
    hold_days: z.int().min(1).max(14),
    most_reservations: z.int().min(1).max(50),
    most_units: z.int().min(1).max(99),
    /** The most units of an item in a store. */
    shelf_space: z.int().min(1).max(9999),
  }),
  stores: z.record(z.string(), Store),
  items: z.record(z.string(), Item),
  /** By store, then by item. Items that a store does not sell are absent. */
  stock: z.record(z.string(), z.record(z.string(), count)),
  reservations: z.record(z.string(), Reservation),
  shipments: z.record(z.string(), Shipment),
});
export type RetailChainState = z.infer<typeof RetailChainState>;

const table = createTableFactory(RetailChainState);
export const stores = table("stores", { entity: "store", idsFrom: "retail_chain_list_stores" });
export const items = table("items", { entity: "item", idsFrom: "retail_chain_search_items" });
export const reservations = table("reservations", {
  entity: "reservation",
  idsFrom: "retail_chain_list_reservations",
});
export const shipments = table("shipments", {
  entity: "shipment",
  idsFrom: "retail_chain_get_store",
  description: "Shipment id, as retail_chain_get_store gives it among the expected ones",
  hint: "retail_chain_get_store lists the shipments that a store expects",
});

export const getReservationStatus = (
  { status, until }: Reservation,
  now: string,
): "held" | "expired" | "collected" | "cancelled" =>
  status === "held" && until <= now ? "expired" : status;

/** The number of units of an item in a store, or undefined if the store does not sell it. */
export const getStockCount = (
  { stock }: RetailChainState,
  storeId: string,
  itemId: string,
): number | undefined => {
  const storeStock = Object.hasOwn(stock, storeId) ? stock[storeId]! : {};
  return Object.hasOwn(storeStock, itemId) ? storeStock[itemId] : undefined;
};

/** Creates a function that returns the number of units reserved now. */
export function createReservedCounter(
  { reservations }: RetailChainState,
  now: string,
): (storeId: string, itemId: string) => number {
  const reservedCounts = new Map<string, number>();
  for (const it of Object.values(reservations)) {
    const key = `${it.store_id} ${it.item_id}`;
    if (getReservationStatus(it, now) === "held")
      reservedCounts.set(key, it.quantity + (reservedCounts.get(key) ?? 0));
  }
  return (storeId, itemId) => reservedCounts.get(`${storeId} ${itemId}`) ?? 0;
}

/** Creates a function that returns the number of units that can be sold now. */
export function createAvailableCounter(
  state: RetailChainState,
  now: string,
): (storeId: string, itemId: string) => number {
  const reserved = createReservedCounter(state, now);
  return (storeId, itemId) =>
    (getStockCount(state, storeId, itemId) ?? 0) - reserved(storeId, itemId);
}

const getDayName = (date: string) => weekdays[getWeekday(date)]!;

export const isRenovating = ({ reopens }: Store, now: string) =>
  reopens !== undefined && now.slice(0, 10) < reopens;
const isClosedOn = (store: Store, date: string) =>
  store.closed_on.includes(getDayName(date)) || isRenovating(store, date);
export const isOpenAt = (store: Store, now: string) =>
  !isClosedOn(store, now.slice(0, 10)) &&
  now.slice(11) >= store.opens &&
  now.slice(11) < store.closes;

/** The time at which a store opens next, or undefined if it is open. */
export function getNextOpening(store: Store, now: string): string | undefined {
  if (isOpenAt(store, now)) return undefined;
  let date = now.slice(0, 10);
  if (now.slice(11) >= store.closes) date = addDays(date, 1);
  for (let i = 0; i < 400 && isClosedOn(store, date); i++) date = addDays(date, 1);
  return `${date}T${store.opens}`;
}

/** The end of a reservation made now: closing time on the nth opening day after today. */
export function computeReservationEnd(store: Store, now: string, days: number): string {
  let date = now.slice(0, 10);
  for (let remaining = days; remaining > 0;) {
    date = addDays(date, 1);
    if (!isClosedOn(store, date)) remaining--;
  }
  return `${date}T${store.closes}`;
}

/** Refuses the call if the store is being renovated. */
export function requireNotRenovating(store: Store, storeId: string, now: string): void {
  if (isRenovating(store, now))
    refuse(
      "precondition_failed",
      `the store ${store.name} (${storeId}) is closed for renovation until ${store.reopens}`,
      "retail_chain_find_item_nearby finds other stores",
    );
}

/** Refuses the call if the user does not manage the store. */
export function requireStoreAccess(state: RetailChainState, storeId: string): void {
  const { looks_after } = state.user;
  if (!looks_after.includes(storeId))
    refuse(
      "permission_denied",
      `you do not look after the store ${state.stores[storeId]!.name} (${storeId}), only after ${looks_after.map(it => `${state.stores[it]!.name} (${it})`).join(", ")}`,
      "choose one of those stores",
    );
}

/** Refuses the call if the stock of the item would exceed the shelf space. */
export function requireShelfSpace(
  { terms, items }: RetailChainState,
  itemId: string,
  newCount: number,
): void {
  if (newCount > terms.shelf_space)
    refuse(
      "limit_exceeded",
      `a store has room for ${terms.shelf_space} of ${items[itemId]!.name} (${itemId}), and ${newCount} would lie there`,
      "move some to another store with retail_chain_transfer_stock first",
    );
}

/** The distance in a straight line, in whole kilometres. */
export function computeKilometers(a: Store, b: Store): number {
  const radians = Math.PI / 180;
  const h =
    Math.sin(((b.latitude - a.latitude) * radians) / 2) ** 2 +
    Math.cos(a.latitude * radians) *
      Math.cos(b.latitude * radians) *
      Math.sin(((b.longitude - a.longitude) * radians) / 2) ** 2;
  return Math.round(2 * 6371 * Math.asin(Math.sqrt(h)));
}

/** The stock of an item in a store; refuses the call if the store does not sell it. */
export const requireStockCount = (state: RetailChainState, store: string, item: string): number =>
  getStockCount(state, store, item) ??
  refuse(
    "precondition_failed",
    `the store ${stores.find(state, store).name} (${store}) does not sell ${items.find(state, item).name} (${item})`,
    "retail_chain_find_item_nearby finds the stores that have it",
  );

export const limit = rowLimit(10);

export const quantity = z
  .int()
  .min(1)
  .max(99)
  .meta({ examples: [1, 1, 2, 2, 3, 4, 5, 6, 8, 10] });

export const storeRow = stores.fields({
  store: [label("store"), it => it.name],
  store_id: stores.idField,
});
export const itemRow = items.fields({
  item: [label("item"), it => it.name],
  item_id: items.idField,
});
