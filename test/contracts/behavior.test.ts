/**
 * What each server publishes and how it behaves, as two hashes: its tools with their schemas, and
 * the outcomes, changes and states of 2,000 random calls. A rewrite of a server that is meant to
 * change nothing keeps both; a change of a tool rewrites them with UPDATE=1.
 */
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { canonicalJson } from "../../src/environment/json.ts";
import type { Server } from "../../src/environment/server.ts";
import { checkGolden } from "../golden.ts";
import { catalog } from "./transports.ts";
import { walk } from "./walk.ts";

const walksOfAServer = 20;
const callsInAWalk = 100;

test("the servers publish and do what they did", () => {
  const rows = [...catalog.servers.values()].map(
    it => `${it.name} tools ${hashTools(it)} calls ${hashCalls(it)}`,
  );
  expect(rows).toHaveLength(20);
  checkGolden("behavior.txt", `${rows.join("\n")}\n`);
});

function hashTools({ tools, references }: Server): string {
  const noCode = { input: undefined, returns: undefined, run: undefined };
  const published = [...tools.values()].map(it => ({ ...it, ...noCode }));
  return hash([JSON.stringify(published), JSON.stringify(references)]);
}

function hashCalls(server: Server): string {
  const lines: string[] = [];
  for (let seed = 0; seed < walksOfAServer; seed++) {
    const fixture = seed % 2 === 0 ? "full" : "small";
    const pins = { servers: [{ name: server.name, fixture }], seed };
    const calls = walk(server, openSessionByName(catalog, pins), callsInAWalk, seed);
    const session = openSessionByName(catalog, pins);
    for (const call of calls) {
      const { outcome, patches, digest } = session.call(call.name, call.arguments);
      lines.push(JSON.stringify(outcome), canonicalJson(patches), digest);
    }
  }
  return hash(lines);
}

const hash = (lines: readonly string[]): string =>
  createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 32);
