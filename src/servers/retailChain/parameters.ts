/** Parameters that several tools of the retail chain take. */
import { z } from "zod";
import { id } from "../../environment/fieldSchemas.ts";

export const storeId = id("store").describe("Store id, as retail_chain_list_stores gives it");

export const itemId = id("item").describe("Item id, as retail_chain_search_items gives it");

export const limit = z
  .int()
  .min(1)
  .max(50)
  .optional()
  .describe("At most this many, 10 if not given");

export const quantity = z
  .int()
  .min(1)
  .max(99)
  .meta({ examples: [1, 1, 2, 2, 3, 4, 5, 6, 8, 10] });
