/** A state in which an id leads to no row is refused, whichever id it is. */
import { describe, expect, test } from "vitest";
import { createReferenceCheck } from "../../src/environment/referenceChecks.ts";
import type { Json, JsonObject } from "../../src/environment/json.ts";
import { catalog } from "./transports.ts";

/** Paths of ids that may lead nowhere, and why. */
const allowed: Readonly<Record<string, string>> = {};

/** Records whose keys are the ids of rows of another table. */
const recordsByForeignId: Readonly<Record<string, readonly string[]>> = {
  payments: ["events.*.deliveries"],
  shopping: ["wishes"],
  video_meeting: ["meetings.*.participants"],
  retail_chain: ["stock", "stock.*", "shipments.*.lines"],
};

type Path = readonly (string | number)[];
const isId = (it: string) => /^[a-z]+_\d+$/.test(it) || /^[A-Z]+-\d+$/.test(it);
const formatPath = (path: Path) =>
  path.map(it => (typeof it === "number" || isId(it) ? "*" : it)).join(".");
const breakId = (id: string) => id.replace(/\d+$/, "99999");

/** All values in a state, with their paths. */
function* listValues(value: Json, path: Path = []): Generator<[Path, Json]> {
  yield [path, value];
  if (Array.isArray(value))
    for (const [i, it] of value.entries()) yield* listValues(it, [...path, i]);
  else if (value !== null && typeof value === "object")
    for (const [key, it] of Object.entries(value)) yield* listValues(it, [...path, key]);
}

/** A copy of the state with one reference that leads nowhere, for each kind of reference. */
function listBrokenStates(state: JsonObject, foreign: readonly string[]): Map<string, JsonObject> {
  const values = [...listValues(state)];
  const ids = new Set(values.flatMap(([path]) => path).filter(it => typeof it === "string"));
  const broken = new Map<string, JsonObject>();
  const edit = (
    kind: string,
    path: Path,
    change: (parent: Record<string, Json>, key: string) => void,
  ) => {
    if (broken.has(kind)) return;
    const copy = structuredClone(state);
    let parent: Record<string, Json> = copy;
    for (const key of path.slice(0, -1)) parent = parent[key] as Record<string, Json>;
    change(parent, String(path.at(-1)));
    broken.set(kind, copy);
  };
  for (const [path, value] of values) {
    if (typeof value === "string" && isId(value) && ids.has(value))
      edit(formatPath(path), path, (parent, key) => (parent[key] = breakId(value)));
    if (foreign.includes(formatPath(path.slice(0, -1))))
      edit(`${formatPath(path.slice(0, -1))}.@`, path, (parent, key) => {
        parent[breakId(key)] = parent[key]!;
        delete parent[key];
      });
  }
  return broken;
}

describe.each([...catalog.servers.values()])("$name", ({ name, schema }) => {
  const state = catalog.getFixture(name, "full").state;
  const foreign = recordsByForeignId[name] ?? [];
  for (const [kind, broken] of listBrokenStates(state, foreign))
    test(`${kind} leads to a row`, () => {
      const isAllowed = Object.hasOwn(allowed, `${name} ${kind}`);
      expect(schema.safeParse(broken).success).toBe(isAllowed);
    });
  test("the shipped states have no dangling references", () => {
    for (const fixture of catalog.listFixtures(name))
      expect(() => schema.parse(catalog.getFixture(name, fixture).state)).not.toThrow();
  });
});

/** References to rows that people name, which have no number. */
const namedReferences: readonly (readonly [server: string, path: string])[] = [
  ["trading", "orders.ord_101.symbol"],
  ["trading", "alerts.alr_101.symbol"],
  ["travel_booking", "flights.flt_101.from"],
  ["travel_booking", "flights.flt_101.to"],
  ["travel_booking", "itineraries.iti_101.bookings.0"],
];
test.each(namedReferences)("%s: %s leads to a row", (server, path) => {
  const state = structuredClone(catalog.getFixture(server, "small").state);
  const keys = path.split(".");
  const parent = keys
    .slice(0, -1)
    .reduce((value: Json, key) => (value as JsonObject)[key]!, state) as Record<string, Json>;
  parent[keys.at(-1)!] = "ZZZ999";
  const { error } = catalog.getServer(server).schema.safeParse(state);
  expect(error?.issues.map(it => it.path.join("."))).toEqual([path]);
});

test("the message names the path and the missing row", () => {
  const issues: unknown[] = [];
  const check = createReferenceCheck({
    "cards.*.account_id": "accounts",
    "wishes.@": "dishes",
    "returns.*.item": "orders.*.items",
    "log.*": "devices|removed",
  });
  const state = {
    accounts: { acc_1: {} },
    cards: { crd_1: { account_id: "acc_1" }, crd_2: { account_id: "acc_2" }, crd_3: {} },
    dishes: {},
    wishes: { constructor: 1 },
    orders: { ord_1: { items: { itm_1: {} } } },
    returns: { ret_1: { item: "itm_1" }, ret_2: { item: "ord_1" } },
    devices: { dev_1: {} },
    removed: { dev_2: {} },
    log: ["dev_1", "dev_2", "dev_3"],
  };
  check(state, { addIssue: it => issues.push([it.path.join("."), it.message]) });
  expect(issues).toEqual([
    ["cards.crd_2.account_id", "there is no account acc_2"],
    ["wishes.constructor", "there is no dish constructor"],
    ["returns.ret_2.item", "there is no item ord_1"],
    ["log.2", "there is no device dev_3"],
  ]);
});
