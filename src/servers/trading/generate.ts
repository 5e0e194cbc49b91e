/**
 * A small investor's account: invented companies on three exchanges, a month of prices each, thin
 * books, and the orders by which the positions came about. Cash and positions follow from the
 * orders' fills. Knows no other server.
 */
import type { Random } from "../../environment/random.ts";
import { round } from "../../environment/money.ts";
import { dayAfter, weekdayOf } from "../../environment/time.ts";
import {
  bookOf,
  filledOf,
  isWorking,
  reservedCash,
  reservedShares,
  server,
  wordsOf,
  type TradingWorld,
} from "./server.ts";
import type { SharedCast } from "../shared/cast.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";

type Listing = TradingWorld["symbols"][string];
type Order = TradingWorld["orders"][string];
type Side = Order["side"];

/** Symbol, name, sector, exchange, price, lot, tick. */
const companies: readonly (readonly [string, string, string, 0 | 1 | 2, number, number, number])[] =
  [
    ["HLYN", "Helyan Power", "Energy", 0, 12.4, 1, 0.01],
    ["SKPR", "Skipper Ferries", "Transport", 0, 31.25, 10, 0.05],
    ["FARO", "Farola Bank", "Finance", 0, 8.6, 10, 0.01],
    ["OPTK", "Optika Lenses", "Health care", 1, 46.5, 1, 0.1],
    ["NUBE", "Nubera Cloud", "Technology", 2, 148.5, 1, 0.05],
    ["MRWD", "Marwood Timber", "Materials", 0, 18.2, 10, 0.02],
    ["QRTZ", "Quartzline Mining", "Materials", 1, 27.8, 5, 0.05],
    ["VLTA", "Voltara Grid", "Energy", 0, 64.3, 1, 0.05],
    ["BRVO", "Bravona Airlines", "Transport", 1, 5.84, 100, 0.01],
    ["TRMO", "Tramontana Rail", "Transport", 0, 22.5, 10, 0.05],
    ["OLVA", "Olivar Oils", "Food", 0, 14.06, 5, 0.02],
    ["GRNO", "Granoro Mills", "Food", 1, 36.8, 1, 0.1],
    ["CAVO", "Cavallo Coffee", "Food", 2, 52.4, 1, 0.05],
    ["MDLN", "Medelin Pharma", "Health care", 2, 96.5, 1, 0.05],
    ["SRNA", "Serena Hospitals", "Health care", 0, 9.32, 10, 0.01],
    ["CHPR", "Chipora Systems", "Technology", 2, 212, 1, 0.1],
    ["LUMR", "Lumora Displays", "Technology", 1, 41.2, 5, 0.05],
    ["PXLN", "Pixelune Games", "Media", 1, 17.45, 5, 0.05],
    ["RDRA", "Radio Dorada", "Media", 0, 6.12, 50, 0.01],
    ["SGRA", "Segura Mutual", "Finance", 0, 78.3, 1, 0.1],
    ["TNDL", "Tiendal Stores", "Retail", 1, 24.15, 5, 0.05],
    ["MDNA", "Modana Fashion", "Retail", 2, 33.9, 1, 0.05],
    ["EUFD", "Euro Fifty Fund", "Funds", 1, 119.6, 1, 0.1],
    ["GBND", "Green Bond Fund", "Funds", 0, 102.45, 1, 0.05],
  ];
const inSmall = 5;
const halted: readonly string[] = ["FARO", "LUMR"];
/** Nobody sells. */
const dry: readonly string[] = ["OPTK", "SRNA"];

const onTick = (price: number, tick: number) =>
  round(Math.max(tick, Math.round(price / tick) * tick));
const isWeekend = (date: string) => [0, 6].includes(weekdayOf(date));
const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
const minutesOf = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** The last trading days before today, the oldest first. */
function tradingDays(now: string, n: number): string[] {
  const days: string[] = [];
  for (let back = 1; days.length < n; back++)
    if (!isWeekend(dayAfter(now, -back))) days.unshift(dayAfter(now, -back));
  return days;
}

