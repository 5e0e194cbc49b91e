/**
 * The tools that change something: reservations, and for who looks after a store, what lies on its
 * shelves.
 */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { getOriginal } from "../../environment/draft.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { itemId, limit, quantity, soldAt, storeId } from "./looking.ts";
import {
  availableNow,
  Chain,
  fitsShelf,
  itemOf,
  lapses,
  mayMove,
  reservedNow,
  statusOf,
  storeOf,
  trading,
} from "./state.ts";

const reasons = ["counted", "damaged", "stolen", "found", "returned"] as const;
const tool = createToolFactory(Chain);

const heldNow = (chain: Chain, now: string) =>
  Object.entries(chain.reservations).filter(([, it]) => statusOf(it, now) === "held");

export const reserving = {
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

export const stocking = {
  transfer_stock: tool({
    effect: "write",
    summary:
      "Send some of an item from a store that the user looks after to another store, as a shipment: it arrives today within a city, else tomorrow. What is reserved stays.",
    input: {
      item_id: itemId,
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
    run(chain, { item_id, from_store_id, to_store_id, quantity: moved }, { now, newId }) {
      const stands = getOriginal(chain);
      const [item, from, to] = [
        itemOf(stands, item_id),
        storeOf(stands, from_store_id),
        storeOf(stands, to_store_id),
      ];
      if (from_store_id === to_store_id)
        refuse("invalid_params", "from_store_id and to_store_id are the same store");
      mayMove(stands, from_store_id);
      trading(to, to_store_id, now);
      const lies = soldAt(stands, from_store_id, item_id);
      const held = reservedNow(stands, now)(from_store_id, item_id);
      if (moved > lies - held)
        refuse(
          "precondition_failed",
          `${from.name} has ${lies} of ${item.name} (${item_id}) and ${held} of them are reserved: ${lies - held} can be moved, ${moved} wanted`,
          "move fewer, or from another store",
        );
      chain.stock[from_store_id]![item_id] = lies - moved;
      const number = 1 + Math.max(0, ...Object.values(stands.shipments).map(it => it.number));
      const expected = addDays(now, from.city === to.city ? 0 : 1);
      const shipment_id = newId("shp");
      chain.shipments[shipment_id] = {
        number,
        store_id: to_store_id,
        sender: from.name,
        expected,
        lines: { [item_id]: moved },
      };
      return { number: String(number), shipment_id, expected, from_available: lies - moved - held };
    },
  }),
  receive_shipment: tool({
    effect: "write",
    summary:
      "Take in a shipment that has arrived at a store that the user looks after: its items go on the shelves.",
    input: {
      shipment_id: id("shipment").describe(
        "Shipment id, as retail_chain_get_store gives it among the expected ones",
      ),
    },
    returns: {
      number: label("shipment"),
      shipment_id: id("shipment"),
      store: label("store"),
      store_id: id("store"),
      items: z.array(
        z.object({ item: label("item"), item_id: id("item"), added: z.int(), on_hand: z.int() }),
      ),
    },
    run(chain, { shipment_id }, { now }) {
      const shipment = findEntity(
        chain.shipments,
        shipment_id,
        "shipment",
        "retail_chain_get_store lists the shipments that a store expects",
      );
      const { number, store_id, expected, received } = shipment;
      const what = `shipment ${number} (${shipment_id})`;
      mayMove(chain, store_id);
      if (received !== undefined) refuse("conflict", `${what} was already taken in at ${received}`);
      if (expected > now.slice(0, 10))
        refuse(
          "precondition_failed",
          `${what} is expected on ${expected} and has not arrived yet`,
          "take it in on that day",
        );
      trading(storeOf(chain, store_id), store_id, now);
      const shelf = chain.stock[store_id]!;
      const added = Object.entries(shipment.lines).map(([item_id, n]) => ({
        item: chain.items[item_id]!.name,
        item_id,
        added: n,
        on_hand: (shelf[item_id] ?? 0) + n,
      }));
      for (const it of added) fitsShelf(chain, it.item_id, it.on_hand);
      for (const it of added) shelf[it.item_id] = it.on_hand;
      shipment.received = now;
      return {
        number: String(number),
        shipment_id,
        store: chain.stores[store_id]!.name,
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
      store_id: storeId,
      item_id: itemId,
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
      item: label("item"),
      item_id: id("item"),
      store: label("store"),
      store_id: id("store"),
      on_hand: z.int(),
      available: z.int(),
    },
    run(chain, { store_id, item_id, change, reason }, { now }) {
      const stands = getOriginal(chain);
      const [item, store] = [itemOf(stands, item_id), storeOf(stands, store_id)];
      if (change === 0)
        refuse("invalid_params", "change is 0", "say how many more or fewer there are");
      const wrong =
        (change > 0 && (reason === "damaged" || reason === "stolen")) ||
        (change < 0 && (reason === "found" || reason === "returned"));
      if (wrong)
        refuse(
          "invalid_params",
          `what is ${reason} makes ${change > 0 ? "less" : "more"}, and change is ${change}`,
          "change the sign or the reason",
        );
      mayMove(stands, store_id);
      const lies = soldAt(stands, store_id, item_id);
      const held = reservedNow(stands, now)(store_id, item_id);
      const on_hand = lies + change;
      if (on_hand < 0)
        refuse(
          "precondition_failed",
          `only ${lies} of ${item.name} (${item_id}) lie in ${store.name}, which cannot become ${on_hand}`,
          `take off ${lies} or fewer`,
        );
      if (on_hand < held)
        refuse(
          "precondition_failed",
          `${held} of ${item.name} (${item_id}) are reserved in ${store.name}, and ${on_hand} would be left`,
          `take off ${lies - held} or fewer, or cancel a reservation with retail_chain_cancel_reservation`,
        );
      fitsShelf(stands, item_id, on_hand);
      chain.stock[store_id]![item_id] = on_hand;
      return {
        item: item.name,
        item_id,
        store: store.name,
        store_id,
        on_hand,
        available: on_hand - held,
      };
    },
  }),
};
