/** The catalog loads every server it lists, and the settings offer exactly those. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadServers, serverNames } from "../../src/servers/catalog.ts";

test("every server has the name that the catalog lists it under", async () => {
  expect((await loadServers()).map(it => it.name)).toEqual(serverNames);
});

test("the setting prove.agentServers offers the same names", () => {
  const manifest = JSON.parse(
    readFileSync(join(import.meta.dirname, "../../package.json"), "utf8"),
  ) as {
    readonly contributes: {
      readonly configuration: {
        readonly properties: Readonly<
          Record<
            string,
            { readonly default: unknown; readonly items?: { readonly enum: readonly string[] } }
          >
        >;
      };
    };
  };
  const setting = manifest.contributes.configuration.properties["prove.agentServers"];
  expect(setting?.items?.enum).toEqual(serverNames);
  expect(setting?.default).toEqual([]);
});
