/**
 * The completions that TRL's `GRPOTrainer` logs to Parquet files (`log_completions`), and rows of
 * our export `trl`, which have no completion yet. The columns between completion and advantage are
 * the rewards, named after the reward functions and in their order, and then what these log with
 * `log_extra`.
 */
import { z } from "zod";
import { chatMessageSchema, parseChatMessages, toolsSchema } from "./chatMessages.ts";
import { parseToolCallText } from "./hermesText.ts";
import type { RolloutMessage } from "./rollout.ts";
import { numberSchema, taskColumns, type RolloutFormat } from "./rollout.ts";

const textOrMessages = z.union([z.string(), z.array(chatMessageSchema)]);

const rowSchema = z.looseObject({
  prompt: textOrMessages,
  completion: textOrMessages.nullish(),
  step: numberSchema,
  menu: toolsSchema,
  ...taskColumns,
});

type TextOrMessages = z.infer<typeof textOrMessages>;

export const trl: RolloutFormat = {
  name: "trl",
  noun: "a row of TRL's completions",
  writer: "TRL's log_completions or our export",
  parseRow(json, check) {
    const row = check(rowSchema, json);
    return {
      id: row.trajectory_id ?? row.task_id ?? undefined,
      task: row.task_id ?? undefined,
      turn: row.turn ?? undefined,
      menu: row.menu,
      prompt: parseSide(row.prompt, text => ({ role: "user", text })),
      completion: parseSide(row.completion ?? [], parseToolCallText),
      ...(row.completion == null ? { end: { kind: "ended", by: "limit" } } : {}),
      score: findReward(json as Readonly<Record<string, unknown>>),
    };
  },
};

const parseSide = (
  side: TextOrMessages,
  parseText: (text: string) => RolloutMessage,
): readonly RolloutMessage[] =>
  typeof side === "string" ? [parseText(side)] : parseChatMessages(side);

/**
 * The column `reward`, or TRL's first reward. Null stands for no score. The row is the one of the
 * file, because a schema changes the order of its columns.
 */
function findReward(row: Readonly<Record<string, unknown>>): number | undefined {
  const columns = Object.keys(row);
  const rewards = columns.slice(columns.indexOf("completion") + 1, columns.indexOf("advantage"));
  const column = "reward" in row ? "reward" : "advantage" in row ? rewards[0] : undefined;
  return column === undefined ? undefined : (numberSchema.safeParse(row[column]).data ?? undefined);
}
