/** Finds contradictions within a trading state. */
import { roundToCents } from "../../environment/amounts.ts";
import {
  countFilledShares,
  isWorking,
  listBookSide,
  sumReservedCash,
  sumReservedShares,
  type TradingState,
} from "./state.ts";
import type { SharedCast } from "../shared/cast.ts";

export function* findContradictions(state: TradingState, cast: SharedCast): Generator<string> {
  const shares = new Map<string, number>();
  let cash = state.paid_in;
  for (const [key, it] of Object.entries(state.orders)) {
    if (!Object.hasOwn(state.symbols, it.symbol))
      yield `order ${key} is for ${it.symbol}, which is not listed`;
    const sign = it.side === "buy" ? 1 : -1;
    shares.set(it.symbol, (shares.get(it.symbol) ?? 0) + sign * countFilledShares(it));
    for (const fill of it.fills)
      cash = roundToCents(cash - sign * roundToCents(fill.price * fill.shares) - fill.fee);
    if ((it.status === "filled") !== (countFilledShares(it) === it.shares))
      yield `order ${key} is ${it.status} with ${countFilledShares(it)} of ${it.shares}`;
    if (it.at > cast.now) yield `order ${key} is in the future`;
    if (isWorking(it, cast.now) && it.price === undefined)
      yield `order ${key} rests without a price`;
  }
  if (cash !== state.cash) yield `the cash is ${state.cash}, but the orders leave ${cash}`;
  if (sumReservedCash(state, cast.now) > state.cash) yield "more cash is reserved than there is";
  for (const [symbol, it] of Object.entries(state.symbols)) {
    const heldShares = state.positions[symbol]?.shares ?? 0;
    if (heldShares !== (shares.get(symbol) ?? 0))
      yield `${heldShares} ${symbol} are held, and ${shares.get(symbol) ?? 0} were bought`;
    if (sumReservedShares(state, symbol, cast.now) > heldShares)
      yield `more ${symbol} are offered than held`;
    const [bid, ask] = [
      listBookSide(state, symbol, "buy", cast.now)[0],
      listBookSide(state, symbol, "sell", cast.now)[0],
    ];
    if (bid && ask && bid.price >= ask.price)
      yield `the book of ${symbol} is crossed: ${bid.price} and ${ask.price}`;
    if (!Object.hasOwn(state.exchanges, it.exchange))
      yield `${symbol} is listed on ${it.exchange}, which is not an exchange`;
    for (const [date, open, high, low, close] of it.history)
      if (Math.max(open, close) > high || Math.min(open, close) < low)
        yield `the candle of ${symbol} on ${date} does not include its open and close`;
  }
  for (const [key, it] of Object.entries(state.alerts)) {
    const last = state.symbols[it.symbol]?.last;
    if (last === undefined) yield `alert ${key} is for ${it.symbol}, which is not listed`;
    else if (
      it.status === "waiting" &&
      (it.direction === "above" ? last >= it.price : last <= it.price)
    )
      yield `alert ${key} waits for ${it.price} while ${it.symbol} is at ${last}`;
  }
}
