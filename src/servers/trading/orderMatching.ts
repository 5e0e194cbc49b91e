/**
 * Matches an order with the book: checks whether the exchange accepts it, what it trades at which
 * price, and applies the trades to the account.
 */
import { getOriginal } from "../../environment/draft.ts";
import { refuse, type ToolContext } from "../../environment/server.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import {
  listBookSide,
  getTradingHours,
  sumReservedCash,
  sumReservedShares,
  getPositionShares,
  formatOrder,
  type Listing,
  type TradingState,
  type Order,
  type Side,
} from "./state.ts";

interface BookMatch {
  readonly price: number;
  readonly shares: number;
}

interface OrderRequest {
  readonly symbol: string;
  readonly side: Side;
  /** The shares still to trade. */
  readonly shares: number;
  readonly price?: number | undefined;
  /** The order that is being changed; what it reserves is not counted. */
  readonly orderId?: string;
}

/** Refuses a price that the symbol cannot have. */
export function requireWholeTicks(
  symbol: string,
  { tick }: Pick<Listing, "tick">,
  price: number,
): void {
  if (roundToCents(Math.round(price / tick) * tick) !== price)
    refuse(
      "precondition_failed",
      `${symbol} is priced in steps of ${tick}, and ${price} is between two`,
      `choose ${roundToCents(Math.round(price / tick) * tick)}`,
    );
}

/**
 * Refuses an order that the exchange does not accept: halted symbol, fraction of a lot or tick,
 * limit too far from the last price, value too large.
 */
export function validateOrder(
  state: TradingState,
  listing: Listing,
  { symbol, shares, price }: OrderRequest,
): void {
  const { lot, last, status } = listing;
  if (status === "halted")
    refuse(
      "precondition_failed",
      `${symbol} (${listing.name}) is halted and takes no orders`,
      "orders that rest in it can be cancelled; trading_get_quote tells once it trades again",
    );
  if (shares % lot !== 0) {
    const [under, over] = [shares - (shares % lot), shares - (shares % lot) + lot];
    refuse(
      "precondition_failed",
      `${symbol} trades in lots of ${lot}, and ${shares} is no multiple of that`,
      under > 0 ? `choose ${under} or ${over}` : `choose ${over}`,
    );
  }
  if (price !== undefined) {
    requireWholeTicks(symbol, listing, price);
    const [low, high] = [
      roundToCents(last * (1 - state.band / 100)),
      roundToCents(last * (1 + state.band / 100)),
    ];
    if (price < low || price > high)
      refuse(
        "precondition_failed",
        `${price} is more than ${state.band} % away from the last price of ${symbol}, ${last}`,
        `choose a price from ${low} to ${high}`,
      );
  }
  const value = roundToCents(shares * (price ?? last));
  if (value > state.most_per_order)
    refuse(
      "limit_exceeded",
      `an order may be worth ${state.most_per_order}, and ${shares} ${symbol} at ${price ?? last} are ${value}`,
      "split it or choose fewer shares",
    );
}

/**
 * What the order would trade at once. Empty while the exchange is closed, when an order must not
 * wait to trade with one of the account's own.
 */
function findMatches(
  state: TradingState,
  { symbol, side, shares, price }: OrderRequest,
  now: string,
): BookMatch[] {
  const { isOpen, description } = getTradingHours(
    state.exchanges[state.symbols[symbol]!.exchange]!,
    now,
  );
  if (!isOpen && price === undefined)
    refuse(
      "precondition_failed",
      description,
      "give a limit price: a limit order waits for the exchange to open",
    );
  const matches: BookMatch[] = [];
  let remaining = shares;
  for (const it of listBookSide(state, symbol, side === "buy" ? "sell" : "buy", now)) {
    if (
      remaining === 0 ||
      (price !== undefined && (side === "buy" ? it.price > price : it.price < price))
    )
      break;
    if (!isOpen && it.order_id === undefined) continue;
    if (it.order_id !== undefined)
      refuse(
        "conflict",
        `this would trade with the account's own order ${it.order_id} (${formatOrder(state.orders[it.order_id]!)})`,
        "trading_cancel_order takes that one away first",
      );
    const matchedShares = Math.min(remaining, it.shares);
    matches.push({ price: it.price, shares: matchedShares });
    remaining -= matchedShares;
  }
  if (matches.length === 0 && price === undefined)
    refuse(
      "precondition_failed",
      `nobody ${side === "buy" ? "sells" : "buys"} ${symbol} at the moment`,
      "give a limit price and wait",
    );
  return matches;
}

/**
 * What the order will trade at once. Refuses if the account lacks the cash or shares for that and
 * for the part that stays in the book.
 */
