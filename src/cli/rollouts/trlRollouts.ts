/**
 * The completions that TRL's `GRPOTrainer` logs to Parquet files (`log_completions`), and rows of
 * our export `trl`, which have no completion yet. The columns between completion and advantage are
 * the rewards, named after the reward functions, and what these log with `log_extra`.
 */
import { z } from "zod";
import { chatMessageSchema, parseChatMessages, toolsSchema } from "./chatMessages.ts";
import { parseToolCallText } from "./hermesText.ts";
import type { RolloutMessage } from "./rollout.ts";
import { taskColumns, type RolloutFormat } from "./rolloutFormat.ts";

const textOrMessages = z.union([z.string(), z.array(chatMessageSchema)]);

const rowSchema = z.looseObject({
  prompt: textOrMessages,
  completion: textOrMessages.optional(),
  step: z.number().nullish(),
  advantage: z.number().nullish(),
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
      ...(row.completion === undefined ? { end: { kind: "ended", by: "limit" } } : {}),
      score: findReward(row),
    };
  },
};

const parseSide = (
  side: TextOrMessages,
  parseText: (text: string) => RolloutMessage,
): readonly RolloutMessage[] =>
  typeof side === "string" ? [parseText(side)] : parseChatMessages(side);

/** The first reward: TRL writes the rewards in the order of the reward functions. */
function findReward(row: Readonly<Record<string, unknown>>): number | undefined {
  const known = new Set(["prompt", "completion", "step", "advantage", "turn", "seed"]);
  for (const [key, value] of Object.entries(row))
    if (!known.has(key) && typeof value === "number" && Number.isFinite(value)) return value;
  return undefined;
}
