/** Tools that read, place, change and cancel orders. */
import { z } from "zod";
import {
  cents,
  day,
  id,
  label,
  minute,
  spokenId,
  rowTotal,
} from "../../environment/fieldSchemas.ts";
import { createToolFactory, refuse } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { sumAmounts } from "../../environment/amounts.ts";
import {
  countFilledShares,
  isWorking,
  findListing,
  TradingState,
  orders,
  computeAveragePrice,
  sides,
  getOrderStatus,
  formatOrder,
  symbolId,
  limit,
  priceResult,
  limitPrice,
  examplePrices,
  countOpenShares,
  type Order,
} from "./state.ts";
import { getSchemas } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { validateOrder, planExecution, executeOrder } from "./orderMatching.ts";

const tool = createToolFactory(TradingState);

const orderStatus = z.enum(["open", "partly filled", "filled", "cancelled", "expired"]);

export const orderQueries = {
  get_order: orders.get({
    summary:
      "Get one order in full: what it asks for, how much of it was traded at which prices, and until when it may rest.",
    row: {
      order: [label("order"), it => formatOrder(it)],
      order_id: orders.idField,
      symbol: spokenId("symbol"),
      side: z.enum(sides),
      shares: z.int(),
      price: priceResult.optional(),
      at: minute(),
      good_until: day().optional(),
      status: [orderStatus, (it, { now }) => getOrderStatus(it, now)],
      filled: [z.int(), it => countFilledShares(it)],
      average_price: [z.number().optional(), it => computeAveragePrice(it)],
      fees: [cents(), ({ fills }) => sumAmounts(fills.map(it => it.fee))],
      fills: [
        z.array(z.object({ at: minute(), shares: z.int(), price: priceResult })).optional(),
        ({ fills }) =>
          fills.length > 0
            ? fills.map(it => ({ at: it.at, shares: it.shares, price: it.price }))
            : undefined,
      ],
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
      total: rowTotal("orders"),
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
        total: rows.length,
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

const shares = z.int().min(1).max(100_000).meta({ examples: vocabulary.shares });

const orderRow = orders.fields({
  order: [label("order"), it => formatOrder(it)],
  order_id: orders.idField,
  status: [z.string(), (it, { now }) => getOrderStatus(it, now)],
  filled: [z.int().describe("Shares traded so far"), it => countFilledShares(it)],
  average_price: [z.number().optional(), it => computeAveragePrice(it)],
});
const orderResult = {
  ...getSchemas(orderRow),
  cash: cents().describe("Of the account, after the fees"),
  alerts_reached: z.array(z.object({ alert_id: id("alert"), at: z.number() })).optional(),
};

const createOrderResult = (
  state: TradingState,
  orderId: string,
  reachedAlerts: { alert_id: string; at: number }[],
  now: string,
) => ({
  ...orders.show(orderRow, state, orderId, now),
  cash: state.cash,
  ...(reachedAlerts.length > 0 ? { alerts_reached: reachedAlerts } : {}),
});

function findWorkingOrder(state: TradingState, key: string, now: string): Order {
  const order = orders.find(state, key);
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
      return createOrderResult(state, order_id, reachedAlerts, now);
    },
  }),
  modify_order: tool({
    effect: "write",
    summary:
      "Change the price, the number of shares or the last day of an order that still rests. A better price may trade at once; a worse place in the book is the cost.",
    input: {
      order_id: orders.id,
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
      const reachedAlerts = executeOrder(state, order, matches, { now });
      return createOrderResult(state, order_id, reachedAlerts, now);
    },
  }),
  cancel_order: tool({
    effect: "write",
    summary:
      "Cancel what rests of an open order, which frees the cash or shares reserved for it. What was traded stays traded.",
    destructive: true,
    input: { order_id: orders.id },
    returns: {
      order: label("order"),
      order_id: id("order"),
      status: z.string(),
      cancelled: z.int().describe("Shares that were still open"),
      filled: z.int(),
    },
    run(state, { order_id }, { now }) {
      if (orders.find(state, order_id).status === "cancelled")
        refuse(
          "conflict",
          `the order to ${formatOrder(orders.find(state, order_id))} (${order_id}) is cancelled already`,
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
