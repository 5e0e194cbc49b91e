/**
 * The state of the brokerage account and its markets: exchanges with their hours, symbols with
 * their books and histories, cash, positions, orders and alerts.
 */
import { z } from "zod";
import { cents, day, minute, spokenId, rowLimit } from "../../environment/fieldSchemas.ts";
import type { References } from "../../environment/referenceChecks.ts";
import { refuse } from "../../environment/server.ts";
import { getWeekday } from "../../environment/time.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { createTableFactory } from "../kit/table.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

export const sides = ["buy", "sell"] as const;
export type Side = (typeof sides)[number];

const price = z.number().min(0.01).max(100_000);
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

const Exchange = z.strictObject({
  name: z.string().min(1),
  /** On weekdays, in the session's time. */
  opens: clockTime,
  closes: clockTime,
  /** Weekdays without trading. */
  holidays: z.array(day()),
});

/** An order of another trader. At equal prices, the earlier order comes first. */
const Resting = z.strictObject({ price, shares: z.int().min(1), at: minute() });
type RestingOrder = z.infer<typeof Resting>;

const Listing = z.strictObject({
  name: z.string().min(1),
  exchange: z.string(),
  sector: z.string().min(1),
  status: z.enum(["trading", "halted"]),
  /** Orders are for whole lots, at prices in whole ticks. */
  lot: z.int().min(1),
  tick: z.number().min(0.01).max(1),
  last: price,
  /** Today so far; without trades, all prices are the last close. */
  today: z.strictObject({ open: price, high: price, low: price, volume: z.int().min(0) }),
  /** The best price first. */
  bids: z.array(Resting),
  asks: z.array(Resting),
  /** Day, open, high, low, close, shares; the oldest first, without today. */
  history: z.array(z.tuple([day(), price, price, price, price, z.int().min(0)])).min(1),
});
export type Listing = z.infer<typeof Listing>;

const Order = z.strictObject({
  symbol: z.string(),
  side: z.enum(sides),
  shares: z.int().min(1),
  /** The limit; a market order has none. */
  price: price.optional(),
  at: minute(),
  /** The last day on which it stays in the book. */
  good_until: day().optional(),
  /** `working` until it is filled, cancelled, or past its last day. */
  status: z.enum(["working", "filled", "cancelled"]),
  fills: z.array(z.strictObject({ at: minute(), shares: z.int().min(1), price, fee: cents() })),
});
export type Order = z.infer<typeof Order>;

const Alert = z.strictObject({
  symbol: z.string(),
  direction: z.enum(["above", "below"]),
  price,
  status: z.enum(["waiting", "reached"]),
});

export const references = {
  "symbols.*.exchange": "exchanges",
  "positions.@": "symbols",
  "orders.*.symbol": "symbols",
  "alerts.*.symbol": "symbols",
} satisfies References;

export const TradingState = z.strictObject({
  /** The amount paid in when the account was opened. */
  paid_in: cents(),
  cash: cents(),
  /** Per execution. */
  fee: cents(),
  /** The largest value of one order. */
  most_per_order: z.number().min(1).max(1_000_000),
  /** How far a limit may be from the last price, in percent. */
  band: z.int().min(1).max(100),
  exchanges: z.record(z.string(), Exchange),
  symbols: z.record(z.string().regex(/^[A-Z]{2,5}$/), Listing),
  /** Shares held and what they cost. */
  positions: z.record(z.string(), z.strictObject({ shares: z.int().min(1), cost: cents() })),
  orders: z.record(z.string(), Order),
  alerts: z.record(z.string(), Alert),
});
export type TradingState = z.infer<typeof TradingState>;

const table = createTableFactory(TradingState);
export const orders = table("orders", { entity: "order", idsFrom: "trading_list_orders" });
export const symbols = table("symbols", {
  entity: "symbol",
  idsFrom: "trading_search_symbols",
  isSpoken: true,
});

/** The symbol in its canonical spelling, and its listing. */
export function findListing(
  { symbols }: Pick<TradingState, "symbols">,
  input: string,
): { symbol: string; listing: Listing } {
  const symbol = input.trim().toUpperCase();
  if (Object.hasOwn(symbols, symbol)) return { symbol, listing: symbols[symbol]! };
  const near = Object.entries(symbols).filter(([, it]) => containsText(it.name, input.trim()));
  return refuse(
    "not_found",
    `there is no symbol ${input}`,
    near.length
      ? `did you mean ${near.map(([key, it]) => `${key} (${it.name})`).join(" or ")}`
      : "trading_search_symbols finds symbols by name",
  );
}

