/**
 * A brokerage account on invented exchanges: quotes, books with price-time priority, candles,
 * orders that trade or rest, alerts. Prices move by what the account itself trades. Knows no bank
 * account and no sessions.
 */
import { defineServer } from "../../environment/server.ts";
import { ordering } from "./ordering.ts";
import { holdings, orders, quotes } from "./reading.ts";
import { Market } from "./state.ts";

export {
  bookOf,
  filledOf,
  isWorking,
  reservedCash,
  reservedShares,
  wordsOf,
  type Market as TradingWorld,
} from "./state.ts";

const { place_order, modify_order, cancel_order, set_price_alert } = ordering;

export const server = defineServer({
  name: "trading",
  category: "Finance",
  summary: "symbols on three exchanges, order books, candles, a portfolio, orders and price alerts",
  schema: Market,
  tools: {
    ...quotes,
    ...holdings,
    place_order,
    modify_order,
    cancel_order,
    ...orders,
    set_price_alert,
  },
});
