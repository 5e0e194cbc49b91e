/** Parameters and result fields that several tools of the retail chain share. */
import { z } from "zod";
import { label, rowLimit } from "../../environment/fieldSchemas.ts";
import { items, stores } from "./state.ts";

export const limit = rowLimit(10);

export const quantity = z
  .int()
  .min(1)
  .max(99)
  .meta({ examples: [1, 1, 2, 2, 3, 4, 5, 6, 8, 10] });

export const storeRow = stores.fields({
  store: [label("store"), it => it.name],
  store_id: stores.idField,
});
export const itemRow = items.fields({
  item: [label("item"), it => it.name],
  item_id: items.idField,
});