function exchangesOf({ cast, nextId }: GeneratorContext): TradingWorld["exchanges"] {
  return {
    [nextId("exc")]: {
      name: `${cast.home.name} Exchange`,
      opens: "08:30",
      closes: "17:00",
      holidays: ["2026-04-03", "2026-04-06"],
    },
    [nextId("exc")]: {
      name: "Nordic Exchange",
      opens: "09:00",
      closes: "17:30",
      holidays: ["2026-04-02", "2026-04-03"],
    },
    [nextId("exc")]: {
      name: "Atlantic Exchange",
      opens: "15:30",
      closes: "22:00",
      holidays: ["2026-04-03"],
    },
  };
}

function historyOf(
  days: readonly string[],
  price: number,
  tick: number,
  random: Random,
): Listing["history"] {
  const drift = (random.next() - 0.45) * 0.006;
  let close = onTick(price * (0.88 + 0.16 * random.next()), tick);
  return days.map(date => {
    const open = onTick(close * (1 + (random.next() - 0.5) * 0.012), tick);
    close = onTick(open * (1 + drift + (random.next() - 0.5) * 0.036), tick);
    const [low, high] = [Math.min(open, close), Math.max(open, close)];
    return [
      date,
      open,
      onTick(high + tick * random.integer(4), tick),
      onTick(low - tick * random.integer(4), tick),
      close,
      100 * (20 + random.integer(400)),
    ];
  });
}

/** What others offer on one side, the best price first. */
function offers(
  { cast, random }: GeneratorContext,
  best: number,
  away: 1 | -1,
  lot: number,
  tick: number,
  levels: number,
): Listing["bids"] {
  const rows: Listing["bids"] = [];
  let price = best;
  const unit = Math.max(lot, Math.ceil(1200 / best / lot) * lot);
  for (let i = 0; i < levels; i++) {
    const at =
      i < 2
        ? `${cast.now.slice(0, 10)}T08:${String(31 + 7 * i + random.integer(7)).padStart(2, "0")}`
        : `${dayAfter(cast.now, -3)}T${clock(630 + random.integer(360))}`;
    rows.push({ price, shares: unit * (1 + random.integer(4)), at });
    price = onTick(price + away * tick * (1 + random.integer(3)), tick);
  }
  return rows;
}

function listingOf(
  context: GeneratorContext,
  exchange: string,
  [symbol, name, sector, place, around, lot, tick]: (typeof companies)[number],
  days: readonly string[],
): Listing {
  const { random, size } = context;
  const history = historyOf(days, around, tick, random);
  const close = history.at(-1)![4];
  const hasTraded = place === 0;
  const open = hasTraded ? onTick(close * (1 + (random.next() - 0.5) * 0.01), tick) : close;
  const last = hasTraded ? onTick(open + tick * (random.integer(9) - 4), tick) : close;
  const levels = size === "full" ? 4 : 3;
  return {
    name,
    exchange,
    sector,
    status: halted.includes(symbol) ? "halted" : "trading",
    lot,
    tick,
    last,
    today: {
      open,
      high: Math.max(open, last),
      low: Math.min(open, last),
      volume: hasTraded ? lot * (40 + random.integer(300)) : 0,
    },
    bids: offers(context, onTick(last - tick, tick), -1, lot, tick, levels),
    asks: dry.includes(symbol)
      ? []
      : offers(context, onTick(last + tick, tick), 1, lot, tick, levels),
    history,
  };
}

/**
 * An account whose orders are written down as they come about, so that cash and positions follow.
 */
class Account {
  readonly context: GeneratorContext;
  readonly state: TradingWorld;
  readonly #drafts: Order[] = [];

