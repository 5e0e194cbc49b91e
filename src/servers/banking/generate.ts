/** Generates the bank of a fixture set from the shipped fixture. */
import { defineGenerator } from "../shared/generator.ts";
import { generateFromShipped } from "../shared/shippedFixture.ts";
import { banking } from "./server.ts";

interface BankingState {
  readonly customer: string;
}

export const generator = defineGenerator<BankingState>({
  server: banking,
  generate: context => generateFromShipped(banking, context) as unknown as BankingState,
  findInconsistencies: ({ customer }, _states, cast) =>
    customer === cast.user.name ? [] : [`the customer ${customer} is not ${cast.user.name}`],
});
