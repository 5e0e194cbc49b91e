/** The marketplace server: auctions of used goods, as one member sees them. */
import { defineServer } from "../../environment/server.ts";
import { bidTools } from "./bidTools.ts";
import { sellerTools } from "./sellerTools.ts";
import { listingQueries } from "./listingQueries.ts";
import { invariants } from "./invariants.ts";
import { listingCommands } from "./listingCommands.ts";
import { MarketplaceState, references } from "./state.ts";

export const server = defineServer({
  name: "marketplace",
  category: "Commerce",
  summary: "listings with an end, bids and who leads, messages to sellers, ratings of purchases",
  schema: MarketplaceState,
  references,
  invariants,
  tools: { ...listingQueries, ...listingCommands, ...bidTools, ...sellerTools },
});
