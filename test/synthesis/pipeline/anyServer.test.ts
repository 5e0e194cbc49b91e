/**
 * Synthesis works on a server without templates, and ends when no further task can be found or when
 * it is aborted.
 */
import { expect, test } from "vitest";
import type { AttemptResult } from "../../../src/synthesis/pipeline/task/attemptTask.ts";
import { synthesize } from "../../../src/synthesis/pipeline/run/synthesize.ts";
import { createSynthesisOptions } from "../synthesizeTasks.ts";
import { createLibraryCatalog } from "../libraryServer.ts";

const catalog = createLibraryCatalog();

const synthesizeOnLibrary = (changes: object = {}) =>
  synthesize(createSynthesisOptions({ catalog, servers: ["library"], seed: 3, ...changes }));

test("declarations are enough for conversations", async () => {
  const userTexts: string[] = [];
  // without worlds, in which Emma has another name
  for await (const it of synthesizeOnLibrary({ worlds: 0 })) {
    if (it.kind === "accepted") userTexts.push(...it.task.turns.map(turn => turn.user));
    if (userTexts.length > 120) break;
  }
  expect(userTexts.some(it => /return the loan/i.test(it))).toBe(true);
  expect(userTexts.some(it => /the book "(Emma|Ulysses)"/.test(it))).toBe(true);
  expect(userTexts.join("\n")).not.toMatch(/book_\d|loan_\d|mem_\d/);
});

test("the stream ends after 60 rejected attempts in a row", async () => {
  const attempts: AttemptResult[] = [];
  for await (const it of synthesizeOnLibrary({ count: 100_000, worlds: 0 })) attempts.push(it);
  const accepted = attempts.filter(it => it.kind === "accepted").length;
  expect(accepted).toBeGreaterThan(20);
  expect(accepted).toBeLessThan(100_000);
  expect(attempts.slice(-60).map(it => it.kind)).toEqual(
    Array.from({ length: 60 }, () => "rejected"),
  );
});

test("a split that no server has is an error", async () => {
  await expect(synthesizeOnLibrary({ split: "heldout-server" }).next()).rejects.toThrow(
    /none of library has tasks of the split heldout-server: choose some of trading/,
  );
});

test("an aborted signal ends the stream with its reason", async () => {
  const controller = new AbortController();
  const run = async () => {
    for await (const it of synthesizeOnLibrary({ signal: controller.signal }))
      if (it.kind === "accepted") controller.abort(new Error("enough"));
  };
  await expect(run()).rejects.toThrow("enough");
});
