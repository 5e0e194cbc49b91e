/** The metrics of a run as comma-separated values. */
import { expect, test } from "vitest";
import { formatMetricsCsv, type StepMetrics } from "../../src/run/metrics.ts";

const step = (n: number, more: object = {}): StepMetrics => ({
  step: n,
  method: "sft",
  loss: 0.5 / n,
  gradientNorm: 1,
  learningRate: 1e-4,
  tokens: 100,
  taught: 20,
  conversations: 4,
  seconds: { learning: 1.5, total: 2 },
  ...more,
});

test("each step is a row, and numbers in objects are named by their path", () =>
  expect(formatMetricsCsv([step(1), step(2)])).toBe(
    "step,method,loss,gradientNorm,learningRate,tokens,taught,conversations,seconds.learning,seconds.total\n" +
      "1,sft,0.5,1,0.0001,100,20,4,1.5,2\n" +
      "2,sft,0.25,1,0.0001,100,20,4,1.5,2\n",
  ));

test("a value that only some steps have is empty in the others, and alarms are quoted", () => {
  const alarms = [{ kind: "rising-loss" as const, text: "the loss rises, from 1 to 2" }];
  const [names, first, second] = formatMetricsCsv([
    step(1),
    step(2, { validation: 0.7, alarms }),
  ]).split("\n");
  expect(names).toMatch(/,validation,alarms$/);
  expect(first).toMatch(/,2,,$/);
  expect(second).toMatch(
    /,0\.7,"\[{""kind"":""rising-loss"",""text"":""the loss rises, from 1 to 2""}\]"$/,
  );
});
