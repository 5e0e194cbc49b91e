/** The contract of every server's session, in process, over stdio and over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openSessionByName } from "../../src/environment/catalog.ts";
import type { JsonSchema } from "../../src/environment/server.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { catalog, inProcess, overHttp, overStdio, type Transport } from "./transports.ts";
import { walk } from "./walk.ts";

const servers = await loadServers();

/** The number of tools of each of the paper's servers. */
const paperTools = {
  banking: 17,
  trading: 13,
  payments: 10,
  calendar: 17,
  email: 17,
  filesystem: 40,
  shopping: 23,
  marketplace: 13,
  retail_chain: 11,
  travel_booking: 20,
  maps: 16,
  social_media: 15,
  team_chat: 11,
  iot_devices: 25,
  vehicle: 20,
  crm: 16,
  issue_tracker: 20,
  budget: 12,
  food_delivery: 17,
  video_meeting: 10,
};
const isObject = (it: unknown): it is Record<string, unknown> =>
  it !== null && typeof it === "object" && !Array.isArray(it);

test.each(Object.entries(paperTools))("%s has the paper's %i tools", (name, count) =>
  expect(catalog.getServer(name).tools.size).toBe(count),
);

for (const server of servers) {
  const openFull = (seed: number) =>
    openSessionByName(catalog, { servers: [{ name: server.name, fixture: "full" }], seed });
  const listCalls = (count: number, { seed, walkSeed }: Record<"seed" | "walkSeed", number>) =>
    walk(server, openFull(seed), count, walkSeed)
      // over the wire arguments are always an object
      .filter(it => isObject(it.arguments));

  describe(server.name, () => {
    test("describes every tool and every parameter", () => {
      const silent = [...server.tools.values()].flatMap(tool => [
        ...(tool.summary.length > 20 ? [] : [tool.name]),
        ...Object.entries((tool.inputSchema["properties"] ?? {}) as Record<string, JsonSchema>)
          .filter(([, it]) => !it["description"])
          .map(([key]) => `${tool.name}.${key}`),
      ]);
      expect(silent).toEqual([]);
    });
  });

  // over the wire, a call takes much longer: every server answers there as it does here, and a few
  // keep the rest of the contract there too
  const isTestedOverWire = servers.indexOf(server) % 8 === 0;
  const transports: Record<string, () => Transport | Promise<Transport>> = {
    "in process": () => inProcess(server.name),
    "over stdio": () => overStdio(server.name),
    "over HTTP": () => overHttp(server.name),
  };
  for (const [way, open] of Object.entries(transports)) {
    const used =
      way === "in process"
        ? listCalls(400, { seed: 5, walkSeed: 11 })
        : listCalls(80, { seed: 5, walkSeed: 16 });
    describe(`${server.name} ${way}`, () => {
      let transport: Transport;
      beforeAll(async () => {
        transport = await open();
      });
      afterAll(() => transport.close());

      test("answers as the session in process does, byte for byte", async () => {
        const [wire, here] = [
          await transport.open("full", 9),
          await inProcess(server.name).open("full", 9),
        ];
        const calls = listCalls(30, { seed: 9, walkSeed: 4 });
        for (const { name, arguments: args } of calls)
          expect(await wire.call(name, args)).toEqual(await here.call(name, args));
        expect(await wire.digest()).toBe(await here.digest());
        await wire.close();
      });
      if (way !== "in process" && !isTestedOverWire) return;

      test("reads and refused calls leave the state unchanged; successful writes change it", async () => {
        const session = await transport.open("full", 5);
        let before = await session.digest();
        const seen = { read: 0, refused: 0, written: 0 };
        for (const { name, arguments: args } of used.slice(0, 200)) {
          const { ok } = await session.call(name, args);
          const after = await session.digest();
          if (!ok || server.tools.get(name)!.effect === "read") {
            expect(after, `${name} ${JSON.stringify(args)}`).toBe(before);
            seen[ok ? "read" : "refused"]++;
          } else {
            expect(after, `${name} ${JSON.stringify(args)}`).not.toBe(before);
            seen.written++;
          }
          before = after;
        }
        expect(Math.min(seen.read, seen.refused, seen.written)).toBeGreaterThan(2);
        await session.close();
      });

      test("the same seed and calls give the same bytes, another seed gives other ids", async () => {
        const run = async (seed: number) => {
          const session = await transport.open("full", seed);
          const texts: string[] = [];
          for (const { name, arguments: args } of used)
            texts.push((await session.call(name, args)).text);
          texts.push(await session.digest());
          await session.close();
          return texts;
        };
        const first = await run(5);
        expect(await run(5)).toEqual(first);
        expect(await run(6)).not.toEqual(first);
      });

      test("two sessions are independent", async () => {
        const [one, other] = [await transport.open("small", 1), await transport.open("small", 1)];
        const before = await other.digest();
        for (const { name, arguments: args } of used) await one.call(name, args);
        expect(await one.digest()).not.toBe(before);
        expect(await other.digest()).toBe(before);
        await one.close();
        await other.close();
      });
    });
  }
}
