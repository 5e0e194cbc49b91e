/**
 * Generated fixtures: the shipped ones are what the generators produce, and the fixtures of one
 * seed do not contradict one another.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadGenerators, loadServers } from "../../src/servers/catalog.ts";
import {
  findInconsistencies,
  formatFixture,
  generateFixtures,
} from "../../src/servers/generateFixtures.ts";
import { createCast } from "../../src/servers/shared/cast.ts";
import type { FixtureSize } from "../../src/servers/shared/generator.ts";
import { catalog, root } from "../contracts/transports.ts";

const servers = await loadServers();
const generators = await loadGenerators();

const readShipped = (server: string, size: FixtureSize) => catalog.getFixture(server, size);
const generate = (seed: number, size: FixtureSize, name: string = size) =>
  generateFixtures(generators, { seed, size, name, readShipped });
const statesOf = (fixtures: ReturnType<typeof generate>) =>
  new Map([...fixtures].map(([server, it]) => [server, it.state]));

test("every server has a generator", () =>
  expect(generators.map(it => it.server.name).toSorted()).toEqual(
    servers.map(it => it.name).toSorted(),
  ));

describe("the shipped fixtures", () => {
  const handWritten = ["banking", "calendar", "filesystem"];
  const limits = { small: [500, 8 * 1024], full: [25_000, 60 * 1024] } as const;
  for (const size of ["small", "full"] as const) {
    const fixtures = generate(1, size);
    for (const [server, fixture] of fixtures) {
      const text = readFileSync(
        join(root, "resources/servers", server, `fixtures/${size}.fixture.json`),
        "utf8",
      );
      test(`${server} ${size} has the expected length`, () => {
        expect(text.length).toBeGreaterThan(limits[size][0]);
        expect(text.length).toBeLessThan(limits[size][1]);
      });
      const origin = handWritten.includes(server)
        ? "it was written by hand"
        : "`prove-rl world --seed 1` generates it";
      test(`${server} ${size} is as ${origin}`, () => {
        expect(fixture.state).toEqual(readShipped(server, size).state);
        expect(
          handWritten.includes(server) || text === formatFixture(fixture),
          "make it with --size and --name, and --out resources/servers",
        ).toBe(true);
      });
    }
    test(`${size}: no server contradicts itself or another`, () =>
      expect(findInconsistencies(generators, statesOf(fixtures), 1)).toEqual([]));
  }
});

for (const seed of [2, 3, 77, 4711])
  describe(`the fixtures of seed ${seed}`, () => {
    const [small, full] = [generate(seed, "small"), generate(seed, "full")];
    test("are consistent, small and full", () =>
      expect(
        [small, full].flatMap(it => findInconsistencies(generators, statesOf(it), seed)),
      ).toEqual([]));
    test("are the same when generated again", () =>
      expect([...generate(seed, "full").values()].map(formatFixture)).toEqual(
        [...full.values()].map(formatFixture),
      ));
    test("name only people of their own cast", () => {
      const [cast, shippedCast] = [createCast(seed), createCast(1)];
      const ownNames = new Set(
        [
          ...cast.staff,
          ...cast.friends,
          ...cast.clients.flatMap(it => it.contacts),
          ...cast.prospects.flatMap(it => it.contacts),
        ].map(it => it.name),
      );
      const strangers = [...shippedCast.staff, ...shippedCast.friends]
        .map(it => it.name)
        .filter(it => !ownNames.has(it));
      const mentions = [...full].flatMap(([server, it]) =>
        strangers
          .filter(name => formatFixture(it).includes(name))
          .map(name => `${server}: ${name}`),
      );
      expect(mentions).toEqual([]);
    });
  });
