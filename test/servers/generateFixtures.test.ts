/**
 * The worlds that fixtures tell of: the shipped one is what the generator makes, and no world
 * contradicts itself.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadServers } from "../../src/servers/catalog.ts";
import { canonOf } from "../../src/servers/shared/cast.ts";
import { parts } from "../../src/servers/generators.ts";
import type { Size } from "../../src/servers/shared/generator.ts";
import { disagreementsOf, fixtureText, makeWorld } from "../../src/servers/generateFixtures.ts";
import { catalog, root } from "../contracts/doors.ts";

const servers = await loadServers();

const shipped = (server: string, size: Size) => catalog.fixture(server, size);
const make = (seed: number, size: Size, name: string = size) =>
  makeWorld(parts, { seed, size, name, shipped });
const states = (world: ReturnType<typeof make>) =>
  new Map([...world].map(([server, it]) => [server, it.state]));

test("every server has its part", () =>
  expect(parts.map(it => it.server.name).toSorted()).toEqual(
    servers.map(it => it.name).toSorted(),
  ));

describe("the shipped world", () => {
  const byHand = ["banking", "calendar", "filesystem"];
  const limits = { small: [500, 8 * 1024], full: [25_000, 60 * 1024] } as const;
  for (const size of ["small", "full"] as const) {
    const world = make(1, size);
    for (const [server, fixture] of world) {
      const text = readFileSync(
        join(root, "resources/fixtures", server, `${size}.fixture.json`),
        "utf8",
      );
      test(`${server} ${size} is as long as it should be`, () => {
        expect(text.length).toBeGreaterThan(limits[size][0]);
        expect(text.length).toBeLessThan(limits[size][1]);
      });
      const origin = byHand.includes(server)
        ? "was written by hand"
        : "`prove-rl world --seed 1` makes it";
      test(`${server} ${size} is as ${origin}`, () => {
        expect(fixture.state).toEqual(shipped(server, size).state);
        expect(
          byHand.includes(server) || text === fixtureText(fixture),
          "make it with --size and --name, and --out resources/fixtures",
        ).toBe(true);
      });
    }
    test(`${size}: no server contradicts itself or another`, () =>
      expect(disagreementsOf(parts, states(world), 1)).toEqual([]));
  }
});

for (const seed of [2, 3, 77, 4711])
  describe(`the world of seed ${seed}`, () => {
    const [small, full] = [make(seed, "small"), make(seed, "full")];
    test("agrees with itself, small and full", () =>
      expect([small, full].flatMap(it => disagreementsOf(parts, states(it), seed))).toEqual([]));
    test("comes out the same again", () =>
      expect([...make(seed, "full").values()].map(fixtureText)).toEqual(
        [...full.values()].map(fixtureText),
      ));
    test("tells of its own people only", () => {
      const [canon, first] = [canonOf(seed), canonOf(1)];
      const own = new Set(
        [
          ...canon.staff,
          ...canon.friends,
          ...canon.clients.flatMap(it => it.contacts),
          ...canon.prospects.flatMap(it => it.contacts),
        ].map(it => it.name),
      );
      const strangers = [...first.staff, ...first.friends]
        .map(it => it.name)
        .filter(it => !own.has(it));
      const told = [...full].flatMap(([server, it]) =>
        strangers.filter(name => fixtureText(it).includes(name)).map(name => `${server}: ${name}`),
      );
      expect(told).toEqual([]);
    });
  });
