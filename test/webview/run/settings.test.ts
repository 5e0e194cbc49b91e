/** The settings of a run as the run page shows them. */
import { expect, test } from "vitest";
import { createRunConfig, type RunOptions } from "../../../src/run/createRunConfig.ts";
import { formatSettings } from "../../../webview/run/keyNumbers.ts";

const format = (options: Partial<RunOptions>) =>
  formatSettings(
    createRunConfig({
      startedAt: new Date(0),
      tasks: "/home/user/project/prove/tasks/few.tasks.jsonl",
      ...options,
    }),
  );
const checkLearningRate = (learningRate: number, expected: string) =>
  expect(Object.fromEntries(format({ grpo: { learningRate } }))["learning rate"]).toBe(expected);

test("a learning rate keeps its digits", () => checkLearningRate(1.5e-4, "1.5e-4"));
test("a learning rate of one digit has no decimals", () => checkLearningRate(8e-5, "8e-5"));
test("a learning rate is shown without rounding errors", () => checkLearningRate(0.1 * 3, "3e-1"));

test("a GRPO run shows its groups and the weight of the KL term", () =>
  expect(format({ seed: 7, workers: 4 })).toEqual([
    ["method", "grpo"],
    ["tasks", "few.tasks.jsonl"],
    ["reward", "prove-plus"],
    ["attempts per step", "16 tasks × 8"],
    ["KL weight", "0.01"],
    ["learning rate", "8e-5"],
    ["backend", "auto"],
    ["workers", "4"],
    ["seed", "7"],
  ]));

test("a supervised run shows its conversations, and a Windows path only by its file name", () =>
  expect(
    Object.fromEntries(
      format({ method: "sft", tasks: String.raw`C:\prove\tasks\few.tasks.jsonl` }),
    ),
  ).toMatchObject({
    method: "sft",
    tasks: "few.tasks.jsonl",
    "conversations per step": "20",
    "learning rate": "3e-4",
  }));
