/**
 * Drafts compared with deep copies: the same changes give the same value, the frozen value stays as
 * it was, and the patches lead from one to the other.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { computeDigest, deepFreeze } from "../../src/environment/digest.ts";
import { getOriginal, createDraft, type DraftChange } from "../../src/environment/draft.ts";
import type { Json } from "../../src/environment/json.ts";

type Tree = { [key: string]: Tree } | Tree[] | string | number | null;

/**
 * Changes by steps that mean something on any value: each goes down a path as far as it leads, then
 * writes.
 */
interface Step {
  path: number[];
  what: "set" | "delete" | "push" | "splice" | "move" | "sort" | "assign" | "touch";
  key: string;
  value: Tree;
}

const keys = ["a", "b", "c", "txn_1", "a/b", "~0", "constructor", "__proto__x"];
const leaf = fc.oneof(
  fc.integer({ min: -3, max: 99 }),
  fc.string({ maxLength: 3 }),
  fc.constant(null),
);
const { tree } = fc.letrec<{ tree: Tree; record: Tree }>(tie => ({
  tree: fc.oneof({ maxDepth: 4 }, leaf, tie("record"), fc.array(tie("tree"), { maxLength: 4 })),
  record: fc.dictionary(fc.constantFrom(...keys), tie("tree"), { maxKeys: 5 }),
}));
const record = fc.dictionary(fc.constantFrom(...keys), tree, { maxKeys: 6 });
const step: fc.Arbitrary<Step> = fc.record({
  path: fc.array(fc.nat(5), { maxLength: 3 }),
  what: fc.constantFrom("set", "delete", "push", "splice", "move", "sort", "assign", "touch"),
  key: fc.constantFrom(...keys),
  value: tree,
});

function follow(root: Tree, path: number[]): Tree {
  let at = root;
  for (const n of path) {
    if (at === null || typeof at !== "object") return at;
    const children = Object.keys(at);
    if (children.length === 0) return at;
    const next: Tree = (at as Record<string, Tree>)[children[n % children.length]!]!;
    if (next === null || typeof next !== "object") return at;
    at = next;
  }
  return at;
}

function act(root: Tree, { path, what, key, value }: Step): void {
  const at = follow(root, path);
  if (at === null || typeof at !== "object") return;
  const fresh = structuredClone(value);
  if (Array.isArray(at)) {
    if (what === "push") at.push(fresh);
    else if (what === "splice") at.splice(0, 1, fresh, fresh);
    else if (what === "sort") at.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
    else if (what === "delete") at.pop();
    else if (what === "move" && at.length > 1) at[0] = at[1]!;
    else if (at.length > 0) at[0] = fresh;
    return;
  }
  if (what === "delete") delete at[key];
  else if (what === "assign") Object.assign(at, { [key]: fresh, a: 1 });
  else if (what === "move") {
    const from = Object.keys(at)[0];
    if (from !== undefined && from !== key) {
      at[key] = at[from]!;
      delete at[from];
    }
  } else if (what === "touch") at[key] = Object.hasOwn(at, key) ? at[key]! : 0;
  else at[key] = fresh;
}

/** RFC 6902 on a copy, the plain way. */
function applyChanges(base: Json, changes: readonly DraftChange[]): Json {
  const root = { it: structuredClone(base) } as unknown as Record<string, Json>;
  for (const { op, path, value } of changes) {
    const steps = ["it", ...path];
    const at = steps
      .slice(0, -1)
      .reduce<Json>((it, key) => (it as Record<string, Json>)[key]!, root as Json) as Record<
      string,
      Json
    >;
    const last = steps.at(-1)!;
    if (op === "remove") {
      if (Array.isArray(at)) at.splice(Number(last), 1);
      else delete at[last];
    } else at[last] = structuredClone(value!);
  }
  return root["it"]!;
}

