/** Generates the bank of a fixture set from the shipped fixture. */
import { defineGenerator } from "../shared/generator.ts";
import { generateFromShipped } from "../shared/shippedFixture.ts";
import { server } from "./server.ts";
import type { BankingState } from "./state.ts";

export const generator = defineGenerator<BankingState>({
  server,
  runsFirst: true,
  generate: context => generateFromShipped(server, context) as unknown as BankingState,
  findInconsistencies: ({ customer }, _states, cast) =>
    customer === cast.user.name ? [] : [`the customer ${customer} is not ${cast.user.name}`],
});
