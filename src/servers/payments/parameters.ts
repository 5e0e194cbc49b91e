/** Schemas of parameters and results that several tools share. */
import { z } from "zod";
import { id, money, rowLimit } from "../../environment/fieldSchemas.ts";

export const invoiceId = id("invoice").describe("Invoice id, as payments_list_invoices gives it");
export const statusesByUrgency = ["overdue", "open", "draft", "paid", "void"] as const;
export const status = z.enum(statusesByUrgency);

export const amount = money()
  .optional()
  .meta({ examples: [50, 80, 100, 120, 150, 200, 210, 250, 300, 400, 500, 640, 750, 900] });
export const limit = rowLimit(10);
