/** Tools that search items and their stock, and list and show stores. */
import { z } from "zod";
import { cents, id, label, day, minute, rowTotal } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { getSchemas, ascending, contains, meets, type RowContext } from "../kit/table.ts";
import {
  itemRow,
  limit,
  quantity,
  storeRow,
  categories,
  computeKilometers,
  createAvailableCounter,
  createReservedCounter,
  isRenovating,
  items,
  RetailChainState,
  stores,
  getNextOpening,
  isOpenAt,
  shipments,
  type Store,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(RetailChainState);

export const itemQueries = {
  search_items: tool({
    effect: "read",
    summary:
      "Find items that the chain sells, by name or brand, category or price, with how many can be had in all stores together.",
    input: {
      name: label("item").optional().describe("Only items whose name or brand contains this"),
      category: z.enum(categories).optional().describe("Only items of this category"),
      max_price: z
        .number()
        .min(1)
        .max(10_000)
        .optional()
        .describe("Only items that cost at most this much")
        .meta({ examples: [20, 30, 40, 50, 75, 100, 150, 200, 300] }),
      limit,
    },
    returns: {
      total: rowTotal("items"),
      items: z.array(
        z.object({
          ...getSchemas(itemRow),
          brand: z.string(),
          category: z.string(),
          price: cents(),
          available: z.int(),
          stores: z.int().describe("How many stores have some"),
        }),
      ),
    },
    run(state, { name, category, max_price, limit = 10 }, { now }) {
      const matches = Object.entries(state.items).filter(
        ([, it]) =>
          (!name || containsText(`${it.name} ${it.brand}`, name)) &&
          (!category || it.category === category) &&
          (max_price === undefined || it.price <= max_price),
      );
      const available = createAvailableCounter(state, now);
      const storeIds = Object.keys(state.stores);
      return {
        total: matches.length,
        items: matches.slice(0, limit).map(([item_id, it]) => {
          const counts = storeIds.map(store => available(store, item_id)).filter(n => n > 0);
          return {
            item: it.name,
            item_id,
            brand: it.brand,
            category: it.category,
            price: it.price,
            available: counts.reduce((a, b) => a + b, 0),
            stores: counts.length,
          };
        }),
      };
    },
  }),
  get_inventory: tool({
    effect: "read",
    summary:
      "Show what one store has: of each item how many lie there, how many of those are reserved and how many can be sold; fewest first.",
    input: {
      store_id: stores.id,
      name: label("item").optional().describe("Only items whose name contains this"),
      category: z.enum(categories).optional().describe("Only items of this category"),
      at_most: z
        .int()
        .min(0)
        .max(999)
        .optional()
        .describe("Only items of which no more than this can be sold; 0 for what is sold out")
        .meta({ examples: [0, 1, 2, 3, 5, 10] }),
      limit,
    },
    returns: {
      ...getSchemas(storeRow),
      total: rowTotal("items"),
      items: z.array(
        z.object({
          ...getSchemas(itemRow),
          on_hand: z.int(),
          reserved: z.int(),
          available: z.int(),
        }),
      ),
    },
    run(state, { store_id, name, category, at_most, limit = 10 }, { now }) {
      const store = stores.find(state, store_id);
      const reserved = createReservedCounter(state, now);
      const rows = Object.entries(state.stock[store_id] ?? {}).flatMap(([item_id, on_hand]) => {
        const it = state.items[item_id]!;
        if ((name && !containsText(it.name, name)) || (category && it.category !== category))
          return [];
        const reservedCount = reserved(store_id, item_id);
        const available = on_hand - reservedCount;
        return [{ item: it.name, item_id, on_hand, reserved: reservedCount, available }];
      });
      const matches = rows.filter(it => at_most === undefined || it.available <= at_most);
      return {
        store: store.name,
        store_id,
        total: matches.length,
        items: matches
          .sort((a, b) =>
            a.available === b.available ? (a.item < b.item ? -1 : 1) : a.available - b.available,
          )
          .slice(0, limit),
      };
    },
  }),
  find_item_nearby: tool({
    effect: "read",
    summary:
      "Find the stores that can sell a quantity of an item now, nearest first as seen from one of the stores.",
    input: {
      item_id: items.id,
      near_store_id: id("store")
        .optional()
        .describe(
          "Store from which distances count; the first that the user looks after if not given",
        ),
      quantity: quantity.optional().describe("How many are needed, 1 if not given"),
      max_km: z
        .int()
        .min(0)
        .max(20_000)
        .optional()
        .describe("Only stores at most this far away")
        .meta({ examples: [5, 10, 50, 100, 500, 1000, 1500, 2000] }),
    },
    returns: {
      ...getSchemas(itemRow),
      total: rowTotal("stores"),
      stores: z.array(
        z.object({
          ...getSchemas(storeRow),
          city: z.string(),
          km: z.int(),
          available: z.int(),
          pickup: z.boolean(),
        }),
      ),
    },
    run(state, { item_id, near_store_id, quantity: wanted = 1, max_km }, { now }) {
      const item = items.find(state, item_id);
      const origin = stores.find(state, near_store_id ?? state.user.looks_after[0]!);
      const available = createAvailableCounter(state, now);
      const rows = Object.entries(state.stores).flatMap(([store_id, it]) => {
        const availableCount = available(store_id, item_id);
        return availableCount >= wanted && !isRenovating(it, now)
          ? [
              {
                store: it.name,
                store_id,
                city: it.city,
                km: computeKilometers(origin, it),
                available: availableCount,
                pickup: it.pickup,
              },
            ]
          : [];
      });
      const matches = rows.filter(it => max_km === undefined || it.km <= max_km);
      return {
        item: item.name,
        item_id,
        total: matches.length,
        stores: matches
          .sort((a, b) => (a.km === b.km ? (a.store < b.store ? -1 : 1) : a.km - b.km))
          .slice(0, 10),
      };
    },
  }),
};

type Context = RowContext<RetailChainState>;
const isOpen = (it: Store, { now }: Context) => isOpenAt(it, now);
const isLookedAfter = (_: Store, { id, world }: Context) => world.user.looks_after.includes(id);

export const storeQueries = {
  list_stores: stores.list({
    summary:
      "List the chain's stores by city, name, or who looks after them, and whether each is open now.",
    filters: {
      name: contains(label("store"), "Only stores whose name contains this", it => it.name),
      city: contains(
        z.string().min(1).max(60).optional().meta({ examples: vocabulary.cities }),
        "Only stores in this city",
        it => it.city,
      ),
      mine: meets(
        z.boolean(),
        "True for only those that the user looks after",
        (it, isMine, context) => isLookedAfter(it, context) === isMine,
      ),
      open_now: meets(
        z.boolean(),
        "True for only those that are open now",
        (it, isOpenNow, context) => isOpen(it, context) === isOpenNow,
      ),
    },
    limit: 10,
    row: { ...storeRow, city: z.string(), address: z.string(), open: [z.boolean(), isOpen] },
  }),
  get_store: stores.get({
    summary:
      "Get one store in full: address, hours, when it opens next, whether it keeps reservations, and the shipments that it expects.",
    row: {
      ...storeRow,
      city: z.string(),
      address: z.string(),
      phone: z.string(),
      hours: [z.string(), it => `${it.opens} to ${it.closes}`],
      closed_on: [
        z.string().optional().describe("Weekdays"),
        it => it.closed_on.join(", ") || undefined,
      ],
      open: [z.boolean(), isOpen],
      opens_next: [minute().optional(), (it, { now }) => getNextOpening(it, now)],
      reopens: [
        day().optional().describe("First day after a renovation"),
        (it, { now }) => (isRenovating(it, now) ? it.reopens : undefined),
      ],
      pickup: z.boolean().describe("Whether it keeps reservations"),
      looked_after: [
        z.boolean().describe("Whether the user may change what lies there"),
        isLookedAfter,
      ],
      shipments: shipments.related({
        description: "Expected ones, if there are any",
        row: {
          number: [label("shipment"), it => String(it.number)],
          shipment_id: shipments.idField,
          sender: z.string(),
          expected: day(),
          units: [z.int(), it => Object.values(it.lines).reduce((a, b) => a + b, 0)],
        },
        where: (it, { id }) => it.store_id === id && it.received === undefined,
        // by day, then by number
        order: ascending(it => `${it.expected} ${String(it.number).padStart(9, "0")}`),
      }),
    },
  }),
};
