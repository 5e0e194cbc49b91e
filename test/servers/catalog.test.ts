/** The catalog loads every server that it lists. */
import { expect, test } from "vitest";
import { loadServers, serverNames } from "../../src/servers/catalog.ts";

test("every server has the name that the catalog lists it under", async () => {
  expect((await loadServers()).map(it => it.name)).toEqual(serverNames);
});
