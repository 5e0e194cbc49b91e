/** Parameters that several tools of the retail chain take. */
import { z } from "zod";
import { id, rowLimit } from "../../environment/fieldSchemas.ts";

export const storeId = id("store").describe("Store id, as retail_chain_list_stores gives it");

export const itemId = id("item").describe("Item id, as retail_chain_search_items gives it");

export const limit = rowLimit(10);

export const quantity = z
  .int()
  .min(1)
  .max(99)
  .meta({ examples: [1, 1, 2, 2, 3, 4, 5, 6, 8, 10] });
