/**
 * Random calls, well-formed and not, on every server: 400 each, or STORM times a thousand, as
 * `npm run soak` asks for. Every call returns an outcome, quickly, and a write keeps the server's
 * schema, its invariants and the bound on its size.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { computeDigest, deepFreeze, measureJson } from "../../src/environment/digest.ts";
import { findTypeMismatch } from "../../src/environment/argumentChecks.ts";
import { canonicalJson, type Json, type JsonObject } from "../../src/environment/json.ts";
import type { Server } from "../../src/environment/server.ts";
import { maxStateSize, type Session } from "../../src/environment/session.ts";
import { catalog } from "./transports.ts";
import { walk, type Call } from "./walk.ts";

const times = Number(process.env["STORM"] ?? "0.4");
const callsInARun = 50;

/** How a call of a walk is spoiled; most are left as they are. */
interface Spoiling {
  readonly how: "not" | "drop" | "junk" | "extra" | "swap";
  readonly at: number;
  readonly junk: Json;
}

const junk = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(
    "__proto__",
    "constructor",
    "",
    "../..",
    "2026-02-30",
    1e308,
    -1e-9,
    "\u0000",
    "‮abc",
    "9".repeat(400),
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const spoiling: fc.Arbitrary<Spoiling> = fc.record({
  how: fc.constantFrom("not", "not", "not", "drop", "junk", "extra", "swap"),
  at: fc.nat(7),
  junk,
});

function spoilCall(call: Call, { how, at, junk }: Spoiling, others: readonly Call[]): Call {
  if (
    how === "not" ||
    call.arguments === null ||
    typeof call.arguments !== "object" ||
    Array.isArray(call.arguments)
  )
    return call;
  const args = call.arguments as JsonObject;
  const keys = Object.keys(args);
  const key = keys[at % Math.max(1, keys.length)] ?? "none";
  if (how === "drop")
    return {
      ...call,
      arguments: Object.fromEntries(Object.entries(args).filter(([it]) => it !== key)),
    };
  if (how === "junk") return { ...call, arguments: { ...args, [key]: junk } };
  if (how === "extra")
    return { ...call, arguments: { ...args, [typeof junk === "string" ? junk : "more"]: junk } };
  return { ...call, name: others[at % others.length]!.name };
}

/** One call, held against all that a session promises. */
function checkCall(server: Server, session: Session, bystander: Session, call: Call): string {
  const before = session.state;
  const { outcome, digest } = session.call(call.name, call.arguments);
  const said = () =>
    `${call.name} ${JSON.stringify(call.arguments)} gave ${JSON.stringify(outcome)}`;
  if (outcome.kind === "broken") expect.fail(said());
  const isWritten = outcome.kind === "ok" && server.tools.get(call.name)!.effect === "write";
  if (isWritten) {
    const shape = server.schema.safeParse(session.state[server.name]!.world);
    if (!shape.success) expect.fail(`${said()}, which leaves ${shape.error.message}`);
    const [world, worldBefore] = [session.state, before].map(it => it[server.name]!.world);
    for (const { rule, findViolation } of server.invariants) {
      const violation = findViolation(world, worldBefore);
      if (violation !== undefined) expect.fail(`${said()}, which breaks "${rule}": ${violation}`);
    }
    expect(measureJson(world!), said()).toBeLessThanOrEqual(maxStateSize);
  } else if (session.state !== before) expect.fail(`${said()} and changed the state`);
  if (outcome.kind === "ok") {
    // the first of the two checks is only made where the second fails: what passes the second must
    // pass it
    expect(
      findTypeMismatch(server.tools.get(call.name)!.inputSchema, call.arguments),
      said(),
    ).toBeUndefined();
    const shape = server.tools.get(call.name)!.returns.safeParse(outcome.value);
    if (!shape.success) expect.fail(`${said()}: ${shape.error.message}`);
  }
  if (bystander.digest !== bystanders.get(server)!)
    expect.fail(`${said()} and changed another session`);
  return `${canonicalJson(outcome)} ${digest}`;
}

const bystanders = new Map<Server, string>();

for (const server of catalog.servers.values())
  describe(server.name, () => {
    test(
      `keeps its promises through ${1000 * times} random calls`,
      () => {
        const pins = (fixture: string) => ({ servers: [{ name: server.name, fixture }], seed: 3 });
        const bystander = openSessionByName(catalog, pins("full"));
        bystanders.set(server, bystander.digest);
        for (const fixture of catalog.listFixtures(server.name))
          for (const { rule, findViolation } of server.invariants)
            expect(
              findViolation(catalog.getFixture(server.name, fixture).state),
              `${fixture} breaks "${rule}"`,
            ).toBeUndefined();
        fc.assert(
          fc.property(
            fc.nat(),
            fc.constantFrom("small", "full"),
            fc.array(spoiling, { minLength: callsInARun, maxLength: callsInARun }),
            (seed, fixture, spoilings) => {
              const walked = walk(
                server,
                openSessionByName(catalog, pins(fixture)),
                callsInARun,
                seed,
              );
              const calls = walked.map((it, i) => spoilCall(it, spoilings[i]!, walked));
              const session = openSessionByName(catalog, pins(fixture));
              const first = calls.map(it => checkCall(server, session, bystander, it));
              // the digest that followed every write is that of the state as a whole
              expect(session.digest).toBe(
                computeDigest(deepFreeze(structuredClone(session.state))),
              );
              const again = openSessionByName(catalog, pins(fixture));
              expect(calls.map(it => checkCall(server, again, bystander, it))).toEqual(first);
            },
          ),
          { numRuns: 20 * times, endOnFailure: true },
        );
      },
      60_000 * Math.max(10, times),
    );
  });
