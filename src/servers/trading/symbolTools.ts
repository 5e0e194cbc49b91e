/** Tools that read symbols: search, quotes, order books and candles, and set price alerts. */
import { z } from "zod";
import { roundToCents } from "../../environment/amounts.ts";
import {
  type Listing,
  listBookSide,
  getTradingHours,
  findListing,
  symbols,
  TradingState,
  symbolId,
  limit,
  priceResult,
  limitPrice,
  examplePrices,
} from "./state.ts";
import { cents, day, id, label, spokenId, rowTotal } from "../../environment/fieldSchemas.ts";
import { refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { ascending, contains, meets } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };
import { requireWholeTicks } from "./orderMatching.ts";

export const percentChange = (now: number, before: number) =>
  roundToCents((now / before - 1) * 100);

interface Candle {
  date: string;
  open: number;
  high: number;
  low: number;
  close: number;
  volume: number;
}

function listDailyCandles(
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

/** Merges the days of each week or month into one candle. */
function mergeCandles(days: readonly Candle[], interval: "day" | "week" | "month"): Candle[] {
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

const getLastClose = ({ history }: Listing) => history.at(-1)![4];

const tool = createToolFactory(TradingState);

export const symbolTools = {
  search_symbols: symbols.list({
    summary:
      "Find symbols that can be traded, by name, sector or exchange, with their last prices.",
    filters: {
      name: meets(
        label("symbol"),
        "Only symbols whose name, or the symbol itself, contains this",
        (it, name, { id: symbol }) => containsText(it.name, name) || symbol === name.toUpperCase(),
      ),
      sector: contains(
        z.string().min(1).max(40).optional().meta({ examples: vocabulary.sectors }),
        "Only symbols of sectors that contain this",
        it => it.sector,
      ),
      exchange: contains(
        z.string().min(1).max(60),
        "Only symbols on exchanges whose name contains this",
        (it, { exchanges }) => exchanges[it.exchange]!.name,
      ),
    },
    order: ascending(() => 0),
    limit: 20,
    row: {
      name: label("symbol"),
      symbol: symbols.idField,
      sector: z.string(),
      last: priceResult,
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
        .meta({ examples: vocabulary.depths }),
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
      total: rowTotal("candles"),
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
      const all = mergeCandles(days, interval);
      const candles = all.slice(-limit);
      const [first, last] = [candles[0], candles.at(-1)];
      return {
        name: listing.name,
        symbol,
        total: all.length,
        candles: candles.toReversed(),
        ...(first && last ? { change_percent: percentChange(last.close, first.open) } : {}),
      };
    },
  }),
};

export const maxWaitingAlerts = 12;
/** How far from the last price an alert may lie, in percent. */
const alertBand = 50;

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
