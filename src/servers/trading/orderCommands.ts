/** Tools that place, change and cancel orders. */
import { z } from "zod";
import { cents, day, id, label } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { validateOrder, planExecution, executeOrder } from "./orderMatching.ts";
import { symbolId, limitPrice, examplePrices } from "./parameters.ts";
import {
  countFilledShares,
  isWorking,
  findListing,
  TradingState,
  findOrder,
  countOpenShares,
  sides,
  getOrderStatus,
  formatOrder,
  type Order,
} from "./state.ts";

const orderId = id("order").describe("Order id, as trading_list_orders gives it");

const shares = z
  .int()
  .min(1)
  .max(100_000)
  .meta({ examples: [5, 10, 20, 25, 30, 40, 50, 60, 80, 100, 120, 150, 200, 300] });

const tool = createToolFactory(TradingState);

const orderResult = {
  order: label("order"),
  order_id: id("order"),
  status: z.string(),
  filled: z.int().describe("Shares traded so far"),
  average_price: z.number().optional(),
  cash: cents().describe("Of the account, after the fees"),
  alerts_reached: z.array(z.object({ alert_id: id("alert"), at: z.number() })).optional(),
};

function createOrderResult(
  state: TradingState,
  order_id: string,
  order: Order,
  reachedAlerts: { alert_id: string; at: number }[],
  now: string,
) {
  const filled = countFilledShares(order);
  const average_price =
    filled === 0
      ? undefined
      : roundToCents(sumAmounts(order.fills.map(it => it.shares * it.price)) / filled);
  return {
    order: formatOrder(order),
    order_id,
    status: getOrderStatus(order, now),
    filled,
    ...(average_price === undefined ? {} : { average_price }),
    cash: state.cash,
    ...(reachedAlerts.length ? { alerts_reached: reachedAlerts } : {}),
  };
}

function findWorkingOrder(state: TradingState, key: string, now: string): Order {
  const order = findOrder(state, key);
  const status = getOrderStatus(order, now);
  if (!isWorking(order, now))
    refuse(
      "precondition_failed",
      `the order to ${formatOrder(order)} (${key}) is ${status}`,
      "only open orders can be changed; trading_list_orders finds them",
    );
  return order;
}

const refusePastDay = (date: string | undefined, now: string) => {
  if (date !== undefined && date < now.slice(0, 10))
    refuse(
      "precondition_failed",
      `good_until ${date} is before today, ${now.slice(0, 10)}`,
      "choose today or a later day",
    );
};

export const orderCommands = {
  place_order: tool({
    effect: "write",
    summary:
      "Buy or sell shares: at market, for what the book gives at once, or with a limit price, where what cannot be traded at once rests in the book.",
    input: {
      symbol: symbolId,
      side: z.enum(sides).describe("Whether to buy or to sell"),
      shares: shares.describe("Number of shares, in whole lots of the symbol"),
      price: limitPrice
        .optional()
        .describe(
          "Limit: the most to pay or the least to take for a share, in whole ticks; at market if not given",
        )
        .meta({ examples: examplePrices }),
      good_until: day()
        .optional()
        .describe("Last day on which a limit order may rest, until it is cancelled if not given"),
    },
    returns: orderResult,
    run(
      state,
      { symbol: symbolArgument, side, shares: shareCount, price: limit, good_until },
      { now, newId },
    ) {
      const { symbol, listing } = findListing(state, symbolArgument);
      refusePastDay(good_until, now);
      if (good_until !== undefined && limit === undefined)
        refuse(
          "invalid_params",
          "a market order does not rest: good_until needs a price",
          "give a price, or leave out good_until",
        );
      const request = { symbol, side, shares: shareCount, price: limit };
      validateOrder(state, listing, request);
      const matches = planExecution(state, request, now);
      const order_id = newId("ord");
      const order: Order = {
        symbol,
        side,
        shares: shareCount,
        ...(limit === undefined ? {} : { price: limit }),
        at: now,
        ...(good_until === undefined ? {} : { good_until }),
        status: "working",
        fills: [],
      };
      state.orders[order_id] = order;
      const reachedAlerts = executeOrder(state, order, matches, { now });
      // a market order does not wait for shares that the book does not offer now
      if (limit === undefined && countOpenShares(order) > 0) order.status = "cancelled";
      return createOrderResult(state, order_id, order, reachedAlerts, now);
    },
  }),
  modify_order: tool({
    effect: "write",
    summary:
      "Change the price, the number of shares or the last day of an order that still rests. A better price may trade at once; a worse place in the book is the cost.",
    input: {
      order_id: orderId,
      price: limitPrice.optional().describe("New limit").meta({ examples: examplePrices }),
      shares: shares
        .optional()
        .describe("New number of shares in all, those traded already among them"),
      good_until: day().optional().describe("New last day"),
    },
    returns: orderResult,
    run(state, { order_id, price: limit, shares: shareCount, good_until }, { now }) {
      const order = findWorkingOrder(state, order_id, now);
      if (limit === undefined && shareCount === undefined && good_until === undefined)
        refuse(
          "invalid_params",
          "nothing to change is given",
          "give a price, shares or good_until",
        );
      refusePastDay(good_until, now);
      const changes = {
        ...order,
        price: limit ?? order.price!,
        shares: shareCount ?? order.shares,
        ...(good_until === undefined ? {} : { good_until }),
      };
      if (
        changes.price === order.price &&
        changes.shares === order.shares &&
        changes.good_until === order.good_until
      )
        refuse("conflict", `the order to ${formatOrder(order)} (${order_id}) is like that already`);
      const filled = countFilledShares(order);
      if (changes.shares <= filled)
        refuse(
          "precondition_failed",
          `${filled} shares of the order to ${formatOrder(order)} (${order_id}) are traded: ${changes.shares} in all is too few`,
          "trading_cancel_order drops the rest",
        );
      const request = {
        symbol: order.symbol,
        side: order.side,
        shares: changes.shares - filled,
        price: changes.price,
        orderId: order_id,
      };
      validateOrder(state, state.symbols[order.symbol]!, { ...request, shares: changes.shares });
      const matches = planExecution(state, request, now);
      // a new price or more shares lose the order its place in the queue
      if (changes.price !== order.price || changes.shares > order.shares) order.at = now;
      order.price = changes.price;
      order.shares = changes.shares;
      if (good_until !== undefined) order.good_until = good_until;
      return createOrderResult(
        state,
        order_id,
        order,
        executeOrder(state, order, matches, { now }),
        now,
      );
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
    run(state, { order_id }, { now }) {
      if (findOrder(state, order_id).status === "cancelled")
        refuse(
          "conflict",
          `the order to ${formatOrder(findOrder(state, order_id))} (${order_id}) is cancelled already`,
        );
      const order = findWorkingOrder(state, order_id, now);
      const cancelled = countOpenShares(order);
      order.status = "cancelled";
      return {
        order: formatOrder(order),
        order_id,
        status: "cancelled",
        cancelled,
        filled: countFilledShares(order),
      };
    },
  }),
};
