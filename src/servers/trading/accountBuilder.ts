/** Builds the generated state of an account from its orders. */
import { roundToCents } from "../../environment/amounts.ts";
import { addDays } from "../../environment/time.ts";
import { formatOrder, type TradingState } from "./state.ts";
import type { GeneratorContext } from "../shared/generator.ts";
import {
  companies,
  smallListingCount,
  roundToTick,
  isWeekend,
  formatClock,
  parseClock,
  listTradingDays,
  createExchanges,
  createListing,
} from "./generateListings.ts";

type Order = TradingState["orders"][string];
type Side = Order["side"];

/** Builds the state of an account from its orders; cash and positions follow from the trades. */
export class AccountBuilder {
  readonly context: GeneratorContext;
  readonly state: TradingState;
  readonly #drafts: Order[] = [];

  constructor(context: GeneratorContext, paidIn: number) {
    this.context = context;
    const isFull = context.size === "full";
    const exchanges = createExchanges(context);
    const days = listTradingDays(context.cast.now, isFull ? 16 : 6);
    const symbols = Object.fromEntries(
      companies
        .slice(0, isFull ? companies.length : smallListingCount)
        .map(it => [it[0], createListing(context, Object.keys(exchanges)[it[3]]!, it, days)]),
    );
    this.state = {
      paid_in: paidIn,
      cash: paidIn,
      fee: 1.5,
      most_per_order: 10_000,
      band: 20,
      exchanges,
      symbols,
      positions: {},
      orders: {},
      alerts: {},
    };
  }

  /**
   * Adds an order from some days ago that was filled, or partly filled if `of` gives its full size.
   */
  addTrade(
    symbol: string,
    side: Side,
    shares: number,
    daysAgo: number,
    more: { atMarket?: boolean; of?: number } = {},
  ): void {
    const { random, cast } = this.context;
    const { history, tick, exchange } = this.state.symbols[symbol]!;
    const { opens, closes } = this.state.exchanges[exchange]!;
    let actualDaysAgo = daysAgo;
    while (isWeekend(addDays(cast.now, -actualDaysAgo))) actualDaysAgo++;
    const date = addDays(cast.now, -actualDaysAgo);
    const candle = history.find(it => it[0] === date);
    const price = candle
      ? candle[4]
      : roundToTick(history[0]![1] * (0.86 + 0.18 * random.next()), tick);
    const minute =
      parseClock(opens) + 5 + random.integer(parseClock(closes) - parseClock(opens) - 30);
    const at = `${date}T${formatClock(minute)}`;
    const value = roundToCents(price * shares);
    this.state.cash = roundToCents(
      this.state.cash + (side === "buy" ? -value : value) - this.state.fee,
    );
    const position = this.state.positions[symbol];
    if (side === "buy")
      this.state.positions[symbol] = {
        shares: (position?.shares ?? 0) + shares,
        cost: roundToCents((position?.cost ?? 0) + value),
      };
    else
      this.state.positions[symbol] = {
        shares: position!.shares - shares,
        cost: roundToCents(position!.cost * (1 - shares / position!.shares)),
      };
    const fills = [
      {
        at: `${date}T${formatClock(minute + (more.atMarket ? 0 : 4 + random.integer(20)))}`,
        shares,
        price,
        fee: this.state.fee,
      },
    ];
    this.#drafts.push({
      symbol,
      side,
      shares: more.of ?? shares,
      ...(more.atMarket ? {} : { price }),
      at,
      status: more.of ? "working" : "filled",
      fills,
    });
  }

  /** Adds an order without trades, some ticks away from the last price. */
  addRestingOrder(
    symbol: string,
    side: Side,
    shares: number,
    ticks: number,
    daysAgo: number,
    more: { until?: number; cancelled?: boolean } = {},
  ): void {
    const { cast, random } = this.context;
    const { last, tick, exchange } = this.state.symbols[symbol]!;
    const date = addDays(cast.now, -daysAgo);
    // an order of today was placed shortly before or after the opening
    const minute =
      daysAgo === 0
        ? 511 + random.integer(25)
        : parseClock(this.state.exchanges[exchange]!.opens) + 30 + random.integer(240);
    const at = `${date}T${formatClock(minute)}`;
    const good_until =
      more.until === undefined ? {} : { good_until: addDays(cast.now, more.until) };
    this.#drafts.push({
      symbol,
      side,
      shares,
      price: roundToTick(last + (side === "buy" ? -1 : 1) * ticks * tick, tick),
      at,
      ...good_until,
      status: more.cancelled ? "cancelled" : "working",
      fills: [],
    });
  }

  addAlert(symbol: string, direction: "above" | "below", percent: number, isReached = false): void {
    const { last, tick } = this.state.symbols[symbol]!;
    const sign = (direction === "above") === isReached ? -1 : 1;
    this.state.alerts[this.context.nextId("alr")] = {
      symbol,
      direction,
      price: roundToTick(last * (1 + (sign * percent) / 100), tick),
      status: isReached ? "reached" : "waiting",
    };
  }

  /** Numbers the orders by their time. Throws if two orders have the same text. */
  build(): TradingState {
    const texts = new Set<string>();
    for (const it of this.#drafts.sort((a, b) => (a.at < b.at ? -1 : 1))) {
      if (texts.has(formatOrder(it))) throw new Error(`two orders to ${formatOrder(it)}`);
      texts.add(formatOrder(it));
      this.state.orders[this.context.nextId("ord")] = it;
    }
    return this.state;
  }
}
