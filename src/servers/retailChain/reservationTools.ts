/** Tools that reserve items and list reservations. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { getSchemas } from "../kit/table.ts";
import { limit, quantity, storeRow } from "./parameters.ts";
import {
  RetailChainState,
  createAvailableCounter,
  items,
  requireStockCount,
  reservations,
  stores,
  computeReservationEnd,
  getReservationStatus,
  requireNotRenovating,
} from "./state.ts";

const tool = createToolFactory(RetailChainState);

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
