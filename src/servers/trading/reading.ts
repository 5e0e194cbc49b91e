/**
 * The tools that look: symbols and what they cost, books, candles, and what the account holds.
 * Changes nothing.
 */
import { z } from "zod";
import { cents, day, id, label, minute, spokenId } from "../../environment/entity.ts";
import { refuse, toolOf } from "../../environment/server.ts";
import { has } from "../../environment/words.ts";
import { round, sum } from "../../environment/money.ts";
import {
  bookOf,
  filledOf,
  hoursOf,
  isWorking,
  listed,
  Market,
  orderOf,
  reservedCash,
  reservedShares,
  sides,
  statusOf,
  wordsOf,
  type Listing,
} from "./state.ts";

export const symbolId = spokenId("symbol").describe(
  "Symbol, such as trading_search_symbols gives it",
);
export const limit = z
  .int()
  .min(1)
  .max(50)
  .optional()
  .describe("At most this many, 10 if not given");
const price = z.number();
const percent = (now: number, before: number) => round((now / before - 1) * 100);
const closeOf = ({ history }: Listing) => history.at(-1)![4];

const tool = toolOf(Market);

export const quotes = {
  search_symbols: tool({
    effect: "read",
    summary:
      "Find symbols that can be traded, by name, sector or exchange, with their last prices.",
    input: {
      name: label("symbol")
        .optional()
        .describe("Only symbols whose name, or the symbol itself, contains this"),
      sector: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("Only symbols of sectors that contain this")
        .meta({
          examples: [
            "Energy",
            "Food",
            "Health care",
            "Transport",
            "Technology",
            "Materials",
            "Media",
            "Finance",
            "Retail",
            "Funds",
          ],
        }),
      exchange: z
        .string()
        .min(1)
        .max(60)
        .optional()
        .describe("Only symbols on exchanges whose name contains this"),
      limit: limit.describe("At most this many, 20 if not given"),
    },
    returns: {
      symbols: z.array(
        z.object({
          name: label("symbol"),
          symbol: spokenId("symbol"),
          sector: z.string(),
          last: price,
        }),
      ),
    },
    run({ symbols, exchanges }, { name, sector, exchange, limit: most = 20 }) {
      const found = Object.entries(symbols).filter(
        ([key, it]) =>
          (!name || has(it.name, name) || key === name.toUpperCase()) &&
          (!sector || has(it.sector, sector)) &&
          (!exchange || has(exchanges[it.exchange]!.name, exchange)),
      );
      return {
        symbols: found
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .slice(0, most)
          .map(([symbol, it]) => ({ name: it.name, symbol, sector: it.sector, last: it.last })),
      };
    },
  }),
  get_quote: tool({
    effect: "read",
    summary:
      "Get what a symbol costs now: last, best bid and ask, the day's range, whether it trades, its lot and tick, and the alerts set on it.",
    input: { symbol: symbolId },
    returns: {
      name: label("symbol"),
      symbol: spokenId("symbol"),
      last: price,
      change_percent: z.number().describe("Since the last close"),
      bid: price.optional(),
      ask: price.optional(),
      high: price,
      low: price,
      volume: z.int(),
      trading: z.enum(["open", "closed", "halted"]),
      hours: z.string(),
      lot: z.int(),
      tick: z.number(),
      alerts: z
        .array(
          z.object({ alert_id: id("alert"), direction: z.string(), price, status: z.string() }),
        )
        .optional(),
    },
    run(market, { symbol: called }, { now }) {
      const { symbol, listing } = listed(market, called);
      const exchange = market.exchanges[listing.exchange]!;
      const [bid, ask] = [
        bookOf(market, symbol, "buy", now)[0]?.price,
        bookOf(market, symbol, "sell", now)[0]?.price,
      ];
      const { isOpen } = hoursOf(exchange, now);
      const alerts = Object.entries(market.alerts).filter(([, it]) => it.symbol === symbol);
      return {
        name: listing.name,
        symbol,
        last: listing.last,
        change_percent: percent(listing.last, closeOf(listing)),
        ...(bid === undefined ? {} : { bid }),
        ...(ask === undefined ? {} : { ask }),
        high: listing.today.high,
        low: listing.today.low,
        volume: listing.today.volume,
        trading:
          listing.status === "halted"
            ? ("halted" as const)
            : isOpen
              ? ("open" as const)
              : ("closed" as const),
        hours: `${exchange.name}, weekdays ${exchange.opens} to ${exchange.closes}`,
        lot: listing.lot,
        tick: listing.tick,
        ...(alerts.length
          ? {
              alerts: alerts.map(([alert_id, it]) => ({
                alert_id,
                direction: it.direction,
                price: it.price,
                status: it.status,
              })),
            }
          : {}),
      };
    },
  }),
  get_order_book: tool({
    effect: "read",
    summary:
      "Get the orders that wait on both sides of a symbol's book, the best price first: how many shares could be had at which price.",
    input: {
      symbol: symbolId,
      depth: z
        .int()
        .min(1)
        .max(20)
        .optional()
        .describe("At most this many orders on each side, 5 if not given")
        .meta({ examples: [1, 2, 3, 4, 5, 6, 8, 10] }),
    },
    returns: {
      name: label("symbol"),
      symbol: spokenId("symbol"),
      bids: z.array(
        z.object({
          price,
          shares: z.int(),
          order_id: id("order").optional().describe("The account's own order"),
        }),
      ),
      asks: z.array(z.object({ price, shares: z.int(), order_id: id("order").optional() })),
      spread: cents().optional(),
    },
    run(market, { symbol: called, depth = 5 }, { now }) {
      const { symbol, listing } = listed(market, called);
      if (listing.status === "halted")
        refuse(
          "precondition_failed",
          `${symbol} (${listing.name}) is halted: its book is closed`,
          "trading_get_candles shows where it has traded",
        );
      const [bids, asks] = (["buy", "sell"] as const).map(side =>
        bookOf(market, symbol, side, now)
          .slice(0, depth)
          .map(({ price: at, shares, order_id }) => ({
            price: at,
            shares,
            ...(order_id === undefined ? {} : { order_id }),
          })),
      );
      const [bid, ask] = [bids![0]?.price, asks![0]?.price];
      return {
        name: listing.name,
        symbol,
        bids: bids!,
        asks: asks!,
        ...(bid === undefined || ask === undefined ? {} : { spread: round(ask - bid) }),
      };
    },
  }),
  get_candles: tool({
    effect: "read",
    summary:
      "Get how a symbol's price went: open, high, low, close and volume of each day, week or month, the newest first, today among them.",
    input: {
      symbol: symbolId,
      interval: z
        .enum(["day", "week", "month"])
        .optional()
        .describe("Length of a candle, a day if not given"),
      from_date: day().optional().describe("First day"),
      to_date: day().optional().describe("Last day"),
      limit: limit.describe("At most this many, 5 if not given"),
    },
    returns: {
      name: label("symbol"),
      symbol: spokenId("symbol"),
      candles: z.array(
        z.object({
          date: day().describe("Its first day of trading"),
          open: price,
          high: price,
          low: price,
          close: price,
          volume: z.int(),
        }),
      ),
      change_percent: z.number().optional().describe("From the first open to the last close"),
    },
    run(
      market,
      { symbol: called, interval = "day", from_date, to_date, limit: most = 5 },
      { now },
    ) {
      const { symbol, listing } = listed(market, called);
      const today = now.slice(0, 10);
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      if (from_date && from_date > today)
        refuse(
          "precondition_failed",
          `${from_date} is to come: today is ${today}`,
          `${symbol} has candles from ${listing.history[0]![0]} on`,
        );
      const days = dailyOf(listing, today).filter(
        it => (!from_date || it.date >= from_date) && (!to_date || it.date <= to_date),
      );
      const candles = joined(days, interval).slice(-most);
      const [first, last] = [candles[0], candles.at(-1)];
      return {
        name: listing.name,
        symbol,
        candles: candles.toReversed(),
        ...(first && last ? { change_percent: percent(last.close, first.open) } : {}),
      };
    },
  }),
};

