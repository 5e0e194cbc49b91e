/**
 * How an order meets the book: what may be asked for, what it takes from whom at which price, and
 * what that moves. Knows no arguments of tools.
 */
import { before, refuse, type ToolContext } from "../../environment/server.ts";
import { round, sum } from "../../environment/money.ts";
import {
  bookOf,
  hoursOf,
  reservedCash,
  reservedShares,
  sharesOf,
  wordsOf,
  type Listing,
  type Market,
  type Order,
  type Side,
} from "./state.ts";

interface Take {
  readonly price: number;
  readonly shares: number;
}

export interface Wanted {
  readonly symbol: string;
  readonly side: Side;
  /** Still to trade. */
  readonly shares: number;
  readonly price?: number | undefined;
  /** The order that is being changed, whose own reserve does not count. */
  readonly orderId?: string;
}

/**
 * Refuses what the exchange would not take: a halted symbol, parts of a lot or a tick, a limit far
 * off, too large an order.
 */
export function acceptable(
  market: Market,
  listing: Listing,
  { symbol, shares, price }: Wanted,
): void {
  const { lot, tick, last, status } = listing;
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
    if (Math.round(price * 100) % Math.round(tick * 100) !== 0)
      refuse(
        "precondition_failed",
        `${symbol} is priced in steps of ${tick}, and ${price} is between two`,
        `choose ${round(Math.round(price / tick) * tick)}`,
      );
    const [low, high] = [
      round(last * (1 - market.band / 100)),
      round(last * (1 + market.band / 100)),
    ];
    if (price < low || price > high)
      refuse(
        "precondition_failed",
        `${price} is more than ${market.band} % away from the last price of ${symbol}, ${last}`,
        `choose a price from ${low} to ${high}`,
      );
  }
  const value = round(shares * (price ?? last));
  if (value > market.most_per_order)
    refuse(
      "limit_exceeded",
      `an order may be worth ${market.most_per_order}, and ${shares} ${symbol} at ${price ?? last} are ${value}`,
      "split it or choose fewer shares",
    );
}

/** What the order would take from the other side at once. Nothing while the exchange is closed. */
function takesOf(market: Market, { symbol, side, shares, price }: Wanted, now: string): Take[] {
  const { isOpen, why } = hoursOf(market.exchanges[market.symbols[symbol]!.exchange]!, now);
  if (!isOpen && price === undefined)
    refuse(
      "precondition_failed",
      why,
      "give a limit price: a limit order waits for the exchange to open",
    );
  if (!isOpen) return [];
  const takes: Take[] = [];
  let left = shares;
  for (const it of bookOf(market, symbol, side === "buy" ? "sell" : "buy", now)) {
    if (
      left === 0 ||
      (price !== undefined && (side === "buy" ? it.price > price : it.price < price))
    )
      break;
    if (it.order_id !== undefined)
      refuse(
        "conflict",
        `this would trade with the account's own order ${it.order_id} (${wordsOf(market.orders[it.order_id]!)})`,
        "trading_cancel_order takes that one away first",
      );
    const taken = Math.min(left, it.shares);
    takes.push({ price: it.price, shares: taken });
    left -= taken;
  }
  if (takes.length === 0 && price === undefined)
    refuse(
      "precondition_failed",
      `nobody ${side === "buy" ? "sells" : "buys"} ${symbol} at the moment`,
      "give a limit price and wait",
    );
  return takes;
}

/**
 * What the order takes, once it is sure that cash or shares are there for it, and for what will
 * rest of it.
 */
export function covered(market: Market, wanted: Wanted, now: string): Take[] {
  const { symbol, side, shares, price, orderId } = wanted;
  const takes = takesOf(market, wanted, now);
  if (side === "sell") {
    const held = sharesOf(market, symbol);
    const reserved = reservedShares(market, symbol, now, orderId);
    if (held - reserved < shares)
      refuse(
        "precondition_failed",
        `${held} ${symbol} are held${reserved > 0 ? `, ${reserved} of them offered in other orders` : ""}: ${shares} are too many`,
        `at most ${held - reserved} can be sold`,
      );
    return takes;
  }
  const rest = price === undefined ? 0 : shares - takes.reduce((sum, it) => sum + it.shares, 0);
  const fees = (takes.length > 0 ? market.fee : 0) + (rest > 0 ? market.fee : 0);
  const needed = sum([...takes.map(it => it.price * it.shares), rest * (price ?? 0), fees]);
  const reserved = reservedCash(market, now, orderId);
  const free = round(market.cash - reserved);
  if (free < needed)
    refuse(
      "precondition_failed",
      `${needed} is needed, fees included, and ${free} is free: ${reserved} of the cash is reserved by other orders`,
      "buy less, or trading_cancel_order frees cash",
    );
  return takes;
}

/**
 * Carries the takes out: shares leave the book, cash and position move, the last price and today's
 * range follow, alerts ring.
 */
export function execute(
  market: Market,
  order: Order,
  takes: readonly Take[],
  { now }: Pick<ToolContext, "now">,
): { alert_id: string; at: number }[] {
  const { symbol, side, shares } = order;
  const listing = market.symbols[symbol]!;
  const resting = side === "buy" ? listing.asks : listing.bids;
  const rung: { alert_id: string; at: number }[] = [];
  for (const [i, take] of takes.entries()) {
    const first = resting[0]!;
    if (first.shares === take.shares) resting.shift();
    else first.shares -= take.shares;
    const fee = i === 0 ? market.fee : 0;
    order.fills.push({ at: now, shares: take.shares, price: take.price, fee });
    settle(market, symbol, side, take, fee);
    listing.last = take.price;
    listing.today = {
      ...listing.today,
      high: Math.max(listing.today.high, take.price),
      low: Math.min(listing.today.low, take.price),
      volume: listing.today.volume + take.shares,
    };
    rung.push(...ring(market, symbol, take.price));
  }
  if (order.fills.reduce((sum, it) => sum + it.shares, 0) === shares) order.status = "filled";
  return rung;
}

function settle(
  market: Market,
  symbol: string,
  side: Side,
  { price, shares }: Take,
  fee: number,
): void {
  const value = round(price * shares);
  market.cash = round(market.cash + (side === "buy" ? -value : value) - fee);
  const held = market.positions[symbol];
  if (side === "buy")
    market.positions[symbol] = {
      shares: (held?.shares ?? 0) + shares,
      cost: round((held?.cost ?? 0) + value),
    };
  else if (held!.shares === shares) delete market.positions[symbol];
  else
    market.positions[symbol] = {
      shares: held!.shares - shares,
      cost: round(held!.cost * (1 - shares / held!.shares)),
    };
}

function ring(market: Market, symbol: string, price: number): { alert_id: string; at: number }[] {
  const reached = Object.entries(before(market).alerts).filter(
    ([key, it]) =>
      it.symbol === symbol &&
      market.alerts[key]!.status === "waiting" &&
      (it.direction === "above" ? price >= it.price : price <= it.price),
  );
  for (const [key] of reached) market.alerts[key]!.status = "reached";
  return reached.map(([alert_id]) => ({ alert_id, at: price }));
}
