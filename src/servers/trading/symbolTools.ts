/** Tools that read symbols: search, quotes, order books and candles. */
import { z } from "zod";
import { cents, day, id, label, spokenId } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { listBookSide, getTradingHours, findListing, TradingState, type Listing } from "./state.ts";
import { percentChange, listDailyCandles, mergeCandles } from "./candles.ts";
import { symbolId, limit, priceResult } from "./parameters.ts";

const getLastClose = ({ history }: Listing) => history.at(-1)![4];

const tool = createToolFactory(TradingState);

export const symbolTools = {
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
          last: priceResult,
        }),
      ),
    },
    run({ symbols, exchanges }, { name, sector, exchange, limit = 20 }) {
      const matches = Object.entries(symbols).filter(
        ([key, it]) =>
          (!name || containsText(it.name, name) || key === name.toUpperCase()) &&
          (!sector || containsText(it.sector, sector)) &&
          (!exchange || containsText(exchanges[it.exchange]!.name, exchange)),
      );
      return {
        symbols: matches
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .slice(0, limit)
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
      last: priceResult,
      change_percent: z.number().describe("Since the last close"),
      bid: priceResult.optional(),
      ask: priceResult.optional(),
      high: priceResult,
      low: priceResult,
      volume: z.int(),
      trading: z.enum(["open", "closed", "halted"]),
      hours: z.string(),
      lot: z.int(),
      tick: z.number(),
      alerts: z
        .array(
          z.object({
            alert_id: id("alert"),
            direction: z.string(),
            price: priceResult,
            status: z.string(),
          }),
        )
        .optional(),
    },
    run(state, { symbol: symbolArgument }, { now }) {
      const { symbol, listing } = findListing(state, symbolArgument);
      const exchange = state.exchanges[listing.exchange]!;
      const [bid, ask] = [
        listBookSide(state, symbol, "buy", now)[0]?.price,
        listBookSide(state, symbol, "sell", now)[0]?.price,
      ];
      const { isOpen } = getTradingHours(exchange, now);
      const alerts = Object.entries(state.alerts).filter(([, it]) => it.symbol === symbol);
      return {
        name: listing.name,
        symbol,
        last: listing.last,
        change_percent: percentChange(listing.last, getLastClose(listing)),
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
          price: priceResult,
          shares: z.int(),
          order_id: id("order").optional().describe("The account's own order"),
        }),
      ),
      asks: z.array(
        z.object({ price: priceResult, shares: z.int(), order_id: id("order").optional() }),
      ),
      spread: cents().optional(),
    },
    run(state, { symbol: symbolArgument, depth = 5 }, { now }) {
      const { symbol, listing } = findListing(state, symbolArgument);
      if (listing.status === "halted")
        refuse(
          "precondition_failed",
          `${symbol} (${listing.name}) is halted: its book is closed`,
          "trading_get_candles shows where it has traded",
        );
      const [bids, asks] = (["buy", "sell"] as const).map(side =>
        listBookSide(state, symbol, side, now)
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
        ...(bid === undefined || ask === undefined ? {} : { spread: roundToCents(ask - bid) }),
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
          open: priceResult,
          high: priceResult,
          low: priceResult,
          close: priceResult,
          volume: z.int(),
        }),
      ),
      change_percent: z.number().optional().describe("From the first open to the last close"),
    },
    run(
      state,
      { symbol: symbolArgument, interval = "day", from_date, to_date, limit = 5 },
      { now },
    ) {
      const { symbol, listing } = findListing(state, symbolArgument);
      const today = now.slice(0, 10);
      if (from_date && to_date && from_date > to_date)
        refuse("invalid_params", `from_date ${from_date} is after to_date ${to_date}`);
      if (from_date && from_date > today)
        refuse(
          "precondition_failed",
          `${from_date} is to come: today is ${today}`,
          `${symbol} has candles from ${listing.history[0]![0]} on`,
        );
      const days = listDailyCandles(listing, today).filter(
        it => (!from_date || it.date >= from_date) && (!to_date || it.date <= to_date),
      );
      const candles = mergeCandles(days, interval).slice(-limit);
      const [first, last] = [candles[0], candles.at(-1)];
      return {
        name: listing.name,
        symbol,
        candles: candles.toReversed(),
        ...(first && last ? { change_percent: percentChange(last.close, first.open) } : {}),
      };
    },
  }),
};
