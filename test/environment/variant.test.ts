/** Variants of fixtures: the same state with other ids. */
import { expect, test } from "vitest";
import { computeDigest } from "../../src/environment/digest.ts";
import { createFixtureSchema, parseFixtureName } from "../../src/environment/fixture.ts";
import { openSessionByName } from "../../src/environment/catalog.ts";
import { loadServers } from "../../src/servers/catalog.ts";
import { createVariant } from "../../src/environment/variant.ts";
import { catalog } from "../contracts/transports.ts";

const servers = await loadServers();

const names: [name: string, parsed: object][] = [
  ["full~17", { base: "full", variant: 17 }],
  ["full@17", { base: "full", world: 17 }],
  ["full@17~3", { base: "full", world: 17, variant: 3 }],
  ...["full", "full~0", "full~x", "~3", "full~1~2", "full~3@17", "full@"].map(
    (it): [string, object] => [it, { base: it }],
  ),
];
test.each(names)("%s", (name, parsed) => {
  expect(parseFixtureName(name)).toEqual(parsed);
});

test.each(servers.map(it => [it.name, it] as const))(
  "%s: a variant matches the schema and differs from its fixture",
  (name, server) => {
    const full = catalog.getFixture(name, "full");
    const variant = catalog.getFixture(name, "full~7");
    expect(
      createFixtureSchema(server).safeParse({ ...variant, name: "full" }).error,
    ).toBeUndefined();
    expect(catalog.getFixture(name, "full~7")).toBe(variant);
    expect(variant.name).toBe("full~7");
    expect(computeDigest(variant)).toBe(computeDigest(createVariant(full, 7)));
    expect(computeDigest(variant)).not.toBe(computeDigest(full));
  },
);

test("every id changes, all are different, and references follow", () => {
  const ask = (fixture: string) => {
    const session = openSessionByName(catalog, {
      servers: [{ name: "banking", fixture }],
      seed: 1,
    });
    const { outcome } = session.call("banking_list_accounts", {});
    const accounts = (
      outcome as unknown as { value: { accounts: { name: string; account_id: string }[] } }
    ).value.accounts;
    const cards = accounts.map(
      it => session.call("banking_get_account", { account_id: it.account_id }).outcome,
    );
    return {
      ids: accounts.map(it => it.account_id),
      text: JSON.stringify([accounts, cards]).replaceAll(/(acc|card)_\d+/g, "$1"),
    };
  };
  const [plain, variant] = [ask("full"), ask("full~3")];
  expect(variant.text).toBe(plain.text);
  expect(variant.ids.filter(it => plain.ids.includes(it))).toEqual([]);
  expect(new Set(variant.ids).size).toBe(variant.ids.length);
  expect(variant.ids.every(it => /^acc_\d{3}$/.test(it))).toBe(true);
});

test("a variant of a missing fixture is an error that lists the fixtures", () => {
  expect(() => catalog.getFixture("banking", "huge~3")).toThrow(
    /banking has no fixture huge: choose one of full, small/,
  );
});
