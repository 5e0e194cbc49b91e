/**
 * The rollouts that verl writes with `trainer.rollout_data_dir`: prompt and response decoded to
 * text, the score, the step and what the reward reports besides.
 */
import { z } from "zod";
import { parseHermesText } from "./hermesText.ts";
import { numberSchema, taskColumns, type RolloutFormat } from "./rollout.ts";

const rowSchema = z.looseObject({
  input: z.string(),
  output: z.string(),
  score: numberSchema,
  step: numberSchema,
  ...taskColumns,
});

export const verl: RolloutFormat = {
  name: "verl",
  noun: "a row of verl's rollouts",
  writer: "verl's trainer.rollout_data_dir",
  parseRow(json, check) {
    const row = check(rowSchema, json);
    return {
      id: row.trajectory_id ?? row.task_id ?? undefined,
      task: row.task_id ?? undefined,
      turn: row.turn ?? undefined,
      prompt: parseHermesText(row.input, "user"),
      completion: parseHermesText(row.output, "assistant"),
      score: row.score ?? undefined,
    };
  },
};
