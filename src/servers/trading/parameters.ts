/** Schemas of parameters that several tools share. */
import { z } from "zod";
import { spokenId, rowLimit } from "../../environment/fieldSchemas.ts";

export const symbolId = spokenId("symbol").describe(
  "Symbol, such as trading_search_symbols gives it",
);
export const limit = rowLimit(10);
export const priceResult = z.number();

export const limitPrice = z.number().min(0.01).max(100_000);
export const examplePrices = [
  5.5, 6, 6.5, 7, 7.5, 8, 8.5, 9, 9.5, 10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 22, 24, 26, 28, 30,
  33, 36, 40, 44, 48, 50, 55, 60, 66, 72, 80, 90, 100, 110, 120, 130, 145, 160, 190, 210,
];
