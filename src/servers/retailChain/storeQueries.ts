/** Tools that list and show stores. */
import { z } from "zod";
import { day, label, minute } from "../../environment/fieldSchemas.ts";
import { ascending, contains, meets, type RowContext } from "../kit/table.ts";
import { storeRow } from "./parameters.ts";
import {
  getNextOpening,
  isOpenAt,
  isRenovating,
  shipments,
  stores,
  type RetailChainState,
  type Store,
} from "./state.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

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
