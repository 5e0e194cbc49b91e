/** The lists in package.json that are generated from the servers' catalog are up to date. */
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { manifestFile, updateManifest } from "../manifest.ts";

const manifest = readFileSync(manifestFile, "utf8");

test("the generated lists of package.json are up to date", async () => {
  expect(manifest, "run `npm run manifest`").toBe(await updateManifest(manifest));
});

test("no server is offered to agents by default", () => {
  const { contributes } = JSON.parse(manifest) as {
    readonly contributes: {
      readonly configuration: {
        readonly properties: Readonly<Record<string, { readonly default: unknown }>>;
      };
    };
  };
  expect(contributes.configuration.properties["prove.agentServers"]?.default).toEqual([]);
});
