/**
 * The shipped fixtures and their generated worlds, which have other people, places and dates: they
 * match the schemas and the rules of all servers, and the servers agree.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { computeDigest, deepFreeze } from "../../src/environment/digest.ts";
import {
  createFixtureSchema,
  getFixtureFile,
  type Fixture,
  isHeldOutWorld,
} from "../../src/environment/fixture.ts";
import { World, readWorldVocabulary } from "../../src/environment/world.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { Cast, findDisagreements } from "../../src/servers/worldChecks.ts";
import { catalog, root } from "../contracts/transports.ts";

const servers = await loadServers();
const resources = join(root, "resources/servers");
const vocabulary = readWorldVocabulary([resources]);
const shippedCast = Cast.parse(JSON.parse(readFileSync(join(resources, "cast.json"), "utf8")));
const shippedPeople = [...shippedCast.staff, ...shippedCast.friends].map(it => it.name);
const getState = (server: string, name: string) => catalog.getFixture(server, name).state;
const listFixtures = (name: string) =>
  new Map(servers.map(it => [it.name, catalog.getFixture(it.name, name)]));

for (const [size, shortest, longest] of [
  ["small", 500, 8 * 1024],
  ["full", 25_000, 60 * 1024],
] as const)
  test(`the shipped fixtures ${size} agree, and have the expected lengths`, () => {
    expect(findDisagreements(listFixtures(size), shippedCast)).toEqual([]);
    for (const { name } of servers) {
      const { length } = readFileSync(getFixtureFile(resources, name, size), "utf8");
      expect(length, name).toBeGreaterThan(shortest);
      expect(length, name).toBeLessThan(longest);
    }
  });

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
      const fixtures = listFixtures(name);
      expect(findDisagreements(fixtures, catalog.localize(shippedCast, name))).toEqual([]);
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

/** Edits of the fixture `full` of one server, and what the servers then disagree on. */
const edits: [server: string, from: string, to: string, disagreement: string | RegExp][] = [
  [
    "banking",
    '"customer":"Ana Ruiz"',
    '"customer":"Eve"',
    "banking: the user is Eve, not Ana Ruiz",
  ],
  ["banking", '"kind":"salary"', '"kind":"gift"', /^budget: 2\d{3}-\d\d has an income of/],
  ["banking", '"kind":"card"', '"kind":"cash"', /^budget: exp_\d+ is not in the bank's ledger/],
  ["calendar", "@harbor.example", "@port.example", /^calendar: .+@port.example> is unknown$/],
  ["video_meeting", '"event_id":"', '"event_id":"x', /^video_meeting: there is no meeting for/],
  [
    "video_meeting",
    '"minutes":',
    '"minutes":1',
    /^video_meeting: .+ is not as .+ in the calendar$/,
  ],
  ["crm", '"status":"client"', '"status":"prospect"', /^crm: .+ is no client$/],
  ["crm", '"phone":"+34', '"phone":"+35', /^crm: .+ is no contact with the phone number/],
  ["email", '"bounces":', '"bounced":', /^email: .+ is left in the CRM, but mail to them arrives$/],
  [
    "filesystem",
    "Invoice 3",
    "Invoice 9",
    /^payments: invoice 9\d+ in the file system is missing$/,
  ],
  ["filesystem", "Status: paid", "Status: open", /^payments: invoice \d+ differs from the file/],
  ["payments", '"contact":"', '"contact":"Dr ', /^payments: the customer .+ is not a company with/],
  [
    "food_delivery",
    '"address":"',
    '"address":"1',
    /^food_delivery: restaurant .+ is not in the town/,
  ],
  ["iot_devices", '"address":"', '"address":"1', /^iot_devices: the address is 1/],
  ["maps", '"category":"museum"', '"category":"park"', /^maps: .+ is not on the map where/],
  ["retail_chain", '"city":"', '"city":"New ', /^retail_chain: store .+, which is in no city$/],
  ["social_media", '"name":"Ben', '"name":"Bob', /^social_media: Bob .+ is unknown$/],
  ["travel_booking", '"city":"', '"city":"New ', /^travel_booking: .+ is not the airport of New/],
  ["vehicle", '"latitude":4', '"latitude":5', /^vehicle: .+ is not at /],
];
test.each(edits)("%s with %s as %s: %s", (server, from, to, disagreement) => {
  const fixtures = new Map(listFixtures("full"));
  const text = JSON.stringify(fixtures.get(server));
  expect(text.includes(from)).toBe(true);
  fixtures.set(server, JSON.parse(text.replaceAll(from, to)) as Fixture);
  const found = findDisagreements(fixtures, shippedCast);
  if (disagreement === "") expect(found).toEqual([]);
  else
    expect(
      found.filter(it => it.match(disagreement)),
      found.join("\n"),
    ).not.toEqual([]);
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
