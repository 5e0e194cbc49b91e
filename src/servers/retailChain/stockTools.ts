/** Tools that transfer, receive, adjust and reserve stock. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { day, id, label, minute, rowTotal } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import {
  itemRow,
  quantity,
  storeRow,
  requireShelfSpace,
  items,
  requireStockCount,
  shipments,
  stores,
  requireStoreAccess,
  createReservedCounter,
  RetailChainState,
  requireNotRenovating,
  limit,
  createAvailableCounter,
  reservations,
  computeReservationEnd,
  getReservationStatus,
} from "./state.ts";
import { containsText } from "../../environment/textSearch.ts";

const tool = createToolFactory(RetailChainState);

const reasons = ["counted", "damaged", "stolen", "found", "returned"] as const;

export const stockTools = {
  transfer_stock: tool({
    effect: "write",
    summary:
      "Send some of an item from a store that the user looks after to another store, as a shipment: it arrives today within a city, else tomorrow. What is reserved stays.",
    input: {
      item_id: items.id,
      from_store_id: id("store").describe("Store that sends it, one that the user looks after"),
      to_store_id: id("store").describe("Store that gets it"),
      quantity: quantity.describe("How many"),
    },
    returns: {
      number: label("shipment"),
      shipment_id: id("shipment"),
      expected: day(),
      from_available: z.int().describe("How many the sending store can still sell"),
    },
    run(state, { item_id, from_store_id, to_store_id, quantity }, { now, newId }) {
      const original = getOriginal(state);
      const [item, from, to] = [
        items.find(original, item_id),
        stores.find(original, from_store_id),
        stores.find(original, to_store_id),
      ];
      if (from_store_id === to_store_id)
        refuse("invalid_params", "from_store_id and to_store_id are the same store");
      requireStoreAccess(original, from_store_id);
      requireNotRenovating(to, to_store_id, now);
      const onHand = requireStockCount(original, from_store_id, item_id);
      const reservedCount = createReservedCounter(original, now)(from_store_id, item_id);
      if (quantity > onHand - reservedCount)
        refuse(
          "precondition_failed",
          `${from.name} has ${onHand} of ${item.name} (${item_id}) and ${reservedCount} of them are reserved: ${onHand - reservedCount} can be moved, ${quantity} wanted`,
          "move fewer, or from another store",
        );
      state.stock[from_store_id]![item_id] = onHand - quantity;
      const number = 1 + Math.max(0, ...Object.values(original.shipments).map(it => it.number));
      const expected = addDays(now, from.city === to.city ? 0 : 1);
      const shipment_id = newId("shp");
      state.shipments[shipment_id] = {
        number,
        store_id: to_store_id,
        sender: from.name,
        expected,
        lines: { [item_id]: quantity },
      };
      return {
        number: String(number),
        shipment_id,
        expected,
        from_available: onHand - quantity - reservedCount,
      };
    },
  }),
  receive_shipment: tool({
    effect: "write",
    summary:
      "Take in a shipment that has arrived at a store that the user looks after: its items go on the shelves.",
    input: {
      shipment_id: shipments.id,
    },
    returns: {
      number: label("shipment"),
      shipment_id: id("shipment"),
      ...getSchemas(storeRow),
      items: z.array(
        z.object({ item: label("item"), item_id: id("item"), added: z.int(), on_hand: z.int() }),
      ),
    },
    run(state, { shipment_id }, { now }) {
      const shipment = shipments.find(state, shipment_id);
      const { number, store_id, expected, received } = shipment;
      const description = `shipment ${number} (${shipment_id})`;
      requireStoreAccess(state, store_id);
      if (received !== undefined)
        refuse("conflict", `${description} was already taken in at ${received}`);
      if (expected > now.slice(0, 10))
        refuse(
          "precondition_failed",
          `${description} is expected on ${expected} and has not arrived yet`,
          "take it in on that day",
        );
      requireNotRenovating(stores.find(state, store_id), store_id, now);
      if (!Object.hasOwn(state.stock, store_id)) state.stock[store_id] = {};
      const storeStock = state.stock[store_id]!;
      const added = Object.entries(shipment.lines).map(([item_id, n]) => ({
        item: state.items[item_id]!.name,
        item_id,
        added: n,
        on_hand: (storeStock[item_id] ?? 0) + n,
      }));
      for (const it of added) requireShelfSpace(state, it.item_id, it.on_hand);
      for (const it of added) storeStock[it.item_id] = it.on_hand;
      shipment.received = now;
      return {
        number: String(number),
        shipment_id,
        store: state.stores[store_id]!.name,
        store_id,
        items: added,
      };
    },
  }),
  adjust_stock: tool({
    effect: "write",
    summary:
      "Correct how many of an item lie in a store that the user looks after, by so many more or fewer, with the reason.",
    input: {
      store_id: stores.id,
      item_id: items.id,
      change: z
        .int()
        .min(-99)
        .max(99)
        .describe("How many more, or fewer as a negative number")
        .meta({ examples: [-1, -2, -3, -4, 1, 2, 3, 5, 6, 10] }),
      reason: z
        .enum(reasons)
        .describe(
          "counted goes both ways; damaged and stolen only down; found and returned only up",
        ),
    },
    returns: {
      ...getSchemas(itemRow),
      ...getSchemas(storeRow),
      on_hand: z.int(),
      available: z.int(),
    },
    run(state, { store_id, item_id, change, reason }, { now }) {
      const original = getOriginal(state);
      const [item, store] = [items.find(original, item_id), stores.find(original, store_id)];
      if (change === 0)
        refuse("invalid_params", "change is 0", "say how many more or fewer there are");
      const isContradictory =
        (change > 0 && (reason === "damaged" || reason === "stolen")) ||
        (change < 0 && (reason === "found" || reason === "returned"));
      if (isContradictory)
        refuse(
          "invalid_params",
          `what is ${reason} makes ${change > 0 ? "less" : "more"}, and change is ${change}`,
          "change the sign or the reason",
        );
      requireStoreAccess(original, store_id);
      const onHand = requireStockCount(original, store_id, item_id);
      const reservedCount = createReservedCounter(original, now)(store_id, item_id);
      const on_hand = onHand + change;
      if (on_hand < 0)
        refuse(
          "precondition_failed",
          `only ${onHand} of ${item.name} (${item_id}) lie in ${store.name}, which cannot become ${on_hand}`,
          `take off ${onHand} or fewer`,
        );
      if (on_hand < reservedCount)
        refuse(
          "precondition_failed",
          `${reservedCount} of ${item.name} (${item_id}) are reserved in ${store.name}, and ${on_hand} would be left`,
          `take off ${onHand - reservedCount} or fewer, or cancel a reservation with retail_chain_cancel_reservation`,
        );
      requireShelfSpace(original, item_id, on_hand);
      state.stock[store_id]![item_id] = on_hand;
      return {
        item: item.name,
        item_id,
        store: store.name,
        store_id,
        on_hand,
        available: on_hand - reservedCount,
      };
    },
  }),
};

const listHeldReservations = (state: RetailChainState, now: string) =>
  Object.entries(state.reservations).filter(([, it]) => getReservationStatus(it, now) === "held");

export const reservationTools = {
  reserve_item: tool({
    effect: "write",
    summary:
      "Have a store put some of an item aside for the user, until it closes on its second opening day from today.",
    input: {
      item_id: items.id,
      store_id: stores.id,
      quantity: quantity.optional().describe("How many, 1 if not given"),
    },
    returns: {
      item: label("reservation"),
      reservation_id: id("reservation"),
      ...getSchemas(storeRow),
      quantity: z.int(),
      until: minute(),
      available: z.int().describe("How many others can still have"),
    },
    run(state, { item_id, store_id, quantity: wanted = 1 }, { now, newId }) {
      const original = getOriginal(state);
      const [item, store] = [items.find(original, item_id), stores.find(original, store_id)];
      requireNotRenovating(store, store_id, now);
      if (!store.pickup)
        refuse(
          "precondition_failed",
          `the store ${store.name} (${store_id}) keeps no reservations`,
          "retail_chain_find_item_nearby says which stores do",
        );
      requireStockCount(original, store_id, item_id);
      const heldReservations = listHeldReservations(original, now);
      const same = heldReservations.find(
        ([, it]) => it.item_id === item_id && it.store_id === store_id,
      );
      if (same)
        refuse(
          "conflict",
          `${same[1].quantity} of ${item.name} are reserved in ${store.name} already (${same[0]}), until ${same[1].until}`,
          "retail_chain_cancel_reservation gives them up",
        );
      const { most_reservations, most_units, hold_days } = original.terms;
      if (wanted > most_units)
        refuse(
          "limit_exceeded",
          `at most ${most_units} of an item are put aside, ${wanted} is more`,
          `choose ${most_units} or fewer`,
        );
      if (heldReservations.length >= most_reservations)
        refuse(
          "limit_exceeded",
          `${heldReservations.length} reservations are held already, and no more than ${most_reservations} may be`,
          "retail_chain_cancel_reservation gives one up",
        );
      const availableCount = createAvailableCounter(original, now)(store_id, item_id);
      if (wanted > availableCount)
        refuse(
          "precondition_failed",
          `${store.name} (${store_id}) can sell ${availableCount} of ${item.name} (${item_id}), ${wanted} wanted`,
          availableCount > 0
            ? `choose ${availableCount} or fewer, or find another store with retail_chain_find_item_nearby`
            : "retail_chain_find_item_nearby finds other stores",
        );
      const reservation_id = newId("res");
      const until = computeReservationEnd(store, now, hold_days);
      state.reservations[reservation_id] = {
        item_id,
        store_id,
        quantity: wanted,
        made: now,
        until,
        status: "held",
      };
      return {
        item: item.name,
        reservation_id,
        store: store.name,
        store_id,
        quantity: wanted,
        until,
        available: availableCount - wanted,
      };
    },
  }),
  cancel_reservation: tool({
    effect: "write",
    summary: "Give up a reservation that is held, so that others can have what was put aside.",
    destructive: true,
    input: {
      reservation_id: reservations.id,
    },
    returns: {
      item: label("reservation"),
      reservation_id: id("reservation"),
      store: z.string(),
      status: z.string(),
      available: z.int().describe("How many the store can sell now"),
    },
    run(state, { reservation_id }, { now }) {
      const it = reservations.find(state, reservation_id);
      const item = state.items[it.item_id]!.name;
      const original = getReservationStatus(it, now);
      if (original === "cancelled")
        refuse("conflict", `the reservation of ${item} (${reservation_id}) was already cancelled`);
      if (original === "collected")
        refuse(
          "precondition_failed",
          `the reserved ${item} (${reservation_id}) was collected`,
          "what was collected cannot be given up",
        );
      if (original === "expired")
        refuse(
          "precondition_failed",
          `the reservation of ${item} (${reservation_id}) lapsed at ${it.until}, so nothing is put aside any more`,
          "retail_chain_reserve_item makes a new one",
        );
      it.status = "cancelled";
      return {
        item,
        reservation_id,
        store: state.stores[it.store_id]!.name,
        status: it.status,
        available: createAvailableCounter(state, now)(it.store_id, it.item_id),
      };
    },
  }),
  list_reservations: tool({
    effect: "read",
    summary:
      "List the user's reservations, what lapses last on top: held ones, unless an item or another status is asked for.",
    input: {
      item: label("reservation")
        .optional()
        .describe("Only reservations of items whose name contains this, whatever their status"),
      store_id: id("store").optional().describe("Only reservations in this store"),
      status: z
        .enum(["held", "expired", "collected", "cancelled"])
        .optional()
        .describe("Only reservations that stand like this"),
      limit,
    },
    returns: {
      total: rowTotal("reservations"),
      reservations: z.array(
        z.object({
          item: label("reservation"),
          reservation_id: id("reservation"),
          store: z.string(),
          quantity: z.int(),
          until: minute(),
          status: z.string(),
        }),
      ),
      held: z.int().describe("How many are held in all"),
    },
    run(state, { item, store_id, status, limit = 10 }, { now }) {
      if (store_id) stores.find(state, store_id);
      const matches = Object.entries(state.reservations).filter(([, it]) => {
        const original = getReservationStatus(it, now);
        return (
          (!item || containsText(state.items[it.item_id]!.name, item)) &&
          (!store_id || it.store_id === store_id) &&
          (status ? original === status : item !== undefined || original === "held")
        );
      });
      matches.sort(([a, x], [b, y]) =>
        x.until === y.until ? (a < b ? -1 : 1) : x.until < y.until ? 1 : -1,
      );
      return {
        total: matches.length,
        reservations: matches.slice(0, limit).map(([reservation_id, it]) => ({
          item: state.items[it.item_id]!.name,
          reservation_id,
          store: state.stores[it.store_id]!.name,
          quantity: it.quantity,
          until: it.until,
          status: getReservationStatus(it, now),
        })),
        held: listHeldReservations(state, now).length,
      };
    },
  }),
};
