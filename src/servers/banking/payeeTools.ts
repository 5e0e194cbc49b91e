/** Tools for payees and their bills. */
import { z } from "zod";
import { cents, id, label } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { containsText } from "../../environment/textSearch.ts";
import { accountId, payeeId, balance } from "./parameters.ts";
import { BankingState, findPayingAccount, addTransaction } from "./state.ts";

const tool = createToolFactory(BankingState);

export const payeeTools = {
  pay_bill: tool({
    effect: "write",
    summary: "Pay a payee's open bill from an account, in full.",
    input: { account_id: accountId.describe("Account that pays"), payee_id: payeeId },
    returns: { transaction_id: id("transaction"), paid: cents(), balance },
    run(state, { account_id, payee_id }, context) {
      const payee = findEntity(
        state.payees,
        payee_id,
        "payee",
        "banking_list_payees gives the ids",
      );
      const { bill } = payee;
      if (!bill) refuse("precondition_failed", `${payee.name} has no open bill`);
      const account = findPayingAccount(state, account_id, bill.amount);
      const transaction_id = addTransaction(state, context, {
        account_id,
        amount: -bill.amount,
        kind: "bill",
        text: `${payee.name} ${bill.reference}`,
      });
      delete payee.bill;
      return { transaction_id, paid: bill.amount, balance: account.balance };
    },
  }),
  list_payees: tool({
    effect: "read",
    summary:
      "List payees and what each one's open bill comes to, all of them or only those whose name contains some words.",
    input: { name: label("payee").optional().describe("Only payees whose name contains this") },
    returns: {
      payees: z.array(
        z.object({ name: label("payee"), payee_id: id("payee"), due: cents().optional() }),
      ),
    },
    run: ({ payees }, { name }) => ({
      payees: Object.entries(payees)
        .filter(([, it]) => !name || containsText(it.name, name))
        .map(([payee_id, it]) => ({
          name: it.name,
          payee_id,
          ...(it.bill ? { due: it.bill.amount } : {}),
        })),
    }),
  }),
  add_payee: tool({
    effect: "write",
    summary: "Add somebody to pay, by name and IBAN.",
    input: {
      name: z
        .string()
        .min(2)
        .max(60)
        .describe("Name of the payee")
        .meta({
          examples: [
            "Lighthouse Gym",
            "Corner Bakery",
            "Dr Adler",
            "Maple Nursery",
            "Riverside Garage",
            "Studio Yoga",
            "Piano Lessons",
            "Window Cleaning",
          ],
        }),
      iban: z
        .string()
        .regex(/^[A-Z]{2}\d{2}[A-Z0-9]{8,26}$/)
        .describe("IBAN without spaces")
        .meta({
          examples: [
            "DE44500105175407",
            "ES91210004184502",
            "FR14200410100505",
            "NL91ABNA04171643",
            "IE29AIBK93115212",
          ],
        }),
    },
    returns: { name: label("payee"), payee_id: id("payee") },
    run({ payees }, { name: requestedName, iban }, { newId }) {
      const name = requestedName.trim();
      if (name === "") refuse("invalid_params", "the name of a payee cannot be blank");
      const duplicate = Object.values(payees).find(
        it => it.name.trim().toLowerCase() === name.toLowerCase() || it.iban === iban,
      );
      if (duplicate)
        refuse(
          "conflict",
          `there is already a payee ${duplicate.name} with IBAN ${duplicate.iban}`,
          "use that payee",
        );
      const payee_id = newId("pay");
      payees[payee_id] = { name, iban };
      return { name, payee_id };
    },
  }),
};
