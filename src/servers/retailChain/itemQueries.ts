/** Tools that search items and their stock. */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { itemId, limit, quantity, storeId } from "./parameters.ts";
import {
  Chain,
  availableNow,
  categories,
  itemOf,
  kilometres,
  onHand,
  reservedNow,
  storeOf,
} from "./state.ts";

const tool = createToolFactory(Chain);

export const unitsOf = ({ lines }: Chain["shipments"][string]) =>
  Object.values(lines).reduce((a, b) => a + b, 0);

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
      items: z.array(
        z.object({
          item: label("item"),
          item_id: id("item"),
          brand: z.string(),
          category: z.string(),
          price: cents(),
          available: z.int(),
          stores: z.int().describe("How many stores have some"),
        }),
      ),
    },
    run(chain, { name, category, max_price, limit: most = 10 }, { now }) {
      const found = Object.entries(chain.items).filter(
        ([, it]) =>
          (!name || containsText(`${it.name} ${it.brand}`, name)) &&
          (!category || it.category === category) &&
          (max_price === undefined || it.price <= max_price),
      );
      const available = availableNow(chain, now);
      const stores = Object.keys(chain.stores);
      return {
        items: found.slice(0, most).map(([item_id, it]) => {
          const left = stores.map(store => available(store, item_id)).filter(n => n > 0);
          return {
            item: it.name,
            item_id,
            brand: it.brand,
            category: it.category,
            price: it.price,
            available: left.reduce((a, b) => a + b, 0),
            stores: left.length,
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
      store_id: storeId,
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
      store: label("store"),
      store_id: id("store"),
      items: z.array(
        z.object({
          item: label("item"),
          item_id: id("item"),
          on_hand: z.int(),
          reserved: z.int(),
          available: z.int(),
        }),
      ),
    },
    run(chain, { store_id, name, category, at_most, limit: most = 10 }, { now }) {
      const store = storeOf(chain, store_id);
      const reserved = reservedNow(chain, now);
      const rows = Object.entries(chain.stock[store_id] ?? {}).flatMap(([item_id, on_hand]) => {
        const it = chain.items[item_id]!;
        if ((name && !containsText(it.name, name)) || (category && it.category !== category))
          return [];
        const held = reserved(store_id, item_id);
        return [{ item: it.name, item_id, on_hand, reserved: held, available: on_hand - held }];
      });
      const found = rows.filter(it => at_most === undefined || it.available <= at_most);
      return {
        store: store.name,
        store_id,
        items: found
          .sort((a, b) =>
            a.available === b.available ? (a.item < b.item ? -1 : 1) : a.available - b.available,
          )
          .slice(0, most),
      };
    },
  }),
  find_item_nearby: tool({
    effect: "read",
    summary:
      "Find the stores that can sell a quantity of an item now, nearest first as seen from one of the stores.",
    input: {
      item_id: itemId,
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
      item: label("item"),
      item_id: id("item"),
      stores: z.array(
        z.object({
          store: label("store"),
          store_id: id("store"),
          city: z.string(),
          km: z.int(),
          available: z.int(),
          pickup: z.boolean(),
        }),
      ),
    },
    run(chain, { item_id, near_store_id, quantity: wanted = 1, max_km }, { now }) {
      const item = itemOf(chain, item_id);
      const near = storeOf(chain, near_store_id ?? chain.user.looks_after[0]!);
      const available = availableNow(chain, now);
      const rows = Object.entries(chain.stores).flatMap(([store_id, it]) => {
        const left = available(store_id, item_id);
        const isClosed = it.reopens !== undefined && it.reopens > now.slice(0, 10);
        return left >= wanted && !isClosed
          ? [
              {
                store: it.name,
                store_id,
                city: it.city,
                km: kilometres(near, it),
                available: left,
                pickup: it.pickup,
              },
            ]
          : [];
      });
      return {
        item: item.name,
        item_id,
        stores: rows
          .filter(it => max_km === undefined || it.km <= max_km)
          .sort((a, b) => (a.km === b.km ? (a.store < b.store ? -1 : 1) : a.km - b.km))
          .slice(0, 10),
      };
    },
  }),
};

/** How many of an item lie in a store, or a refusal where the store does not sell it. */
export const soldAt = (chain: Chain, store: string, item: string): number =>
  onHand(chain, store, item) ??
  refuse(
    "precondition_failed",
    `the store ${storeOf(chain, store).name} (${store}) does not sell ${itemOf(chain, item).name} (${item})`,
    "retail_chain_find_item_nearby finds the stores that have it",
  );
