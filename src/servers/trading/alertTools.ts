/** Tools for price alerts. */
import { z } from "zod";
import { id, label, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { requireWholeTicks } from "./orderMatching.ts";
import { symbolId, limitPrice, examplePrices } from "./parameters.ts";
import { findListing, TradingState } from "./state.ts";

export const maxWaitingAlerts = 12;
/** How far from the last price an alert may lie, in percent. */
const alertBand = 50;

const tool = createToolFactory(TradingState);

export const alertTools = {
  set_price_alert: tool({
    effect: "write",
    summary:
      "Be told once a symbol trades at a price or above it, or at it or below it. Does not trade.",
    input: {
      symbol: symbolId,
      direction: z
        .enum(["above", "below"])
        .describe("Whether the price has to rise to it or to fall to it"),
      price: limitPrice.describe("Price that sets it off").meta({ examples: examplePrices }),
    },
    returns: {
      name: label("symbol"),
      symbol: spokenId("symbol"),
      alert_id: id("alert"),
      direction: z.string(),
      price: z.number(),
      last: z.number(),
    },
    run(state, { symbol: symbolArgument, direction, price: alertPrice }, { newId }) {
      const { symbol, listing } = findListing(state, symbolArgument);
      const { last, name } = listing;
      requireWholeTicks(symbol, listing, alertPrice);
      if (direction === "above" ? last >= alertPrice : last <= alertPrice)
        refuse(
          "precondition_failed",
          `${symbol} is at ${last}, which is ${last === alertPrice ? "that price" : `${direction} ${alertPrice}`} already`,
          `choose a price ${direction} ${last}`,
        );
      const [low, high] = [
        roundToCents(last * (1 - alertBand / 100)),
        roundToCents(last * (1 + alertBand / 100)),
      ];
      if (alertPrice < low || alertPrice > high)
        refuse(
          "precondition_failed",
          `${alertPrice} is more than ${alertBand} % away from the last price of ${symbol}, ${last}`,
          `choose a price from ${low} to ${high}`,
        );
      const waiting = Object.entries(state.alerts).filter(([, it]) => it.status === "waiting");
      const same = waiting.find(
        ([, it]) => it.symbol === symbol && it.direction === direction && it.price === alertPrice,
      );
      if (same)
        refuse(
          "conflict",
          `there is an alert for ${symbol} ${direction} ${alertPrice} already (${same[0]})`,
        );
      if (waiting.length >= maxWaitingAlerts)
        refuse(
          "limit_exceeded",
          `${maxWaitingAlerts} alerts wait already, and no more are allowed`,
          "they go once their price is reached",
        );
      const alert_id = newId("alr");
      state.alerts[alert_id] = { symbol, direction, price: alertPrice, status: "waiting" };
      return { name, symbol, alert_id, direction, price: alertPrice, last };
    },
  }),
};
