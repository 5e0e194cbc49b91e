/**
 * Generates the CRM of a fixture set: the cast's clients and prospects with their contacts, and
 * leads of other companies.
 */
import { defineGenerator } from "../shared/generator.ts";
import { CrmBuilder } from "./crmBuilder.ts";
import { addSmallFixture, addRemainingRecords } from "./generateDeals.ts";
import {
  findCastInconsistencies,
  findInvoiceInconsistencies,
  findStateInconsistencies,
} from "./inconsistencies.ts";
import { server, type Crm } from "./server.ts";

export const generator = defineGenerator<Crm>({
  server,
  generate(context) {
    const builder = new CrmBuilder(context);
    addSmallFixture(builder, context.cast);
    if (context.size === "full") addRemainingRecords(builder, context.cast);
    return builder.state;
  },
  findInconsistencies: (state, states, cast) => [
    ...findStateInconsistencies(state),
    ...findCastInconsistencies(state, cast),
    ...findInvoiceInconsistencies(state, states, cast),
  ],
});
