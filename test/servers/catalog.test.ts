/** The catalog loads every server that it lists. */
import { expect, test } from "vitest";
import { loadGenerators, loadServers, serverNames } from "../../src/servers/catalog.ts";

test("every server has the name that the catalog lists it under", async () => {
  expect((await loadServers()).map(it => it.name)).toEqual(serverNames);
});

test("every server has one generator, and the hand-written fixtures come first", async () => {
  const names = (await loadGenerators()).map(it => it.server.name);
  expect(names.toSorted()).toEqual(serverNames.toSorted());
  expect(names.slice(0, 3)).toEqual(["banking", "calendar", "filesystem"]);
});
