/** Generates the file system of a fixture set from the shipped fixture. */
import { defineGenerator } from "../shared/generator.ts";
import { generateFromShipped } from "../shared/shippedFixture.ts";
import { server } from "./server.ts";
import type { FilesystemState } from "./state.ts";

export const generator = defineGenerator<FilesystemState>({
  server,
  runsFirst: true,
  generate: context => generateFromShipped(server, context) as unknown as FilesystemState,
  findInconsistencies({ users }, _states, cast) {
    const names = new Set([...cast.staff.map(it => it.name), "System"]);
    return Object.values(users)
      .filter(it => !names.has(it.name))
      .map(it => `the user ${it.name} does not work at the studio`);
  },
});
