/** Generates the calendar of a fixture set from the shipped fixture. */
import { defineGenerator } from "../shared/generator.ts";
import { generateFromShipped } from "../shared/shippedFixture.ts";
import { server } from "./server.ts";
import type { CalendarState } from "./state.ts";

export const generator = defineGenerator<CalendarState>({
  server,
  runsFirst: true,
  generate: context => generateFromShipped(server, context) as unknown as CalendarState,
  findInconsistencies({ people }, _states, cast) {
    const emails = new Map(cast.staff.map(it => [it.name, it.email]));
    return Object.values(people)
      .filter(it => emails.get(it.name) !== it.email)
      .map(it => `${it.name} <${it.email}> does not work at the studio`);
  },
});
