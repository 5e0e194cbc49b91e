/**
 * What each server publishes and how it behaves, as hashes: its tools with their schemas, and the
 * outcomes, changes and states of 200 random calls, or 2,000 in `npm run soak`. A rewrite of a
 * server that is meant to change nothing keeps them; a change of a tool rewrites them with
 * UPDATE=1.
 */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { canonicalJson } from "../../src/environment/json.ts";
import type { Server } from "../../src/environment/server.ts";
import { checkGolden } from "../golden.ts";
import { catalog, root } from "./transports.ts";
import { walk } from "./walk.ts";

const callsInAWalk = 100;
const [fewWalks, allWalks] = [2, 20];
const golden = "behavior.txt";
const isLong = process.env["STORM"] !== undefined || process.env["UPDATE"] !== undefined;

test("the servers publish and do what they did", () => {
  const rows = [...catalog.servers.values()].map(it => {
    const lines = listLines(it, isLong ? allWalks : fewWalks);
    const few = lines.slice(0, fewWalks * callsInAWalk * 3);
    const calls = isLong ? hash(lines) : readRecorded(it.name);
    return `${it.name} tools ${hashTools(it)} calls ${calls} the first ${hash(few)}`;
  });
  expect(rows).toHaveLength(20);
  checkGolden(golden, `${rows.join("\n")}\n`);
});

function hashTools({ tools, references }: Server): string {
  const noCode = { input: undefined, returns: undefined, run: undefined };
  const published = [...tools.values()].map(it => ({ ...it, ...noCode }));
  return hash([JSON.stringify(published), JSON.stringify(references)]);
}

/** Three lines for each call of the walks. */
function listLines(server: Server, walks: number): readonly string[] {
  const lines: string[] = [];
  for (let seed = 0; seed < walks; seed++) {
    const fixture = seed % 2 === 0 ? "full" : "small";
    const pins = { servers: [{ name: server.name, fixture }], seed };
    const calls = walk(server, openSessionByName(catalog, pins), callsInAWalk, seed);
    const session = openSessionByName(catalog, pins);
    for (const call of calls) {
      const { outcome, patches, digest } = session.call(call.name, call.arguments);
      lines.push(JSON.stringify(outcome), canonicalJson(patches), digest);
    }
  }
  return lines;
}

const hash = (lines: readonly string[]): string =>
  createHash("sha256").update(lines.join("\n")).digest("hex").slice(0, 32);

/** The recorded hash of all calls of a server. */
const readRecorded = (server: string): string | undefined =>
  new RegExp(`^${server} .* calls (\\w+)`, "m").exec(
    readFileSync(join(root, "test/goldens", golden), "utf8"),
  )?.[1];
