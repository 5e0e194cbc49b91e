/**
 * A brokerage account and its markets: exchanges with their hours, symbols with their books and
 * history, cash, positions, orders, alerts. Knows no tools.
 */
import { z } from "zod";
import { cents, day, minute } from "../../environment/entity.ts";
import { findEntity, refuse } from "../../environment/server.ts";
import { weekdayOf } from "../../environment/time.ts";
import { has } from "../../environment/words.ts";
import { round, sum } from "../../environment/money.ts";

export const sides = ["buy", "sell"] as const;
export type Side = (typeof sides)[number];

const price = z.number().min(0.01).max(100_000);
const clockTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

const Exchange = z.strictObject({
  name: z.string().min(1),
  /** On weekdays, in the session's own time. */
  opens: clockTime,
  closes: clockTime,
  /** Weekdays without trading. */
  holidays: z.array(day()),
});

/** What other people want to trade: at equal prices the one that came first stands first. */
const Resting = z.strictObject({ price, shares: z.int().min(1), at: minute() });
export type Resting = z.infer<typeof Resting>;

const Listing = z.strictObject({
  name: z.string().min(1),
  exchange: z.string(),
  sector: z.string().min(1),
  status: z.enum(["trading", "halted"]),
  /** Orders are for whole lots, at prices in whole ticks. */
  lot: z.int().min(1),
  tick: z.number().min(0.01).max(1),
  last: price,
  /** Of today so far; without trades, all at the last close. */
  today: z.strictObject({ open: price, high: price, low: price, volume: z.int().min(0) }),
  /** Best first. */
  bids: z.array(Resting),
  asks: z.array(Resting),
  /** Day, open, high, low, close, shares; the oldest first, today not among them. */
  history: z.array(z.tuple([day(), price, price, price, price, z.int().min(0)])).min(1),
});
export type Listing = z.infer<typeof Listing>;

const Order = z.strictObject({
  symbol: z.string(),
  side: z.enum(sides),
  shares: z.int().min(1),
  /** Without one it is a market order. */
  price: price.optional(),
  at: minute(),
  /** The last day on which it may rest. */
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

export const Market = z.strictObject({
  /** What was paid in when the account was opened. */
  paid_in: cents(),
  cash: cents(),
  /** For every execution. */
  fee: cents(),
  /** The largest value of one order. */
  most_per_order: z.number().min(1).max(1_000_000),
  /** How far from the last price a limit may lie, in percent. */
  band: z.int().min(1).max(100),
  exchanges: z.record(z.string(), Exchange),
  symbols: z.record(z.string().regex(/^[A-Z]{2,5}$/), Listing),
  /** Shares held and what they cost. */
  positions: z.record(z.string(), z.strictObject({ shares: z.int().min(1), cost: cents() })),
  orders: z.record(z.string(), Order),
  alerts: z.record(z.string(), Alert),
});
export type Market = z.infer<typeof Market>;

/** The symbol as it is written, and what is listed under it. */
export function listed(
  { symbols }: Pick<Market, "symbols">,
  called: string,
): { symbol: string; listing: Listing } {
  const symbol = called.trim().toUpperCase();
  if (Object.hasOwn(symbols, symbol)) return { symbol, listing: symbols[symbol]! };
  const near = Object.entries(symbols).filter(([, it]) => has(it.name, called.trim()));
  return refuse(
    "not_found",
    `there is no symbol ${called}`,
    near.length
      ? `did you mean ${near.map(([key, it]) => `${key} (${it.name})`).join(" or ")}`
      : "trading_search_symbols finds symbols by name",
  );
}

export const orderOf = ({ orders }: Market, orderId: string): Order =>
  findEntity(orders, orderId, "order", "trading_list_orders gives the ids");

/** Whether an exchange trades at this minute, and in words when it does. */
export function hoursOf(
  { name, opens, closes, holidays }: Market["exchanges"][string],
  now: string,
): { isOpen: boolean; why: string } {
  const [date, time] = [now.slice(0, 10), now.slice(11)];
  const weekday = weekdayOf(date);
  if (weekday === 0 || weekday === 6)
    return { isOpen: false, why: `${name} is closed at the weekend` };
  if (holidays.includes(date)) return { isOpen: false, why: `${name} has a holiday on ${date}` };
  return {
    isOpen: time >= opens && time < closes,
    why: `${name} trades from ${opens} to ${closes}, and it is ${time}`,
  };
}

export const filledOf = (order: Pick<Order, "fills">): number =>
  order.fills.reduce((sum, it) => sum + it.shares, 0);
export const restOf = (order: Pick<Order, "fills" | "shares">): number =>
  order.shares - filledOf(order);

export type OrderStatus = "open" | "partly filled" | "filled" | "cancelled" | "expired";

export function statusOf(order: Order, now: string): OrderStatus {
  if (order.status !== "working") return order.status;
  if (order.good_until !== undefined && order.good_until < now.slice(0, 10)) return "expired";
  return order.fills.length > 0 ? "partly filled" : "open";
}

export const isWorking = (order: Order, now: string): boolean =>
  order.status === "working" && statusOf(order, now) !== "expired";

/** How a person says an order: `buy 40 HLYN at 12.50`. */
export const wordsOf = ({
  side,
  shares,
  symbol,
  price: limit,
}: Pick<Order, "side" | "shares" | "symbol" | "price">): string =>
  `${side} ${shares} ${symbol} at ${limit === undefined ? "market" : limit.toFixed(2)}`;

/** What an open buy order may still cost. */
const reserveOf = (order: Order, fee: number) =>
  order.side === "buy" && order.price !== undefined ? round(restOf(order) * order.price + fee) : 0;

/** Cash that open orders hold back, one order left out. */
export const reservedCash = ({ orders, fee }: Market, now: string, exceptId?: string): number =>
  sum(
    Object.entries(orders).map(([key, it]) =>
      key !== exceptId && isWorking(it, now) ? reserveOf(it, fee) : 0,
    ),
  );

/** Shares of a symbol that open orders offer for sale, one order left out. */
export const reservedShares = (
  { orders }: Market,
  symbol: string,
  now: string,
  exceptId?: string,
): number =>
  Object.entries(orders).reduce(
    (sum, [key, it]) =>
      sum +
      (key !== exceptId && it.symbol === symbol && it.side === "sell" && isWorking(it, now)
        ? restOf(it)
        : 0),
    0,
  );

export const sharesOf = ({ positions }: Market, symbol: string): number =>
  Object.hasOwn(positions, symbol) ? positions[symbol]!.shares : 0;

/** One side of a book with the account's own orders in their places. */
export function bookOf(
  market: Market,
  symbol: string,
  side: Side,
  now: string,
): (Resting & { order_id?: string })[] {
  const { bids, asks } = market.symbols[symbol]!;
  const own = Object.entries(market.orders).flatMap(([order_id, it]) =>
    it.symbol === symbol && it.side === side && it.price !== undefined && isWorking(it, now)
      ? [{ price: it.price, shares: restOf(it), at: it.at, order_id }]
      : [],
  );
  const better = side === "buy" ? -1 : 1;
  return [...(side === "buy" ? bids : asks), ...own].sort((a, b) =>
    a.price === b.price ? (a.at < b.at ? -1 : a.at > b.at ? 1 : 0) : better * (a.price - b.price),
  );
}
