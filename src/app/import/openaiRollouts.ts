/**
 * Message logs in OpenAI's chat format: rows with `messages`, as fine-tuning files and our exports
 * `openai` and `sft` have them, or lists of messages.
 */
import { z } from "zod";
import { chatMessageSchema, parseChatMessages, toolsSchema } from "./chatMessages.ts";
import { taskColumns, type RolloutFormat } from "./rollout.ts";

const messages = z.array(chatMessageSchema).min(1);

const rowSchema = z.preprocess(
  it => (Array.isArray(it) ? { messages: it } : it),
  z.looseObject({
    messages,
    tools: toolsSchema,
    model: z.string().nullish(),
    metadata: z.looseObject(taskColumns).nullish(),
    ...taskColumns,
  }),
);

export const openai: RolloutFormat = {
  name: "openai",
  noun: "a row with messages in OpenAI's chat format",
  writer: "an endpoint's client or a fine-tuning export",
  parseRow(json, check) {
    const row = check(rowSchema, json);
    const { task_id, trajectory_id, turn } = { ...row.metadata, ...row };
    return {
      id: trajectory_id ?? task_id ?? undefined,
      task: task_id ?? undefined,
      turn: turn ?? undefined,
      policy: row.model ?? undefined,
      menu: row.tools,
      prompt: [],
      completion: parseChatMessages(row.messages),
    };
  },
};
