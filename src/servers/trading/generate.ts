/**
 * Generates the account of a small investor: listed companies, and the orders from which cash and
 * positions follow.
 */
import { server } from "./server.ts";
import type { TradingState } from "./state.ts";
import { defineGenerator, type GeneratorContext } from "../shared/generator.ts";
import { AccountBuilder } from "./accountBuilder.ts";
import { findContradictions } from "./inconsistencies.ts";

function generateSmall(context: GeneratorContext): TradingState {
  const account = new AccountBuilder(context, 8000);
  account.addTrade("HLYN", "buy", 120, 40);
  account.addTrade("SKPR", "buy", 50, 33, { atMarket: true });
  account.addTrade("NUBE", "buy", 12, 26);
  account.addTrade("SKPR", "sell", 10, 12);
  account.addRestingOrder("HLYN", "buy", 60, 8, 0);
  account.addRestingOrder("HLYN", "sell", 40, 12, 3, { until: 11 });
  account.addRestingOrder("FARO", "buy", 100, 5, 4);
  account.addRestingOrder("OPTK", "buy", 10, 6, 5, { cancelled: true });
  account.addRestingOrder("NUBE", "buy", 5, 30, 14, { until: -7 });
  account.addAlert("HLYN", "above", 5);
  account.addAlert("SKPR", "below", 4, true);
  return account.build();
}

function generateFull(context: GeneratorContext): TradingState {
  const { random } = context;
  const account = new AccountBuilder(context, 32_000);
  const names = Object.keys(account.state.symbols);
  const wholeLots = (symbol: string, value: number) => {
    const { lot, last } = account.state.symbols[symbol]!;
    return Math.max(1, Math.round(value / last / lot)) * lot;
  };
  const heldSymbols = names.filter((_, i) => i % 2 === 0 || i % 7 === 1).slice(0, 14);
  for (const [i, it] of heldSymbols.entries())
    account.addTrade(it, "buy", wholeLots(it, 1200 + 150 * random.integer(8)), 170 - 8 * i, {
      atMarket: i % 4 === 0,
    });
  for (const it of heldSymbols.slice(0, 4))
    account.addTrade(it, "buy", wholeLots(it, 500), 20 + random.integer(20));
  for (const [i, it] of heldSymbols.slice(2, 8).entries())
    account.addTrade(it, "sell", wholeLots(it, 350), 4 + 2 * i, { atMarket: i % 3 === 2 });
  const [first, second, third, fourth] = heldSymbols as [string, string, string, string];
  account.addTrade(heldSymbols[9]!, "buy", wholeLots(heldSymbols[9]!, 300), 3, {
    of: wholeLots(heldSymbols[9]!, 900),
  });
  for (const [i, it] of [first, second, third, fourth, heldSymbols[8]!].entries())
    account.addRestingOrder(
      it,
      "sell",
      wholeLots(it, 260 + 60 * i),
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
    account.addRestingOrder(
      it,
      "buy",
      wholeLots(it, 240 + 70 * i),
      6 + 2 * i,
      i % 3 ? 3 + i : 0,
      i % 2 ? {} : { until: 3 + 4 * i },
    );
  for (const [i, it] of [names[5]!, names[10]!, names[18]!, names[20]!].entries())
    account.addRestingOrder(it, i % 2 ? "sell" : "buy", wholeLots(it, 420), 9 + i, 9 + 4 * i, {
      cancelled: true,
    });
  for (const [i, it] of [names[12]!, names[15]!, names[22]!].entries())
    account.addRestingOrder(it, "buy", wholeLots(it, 380), 30 + i, 16 + 3 * i, { until: -3 - i });
  for (const [i, it] of heldSymbols.slice(0, 5).entries())
    account.addAlert(it, i % 2 ? "below" : "above", 4 + i);
  account.addAlert(names[17]!, "above", 6);
  account.addAlert(names[9]!, "below", 3, true);
  account.addAlert(names[21]!, "above", 2, true);
  return account.build();
}

export const generator = defineGenerator<TradingState>({
  server,
  generate: context => (context.size === "full" ? generateFull(context) : generateSmall(context)),
  findInconsistencies: (state, _states, cast) => [...findContradictions(state, cast)],
});
