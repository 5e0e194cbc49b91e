/** The end of a transcript: what the attempt changed in the state. */
import { expect, test } from "vitest";
import { formatAttempt } from "../../../src/editor/attempts/attemptText.ts";
import { calling, lookUp, saying, transfer } from "../../trajectory/sampleTasks.ts";
import { loadSampleAttempt } from "./sampleAttempts.ts";

async function formatEnd(...messages: Parameters<typeof loadSampleAttempt>[0] & object) {
  const { task, trajectory, reward } = await loadSampleAttempt(messages);
  const { text } = formatAttempt(trajectory, task, reward);
  return text.slice(text.indexOf("state at the end"));
}

test("values that differ at the end are listed with those of the start", async () => {
  const end = await formatEnd(calling(lookUp), calling(transfer("acc_108", 50)), saying("Moved."));
  expect(end).toMatch(/^state at the end, where it differs from the start\n/);
  expect(end).toMatch(/^ {4}Δ accounts\.acc_108\.balance: [\d.]+ → [\d.]+$/m);
  expect(end).toMatch(/^ {4}Δ transactions\.txn_\d+: \(added\) .+$/m);
  expect(end).not.toMatch(/acc_115/);
});

test("an attempt that only looked leaves the state as it was", async () => {
  expect(await formatEnd(calling(lookUp), saying("Done."))).toBe(
    "state at the end: as at the start\n",
  );
});
