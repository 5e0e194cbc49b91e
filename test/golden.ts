/** Texts a person would enjoy reading, kept under test/goldens; UPDATE=1 rewrites them. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";

/** Holds a text to the one that is kept by that name. */
export function checkGolden(name: string, text: string): void {
  const file = join(import.meta.dirname, "goldens", name);
  if (process.env["UPDATE"]) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(text, `UPDATE=1 rewrites ${name}`).toBe(readFileSync(file, "utf8"));
}
