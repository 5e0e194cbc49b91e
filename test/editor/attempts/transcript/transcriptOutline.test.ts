/** The outline of a transcript and what can be folded in it. */
import { expect, test } from "vitest";
import {
  listFolds,
  listOutline,
} from "../../../../src/editor/attempts/transcript/transcriptOutline.ts";
import { loadSampleAttempt } from "../sampleAttempts.ts";

test("turns contain their messages and calls, and refusals are marked with their reason", async () => {
  const { task, trajectory, transcript } = await loadSampleAttempt();
  const outline = listOutline(trajectory, transcript);
  expect(outline.map(it => it.name)).toEqual(["turn 1", "end"]);
  const [turn] = outline;
  expect(turn!.detail).toBe(task.turns[0]!.user);
  expect(turn!.children.map(it => it.name)).toEqual([
    "banking_list_accounts",
    "✗ banking_transfer",
    "banking_transfer",
    "assistant",
  ]);
  const [list, refused] = turn!.children;
  expect(list!.detail).toBe('(name: "Savings")');
  expect(refused!.detail).not.toBe("");
  for (const it of turn!.children) {
    expect(it.lines.first).toBeGreaterThan(turn!.lines.first);
    expect(it.lines.last).toBeLessThanOrEqual(turn!.lines.last);
  }
});

test("turns, events and the goals can be folded", async () => {
  const { trajectory, transcript } = await loadSampleAttempt();
  const lines = transcript.text.split("\n");
  const folds = listFolds(trajectory, transcript);
  const starts = folds.map(it => lines[it.first]!.replace(/\(.*/, ""));
  for (const it of ["user", "✓ banking_list_accounts", "✗ banking_transfer", "goals"])
    expect(starts).toContain(it);
  for (const it of folds) expect(it.last).toBeLessThan(lines.length);
  const [turn] = listOutline(trajectory, transcript);
  expect(folds).toContainEqual(turn!.lines);
});
