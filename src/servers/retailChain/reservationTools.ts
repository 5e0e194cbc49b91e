/** Tools that reserve items and list reservations. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { id, label, minute } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { itemId, limit, quantity, storeId } from "./parameters.ts";
import { soldAt } from "./itemQueries.ts";
import { Chain, availableNow, itemOf, lapses, statusOf, storeOf, trading } from "./state.ts";

const tool = createToolFactory(Chain);

const heldNow = (chain: Chain, now: string) =>
  Object.entries(chain.reservations).filter(([, it]) => statusOf(it, now) === "held");

export const reservationTools = {
  reserve_item: tool({
    effect: "write",
    summary:
      "Have a store put some of an item aside for the user, until it closes on its second opening day from today.",
    input: {
      item_id: itemId,
      store_id: storeId,
      quantity: quantity.optional().describe("How many, 1 if not given"),
    },
    returns: {
      item: label("reservation"),
      reservation_id: id("reservation"),
      store: label("store"),
      store_id: id("store"),
      quantity: z.int(),
      until: minute(),
      available: z.int().describe("How many others can still have"),
    },
    run(chain, { item_id, store_id, quantity: wanted = 1 }, { now, newId }) {
      const stands = getOriginal(chain);
      const [item, store] = [itemOf(stands, item_id), storeOf(stands, store_id)];
      trading(store, store_id, now);
      if (!store.pickup)
        refuse(
          "precondition_failed",
          `the store ${store.name} (${store_id}) keeps no reservations`,
          "retail_chain_find_item_nearby says which stores do",
        );
      soldAt(stands, store_id, item_id);
      const held = heldNow(stands, now);
      const same = held.find(([, it]) => it.item_id === item_id && it.store_id === store_id);
      if (same)
        refuse(
          "conflict",
          `${same[1].quantity} of ${item.name} are reserved in ${store.name} already (${same[0]}), until ${same[1].until}`,
          "retail_chain_cancel_reservation gives them up",
        );
      const { most_reservations, most_units, hold_days } = stands.terms;
      if (wanted > most_units)
        refuse(
          "limit_exceeded",
          `at most ${most_units} of an item are put aside, ${wanted} is more`,
          `choose ${most_units} or fewer`,
        );
      if (held.length >= most_reservations)
        refuse(
          "limit_exceeded",
          `${held.length} reservations are held already, and no more than ${most_reservations} may be`,
          "retail_chain_cancel_reservation gives one up",
        );
      const left = availableNow(stands, now)(store_id, item_id);
      if (wanted > left)
        refuse(
          "precondition_failed",
          `${store.name} (${store_id}) can sell ${left} of ${item.name} (${item_id}), ${wanted} wanted`,
          left > 0
            ? `choose ${left} or fewer, or find another store with retail_chain_find_item_nearby`
            : "retail_chain_find_item_nearby finds other stores",
        );
      const reservation_id = newId("res");
      const until = lapses(store, now, hold_days);
      chain.reservations[reservation_id] = {
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
        available: left - wanted,
      };
    },
  }),
  cancel_reservation: tool({
    effect: "write",
    summary: "Give up a reservation that is held, so that others can have what was put aside.",
    destructive: true,
    input: {
      reservation_id: id("reservation").describe(
        "Reservation id, as retail_chain_list_reservations gives it",
      ),
    },
    returns: {
      item: label("reservation"),
      reservation_id: id("reservation"),
      store: z.string(),
      status: z.string(),
      available: z.int().describe("How many the store can sell now"),
    },
    run(chain, { reservation_id }, { now }) {
      const it = findEntity(
        chain.reservations,
        reservation_id,
        "reservation",
        "retail_chain_list_reservations gives the ids",
      );
      const item = chain.items[it.item_id]!.name;
      const stands = statusOf(it, now);
      if (stands === "cancelled")
        refuse("conflict", `the reservation of ${item} (${reservation_id}) was already cancelled`);
      if (stands === "collected")
        refuse(
          "precondition_failed",
          `the reserved ${item} (${reservation_id}) was collected`,
          "what was collected cannot be given up",
        );
      if (stands === "expired")
        refuse(
          "precondition_failed",
          `the reservation of ${item} (${reservation_id}) lapsed at ${it.until}, so nothing is put aside any more`,
          "retail_chain_reserve_item makes a new one",
        );
      it.status = "cancelled";
      return {
        item,
        reservation_id,
        store: chain.stores[it.store_id]!.name,
        status: it.status,
        available: availableNow(chain, now)(it.store_id, it.item_id),
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
    run(chain, { item, store_id, status, limit: most = 10 }, { now }) {
      if (store_id) storeOf(chain, store_id);
      const found = Object.entries(chain.reservations).filter(([, it]) => {
        const stands = statusOf(it, now);
        return (
          (!item || containsText(chain.items[it.item_id]!.name, item)) &&
          (!store_id || it.store_id === store_id) &&
          (status ? stands === status : item !== undefined || stands === "held")
        );
      });
      found.sort(([a, x], [b, y]) =>
        x.until === y.until ? (a < b ? -1 : 1) : x.until < y.until ? 1 : -1,
      );
      return {
        reservations: found.slice(0, most).map(([reservation_id, it]) => ({
          item: chain.items[it.item_id]!.name,
          reservation_id,
          store: chain.stores[it.store_id]!.name,
          quantity: it.quantity,
          until: it.until,
          status: statusOf(it, now),
        })),
        held: heldNow(chain, now).length,
      };
    },
  }),
};
