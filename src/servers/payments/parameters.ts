/** Schemas of parameters and results that several tools share. */
import { z } from "zod";
import { label, money } from "../../environment/fieldSchemas.ts";
import { invoices } from "./state.ts";

export const statusesByUrgency = ["overdue", "open", "draft", "paid", "void"] as const;
export const status = z.enum(statusesByUrgency);

export const amount = money()
  .optional()
  .meta({ examples: [50, 80, 100, 120, 150, 200, 210, 250, 300, 400, 500, 640, 750, 900] });

export const invoiceRow = invoices.fields({
  number: [label("invoice"), it => String(it.number)],
  invoice_id: invoices.idField,
});