export function planExecution(
  state: TradingState,
  request: OrderRequest,
  now: string,
): BookMatch[] {
  const { symbol, side, shares, price, orderId } = request;
  const matches = findMatches(state, request, now);
  const traded = sumAmounts(matches.map(it => it.price * it.shares));
  const rest = price === undefined ? 0 : shares - matches.reduce((sum, it) => sum + it.shares, 0);
  requireValueLimit(state, request, sumAmounts([traded, rest * (price ?? 0)]));
  const reserved = sumReservedCash(state, now, orderId);
  const free = roundToCents(state.cash - reserved);
  if (side === "sell") {
    const heldShares = getPositionShares(state, symbol);
    const offered = sumReservedShares(state, symbol, now, orderId);
    if (heldShares - offered < shares)
      refuse(
        "precondition_failed",
        `${heldShares} ${symbol} are held${offered > 0 ? `, ${offered} of them offered in other orders` : ""}: ${shares} are too many`,
        `at most ${heldShares - offered} can be sold`,
      );
    if (matches.length > 0 && free + traded < state.fee)
      refuse(
        "precondition_failed",
        `the sale brings ${traded} and costs a fee of ${state.fee}, and ${free} of the cash is free`,
        "sell more shares, or trading_cancel_order frees cash",
      );
    return matches;
  }
  const fees = (matches.length > 0 ? state.fee : 0) + (rest > 0 ? state.fee : 0);
  const needed = sumAmounts([
    ...matches.map(it => it.price * it.shares),
    rest * (price ?? 0),
    fees,
  ]);
  if (free < needed)
    refuse(
      "precondition_failed",
      `${needed} is needed, fees included, and ${free} is free: ${reserved} of the cash is reserved by other orders`,
      "buy less, or trading_cancel_order frees cash",
    );
  return matches;
}

/**
 * Refuses an order that is worth too much at the prices at which it trades, which the last price or
 * the limit of a sale does not tell. `value` is that of the shares still to trade.
 */
function requireValueLimit(
  { orders, most_per_order }: TradingState,
  { symbol, shares, orderId }: OrderRequest,
  value: number,
): void {
  const fills = orderId === undefined ? [] : orders[orderId]!.fills;
  const total = sumAmounts([value, ...fills.map(it => it.shares * it.price)]);
  if (total > most_per_order)
    refuse(
      "limit_exceeded",
      `an order may be worth ${most_per_order}, and ${shares} ${symbol} at the prices in the book are ${value}${fills.length > 0 ? `, ${total} with what is traded` : ""}`,
      "split it or choose fewer shares",
    );
}

/**
 * Executes the matches: updates the book, cash, position, last price and today's range. Returns the
 * alerts whose price was reached.
 */
export function executeOrder(
  state: TradingState,
  order: Order,
  matches: readonly BookMatch[],
  { now }: Pick<ToolContext, "now">,
): { alert_id: string; at: number }[] {
  const { symbol, side, shares } = order;
  const listing = state.symbols[symbol]!;
  const oppositeOrders = side === "buy" ? listing.asks : listing.bids;
  const reachedAlerts: { alert_id: string; at: number }[] = [];
  for (const [i, match] of matches.entries()) {
    const first = oppositeOrders[0]!;
    if (first.shares === match.shares) oppositeOrders.shift();
    else first.shares -= match.shares;
    const fee = i === 0 ? state.fee : 0;
    order.fills.push({ at: now, shares: match.shares, price: match.price, fee });
    settleMatch(state, symbol, side, match, fee);
    listing.last = match.price;
    listing.today = {
      ...listing.today,
      high: Math.max(listing.today.high, match.price),
      low: Math.min(listing.today.low, match.price),
      volume: listing.today.volume + match.shares,
    };
    reachedAlerts.push(...triggerAlerts(state, symbol, match.price));
  }
  if (order.fills.reduce((sum, it) => sum + it.shares, 0) === shares) order.status = "filled";
  return reachedAlerts;
}

function settleMatch(
  state: TradingState,
  symbol: string,
  side: Side,
  { price, shares }: BookMatch,
  fee: number,
): void {
  const value = roundToCents(price * shares);
  state.cash = roundToCents(state.cash + (side === "buy" ? -value : value) - fee);
  const position = state.positions[symbol];
  if (side === "buy")
    state.positions[symbol] = {
      shares: (position?.shares ?? 0) + shares,
      cost: roundToCents((position?.cost ?? 0) + value),
    };
  else if (position!.shares === shares) delete state.positions[symbol];
  else
    state.positions[symbol] = {
      shares: position!.shares - shares,
      cost: roundToCents(position!.cost * (1 - shares / position!.shares)),
    };
}

function triggerAlerts(
  state: TradingState,
  symbol: string,
  price: number,
): { alert_id: string; at: number }[] {
  const reached = Object.entries(getOriginal(state).alerts).filter(
    ([key, it]) =>
      it.symbol === symbol &&
      state.alerts[key]!.status === "waiting" &&
      (it.direction === "above" ? price >= it.price : price <= it.price),
  );
  for (const [key] of reached) state.alerts[key]!.status = "reached";
  return reached.map(([alert_id]) => ({ alert_id, at: price }));
}