  constructor(context: GeneratorContext, paidIn: number) {
    this.context = context;
    const isFull = context.size === "full";
    const exchanges = exchangesOf(context);
    const days = tradingDays(context.cast.now, isFull ? 16 : 6);
    const symbols = Object.fromEntries(
      companies
        .slice(0, isFull ? companies.length : inSmall)
        .map(it => [it[0], listingOf(context, Object.keys(exchanges)[it[3]]!, it, days)]),
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

  /** An order of some days ago that was traded in full, or in part where it still rests. */
  traded(
    symbol: string,
    side: Side,
    shares: number,
    daysAgo: number,
    more: { atMarket?: boolean; of?: number } = {},
  ): void {
    const { random, cast } = this.context;
    const { history, tick, exchange } = this.state.symbols[symbol]!;
    const { opens, closes } = this.state.exchanges[exchange]!;
    let back = daysAgo;
    while (isWeekend(dayAfter(cast.now, -back))) back++;
    const date = dayAfter(cast.now, -back);
    const candle = history.find(it => it[0] === date);
    const price = candle ? candle[4] : onTick(history[0]![1] * (0.86 + 0.18 * random.next()), tick);
    const minute = minutesOf(opens) + 5 + random.integer(minutesOf(closes) - minutesOf(opens) - 30);
    const at = `${date}T${clock(minute)}`;
    const value = round(price * shares);
    this.state.cash = round(this.state.cash + (side === "buy" ? -value : value) - this.state.fee);
    const held = this.state.positions[symbol];
    if (side === "buy")
      this.state.positions[symbol] = {
        shares: (held?.shares ?? 0) + shares,
        cost: round((held?.cost ?? 0) + value),
      };
    else
      this.state.positions[symbol] = {
        shares: held!.shares - shares,
        cost: round(held!.cost * (1 - shares / held!.shares)),
      };
    const fills = [
      {
        at: `${date}T${clock(minute + (more.atMarket ? 0 : 4 + random.integer(20)))}`,
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

  /** An order that nobody met, some ticks away from the last price. */
  rested(
    symbol: string,
    side: Side,
    shares: number,
    ticks: number,
    daysAgo: number,
    more: { until?: number; cancelled?: boolean } = {},
  ): void {
    const { cast, random } = this.context;
    const { last, tick, exchange } = this.state.symbols[symbol]!;
    const date = dayAfter(cast.now, -daysAgo);
    // one of today waited for the opening, or has just missed a trade
    const minute =
      daysAgo === 0
        ? 511 + random.integer(25)
        : minutesOf(this.state.exchanges[exchange]!.opens) + 30 + random.integer(240);
    const at = `${date}T${clock(minute)}`;
    const good_until =
      more.until === undefined ? {} : { good_until: dayAfter(cast.now, more.until) };
    this.#drafts.push({
      symbol,
      side,
      shares,
      price: onTick(last + (side === "buy" ? -1 : 1) * ticks * tick, tick),
      at,
      ...good_until,
      status: more.cancelled ? "cancelled" : "working",
      fills: [],
    });
  }

  alert(symbol: string, direction: "above" | "below", percent: number, isReached = false): void {
    const { last, tick } = this.state.symbols[symbol]!;
    const sign = (direction === "above") === isReached ? -1 : 1;
    this.state.alerts[this.context.nextId("alr")] = {
      symbol,
      direction,
      price: onTick(last * (1 + (sign * percent) / 100), tick),
      status: isReached ? "reached" : "waiting",
    };
  }

  /** Numbers the orders as they were placed. No two of them have the same words. */
  done(): TradingWorld {
    const said = new Set<string>();
    for (const it of this.#drafts.sort((a, b) => (a.at < b.at ? -1 : 1))) {
      if (said.has(wordsOf(it))) throw new Error(`two orders to ${wordsOf(it)}`);
      said.add(wordsOf(it));
      this.state.orders[this.context.nextId("ord")] = it;
    }
    return this.state;
  }
}

function small(context: GeneratorContext): TradingWorld {
  const account = new Account(context, 8000);
  account.traded("HLYN", "buy", 120, 40);
  account.traded("SKPR", "buy", 50, 33, { atMarket: true });
  account.traded("NUBE", "buy", 12, 26);
  account.traded("SKPR", "sell", 10, 12);
  account.rested("HLYN", "buy", 60, 8, 0);
  account.rested("HLYN", "sell", 40, 12, 3, { until: 11 });
  account.rested("FARO", "buy", 100, 5, 4);
  account.rested("OPTK", "buy", 10, 6, 5, { cancelled: true });
  account.rested("NUBE", "buy", 5, 30, 14, { until: -7 });
  account.alert("HLYN", "above", 5);
  account.alert("SKPR", "below", 4, true);
  return account.done();
}

function full(context: GeneratorContext): TradingWorld {
  const { random } = context;
  const account = new Account(context, 32_000);
  const names = Object.keys(account.state.symbols);
  const lots = (symbol: string, value: number) => {
    const { lot, last } = account.state.symbols[symbol]!;
    return Math.max(1, Math.round(value / last / lot)) * lot;
  };
  const held = names.filter((_, i) => i % 2 === 0 || i % 7 === 1).slice(0, 14);
  for (const [i, it] of held.entries())
    account.traded(it, "buy", lots(it, 1200 + 150 * random.integer(8)), 170 - 8 * i, {
      atMarket: i % 4 === 0,
    });
  for (const it of held.slice(0, 4))
    account.traded(it, "buy", lots(it, 500), 20 + random.integer(20));
  for (const [i, it] of held.slice(2, 8).entries())
    account.traded(it, "sell", lots(it, 350), 4 + 2 * i, { atMarket: i % 3 === 2 });
  const [first, second, third, fourth] = held as [string, string, string, string];
  account.traded(held[9]!, "buy", lots(held[9]!, 300), 3, { of: lots(held[9]!, 900) });
  for (const [i, it] of [first, second, third, fourth, held[8]!].entries())
    account.rested(
      it,
      "sell",
      lots(it, 260 + 60 * i),
      8 + 3 * i,
      3 + i,
      i % 2 ? { until: 4 + 5 * i } : {},
    );
  for (const [i, it] of [
    names[1]!,
    names[3]!,
    names[7]!,
    names[11]!,
    names[13]!,
    names[16]!,
  ].entries())
    account.rested(
      it,
      "buy",
      lots(it, 240 + 70 * i),
      6 + 2 * i,
      i % 3 ? 3 + i : 0,
      i % 2 ? {} : { until: 3 + 4 * i },
    );
  for (const [i, it] of [names[5]!, names[10]!, names[18]!, names[20]!].entries())
    account.rested(it, i % 2 ? "sell" : "buy", lots(it, 420), 9 + i, 9 + 4 * i, {
      cancelled: true,
    });
  for (const [i, it] of [names[12]!, names[15]!, names[22]!].entries())
    account.rested(it, "buy", lots(it, 380), 30 + i, 16 + 3 * i, { until: -3 - i });
  for (const [i, it] of held.slice(0, 5).entries())
    account.alert(it, i % 2 ? "below" : "above", 4 + i);
  account.alert(names[17]!, "above", 6);
  account.alert(names[9]!, "below", 3, true);
  account.alert(names[21]!, "above", 2, true);
  return account.done();
}

function* contradictions(state: TradingWorld, cast: SharedCast): Generator<string> {
  const shares = new Map<string, number>();
  let cash = state.paid_in;
  for (const [key, it] of Object.entries(state.orders)) {
    if (!Object.hasOwn(state.symbols, it.symbol))
      yield `order ${key} is for ${it.symbol}, which is not listed`;
    const sign = it.side === "buy" ? 1 : -1;
    shares.set(it.symbol, (shares.get(it.symbol) ?? 0) + sign * filledOf(it));
    for (const fill of it.fills)
      cash = round(cash - sign * round(fill.price * fill.shares) - fill.fee);
    if ((it.status === "filled") !== (filledOf(it) === it.shares))
      yield `order ${key} is ${it.status} with ${filledOf(it)} of ${it.shares}`;
    if (it.at > cast.now) yield `order ${key} is to come`;
    if (isWorking(it, cast.now) && it.price === undefined)
      yield `order ${key} rests without a price`;
  }
  if (cash !== state.cash) yield `the cash is ${state.cash}, and its orders leave ${cash}`;
  if (reservedCash(state, cast.now) > state.cash) yield "more cash is reserved than there is";
  for (const [symbol, it] of Object.entries(state.symbols)) {
    const held = state.positions[symbol]?.shares ?? 0;
    if (held !== (shares.get(symbol) ?? 0))
      yield `${held} ${symbol} are held, and ${shares.get(symbol) ?? 0} were bought`;
    if (reservedShares(state, symbol, cast.now) > held)
      yield `more ${symbol} are offered than held`;
    const [bid, ask] = [
      bookOf(state, symbol, "buy", cast.now)[0],
      bookOf(state, symbol, "sell", cast.now)[0],
    ];
    if (bid && ask && bid.price >= ask.price)
      yield `the book of ${symbol} is crossed: ${bid.price} and ${ask.price}`;
    if (!Object.hasOwn(state.exchanges, it.exchange))
      yield `${symbol} is listed on ${it.exchange}, which is no exchange`;
    for (const [date, open, high, low, close] of it.history)
      if (Math.max(open, close) > high || Math.min(open, close) < low)
        yield `the candle of ${symbol} on ${date} does not hold its prices`;
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

export const generator = defineGenerator<TradingWorld>({
  server,
  generate: context => (context.size === "full" ? full(context) : small(context)),
  findInconsistencies: (state, _world, cast) => [...contradictions(state, cast)],
});
