/**
 * A server nobody wrote phrases for: what it declares is enough. And a stream that ends when there
 * is nothing more to make.
 */
import { expect, test } from "vitest";
import type { AttemptResult } from "../../../src/synthesis/pipeline/attemptTask.ts";
import { synthesize } from "../../../src/synthesis/pipeline/synthesize.ts";
import { synthesis } from "../made.ts";
import { libraryCatalog } from "../library.ts";

const catalog = libraryCatalog();

const of = (more: object = {}) =>
  synthesize(synthesis({ catalog, servers: ["library"], seed: 3, ...more }));

test("conversations come of declarations alone", async () => {
  const said: string[] = [];
  for await (const it of of()) {
    if (it.kind === "accepted") said.push(...it.task.turns.map(turn => turn.user));
    if (said.length > 40) break;
  }
  expect(said.some(it => /return loan/i.test(it))).toBe(true);
  expect(said.some(it => /the book (Emma|Ulysses)/.test(it))).toBe(true);
  expect(said.join("\n")).not.toMatch(/book_\d|loan_\d|mem_\d/);
});

test("where nothing comes of it the stream ends", async () => {
  const all: AttemptResult[] = [];
  for await (const it of of({ count: 100_000 })) all.push(it);
  const accepted = all.filter(it => it.kind === "accepted").length;
  expect(accepted).toBeGreaterThan(20);
  expect(accepted).toBeLessThan(100_000);
  expect(all.slice(-60).map(it => it.kind)).toEqual(Array.from({ length: 60 }, () => "rejected"));
});

test("where no server has the split there is none to begin with", async () => {
  await expect(of({ split: "heldout-server" }).next()).rejects.toThrow(
    /none of library has tasks of the split heldout-server: choose some of trading/,
  );
});

test("an aborted signal ends the stream with its reason", async () => {
  const stop = new AbortController();
  const run = async () => {
    for await (const it of of({ signal: stop.signal }))
      if (it.kind === "accepted") stop.abort(new Error("enough"));
  };
  await expect(run()).rejects.toThrow("enough");
});
