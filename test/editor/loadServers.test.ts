/** The editor loads the servers one by one; it must not forget one. */
import { expect, test } from "vitest";
import { loadServers } from "../../src/editor/loadServers.ts";
import { servers } from "../../src/servers/catalog.ts";

test("the editor has every server of the catalog, in its order", async () => {
  expect((await loadServers()).map(it => it.name)).toEqual(servers.map(it => it.name));
});
