/**
 * Money, stock, seats, quotas and credit under random calls: 200 on each server that has them, or
 * STORM times as many, as `npm run soak` asks for. The rules are written from the texts of the
 * tools and see what the read tools show, so that they do not repeat the servers' own invariants.
 */
import { expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { roundToCents } from "../../src/environment/amounts.ts";
import type { Json, JsonObject } from "../../src/environment/json.ts";
import type { Server } from "../../src/environment/server.ts";
import type { Session } from "../../src/environment/session.ts";
import { banking, budget, payments, trading } from "./rules/money.ts";
import { foodDelivery, marketplace, retailChain, shopping } from "./rules/goods.ts";
import { filesystem, travelBooking, videoMeeting } from "./rules/places.ts";
import type { Attempt, CreateRules, Look, Made, Read } from "./rules/rule.ts";
import { catalog } from "./transports.ts";
import { collectIds, createArguments, randomNumbers, type Call } from "./walk.ts";

const callsInASession = 100;
const sessions = Number(process.env["STORM"] ?? "1") * 2;

const rulesByServer: Readonly<Record<string, CreateRules>> = {
  banking,
  trading,
  payments,
  budget,
  shopping,
  marketplace,
  retail_chain: retailChain,
  food_delivery: foodDelivery,
  travel_booking: travelBooking,
  video_meeting: videoMeeting,
  filesystem,
};

for (const [name, createRules] of Object.entries(rulesByServer))
  test(`${name} keeps the rules of its texts through ${sessions * callsInASession} calls`, () => {
    const server = catalog.servers.get(name)!;
    let accepted = 0;
    for (let seed = 0; seed < sessions; seed++) {
      const fixture = seed % 2 === 0 ? "full" : "small";
      const session = openSessionByName(catalog, { servers: [{ name, fixture }], seed });
      const rules = createRules(lookAt(server, session));
      const made: string[] = [];
      const caller = new Caller(server, session, seed);
      let before = rules.see();
      for (let i = 0; i < callsInASession; i++) {
        const { name: tool, arguments: args } = caller.create();
        const { outcome } = session.call(tool, args);
        if (outcome.kind !== "ok") continue;
        caller.learn(tool, outcome.value);
        if (server.tools.get(tool)!.effect === "read") continue;
        accepted++;
        const after = rules.see();
        const value = outcome.value as Made["value"];
        const call = { tool: tool.slice(name.length + 1), args: args as Made["args"], value };
        made.push(`${tool} ${JSON.stringify(args)} gave ${JSON.stringify(value)}`);
        const wrongs = [...rules.findWrongs(before, after, call)];
        if (wrongs.length > 0)
          expect.fail(`${fixture} with seed ${seed}: ${wrongs.join("; ")}\n${made.join("\n")}`);
        before = after;
      }
    }
    expect(accepted).toBeGreaterThan(10);
  });

function lookAt(server: Server, session: Session): Look {
  return {
    tryRead: ((tool, args = {}) => {
      const { outcome } = session.call(`${server.name}_${tool}`, args);
      return outcome.kind === "ok" ? outcome.value : undefined;
    }) as Attempt,
    read: ((tool, args = {}) => {
      const { outcome } = session.call(`${server.name}_${tool}`, args);
      if (outcome.kind === "ok") return outcome.value;
      throw new Error(`${tool} ${JSON.stringify(args)}: ${outcome.message}`);
    }) as Read,
    askRefusal(tool, args) {
      const { outcome } = session.fork().call(`${server.name}_${tool}`, args);
      return outcome.kind === "ok" ? "" : outcome.message;
    },
  };
}

/** Makes up calls, mostly writes, of ids that earlier results have named, and of their numbers. */
class Caller {
  readonly #server: Server;
  readonly #random: () => number;
  readonly #known = new Map<string, string[]>();
  /** By name of a property, the latest values that results had under it. */
  readonly #seen = new Map<string, Json[]>();

  constructor(server: Server, session: Session, seed: number) {
    this.#server = server;
    this.#random = randomNumbers(seed);
    for (const { name, effect, inputSchema } of server.tools.values()) {
      const { properties = {}, required = [] } = inputSchema as {
        properties?: JsonObject;
        required?: readonly string[];
      };
      if (effect === "write" || required.length > 0) continue;
      const { outcome } = session.call(name, "limit" in properties ? { limit: 15 } : {});
      if (outcome.kind === "ok") this.learn(name, outcome.value);
    }
  }

  create(): Call {
    const effect = this.#random() < 0.75 ? "write" : "read";
    const tool = this.#pick([...this.#server.tools.values()].filter(it => it.effect === effect));
    const made = createArguments(tool, this.#known, this.#random) as JsonObject;
    return { name: tool.name, arguments: this.#vary(made) };
  }

  learn(tool: string, value: Json): void {
    collectIds(this.#server.tools.get(tool)!.outputSchema, value, this.#known);
    this.#collect(value);
  }

  #collect(value: Json): void {
    if (value === null || typeof value !== "object") return;
    for (const [key, it] of Object.entries(value)) {
      if (typeof it === "object") this.#collect(it);
      else this.#seen.set(key, [...(this.#seen.get(key) ?? []).slice(-30), it]);
    }
  }

  /** Often what results have under the same name, which is often just allowed; else any number. */
  #vary(args: JsonObject): JsonObject {
    return Object.fromEntries(
      Object.entries(args).map(([key, value]) => {
        const share = this.#random();
        const seen = (this.#seen.get(key) ?? []).filter(it => typeof it === typeof value);
        const isId = key.endsWith("id");
        if (!isId && share < 0.3 && seen.length > 0) return [key, this.#pick(seen)];
        if (typeof value !== "number") return [key, value];
        if (!Number.isInteger(value)) return [key, share < 0.5 ? roundToCents(value * 10) : value];
        if (share < 0.65) return [key, 1 + (value % 4)];
        return [key, share < 0.75 ? -value : share < 0.9 ? value : value * 10];
      }),
    );
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!;
  }
}
