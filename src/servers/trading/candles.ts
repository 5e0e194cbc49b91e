/**
 * Candles of a symbol: daily ones from its history, and weekly or monthly ones merged from these.
 */
import { roundToCents } from "../../environment/amounts.ts";
import type { Listing } from "./state.ts";

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

export function listDailyCandles(
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
export function mergeCandles(
  days: readonly Candle[],
  interval: "day" | "week" | "month",
): Candle[] {
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
