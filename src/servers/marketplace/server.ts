/**
 * A marketplace for used things as one member sees it: listings that end by the clock, bids,
 * sellers and what is thought of them. Money is in euros and cents.
 */
import { defineServer } from "../../environment/server.ts";
import { bidTools } from "./bidTools.ts";
import { sellerTools } from "./sellerTools.ts";
import { listingQueries } from "./listingQueries.ts";
import { listingCommands } from "./listingCommands.ts";
import { Market } from "./state.ts";

export { leastBid, standing, statusOf, type Market as MarketplaceWorld } from "./state.ts";

export const server = defineServer({
  name: "marketplace",
  category: "Commerce",
  summary: "listings with an end, bids and who leads, messages to sellers, ratings of purchases",
  schema: Market,
  tools: { ...listingQueries, ...listingCommands, ...bidTools, ...sellerTools },
});
