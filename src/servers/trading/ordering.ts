/**
 * The tools that act on the market: to place, change and cancel orders, and to be told of a price.
 * Knows no history.
 */
import { z } from "zod";
import { cents, day, id, label, spokenId } from "../../environment/entity.ts";
import { refuse, toolOf } from "../../environment/server.ts";
import { round, sum } from "../../environment/money.ts";
import { acceptable, covered, execute } from "./matching.ts";
import { symbolId } from "./reading.ts";
import {
  filledOf,
  isWorking,
  listed,
  Market,
  orderOf,
  restOf,
  sides,
  statusOf,
  wordsOf,
  type Order,
} from "./state.ts";

const orderId = id("order").describe("Order id, as trading_list_orders gives it");
const price = z.number().min(0.01).max(100_000);
const prices = [
  5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26, 28, 30,
  33, 36, 40, 44, 48, 50, 55, 60, 66, 72, 80, 90, 100, 110, 120, 130, 145, 160, 190, 210,
];
const shares = z
  .int()
  .min(1)
  .max(100_000)
  .meta({ examples: [5, 10, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300] });
const mostAlerts = 12;
/** How far from the last price an alert may lie, in percent. */
const alertBand = 50;

const tool = toolOf(Market);

const outcome = {
  order: label("order"),
  order_id: id("order"),
  status: z.string(),
  filled: z.int().describe("Shares traded so far"),
  average_price: z.number().optional(),
  cash: cents().describe("Of the account, after the fees"),
  alerts_reached: z.array(z.object({ alert_id: id("alert"), at: z.number() })).optional(),
};

function outcomeOf(
  market: Market,
  order_id: string,
  order: Order,
  rung: { alert_id: string; at: number }[],
  now: string,
) {
  const filled = filledOf(order);
  const average_price =
    filled === 0 ? undefined : round(sum(order.fills.map(it => it.shares * it.price)) / filled);
  return {
    order: wordsOf(order),
    order_id,
    status: statusOf(order, now),
    filled,
    ...(average_price === undefined ? {} : { average_price }),
    cash: market.cash,
    ...(rung.length ? { alerts_reached: rung } : {}),
  };
}

function stillWorking(market: Market, key: string, now: string): Order {
  const order = orderOf(market, key);
  const status = statusOf(order, now);
  if (!isWorking(order, now))
    refuse(
      "precondition_failed",
      `the order to ${wordsOf(order)} (${key}) is ${status}`,
      "only open orders can be changed; trading_list_orders finds them",
    );
  return order;
}

const notPast = (date: string | undefined, now: string) => {
  if (date !== undefined && date < now.slice(0, 10))
    refuse(
      "precondition_failed",
      `good_until ${date} is before today, ${now.slice(0, 10)}`,
      "choose today or a later day",
    );
};

