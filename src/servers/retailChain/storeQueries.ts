/** Tools that list and show stores. */
import { z } from "zod";
import { day, id, label, minute } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { countUnits } from "./itemQueries.ts";
import { limit, storeId } from "./parameters.ts";
import { isOpenAt, getNextOpening, findStore, RetailChainState } from "./state.ts";

const tool = createToolFactory(RetailChainState);

export const storeQueries = {
  list_stores: tool({
    effect: "read",
    summary:
      "List the chain's stores by city, name, or who looks after them, and whether each is open now.",
    input: {
      name: label("store").optional().describe("Only stores whose name contains this"),
      city: z
        .string()
        .min(1)
        .max(60)
        .optional()
        .describe("Only stores in this city")
        .meta({
          examples: ["Hamburg", "Lyon", "Porto", "Lisbon", "Madrid", "Berlin", "Vienna", "Dublin"],
        }),
      mine: z.boolean().optional().describe("True for only those that the user looks after"),
      open_now: z.boolean().optional().describe("True for only those that are open now"),
      limit,
    },
    returns: {
      stores: z.array(
        z.object({
          store: label("store"),
          store_id: id("store"),
          city: z.string(),
          address: z.string(),
          open: z.boolean(),
        }),
      ),
    },
    run({ stores, user }, { name, city, mine, open_now, limit = 10 }, { now }) {
      const matches = Object.entries(stores).filter(
        ([key, it]) =>
          (!name || containsText(it.name, name)) &&
          (!city || containsText(it.city, city)) &&
          (mine === undefined || user.looks_after.includes(key) === mine) &&
          (open_now === undefined || isOpenAt(it, now) === open_now),
      );
      return {
        stores: matches.slice(0, limit).map(([store_id, it]) => ({
          store: it.name,
          store_id,
          city: it.city,
          address: it.address,
          open: isOpenAt(it, now),
        })),
      };
    },
  }),
  get_store: tool({
    effect: "read",
    summary:
      "Get one store in full: address, hours, when it opens next, whether it keeps reservations, and the shipments that it expects.",
    input: { store_id: storeId },
    returns: {
      store: label("store"),
      store_id: id("store"),
      city: z.string(),
      address: z.string(),
      phone: z.string(),
      hours: z.string(),
      closed_on: z.string().optional().describe("Weekdays"),
      open: z.boolean(),
      opens_next: minute().optional(),
      reopens: day().optional().describe("First day after a renovation"),
      pickup: z.boolean().describe("Whether it keeps reservations"),
      looked_after: z.boolean().describe("Whether the user may change what lies there"),
      shipments: z
        .array(
          z.object({
            number: label("shipment"),
            shipment_id: id("shipment"),
            sender: z.string(),
            expected: day(),
            units: z.int(),
          }),
        )
        .optional()
        .describe("Expected ones, if there are any"),
    },
    run(state, { store_id }, { now }) {
      const it = findStore(state, store_id);
      const nextOpening = getNextOpening(it, now);
      const isClosed = it.reopens !== undefined && it.reopens > now.slice(0, 10);
      const shipments = Object.entries(state.shipments)
        .filter(([, row]) => row.store_id === store_id && row.received === undefined)
        .sort(([, a], [, b]) =>
          a.expected === b.expected ? a.number - b.number : a.expected < b.expected ? -1 : 1,
        );
      return {
        store: it.name,
        store_id,
        city: it.city,
        address: it.address,
        phone: it.phone,
        hours: `${it.opens} to ${it.closes}`,
        ...(it.closed_on.length > 0 ? { closed_on: it.closed_on.join(", ") } : {}),
        open: isOpenAt(it, now),
        ...(nextOpening === undefined ? {} : { opens_next: nextOpening }),
        ...(isClosed ? { reopens: it.reopens } : {}),
        pickup: it.pickup,
        looked_after: state.user.looks_after.includes(store_id),
        ...(shipments.length > 0
          ? {
              shipments: shipments.map(([shipment_id, row]) => ({
                number: String(row.number),
                shipment_id,
                sender: row.sender,
                expected: row.expected,
                units: countUnits(row),
              })),
            }
          : {}),
      };
    },
  }),
};
