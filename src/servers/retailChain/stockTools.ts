/** Tools that transfer, receive and adjust stock. */
import { z } from "zod";
import { getOriginal } from "../../environment/draft.ts";
import { day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { addDays } from "../../environment/time.ts";
import { getSchemas } from "../kit/table.ts";
import { itemRow, quantity, storeRow } from "./parameters.ts";
import {
  requireShelfSpace,
  items,
  requireStockCount,
  shipments,
  stores,
  requireStoreAccess,
  createReservedCounter,
  RetailChainState,
  requireNotRenovating,
} from "./state.ts";

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
