/**
 * The trading server: a brokerage account on invented exchanges. Also its rules, which hold
 * whichever tools are used.
 */
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { type Invariant, defineServer } from "../../environment/server.ts";
import { maxWaitingAlerts, alertTools, symbolTools } from "./symbolTools.ts";
import {
  countFilledShares,
  countOpenShares,
  getPositionShares,
  isWorking,
  sumReservedCash,
  sumReservedShares,
  type Order,
  TradingState,
  references,
} from "./state.ts";
import { orderCommands, orderQueries } from "./orderTools.ts";
import { portfolioTools } from "./portfolioTools.ts";

type TradingInvariant = Invariant<TradingState>;

/** The latest time in the orders, which is the earliest that the session's time can be. */
const getLatestTime = ({ orders }: TradingState): string =>
  Object.values(orders)
    .flatMap(it => [it.at, ...it.fills.map(fill => fill.at)])
    .reduce((latest, it) => (it > latest ? it : latest), "0000-01-01T00:00");

const getSign = ({ side }: Order) => (side === "buy" ? 1 : -1);

const cashMatchesFills: TradingInvariant = {
  rule: "The cash is what was paid in, less purchases, plus sales, less a fee for each execution.",
  findViolation({ cash, paid_in, orders }) {
    const expected = sumAmounts([
      paid_in,
      ...Object.values(orders).flatMap(it =>
        it.fills.map(fill => -getSign(it) * roundToCents(fill.price * fill.shares) - fill.fee),
      ),
    ]);
    return cash === expected ? undefined : `the cash is ${cash}, and the fills leave ${expected}`;
  },
};

const positionsMatchFills: TradingInvariant = {
  rule: "The shares held are those that were bought and not sold.",
  findViolation(state) {
    const shares = new Map(Object.keys(state.positions).map(it => [it, 0]));
    for (const it of Object.values(state.orders))
      shares.set(it.symbol, (shares.get(it.symbol) ?? 0) + getSign(it) * countFilledShares(it));
    const different = [...shares].find(([symbol, it]) => it !== getPositionShares(state, symbol));
    return (
      different &&
      `${getPositionShares(state, different[0])} ${different[0]} are held, and ${different[1]} were bought`
    );
  },
};

const cashIsNotReservedTwice: TradingInvariant = {
  rule: "Open orders never reserve more cash than there is, so that the account is not overdrawn.",
  findViolation(state) {
    const reserved = sumReservedCash(state, getLatestTime(state));
    return reserved > state.cash || state.cash < 0
      ? `${reserved} is reserved of ${state.cash}`
      : undefined;
  },
};

const sharesAreNotOfferedTwice: TradingInvariant = {
  rule: "Open orders never offer more shares than are held.",
  findViolation(state) {
    const now = getLatestTime(state);
    const symbol = Object.keys(state.symbols).find(
      it => sumReservedShares(state, it, now) > getPositionShares(state, it),
    );
    return symbol && `more ${symbol} are offered than held`;
  },
};

const isWholeTick = (price: number, tick: number) =>
  roundToCents(Math.round(price / tick) * tick) === price;

const limitsAreWholeTicks: TradingInvariant = {
  rule: "The limit of an order, the prices of its fills and the price of an alert are whole ticks.",
  findViolation({ symbols, orders, alerts }) {
    for (const [id, { symbol, price, fills }] of Object.entries(orders)) {
      const { tick } = symbols[symbol]!;
      const prices = [...(price === undefined ? [] : [price]), ...fills.map(it => it.price)];
      const between = prices.find(it => !isWholeTick(it, tick));
      if (between !== undefined) return `${id} has the price ${between}, the tick is ${tick}`;
    }
    const alert = Object.entries(alerts).find(
      ([, it]) => !isWholeTick(it.price, symbols[it.symbol]!.tick),
    );
    return alert && `${alert[0]} has the price ${alert[1].price}`;
  },
};

