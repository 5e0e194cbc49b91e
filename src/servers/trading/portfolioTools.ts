/** Tools that read the account: its value, positions and cash. */
import { z } from "zod";
import { cents, label, spokenId, rowTotal } from "../../environment/fieldSchemas.ts";
import { createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { roundToCents, sumAmounts } from "../../environment/amounts.ts";
import { isWorking, TradingState, sumReservedCash, sumReservedShares, limit } from "./state.ts";
import { percentChange } from "./symbolTools.ts";
import vocabulary from "./vocabulary.json" with { type: "json" };

const tool = createToolFactory(TradingState);

/** The positions with their values at the last price, the largest first. */
const listHoldings = ({ positions, symbols }: TradingState) =>
  Object.entries(positions)
    .map(([symbol, { shares, cost }]) => ({
      symbol,
      shares,
      cost,
      value: roundToCents(shares * symbols[symbol]!.last),
      listing: symbols[symbol]!,
    }))
    .sort((a, b) => b.value - a.value || (a.symbol < b.symbol ? -1 : 1));

export const portfolioTools = {
  get_portfolio: tool({
    effect: "read",
    summary:
      "Get the account as a whole: its value, cash, gain since it was opened, and how the money is spread over sectors.",
    input: {
      by: z
        .enum(["sector", "exchange"])
        .optional()
        .describe("How to spread it, by sector if not given"),
    },
    returns: {
      value: cents().describe("Positions at last prices, and cash"),
      cash: cents(),
      invested: cents(),
      gain: cents(),
      gain_percent: z.number(),
      positions: z.int(),
      spread: z.array(z.object({ part: z.string(), value: cents(), percent: z.number() })),
    },
    run(state, { by = "sector" }) {
      const holdings = listHoldings(state);
      const invested = sumAmounts(holdings.map(it => it.value));
      const value = roundToCents(invested + state.cash);
      const parts = new Map<string, number>();
      for (const it of holdings) {
        const part =
          by === "sector" ? it.listing.sector : state.exchanges[it.listing.exchange]!.name;
        parts.set(part, roundToCents((parts.get(part) ?? 0) + it.value));
      }
      const spread = [...parts]
        .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
        .map(([part, worth]) => ({
          part,
          value: worth,
          percent: roundToCents((worth / value) * 100),
        }));
      return {
        value,
        cash: state.cash,
        invested,
        gain: roundToCents(value - state.paid_in),
        gain_percent: percentChange(value, state.paid_in),
        positions: holdings.length,
        spread,
      };
    },
  }),
  list_positions: tool({
    effect: "read",
    summary:
      "List the symbols that the account holds, the largest first: shares, how many are free to sell, what they cost and what they have gained.",
    input: {
      sector: z
        .string()
        .min(1)
        .max(40)
        .optional()
        .describe("Only positions in sectors that contain this")
        .meta({
          examples: vocabulary.heldSectors,
        }),
      losing: z.boolean().optional().describe("True for only positions that have lost money"),
      limit,
    },
    returns: {
      total: rowTotal("positions"),
      positions: z.array(
        z.object({
          name: label("symbol"),
          symbol: spokenId("symbol"),
          shares: z.int(),
          free: z.int(),
          value: cents(),
          gain: cents(),
        }),
      ),
    },
    run(state, { sector, losing, limit = 10 }, { now }) {
      const holdings = listHoldings(state).filter(
        it =>
          (!sector || containsText(it.listing.sector, sector)) && (!losing || it.value < it.cost),
      );
      return {
        total: holdings.length,
        positions: holdings.slice(0, limit).map(it => ({
          name: it.listing.name,
          symbol: it.symbol,
          shares: it.shares,
          free: it.shares - sumReservedShares(state, it.symbol, now),
          value: it.value,
          gain: roundToCents(it.value - it.cost),
        })),
      };
    },
  }),
  get_cash_balance: tool({
    effect: "read",
    summary:
      "Get the account's cash: how much there is, how much open buy orders reserve, and how much is free to spend.",
    input: {},
    returns: {
      cash: cents(),
      reserved: cents(),
      free: cents(),
      fee_per_execution: cents(),
      open_buy_orders: z.int(),
    },
    run(state, _args, { now }) {
      const reserved = sumReservedCash(state, now);
      const open = Object.values(state.orders).filter(
        it => it.side === "buy" && isWorking(it, now),
      );
      return {
        cash: state.cash,
        reserved,
        free: roundToCents(state.cash - reserved),
        fee_per_execution: state.fee,
        open_buy_orders: open.length,
      };
    },
  }),
};
