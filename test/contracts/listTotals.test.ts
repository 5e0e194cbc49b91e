/** Every list result says how many rows there are in all, however many of them it shows. */
import { describe, expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import type { JsonObject } from "../../src/environment/json.ts";
import { countRows, findTotalField } from "../../src/environment/listTotals.ts";
import type { JsonSchema } from "../../src/environment/server.ts";
import { catalog } from "./transports.ts";
import { walk } from "./walk.ts";

const reads = [...catalog.tools.values()].filter(it => it.effect === "read");
const properties = (schema: JsonSchema) => (schema["properties"] ?? {}) as JsonObject;

test("a read that lists rows has a total", () => {
  const lists = reads.filter(
    it =>
      // the limit of a text is one of lines
      ("limit" in properties(it.inputSchema) && !("text" in properties(it.outputSchema))) ||
      /_(list|search)_/.test(it.name) ||
      findTotalField(it.outputSchema),
  );
  expect(lists.length).toBeGreaterThan(90);
  const keys = lists.map(it => [it.name, findTotalField(it.outputSchema)?.key]);
  expect(keys.filter(([, key]) => key !== "total")).toEqual([
    // its total is a sum of money
    ["budget_list_expenses", "count"],
  ]);
});

describe.each([...catalog.servers.keys()])("%s", name => {
  test("a limit changes the rows and not the total", () => {
    const server = catalog.getServer(name);
    const pins = { servers: [{ name, fixture: "full" }], seed: 1 };
    const calls = walk(server, openSessionByName(catalog, pins), 300, 7);
    const session = openSessionByName(catalog, pins);
    for (const it of calls) {
      const { outcome } = session.call(it.name, it.arguments);
      const tool = server.tools.get(it.name)!;
      if (outcome.kind !== "ok" || tool.effect === "write") continue;
      const rows = countRows(tool.outputSchema, outcome.value);
      if (!rows) continue;
      expect(rows.total, it.name).toBeGreaterThanOrEqual(rows.shown);
      if (!("limit" in properties(tool.inputSchema))) continue;
      const cut = session.call(it.name, { ...(it.arguments as JsonObject), limit: 1 }).outcome;
      expect(cut.kind).toBe("ok");
      const shown = cut.kind === "ok" ? countRows(tool.outputSchema, cut.value) : undefined;
      expect(shown?.total, it.name).toBe(rows.total);
      // two lists of a result may each have a row
      expect(shown?.shown, it.name).toBeLessThanOrEqual(2);
    }
  });
});