interface Candle {
  date: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

function dailyOf(
  { history, today: { open, high, low, volume }, last }: Listing,
  today: string,
): Candle[] {
  const past = history.map(([date, o, h, l, c, v]) => ({
    date,
    open: o,
    high: h,
    low: l,
    close: c,
    volume: v,
  }));
  return volume > 0 ? [...past, { date: today, open, high, low, close: last, volume }] : past;
}

/** Days of one week or month as one candle. */
function joined(days: readonly Candle[], interval: "day" | "week" | "month"): Candle[] {
  const groups = new Map<string, Candle>();
  for (const it of days) {
    const key =
      interval === "day"
        ? it.date
        : interval === "month"
          ? it.date.slice(0, 7)
          : String(Math.floor((Date.parse(it.date) / 86_400_000 + 3) / 7));
    const group = groups.get(key);
    groups.set(
      key,
      group
        ? {
            ...group,
            high: Math.max(group.high, it.high),
            low: Math.min(group.low, it.low),
            close: it.close,
            volume: group.volume + it.volume,
          }
        : it,
    );
  }
  return [...groups.values()];
}

/** What is held of each symbol, and what it is worth at the last price; the largest first. */
const heldOf = ({ positions, symbols }: Market) =>
  Object.entries(positions)
    .map(([symbol, { shares, cost }]) => ({
      symbol,
      shares,
      cost,
      value: round(shares * symbols[symbol]!.last),
      listing: symbols[symbol]!,
    }))
    .sort((a, b) => b.value - a.value || (a.symbol < b.symbol ? -1 : 1));

export const holdings = {
  get_portfolio: tool({
    effect: "read",
    summary:
      "Get the account as a whole: its value, cash, gain since it was opened, and how the money is spread over sectors.",
    input: {
      by: z
        .enum(["sector", "exchange"])
        .optional()
        .describe("How to spread it, by sector if not given"),
    },
    returns: {
      value: cents().describe("Positions at last prices, and cash"),
      cash: cents(),
      invested: cents(),
      gain: cents(),
      gain_percent: z.number(),
      positions: z.int(),
      spread: z.array(z.object({ part: z.string(), value: cents(), percent: z.number() })),
    },
    run(market, { by = "sector" }) {
      const held = heldOf(market);
      const invested = sum(held.map(it => it.value));
      const value = round(invested + market.cash);
      const parts = new Map<string, number>();
      for (const it of held) {
        const part =
          by === "sector" ? it.listing.sector : market.exchanges[it.listing.exchange]!.name;
        parts.set(part, round((parts.get(part) ?? 0) + it.value));
      }
      const spread = [...parts]
        .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
        .map(([part, worth]) => ({ part, value: worth, percent: round((worth / value) * 100) }));
      return {
        value,
        cash: market.cash,
        invested,
        gain: round(value - market.paid_in),
        gain_percent: percent(value, market.paid_in),
        positions: held.length,
        spread,
      };
    },
  }),
  list_positions: tool({
    effect: "read",
    summary:
      "List the symbols that the account holds, the largest first: shares, how many are free to sell, what they cost and what they have gained.",
    input: {
      sector: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("Only positions in sectors that contain this")
        .meta({
          examples: [
            "Energy",
            "Food",
            "Health care",
            "Transport",
            "Technology",
            "Materials",
            "Media",
            "Finance",
          ],
        }),
      losing: z.boolean().optional().describe("True for only positions that have lost money"),
      limit,
    },
    returns: {
      positions: z.array(
        z.object({
          name: label("symbol"),
          symbol: spokenId("symbol"),
          shares: z.int(),
          free: z.int(),
          value: cents(),
          gain: cents(),
        }),
      ),
    },
    run(market, { sector, losing, limit: most = 10 }, { now }) {
      const held = heldOf(market).filter(
        it => (!sector || has(it.listing.sector, sector)) && (!losing || it.value < it.cost),
      );
      return {
        positions: held.slice(0, most).map(it => ({
          name: it.listing.name,
          symbol: it.symbol,
          shares: it.shares,
          free: it.shares - reservedShares(market, it.symbol, now),
          value: it.value,
          gain: round(it.value - it.cost),
        })),
      };
    },
  }),
  get_cash_balance: tool({
    effect: "read",
    summary:
      "Get the account's cash: how much there is, how much open buy orders reserve, and how much is free to spend.",
    input: {},
    returns: {
      cash: cents(),
      reserved: cents(),
      free: cents(),
      fee_per_execution: cents(),
      open_buy_orders: z.int(),
    },
    run(market, _args, { now }) {
      const reserved = reservedCash(market, now);
      const open = Object.values(market.orders).filter(
        it => it.side === "buy" && isWorking(it, now),
      );
      return {
        cash: market.cash,
        reserved,
        free: round(market.cash - reserved),
        fee_per_execution: market.fee,
        open_buy_orders: open.length,
      };
    },
  }),
};

const orderStatus = z.enum(["open", "partly filled", "filled", "cancelled", "expired"]);

export const orders = {
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
      price: price.optional(),
      at: minute(),
      good_until: day().optional(),
      status: orderStatus,
      filled: z.int(),
      average_price: z.number().optional(),
      fees: cents(),
      fills: z.array(z.object({ at: minute(), shares: z.int(), price })).optional(),
    },
    run(market, { order_id }, { now }) {
      const order = orderOf(market, order_id);
      const { symbol, side, shares, price: wanted, at, good_until, fills } = order;
      const filled = filledOf(order);
      return {
        order: wordsOf(order),
        order_id,
        symbol,
        side,
        shares,
        ...(wanted === undefined ? {} : { price: wanted }),
        at,
        ...(good_until === undefined ? {} : { good_until }),
        status: statusOf(order, now),
        filled,
        ...(filled
          ? { average_price: round(sum(fills.map(it => it.shares * it.price)) / filled) }
          : {}),
        fees: sum(fills.map(it => it.fee)),
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
    run(market, { order: words, symbol: called, side, status, limit: most = 10 }, { now }) {
      const symbol = called === undefined ? undefined : listed(market, called).symbol;
      const found = Object.entries(market.orders).filter(
        ([, it]) =>
          (!words || has(wordsOf(it), words)) &&
          (!symbol || it.symbol === symbol) &&
          (!side || it.side === side) &&
          (!status || statusOf(it, now) === status),
      );
      const rows = found.sort(
        ([a, x], [b, y]) =>
          Number(isWorking(y, now)) - Number(isWorking(x, now)) ||
          (x.at === y.at ? (a < b ? 1 : -1) : x.at < y.at ? 1 : -1),
      );
      return {
        orders: rows.slice(0, most).map(([order_id, it]) => ({
          order: wordsOf(it),
          order_id,
          status: statusOf(it, now),
          filled: filledOf(it),
          date: it.at.slice(0, 10),
        })),
      };
    },
  }),
};
