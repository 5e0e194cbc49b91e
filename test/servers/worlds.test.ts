/** Generated worlds: the same fixtures with other people, places and dates. */
import { describe, expect, test } from "vitest";
import { computeDigest, deepFreeze } from "../../src/environment/digest.ts";
import { createFixtureSchema } from "../../src/environment/fixture.ts";
import { isHeldOutWorld } from "../../src/environment/fixtureName.ts";
import { World } from "../../src/environment/world.ts";
import { readWorldVocabulary } from "../../src/environment/worldVocabulary.ts";
import { loadGenerators, loadServers } from "../../src/servers/catalog.ts";
import { creators } from "../../src/servers/socialMedia/generateValues.ts";
import { createCast, type SharedCast } from "../../src/servers/shared/cast.ts";
import { catalog, root } from "../contracts/transports.ts";

const servers = await loadServers();
const generators = await loadGenerators();
const vocabulary = readWorldVocabulary([`${root}/resources/servers`]);
const shippedCast = JSON.parse(JSON.stringify(createCast(1))) as SharedCast;
const shippedPeople = [...shippedCast.staff, ...shippedCast.friends].map(it => it.name);
const getState = (server: string, name: string) => catalog.getFixture(server, name).state;

function localizeCast(name: string): SharedCast {
  const cast = catalog.localize(shippedCast, name);
  return { ...cast, getPlace: role => cast.places.find(it => it.role === role)! };
}

/** The creators of the social network, who are no part of the cast. */
const listCreators = (name: string) =>
  catalog.localize({ creators }, name).creators.map(it => `${it[0]} is not in the shared cast`);

for (const name of ["small@1", "full@1", "full@2", "full@10", "small@57", "full@300", "full@4711"])
  describe(name, () => {
    test("matches the schemas and the business rules of all servers", () => {
      const problems = servers.flatMap(server => {
        const fixture = catalog.getFixture(server.name, name);
        const { error } = createFixtureSchema(server).safeParse({ ...fixture, name: "world" });
        const violations = server.invariants.map(it => it.findViolation(fixture.state as never));
        return [error?.message, ...violations].filter(it => it !== undefined);
      });
      expect(problems).toEqual([]);
    });

    test("is consistent between the servers", () => {
      const states = new Map(servers.map(it => [it.name, getState(it.name, name)]));
      const cast = localizeCast(name);
      const known = listCreators(name);
      const problems = generators.flatMap(it => it.findInconsistencies(states, cast));
      expect(problems.filter(it => !known.includes(it))).toEqual([]);
      const clocks = servers.map(it => catalog.getFixture(it.name, name).now);
      expect(new Set(clocks).size).toBe(1);
    });

    test("names nobody of the shipped fixtures", () => {
      const mentions = servers.flatMap(it => {
        const text = JSON.stringify(getState(it.name, name));
        return shippedPeople.filter(person => text.includes(person));
      });
      expect(mentions).toEqual([]);
    });

    test("has the digest of a state that was created at once", () => {
      for (const { name: server } of servers) {
        const fixture = catalog.getFixture(server, `${name}~5`);
        const digest = computeDigest(fixture);
        expect(digest).toBe(computeDigest(deepFreeze(structuredClone(fixture))));
        expect(digest).not.toBe(computeDigest(catalog.getFixture(server, name)));
      }
    });
  });

test("a thousand worlds have another user each, and no two people of the same name", () => {
  const users = new Set<string>();
  for (let number = 1; number <= 1000; number++) {
    const world = new World(vocabulary, number);
    const firstNames = new Set(vocabulary.people.map(it => it.first));
    const newNames = new Set([...firstNames].map(it => world.translate(it)));
    expect(newNames.size).toBe(firstNames.size);
    users.add(`${world.translate("Ana")} ${world.translate("Ruiz")}`);
  }
  expect(users.size).toBeGreaterThan(900);
});

test("a pool has enough words for all phrases of a world", () => {
  const world = new World(vocabulary, 1);
  const names = [...vocabulary.phrases.keys()].map(it => world.translate(it));
  expect(names.filter(it => it.includes("undefined"))).toEqual([]);
  expect(new Set(names).size).toBe(names.length);
});

const texts: [text: string, expected: string][] = [
  ["2026-03-09T09:00", "2027-03-15T09:00"],
  ["Deadline Friday 20 March", "Deadline Friday 26 March"],
  ["Until 31 December 2026", "Until 6 January 2028"],
  ["closed in 2026-02", "closed in 2027-02"],
  ["the archive of 2019", "the archive of 2020"],
  ["version 2.2026, May we?", "version 2.2027, May we?"],
  ["ticket 20261", "ticket 20261"],
];
test.each(texts)("dates in: %s", (text, expected) => {
  const fixture = Array.from({ length: 300 }, (_, i) => `full@${i + 1}`).find(it =>
    catalog.getFixture("banking", it).now.startsWith("2027-03-15"),
  )!;
  expect(catalog.localize({ text }, fixture).text).toBe(expected);
});

test("a name counts as a whole word, in addresses too", () => {
  const { text } = catalog.localize({ text: "Anais, ana@harbor.example: Ana's Chana" }, "full@3");
  const user = catalog.localize({ it: "Ana" }, "full@3").it;
  expect(text).toMatch(
    new RegExp(`^Anais, ${user.toLowerCase()}@[a-z]+\\.example: ${user}'s Chana$`),
  );
});

test("one world in ten is held out of training", () => {
  const names = Array.from({ length: 300 }, (_, i) => `full@${i + 1}`);
  expect(names.filter(isHeldOutWorld)).toHaveLength(30);
  expect(["full", "full~10", "full@10~3"].map(isHeldOutWorld)).toEqual([false, false, true]);
});
