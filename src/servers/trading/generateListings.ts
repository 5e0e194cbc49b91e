/** Generates the exchanges and the listed companies with their price histories and order books. */
import type { Random } from "../../environment/random.ts";
import { roundToCents } from "../../environment/amounts.ts";
import { addDays, getWeekday } from "../../environment/time.ts";
import type { TradingState } from "./state.ts";
import type { GeneratorContext } from "../shared/generator.ts";

type Listing = TradingState["symbols"][string];

/** Symbol, name, sector, index of the exchange, price, lot, tick. */
export const companies: readonly (readonly [
  string,
  string,
  string,
  0 | 1 | 2,
  number,
  number,
  number,
])[] = [
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
export const smallListingCount = 5;
const haltedSymbols: readonly string[] = ["FARO", "LUMR"];
const symbolsWithoutSellers: readonly string[] = ["OPTK", "SRNA"];

export const roundToTick = (price: number, tick: number) =>
  roundToCents(Math.max(tick, Math.round(price / tick) * tick));
export const isWeekend = (date: string) => [0, 6].includes(getWeekday(date));
export const formatClock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
export const parseClock = (time: string) => Number(time.slice(0, 2)) * 60 + Number(time.slice(3));

/** The last trading days before today, the oldest first. */
export function listTradingDays(now: string, n: number): string[] {
  const days: string[] = [];
  for (let back = 1; days.length < n; back++)
    if (!isWeekend(addDays(now, -back))) days.unshift(addDays(now, -back));
  return days;
}

export function createExchanges({ cast, nextId }: GeneratorContext): TradingState["exchanges"] {
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

function createHistory(
  days: readonly string[],
  price: number,
  tick: number,
  random: Random,
): Listing["history"] {
  const drift = (random.next() - 0.45) * 0.006;
  let close = roundToTick(price * (0.88 + 0.16 * random.next()), tick);
  return days.map(date => {
    const open = roundToTick(close * (1 + (random.next() - 0.5) * 0.012), tick);
    close = roundToTick(open * (1 + drift + (random.next() - 0.5) * 0.036), tick);
    const [low, high] = [Math.min(open, close), Math.max(open, close)];
    return [
      date,
      open,
      roundToTick(high + tick * random.integer(4), tick),
      roundToTick(low - tick * random.integer(4), tick),
      close,
      100 * (20 + random.integer(400)),
    ];
  });
}

/** The resting orders of other traders on one side of a book, the best price first. */
function createBookSide(
  { cast, random }: GeneratorContext,
  best: number,
  direction: 1 | -1,
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
        : `${addDays(cast.now, -3)}T${formatClock(630 + random.integer(360))}`;
    rows.push({ price, shares: unit * (1 + random.integer(4)), at });
    price = roundToTick(price + direction * tick * (1 + random.integer(3)), tick);
  }
  return rows;
}

export function createListing(
  context: GeneratorContext,
  exchange: string,
  [symbol, name, sector, exchangeIndex, referencePrice, lot, tick]: (typeof companies)[number],
  days: readonly string[],
): Listing {
  const { random, size } = context;
  const history = createHistory(days, referencePrice, tick, random);
  const close = history.at(-1)![4];
  const hasTraded = exchangeIndex === 0;
  const open = hasTraded ? roundToTick(close * (1 + (random.next() - 0.5) * 0.01), tick) : close;
  const last = hasTraded ? roundToTick(open + tick * (random.integer(9) - 4), tick) : close;
  const levels = size === "full" ? 4 : 3;
  return {
    name,
    exchange,
    sector,
    status: haltedSymbols.includes(symbol) ? "halted" : "trading",
    lot,
    tick,
    last,
    today: {
      open,
      high: Math.max(open, last),
      low: Math.min(open, last),
      volume: hasTraded ? lot * (40 + random.integer(300)) : 0,
    },
    bids: createBookSide(context, roundToTick(last - tick, tick), -1, lot, tick, levels),
    asks: symbolsWithoutSellers.includes(symbol)
      ? []
      : createBookSide(context, roundToTick(last + tick, tick), 1, lot, tick, levels),
    history,
  };
}
