/**
 * The retail chain server: the stores of a chain, as a customer who manages some of them sees them.
 */
import { defineServer } from "../../environment/server.ts";
import { reservationTools } from "./reservationTools.ts";
import { stockTools } from "./stockTools.ts";
import { invariants } from "./invariants.ts";
import { itemQueries } from "./itemQueries.ts";
import { storeQueries } from "./storeQueries.ts";
import { RetailChainState, references } from "./state.ts";

export const server = defineServer({
  name: "retail_chain",
  category: "Commerce",
  summary: "stores with hours and shelves, reservations that lapse, shipments between stores",
  schema: RetailChainState,
  references,
  invariants,
  tools: { ...storeQueries, ...itemQueries, ...reservationTools, ...stockTools },
});
