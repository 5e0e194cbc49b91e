/** Tools that freeze and unfreeze cards. */
import { z } from "zod";
import { id, label, sensitive } from "../../environment/fieldSchemas.ts";
import { findEntity, refuse, createToolFactory } from "../../environment/server.ts";
import { cardId } from "./parameters.ts";
import { BankingState } from "./state.ts";

const tool = createToolFactory(BankingState);

export const cardTools = {
  freeze_card: tool({
    effect: "write",
    summary: "Block a card at once, so that nobody can use it.",
    input: { card_id: cardId },
    returns: { card: label("card"), card_id: id("card"), status: z.string() },
    run({ cards }, { card_id }) {
      const card = findEntity(
        cards,
        card_id,
        "card",
        "banking_get_account lists the cards of an account",
      );
      if (card.status === "frozen")
        refuse("conflict", `card ${card_id} (${card.name}) is already frozen`);
      card.status = "frozen";
      return { card: card.name, card_id, status: card.status };
    },
  }),
  unfreeze_card: tool({
    effect: "write",
    summary: "Make a frozen card usable again, confirmed by the last four digits of its number.",
    input: {
      card_id: cardId,
      last_digits: sensitive(z.string().regex(/^\d{4}$/)).describe(
        "Last four digits of the card's number",
      ),
    },
    returns: { card: label("card"), card_id: id("card"), status: z.string() },
    run({ cards }, { card_id, last_digits }) {
      const card = findEntity(
        cards,
        card_id,
        "card",
        "banking_get_account lists the cards of an account",
      );
      if (card.last_digits !== last_digits)
        refuse(
          "permission_denied",
          `the last digits do not match card ${card_id}`,
          "ask the customer, or read them with banking_get_account",
        );
      if (card.status === "active")
        refuse("conflict", `card ${card_id} (${card.name}) is not frozen`);
      card.status = "active";
      return { card: card.name, card_id, status: card.status };
    },
  }),
};
