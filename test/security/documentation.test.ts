/** What docs/security.md says about the tests is true. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const text = readFileSync(join(root, "docs/security.md"), "utf8");
const promises = text.split(/^## /m).find(it => it.startsWith("Promises"))!;
const rows = promises.split("\n").filter(it => it.startsWith("| ") && !/^\| (promise|-)/.test(it));
const getFiles = (row: string) => [...row.matchAll(/`(test\/[^`]+)`/g)].map(it => it[1]!);

test("every promise names tests that exist", () => {
  expect(rows.length).toBeGreaterThan(15);
  for (const row of rows) {
    expect(getFiles(row), row).not.toEqual([]);
    for (const file of getFiles(row)) expect(existsSync(join(root, file)), file).toBe(true);
  }
});

test("every test file of the red team holds a promise", () => {
  const files = readdirSync(import.meta.dirname).filter(it => it.endsWith(".test.ts"));
  const unnamed = files.filter(it => !text.includes(`test/security/${it}`));
  expect(unnamed).toEqual(["documentation.test.ts"]);
});