export const ordering = {
  place_order: tool({
    effect: "write",
    summary:
      "Buy or sell shares: at market, for what the book gives at once, or with a limit price, where what cannot be traded at once rests in the book.",
    input: {
      symbol: symbolId,
      side: z.enum(sides).describe("Whether to buy or to sell"),
      shares: shares.describe("Number of shares, in whole lots of the symbol"),
      price: price
        .optional()
        .describe(
          "Limit: the most to pay or the least to take for a share, in whole ticks; at market if not given",
        )
        .meta({ examples: prices }),
      good_until: day()
        .optional()
        .describe("Last day on which a limit order may rest, until it is cancelled if not given"),
    },
    returns: outcome,
    run(market, { symbol: called, side, shares: wanted, price: most, good_until }, { now, newId }) {
      const { symbol, listing } = listed(market, called);
      notPast(good_until, now);
      if (good_until !== undefined && most === undefined)
        refuse(
          "invalid_params",
          "a market order does not rest: good_until needs a price",
          "give a price, or leave out good_until",
        );
      const asked = { symbol, side, shares: wanted, price: most };
      acceptable(market, listing, asked);
      const takes = covered(market, asked, now);
      const order_id = newId("ord");
      const order: Order = {
        symbol,
        side,
        shares: wanted,
        ...(most === undefined ? {} : { price: most }),
        at: now,
        ...(good_until === undefined ? {} : { good_until }),
        status: "working",
        fills: [],
      };
      market.orders[order_id] = order;
      const rung = execute(market, order, takes, { now });
      // what the book does not give to a market order is not waited for
      if (most === undefined && restOf(order) > 0) order.status = "cancelled";
      return outcomeOf(market, order_id, order, rung, now);
    },
  }),
  modify_order: tool({
    effect: "write",
    summary:
      "Change the price, the number of shares or the last day of an order that still rests. A better price may trade at once; a worse place in the book is the cost.",
    input: {
      order_id: orderId,
      price: price.optional().describe("New limit").meta({ examples: prices }),
      shares: shares
        .optional()
        .describe("New number of shares in all, those traded already among them"),
      good_until: day().optional().describe("New last day"),
    },
    returns: outcome,
    run(market, { order_id, price: limit, shares: wanted, good_until }, { now }) {
      const order = stillWorking(market, order_id, now);
      if (limit === undefined && wanted === undefined && good_until === undefined)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a price, shares or good_until",
        );
      notPast(good_until, now);
      const next = {
        ...order,
        price: limit ?? order.price!,
        shares: wanted ?? order.shares,
        ...(good_until === undefined ? {} : { good_until }),
      };
      if (
        next.price === order.price &&
        next.shares === order.shares &&
        next.good_until === order.good_until
      )
        refuse("conflict", `the order to ${wordsOf(order)} (${order_id}) is like that already`);
      const filled = filledOf(order);
      if (next.shares <= filled)
        refuse(
          "precondition_failed",
          `${filled} shares of the order to ${wordsOf(order)} (${order_id}) are traded: ${next.shares} in all is too few`,
          "trading_cancel_order drops the rest",
        );
      const asked = {
        symbol: order.symbol,
        side: order.side,
        shares: next.shares - filled,
        price: next.price,
        orderId: order_id,
      };
      acceptable(market, market.symbols[order.symbol]!, { ...asked, shares: next.shares });
      const takes = covered(market, asked, now);
      // a new price or more shares queue up again
      if (next.price !== order.price || next.shares > order.shares) order.at = now;
      order.price = next.price;
      order.shares = next.shares;
      if (good_until !== undefined) order.good_until = good_until;
      return outcomeOf(market, order_id, order, execute(market, order, takes, { now }), now);
    },
  }),
  cancel_order: tool({
    effect: "write",
    summary:
      "Cancel what rests of an open order, which frees the cash or shares reserved for it. What was traded stays traded.",
    destructive: true,
    input: { order_id: orderId },
    returns: {
      order: label("order"),
      order_id: id("order"),
      status: z.string(),
      cancelled: z.int().describe("Shares that were still open"),
      filled: z.int(),
    },
    run(market, { order_id }, { now }) {
      if (orderOf(market, order_id).status === "cancelled")
        refuse(
          "conflict",
          `the order to ${wordsOf(orderOf(market, order_id))} (${order_id}) is cancelled already`,
        );
      const order = stillWorking(market, order_id, now);
      const cancelled = restOf(order);
      order.status = "cancelled";
      return {
        order: wordsOf(order),
        order_id,
        status: "cancelled",
        cancelled,
        filled: filledOf(order),
      };
    },
  }),
  set_price_alert: tool({
    effect: "write",
    summary:
      "Be told once a symbol trades at a price or above it, or at it or below it. Does not trade.",
    input: {
      symbol: symbolId,
      direction: z
        .enum(["above", "below"])
        .describe("Whether the price has to rise to it or to fall to it"),
      price: price.describe("Price that sets it off").meta({ examples: prices }),
    },
    returns: {
      name: label("symbol"),
      symbol: spokenId("symbol"),
      alert_id: id("alert"),
      direction: z.string(),
      price: z.number(),
      last: z.number(),
    },
    run(market, { symbol: called, direction, price: at }, { newId }) {
      const { symbol, listing } = listed(market, called);
      const { last, name } = listing;
      if (direction === "above" ? last >= at : last <= at)
        refuse(
          "precondition_failed",
          `${symbol} is at ${last}, which is ${last === at ? "that price" : `${direction} ${at}`} already`,
          `choose a price ${direction} ${last}`,
        );
      const [low, high] = [
        round(last * (1 - alertBand / 100)),
        round(last * (1 + alertBand / 100)),
      ];
      if (at < low || at > high)
        refuse(
          "precondition_failed",
          `${at} is more than ${alertBand} % away from the last price of ${symbol}, ${last}`,
          `choose a price from ${low} to ${high}`,
        );
      const waiting = Object.entries(market.alerts).filter(([, it]) => it.status === "waiting");
      const same = waiting.find(
        ([, it]) => it.symbol === symbol && it.direction === direction && it.price === at,
      );
      if (same)
        refuse(
          "conflict",
          `there is an alert for ${symbol} ${direction} ${at} already (${same[0]})`,
        );
      if (waiting.length >= mostAlerts)
        refuse(
          "limit_exceeded",
          `${mostAlerts} alerts wait already, and no more are allowed`,
          "they go once their price is reached",
        );
      const alert_id = newId("alr");
      market.alerts[alert_id] = { symbol, direction, price: at, status: "waiting" };
      return { name, symbol, alert_id, direction, price: at, last };
    },
  }),
};
