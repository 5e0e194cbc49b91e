/**
 * The retail chain server: the stores of a chain, as a customer who manages some of them sees
 * them. / Also its rules, which hold whichever tools are used.
 */
import {
  defineConstantRule,
  defineRule,
  defineStateRule,
  defineWriteRule,
  listAddedRows,
  listChangedFields,
  listChangedRows,
  listRemovedRows,
} from "../../environment/invariants.ts";
import { createReservedCounter, getStockCount, RetailChainState, references } from "./state.ts";
import { defineServer } from "../../environment/server.ts";
import { reservationTools, stockTools } from "./stockTools.ts";
import { itemQueries, storeQueries } from "./itemQueries.ts";

type State = RetailChainState;

interface StockChange {
  readonly storeId: string;
  readonly itemId: string;
  readonly count: number;
  readonly change: number;
}

function listStockChanges({ stock }: State, before: State): StockChange[] {
  if (stock === before.stock) return [];
  return Object.entries(stock).flatMap(([storeId, counts]) =>
    Object.entries(counts)
      .map(([itemId, count]) => ({
        storeId,
        itemId,
        count,
        change: count - (getStockCount(before, storeId, itemId) ?? 0),
      }))
      .filter(it => it.change !== 0),
  );
}

/** The units of each item in stores and on their way to one. */
function countUnits({ stock, shipments }: State): Map<string, number> {
  const underway = Object.values(shipments).filter(it => it.received === undefined);
  const units = new Map<string, number>();
  for (const counts of [...Object.values(stock), ...underway.map(it => it.lines)])
    for (const [itemId, count] of Object.entries(counts))
      units.set(itemId, count + (units.get(itemId) ?? 0));
  return units;
}

const invariants = [
  defineWriteRule<State>(
    "Moving stock creates and loses nothing; an adjustment changes one item in one store.",
    function* (state, before) {
      const changes = listStockChanges(state, before);
      if (state.shipments === before.shipments) {
        if (changes.length > 1) yield `${changes.length} counts have changed at once`;
        return;
      }
      const units = countUnits(state);
      for (const [itemId, count] of countUnits(before))
        if (units.get(itemId) !== count)
          yield `there were ${count} of ${itemId}, and there are ${units.get(itemId)}`;
    },
  ),
  defineWriteRule<State>(
    "Stock changes only in stores that the user looks after, and only up to the shelf space.",
    function* (state, before) {
      for (const { storeId, itemId, count, change } of listStockChanges(state, before)) {
        if (!state.user.looks_after.includes(storeId)) yield `${itemId} has changed in ${storeId}`;
        if (change > 0 && count > state.terms.shelf_space)
          yield `${count} of ${itemId} are in ${storeId}`;
      }
    },
  ),
  defineWriteRule<State>(
    "What is reserved is in the store, and at most the allowed number of units.",
    function* (state, before) {
      const { reservations, terms, stores } = state;
      for (const [id, it] of listAddedRows(before.reservations, reservations)) {
        const stockCount = getStockCount(state, it.store_id, it.item_id) ?? 0;
        const reservedCount = createReservedCounter(state, it.made)(it.store_id, it.item_id);
        if (reservedCount > stockCount) yield `${reservedCount} of ${stockCount} are reserved`;
        if (it.quantity > terms.most_units) yield `${id} is of ${it.quantity} units`;
        if (!stores[it.store_id]!.pickup) yield `${it.store_id} keeps no reservations`;
      }
    },
  ),
  defineWriteRule<State>(
    "A transfer leaves what is reserved in the store that sends it.",
    function* (state, before) {
      for (const [id, { expected }] of listAddedRows(before.shipments, state.shipments))
        for (const { storeId, itemId, count } of listStockChanges(state, before)) {
          // the transfer is made on the day on which it is expected or on the day before
          const reserved = createReservedCounter(state, `${expected}T23:59`)(storeId, itemId);
          if (count < reserved) yield `${id} leaves ${count}, and ${reserved} are reserved`;
        }
    },
  ),
  defineWriteRule<State>(
    "There are at most the allowed reservations, one for an item in a store.",
    function* ({ reservations, terms }, before) {
      for (const [id, { made, item_id, store_id }] of listAddedRows(
        before.reservations,
        reservations,
      )) {
        const held = Object.values(reservations).filter(
          it => it.status === "held" && it.until > made,
        );
        const same = held.filter(it => it.item_id === item_id && it.store_id === store_id);
        if (held.length > terms.most_reservations) yield `${held.length} are held`;
        if (same.length > 1) yield `${id} is of what is reserved already`;
      }
    },
  ),
  defineWriteRule<State>(
    "A reservation changes only by being cancelled while it is held.",
    function* ({ reservations }, before) {
      for (const [id] of listRemovedRows(before.reservations, reservations)) yield `${id} is gone`;
      for (const [id, it, previous] of listChangedRows(before.reservations, reservations))
        if (
          listChangedFields(previous, it).join() !== "status" ||
          previous.status !== "held" ||
          it.status !== "cancelled"
        )
          yield `${id} has changed from ${previous.status} to ${it.status}`;
    },
  ),
  defineRule<State>(
    "A shipment is received once, from its day on, in a store that the user looks after.",
    function* ({ shipments, user }, before) {
      for (const [id, { received, expected }] of Object.entries(shipments))
        if (received !== undefined && received.slice(0, 10) < expected)
          yield `${id} of ${expected} was received at ${received}`;
      if (!before) return;
      for (const [id] of listRemovedRows(before.shipments, shipments)) yield `${id} is gone`;
      for (const [id, it, previous] of listChangedRows(before.shipments, shipments))
        if (
          listChangedFields(previous, it).join() !== "received" ||
          previous.received !== undefined ||
          !user.looks_after.includes(it.store_id)
        )
          yield `${id} has changed`;
    },
  ),
  defineStateRule<State>("Each delivery note has its own number.", function* ({ shipments }) {
    const numbers = Object.values(shipments).map(it => it.number);
    if (new Set(numbers).size < numbers.length) yield "two shipments have the same number";
  }),
  defineConstantRule<State>(
    "Calls change neither the stores, items and terms nor what the user looks after.",
    ["stores", "items", "terms", "user"],
  ),
];

export const server = defineServer({
  name: "retail_chain",
  category: "Commerce",
  summary: "stores with hours and shelves, reservations that lapse, shipments between stores",
  schema: RetailChainState,
  references,
  invariants,
  tools: { ...storeQueries, ...itemQueries, ...reservationTools, ...stockTools },
});