/** Whether an exchange is open at this minute, with a description of its hours. */
export function getTradingHours(
  { name, opens, closes, holidays }: TradingState["exchanges"][string],
  now: string,
): { isOpen: boolean; description: string } {
  const [date, time] = [now.slice(0, 10), now.slice(11)];
  const weekday = getWeekday(date);
  if (weekday === 0 || weekday === 6)
    return { isOpen: false, description: `${name} is closed at the weekend` };
  if (holidays.includes(date))
    return { isOpen: false, description: `${name} has a holiday on ${date}` };
  return {
    isOpen: time >= opens && time < closes,
    description: `${name} trades from ${opens} to ${closes}, and it is ${time}`,
  };
}

export const countFilledShares = (order: Pick<Order, "fills">): number =>
  order.fills.reduce((sum, it) => sum + it.shares, 0);
export const countOpenShares = (order: Pick<Order, "fills" | "shares">): number =>
  order.shares - countFilledShares(order);

/** The average price of what was traded; undefined if nothing was. */
export function computeAveragePrice(order: Pick<Order, "fills">): number | undefined {
  const filled = countFilledShares(order);
  if (filled === 0) return undefined;
  return roundToCents(sumAmounts(order.fills.map(it => it.shares * it.price)) / filled);
}

type OrderStatus = "open" | "partly filled" | "filled" | "cancelled" | "expired";

export function getOrderStatus(order: Order, now: string): OrderStatus {
  if (order.status !== "working") return order.status;
  if (order.good_until !== undefined && order.good_until < now.slice(0, 10)) return "expired";
  return order.fills.length > 0 ? "partly filled" : "open";
}

export const isWorking = (order: Order, now: string): boolean =>
  order.status === "working" && getOrderStatus(order, now) !== "expired";

/** The order as text: `buy 40 HLYN at 12.50`. */
export const formatOrder = ({
  side,
  shares,
  symbol,
  price: limit,
}: Pick<Order, "side" | "shares" | "symbol" | "price">): string =>
  `${side} ${shares} ${symbol} at ${limit === undefined ? "market" : limit.toFixed(2)}`;

/** The cash that an open buy order reserves. */
const computeReserve = (order: Order, fee: number) =>
  order.side === "buy" && order.price !== undefined
    ? roundToCents(countOpenShares(order) * order.price + fee)
    : 0;

/** The cash that open orders reserve, without the order `exceptId`. */
export const sumReservedCash = (
  { orders, fee }: TradingState,
  now: string,
  exceptId?: string,
): number =>
  sumAmounts(
    Object.entries(orders).map(([key, it]) =>
      key !== exceptId && isWorking(it, now) ? computeReserve(it, fee) : 0,
    ),
  );

/** The shares of a symbol that open orders offer for sale, without the order `exceptId`. */
export const sumReservedShares = (
  { orders }: TradingState,
  symbol: string,
  now: string,
  exceptId?: string,
): number =>
  Object.entries(orders).reduce(
    (sum, [key, it]) =>
      sum +
      (key !== exceptId && it.symbol === symbol && it.side === "sell" && isWorking(it, now)
        ? countOpenShares(it)
        : 0),
    0,
  );

export const getPositionShares = ({ positions }: TradingState, symbol: string): number =>
  Object.hasOwn(positions, symbol) ? positions[symbol]!.shares : 0;

/** One side of a book, including the account's own orders, the best price first. */
export function listBookSide(
  state: TradingState,
  symbol: string,
  side: Side,
  now: string,
): (RestingOrder & { order_id?: string })[] {
  const { bids, asks } = state.symbols[symbol]!;
  const own = Object.entries(state.orders).flatMap(([order_id, it]) =>
    it.symbol === symbol && it.side === side && it.price !== undefined && isWorking(it, now)
      ? [{ price: it.price, shares: countOpenShares(it), at: it.at, order_id }]
      : [],
  );
  const better = side === "buy" ? -1 : 1;
  return [...(side === "buy" ? bids : asks), ...own].sort((a, b) =>
    a.price === b.price ? (a.at < b.at ? -1 : a.at > b.at ? 1 : 0) : better * (a.price - b.price),
  );
}

export const symbolId = spokenId("symbol").describe(
  "Symbol, such as trading_search_symbols gives it",
);
export const limit = rowLimit(10);
export const priceResult = z.number();

export const limitPrice = z.number().min(0.01).max(100_000);
export const examplePrices = vocabulary.prices;
