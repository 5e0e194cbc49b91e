/**
 * The CRM's part of a world: the canon's clients and prospects with their people, and others who
 * have only asked so far.
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
    const making = new CrmBuilder(context);
    addSmallFixture(making, context.cast);
    if (context.size === "full") addRemainingRecords(making, context.cast);
    return making.state;
  },
  findInconsistencies: (state, states, cast) => [
    ...findStateInconsistencies(state),
    ...findCastInconsistencies(state, cast),
    ...findInvoiceInconsistencies(state, states, cast),
  ],
});
