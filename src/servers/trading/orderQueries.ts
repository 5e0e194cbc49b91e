/** Tools that read the account's orders. */
import { z } from "zod";
import { cents, day, id, label, minute, spokenId } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import {
  countFilledShares,
  isWorking,
  findListing,
  TradingState,
  findOrder,
  sides,
  getOrderStatus,
  formatOrder,
} from "./state.ts";
import { symbolId, limit, priceResult } from "./parameters.ts";

const tool = createToolFactory(TradingState);

const orderStatus = z.enum(["open", "partly filled", "filled", "cancelled", "expired"]);

export const orderQueries = {
  get_order: tool({
    effect: "read",
    summary:
      "Get one order in full: what it asks for, how much of it was traded at which prices, and until when it may rest.",
    input: { order_id: id("order").describe("Order id, as trading_list_orders gives it") },
    returns: {
      order: label("order"),
      order_id: id("order"),
      symbol: spokenId("symbol"),
      side: z.enum(sides),
      shares: z.int(),
      price: priceResult.optional(),
      at: minute(),
      good_until: day().optional(),
      status: orderStatus,
      filled: z.int(),
      average_price: z.number().optional(),
      fees: cents(),
      fills: z.array(z.object({ at: minute(), shares: z.int(), price: priceResult })).optional(),
    },
    run(state, { order_id }, { now }) {
      const order = findOrder(state, order_id);
      const { symbol, side, shares, price: limitPrice, at, good_until, fills } = order;
      const filled = countFilledShares(order);
      return {
        order: formatOrder(order),
        order_id,
        symbol,
        side,
        shares,
        ...(limitPrice === undefined ? {} : { price: limitPrice }),
        at,
        ...(good_until === undefined ? {} : { good_until }),
        status: getOrderStatus(order, now),
        filled,
        ...(filled
          ? {
              average_price: roundToCents(
                sumAmounts(fills.map(it => it.shares * it.price)) / filled,
              ),
            }
          : {}),
        fees: sumAmounts(fills.map(it => it.fee)),
        ...(fills.length
          ? { fills: fills.map(it => ({ at: it.at, shares: it.shares, price: it.price })) }
          : {}),
      };
    },
  }),
  list_orders: tool({
    effect: "read",
    summary:
      "List the account's orders, those that still work first and the newest first, by words, symbol, side or status.",
    input: {
      order: label("order")
        .optional()
        .describe("Only orders whose words contain this, such as buy 40 HLYN"),
      symbol: symbolId.optional().describe("Only orders for this symbol"),
      side: z.enum(sides).optional().describe("Only orders of this side"),
      status: orderStatus.optional().describe("Only orders of this status"),
      limit,
    },
    returns: {
      orders: z.array(
        z.object({
          order: label("order"),
          order_id: id("order"),
          status: z.string(),
          filled: z.int(),
          date: day(),
        }),
      ),
    },
    run(state, { order: words, symbol: symbolArgument, side, status, limit = 10 }, { now }) {
      const symbol =
        symbolArgument === undefined ? undefined : findListing(state, symbolArgument).symbol;
      const matches = Object.entries(state.orders).filter(
        ([, it]) =>
          (!words || containsText(formatOrder(it), words)) &&
          (!symbol || it.symbol === symbol) &&
          (!side || it.side === side) &&
          (!status || getOrderStatus(it, now) === status),
      );
      const rows = matches.sort(
        ([a, x], [b, y]) =>
          Number(isWorking(y, now)) - Number(isWorking(x, now)) ||
          (x.at === y.at ? (a < b ? 1 : -1) : x.at < y.at ? 1 : -1),
      );
      return {
        orders: rows.slice(0, limit).map(([order_id, it]) => ({
          order: formatOrder(it),
          order_id,
          status: getOrderStatus(it, now),
          filled: countFilledShares(it),
          date: it.at.slice(0, 10),
        })),
      };
    },
  }),
};