test("changes to a draft give the same value as changes to a deep copy, and leave the original unchanged", () => {
  fc.assert(
    fc.property(record, fc.array(step, { maxLength: 12 }), (start, steps) => {
      const frozen = deepFreeze(structuredClone(start)) as Json & object;
      const plain = structuredClone(start);
      const draft = createDraft(frozen);
      for (const it of steps) {
        act(plain, it);
        act(draft.value as unknown as Tree, it);
        // a draft reads as the copy does at every moment
        expect(JSON.parse(JSON.stringify(draft.value))).toEqual(JSON.parse(JSON.stringify(plain)));
      }
      const { after, changes } = draft.finish();
      expect(after).toEqual(plain);
      expect(frozen).toEqual(start);
      expect(applyChanges(frozen, changes)).toEqual(plain);
      expect(computeDigest(after)).toBe(computeDigest(deepFreeze(structuredClone(plain))));
      expect(isDeeplyFrozen(after)).toBe(true);
    }),
    { numRuns: 2000 },
  );
});

const isDeeplyFrozen = (value: unknown): boolean =>
  value === null ||
  typeof value !== "object" ||
  (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen));

describe("a draft", () => {
  const bank = deepFreeze({
    accounts: { a: { balance: 5, tags: ["x", "y"] }, b: { balance: 7, tags: [] } },
    names: { a: "A" },
  });

  test("shares with the original everything that was not written", () => {
    const draft = createDraft(bank);
    (draft.value.accounts.a as { balance: number }).balance = 6;
    const { after, changes } = draft.finish();
    expect(after.names).toBe(bank.names);
    expect(after.accounts.b).toBe(bank.accounts.b);
    expect(after.accounts.a.tags).toBe(bank.accounts.a.tags);
    expect(changes).toEqual([{ op: "replace", path: ["accounts", "a", "balance"], value: 6 }]);
  });

  test("without changes is the original itself", () => {
    const draft = createDraft(bank);
    (draft.value.accounts.a as { balance: number }).balance = 5;
    expect(draft.finish()).toEqual({ after: bank, changes: [] });
  });

  test("returns the original, whatever has been written", () => {
    const draft = createDraft(bank);
    (draft.value.accounts.a as { balance: number }).balance = 6;
    expect(getOriginal(draft.value.accounts)).toBe(bank.accounts);
    expect(getOriginal(bank)).toBe(bank);
  });

  test("leaves out what is set to undefined, as JSON does", () => {
    const draft = createDraft<{ names: Record<string, string | undefined> }>(bank);
    draft.value.names["a"] = undefined;
    expect(draft.finish().after).toEqual({ ...bank, names: {} });
  });
});

describe("digests", () => {
  const digest = (value: object) => computeDigest(deepFreeze(structuredClone(value)));

  test("do not depend on the order of keys", () =>
    expect(digest({ a: 1, b: { c: 2, d: 3 } })).toBe(digest({ b: { d: 3, c: 2 }, a: 1 })));
  test("treat 0 and -0 as equal, as JSON does", () =>
    expect(digest({ a: 0 })).toBe(digest({ a: -0 })));

  const apart: [string, object, object][] = [
    ["a number and its text", { a: 1 }, { a: "1" }],
    ["null and nothing", { a: null }, {}],
    ["an empty list and an empty record", { a: [] }, { a: {} }],
    ["lists in another order", { a: [1, 2] }, { a: [2, 1] }],
    ["values that changed places", { a: 1, b: 2 }, { a: 2, b: 1 }],
    ["rows that changed places", { a: { x: 1 }, b: { x: 2 } }, { a: { x: 2 }, b: { x: 1 } }],
    ["a list and a record with its indices", { a: ["x"] }, { a: { 0: "x" } }],
    ["one level more", { a: { a: 1 } }, { a: { a: { a: 1 } } }],
    ["true and false", { a: true }, { a: false }],
  ];
  for (const [what, one, other] of apart)
    test(`tell ${what} apart`, () => expect(digest(one)).not.toBe(digest(other)));

  test("of 200,000 small states are all different", () => {
    const seen = new Set<string>();
    for (let i = 0; i < 200_000; i++)
      seen.add(computeDigest(Object.freeze({ n: i % 500, text: `row ${Math.floor(i / 500)}` })));
    expect(seen.size).toBe(200_000);
  });
});
