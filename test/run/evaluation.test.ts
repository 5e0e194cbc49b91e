/** The evaluation that is stored in the folder of a run. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import {
  getTrend,
  readEvaluation,
  writeEvaluation,
  type RunEvaluation,
} from "../../src/run/evaluation.ts";

const folder = mkdtempSync(join(tmpdir(), "prove-evaluation-"));
afterAll(() => rmSync(folder, { recursive: true }));

const measurement = { success: { mean: 0.5 }, reward: { mean: 1 }, calls: 2, budget: 3 };
const evaluation: RunEvaluation = {
  format: "prove/evaluation@1",
  tasks: "/t.tasks.jsonl",
  count: 10,
  sets: 4,
  profile: "paper",
  before: { step: 0, ...measurement },
  after: { step: 5, ...measurement },
  change: { success: { mean: 0, low: -0.1, high: 0.1 }, reward: { mean: 0 } },
};

test("an evaluation is read as it was written", () => {
  expect(readEvaluation(folder)).toBeUndefined();
  writeEvaluation(folder, evaluation);
  expect(readEvaluation(folder)).toEqual(evaluation);
  const dated = { ...evaluation, evaluatedAt: "2026-03-01T12:00:00.000Z" };
  writeEvaluation(folder, dated);
  expect(readEvaluation(folder)).toEqual(dated);
});

test("a file that is no evaluation is refused with what to do", () => {
  writeFileSync(join(folder, "evaluation.json"), "{}");
  expect(() => readEvaluation(folder)).toThrow(/evaluation\.json.* is not the evaluation of a run/);
});

test("an interval that contains 0, or is unknown, is no difference", () => {
  expect(getTrend({ mean: 0.2, low: 0.1, high: 0.3 })).toBe("higher");
  expect(getTrend({ mean: -0.2, low: -0.3, high: -0.1 })).toBe("lower");
  expect(getTrend({ mean: 0.2, low: 0, high: 0.3 })).toBe("unclear");
  expect(getTrend({ mean: 0.2 })).toBe("unclear");
});
