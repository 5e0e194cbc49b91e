/**
 * A chain of stores as somebody sees it who shops there and looks after some of its shelves: stock
 * by store, reservations that lapse, shipments between stores.
 */
import { defineServer } from "../../environment/server.ts";
import { reservationTools } from "./reservationTools.ts";
import { stockTools } from "./stockTools.ts";
import { itemQueries } from "./itemQueries.ts";
import { storeQueries } from "./storeQueries.ts";
import { Chain } from "./state.ts";

export { availableNow, lapses, statusOf, type Chain as RetailChainWorld } from "./state.ts";

export const server = defineServer({
  name: "retail_chain",
  category: "Commerce",
  summary: "stores with hours and shelves, reservations that lapse, shipments between stores",
  schema: Chain,
  tools: { ...storeQueries, ...itemQueries, ...reservationTools, ...stockTools },
});
