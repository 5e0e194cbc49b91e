/** What is said about an evaluation, and how long a training still takes. */
import { expect, test } from "vitest";
import {
  describeEvaluation,
  estimateSecondsLeft,
  formatShare,
  formatTimeLeft,
} from "../../../src/editor/runs/runText.ts";
import type { Estimate, RunEvaluation } from "../../../src/run/evaluation.ts";

const createEvaluation = (before: number, after: number, change: Estimate): RunEvaluation => {
  const measure = (mean: number) => ({
    success: { mean },
    reward: { mean: 1 },
    calls: 2,
    budget: 3,
  });
  return {
    format: "prove/evaluation@1",
    tasks: "/t.tasks.jsonl",
    count: 200,
    sets: 60,
    profile: "prove-plus",
    before: { step: 0, ...measure(before) },
    after: { step: 50, ...measure(after) },
    change: { success: change, reward: { mean: 0 } },
  };
};

test.each([
  [
    "a rise",
    createEvaluation(0.11, 0.68, { mean: 0.57, low: 0.49, high: 0.66 }),
    "success rose: 11% → 68% on 200 held-out tasks (95% interval of the change: +49 to +66 points)",
  ],
  [
    "a fall",
    createEvaluation(0.21, 0.11, { mean: -0.1, low: -0.16, high: -0.04 }),
    "success fell: 21% → 11% on 200 held-out tasks (95% interval of the change: −16 to −4 points)",
  ],
  [
    "an undecided change",
    createEvaluation(0.21, 0.24, { mean: 0.03, low: -0.02, high: 0.08 }),
    "no difference in success can be told: 21% → 24% on 200 held-out tasks (95% interval of the change: −2 to +8 points)",
  ],
  [
    "a change without an interval",
    createEvaluation(0, 1, { mean: 1 }),
    "no difference in success can be told: 0% → 100% on 200 held-out tasks (too few sets of tools for an interval)",
  ],
])("%s is described", (_, evaluation, text) => expect(describeEvaluation(evaluation)).toBe(text));

test("a share has its interval, if there is one", () => {
  expect(formatShare({ mean: 0.11, low: 0.044, high: 0.2 })).toBe("11% (95% interval 4% to 20%)");
  expect(formatShare({ mean: 0.5 })).toBe("50%");
});

test("the time left follows from the limit, or from the time per step", () => {
  const training = { state: "training", activity: "" } as const;
  const estimate = (status: object) =>
    estimateSecondsLeft({ ...training, step: 10, elapsedSeconds: 50, ...status });
  expect(estimate({ limitSeconds: 120 })).toBe(70);
  expect(estimate({ steps: 40 })).toBe(150);
  expect(estimate({ steps: 40, limitSeconds: 120 })).toBe(70);
  expect(estimate({ steps: 40, step: 0 })).toBeUndefined();
  expect(estimate({ limitSeconds: 40 })).toBe(0);
  expect([42, 150, 9000].map(formatTimeLeft)).toEqual(["50 s", "3 min", "2.5 h"]);
});
