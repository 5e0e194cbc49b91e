/** The trading server: a brokerage account on invented exchanges. */
import { defineServer } from "../../environment/server.ts";
import { alertTools } from "./alertTools.ts";
import { invariants } from "./invariants.ts";
import { orderCommands } from "./orderCommands.ts";
import { orderQueries } from "./orderQueries.ts";
import { portfolioTools } from "./portfolioTools.ts";
import { TradingState, references } from "./state.ts";
import { symbolTools } from "./symbolTools.ts";

export const server = defineServer({
  name: "trading",
  category: "Finance",
  summary: "symbols on three exchanges, order books, candles, a portfolio, orders and price alerts",
  schema: TradingState,
  references,
  invariants,
  tools: { ...symbolTools, ...portfolioTools, ...orderCommands, ...orderQueries, ...alertTools },
});