const ordersAreWithinLimits: TradingInvariant = {
  rule: "An order is in whole lots, worth no more than the account allows, and keeps its fills.",
  findViolation({ symbols, orders, most_per_order }, before) {
    for (const [id, it] of Object.entries(orders)) {
      const value = sumAmounts([
        ...it.fills.map(fill => fill.price * fill.shares),
        it.status === "working" ? countOpenShares(it) * (it.price ?? 0) : 0,
      ]);
      if (value > most_per_order) return `${id} is worth ${value}`;
      if (it.status === "working" && it.price === undefined) return `${id} waits without a limit`;
      if (it.shares % symbols[it.symbol]!.lot !== 0) return `${id} is for part of a lot`;
      const filledShares = countFilledShares(it);
      if (filledShares > it.shares || (it.status === "filled") !== (filledShares === it.shares))
        return `${id} is ${it.status} with ${filledShares} of ${it.shares}`;
    }
    for (const [id, { side, symbol, fills }] of Object.entries(before?.orders ?? {})) {
      const after = orders[id];
      if (
        after?.side !== side ||
        after.symbol !== symbol ||
        JSON.stringify(after.fills.slice(0, fills.length)) !== JSON.stringify(fills)
      )
        return `${id} lost its fills, side or symbol`;
    }
    return undefined;
  },
};

const closedOrdersStayClosed: TradingInvariant = {
  rule: "A filled, cancelled or expired order is not changed.",
  findViolation({ orders }, before) {
    if (!before) return undefined;
    const now = getLatestTime(before);
    const changed = Object.entries(before.orders).find(
      ([id, it]) => !isWorking(it, now) && JSON.stringify(orders[id]) !== JSON.stringify(it),
    );
    return changed && `${changed[0]} was closed`;
  },
};

const ordersDoNotMeetOwnOrders: TradingInvariant = {
  rule: "Two open orders of the account never wait to trade with each other.",
  findViolation(state) {
    const now = getLatestTime(state);
    const open = Object.entries(state.orders).filter(([, it]) => isWorking(it, now));
    for (const [id, buy] of open)
      for (const [otherId, sell] of open)
        if (
          buy.side === "buy" &&
          sell.side === "sell" &&
          buy.symbol === sell.symbol &&
          (buy.price ?? Infinity) >= (sell.price ?? 0)
        )
          return `${id} would trade with ${otherId}`;
    return undefined;
  },
};

const haltedSymbolsDoNotTrade: TradingInvariant = {
  rule: "A halted symbol is not traded and takes no orders; its orders are only cancelled.",
  findViolation({ symbols, orders }, before) {
    if (!before) return undefined;
    const changed = Object.entries(orders).find(([id, it]) => {
      const { status, ...terms } = it;
      const { status: statusBefore, ...termsBefore } = before.orders[id] ?? { status: undefined };
      return (
        symbols[it.symbol]!.status === "halted" &&
        ((status !== statusBefore && status !== "cancelled") ||
          JSON.stringify(terms) !== JSON.stringify(termsBefore))
      );
    });
    return changed && `${changed[0]} was placed or changed`;
  },
};

const alertsAreLimited: TradingInvariant = {
  rule: `At most ${maxWaitingAlerts} alerts wait, none for a price that is reached, and a reached one stays so.`,
  findViolation({ symbols, alerts }, before) {
    const waiting = Object.entries(alerts).filter(([, it]) => it.status === "waiting");
    if (waiting.length > maxWaitingAlerts) return `${waiting.length} alerts wait`;
    const reached = waiting.find(([, it]) => {
      const { last } = symbols[it.symbol]!;
      return it.direction === "above" ? last >= it.price : last <= it.price;
    });
    if (reached) return `${reached[0]} waits for a price that is reached`;
    const revived = waiting.find(([id]) => before?.alerts[id]?.status === "reached");
    return revived && `${revived[0]} waits again`;
  },
};

const invariants: readonly TradingInvariant[] = [
  cashMatchesFills,
  positionsMatchFills,
  cashIsNotReservedTwice,
  sharesAreNotOfferedTwice,
  limitsAreWholeTicks,
  ordersAreWithinLimits,
  closedOrdersStayClosed,
  ordersDoNotMeetOwnOrders,
  haltedSymbolsDoNotTrade,
  alertsAreLimited,
];

export const server = defineServer({
  name: "trading",
  category: "Finance",
  summary: "symbols on three exchanges, order books, candles, a portfolio, orders and price alerts",
  schema: TradingState,
  references,
  invariants,
  tools: { ...symbolTools, ...portfolioTools, ...orderCommands, ...orderQueries, ...alertTools },
});
