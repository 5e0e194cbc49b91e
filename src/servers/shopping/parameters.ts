/** Parameters and result fields that several tools of the shop share. */
import { z } from "zod";
import { cents, label, rowLimit } from "../../environment/fieldSchemas.ts";
import { orders } from "./state.ts";

export const limit = rowLimit(10);
export const quantity = z.int().min(1).max(99);

export const totalFields = {
  goods: cents(),
  discount: cents(),
  delivery_fee: cents(),
  total: cents(),
};

export const orderRow = orders.fields({
  number: [label("order"), it => String(it.number)],
  order_id: orders.idField,
});
