/** Schemas of parameters and results that several tools share. */
import { z } from "zod";
import { cents, id, money } from "../../environment/fieldSchemas.ts";

export const accountId = id("account").describe("Account id, as banking_list_accounts gives it");
export const cardId = id("card").describe("Card id, as banking_get_account gives it");
export const payeeId = id("payee").describe("Payee id, as banking_list_payees gives it");
export const amount = money().meta({
  examples: [20, 25, 40, 50, 60, 75, 80, 100, 120, 150, 200, 250, 300, 450, 500, 750, 1200],
});
export const limit = z.int().min(1).max(50).optional();
export const balance = cents().describe("Balance of the account, in euros");
