/**
 * The editor loads the servers one by one; it must not forget one, and offers agents exactly those
 * there are.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadServers } from "../../../src/editor/servers/loadServers.ts";
import { servers } from "../../../src/servers/catalog.ts";

const names = servers.map(it => it.name);

test("the editor has every server of the catalog, in its order", async () => {
  expect((await loadServers()).map(it => it.name)).toEqual(names);
});

test("the setting prove.agentServers knows the same names", () => {
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
  expect(setting?.items?.enum).toEqual(names);
  expect(setting?.default).toEqual([]);
});
