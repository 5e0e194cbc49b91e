/** What OpenEnv clients send and receive. The words are those of OpenEnv. */
import { z } from "zod";
import {
  chatMessage,
  cutOff,
  messageBody,
  printable,
  profileDescription,
  profileName,
  progress,
  roleMessage,
  scoreResponse,
} from "../schemas.ts";

/** Clients pass on whole rows of data sets, so other fields are ignored, and none need be there. */
export const resetOptions = z.looseObject({
  task_id: printable.nullish(),
  turn: z
    .int()
    .min(-1)
    .max(1_000)
    .nullish()
    .describe("attempt this turn only, from 0; -1 for the whole task"),
  seed: z
    .int()
    .min(0)
    .nullish()
    .describe("the task's seed or, without task_id, the number of the task, counted in a circle"),
  episode_id: z.string().max(255).nullish(),
  trajectory_id: printable.nullish(),
  policy: printable.nullish(),
  max_messages: z.int().min(1).max(1_000).nullish(),
  profile: profileName.nullish().describe(profileDescription),
});

const metadata = z.record(z.string(), z.unknown()).optional();

export const action = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("list_tools"), metadata }),
    z.strictObject({
      type: z.literal("call_tool"),
      tool_name: z.string().max(200),
      arguments: z.unknown().optional(),
      metadata,
    }),
    z.strictObject({
      type: z.literal("message"),
      message: messageBody.shape.message.describe("a message of the policy, in OpenAI's format"),
      cut: cutOff,
      metadata,
    }),
    z.strictObject({
      type: z.literal("finish"),
      text: z.string().optional().describe("the policy's last message, without calls"),
      messages: z
        .array(roleMessage)
        .max(10_000)
        .optional()
        .describe("score these messages instead of what was executed"),
      cut: cutOff,
      metadata,
    }),
  ])
  // clients that list tools first look for this title
  .meta({ title: "Action" });

export type Action = z.infer<typeof action>;

const tool = z.strictObject({
  name: z.string(),
  description: z.string(),
  input_schema: z.record(z.string(), z.unknown()),
});
const breakdown = {
  reward_breakdown: scoreResponse.nullable().describe("the score; null until the episode is done"),
};

export const observation = z
  .union([
    z.strictObject({ tools: z.array(tool) }),
    z.strictObject({
      task_id: z.string(),
      turn: z.int().nullable(),
      messages: z.array(chatMessage),
      tools: z.array(tool),
      ...progress,
      ...breakdown,
    }),
    z.strictObject({
      tool_name: z.string(),
      result: z.string().describe("what a model should see"),
      error: z
        .strictObject({
          error_type: z.enum(["execution_error", "invalid_args", "tool_not_found"]),
          message: z.string(),
        })
        .nullable(),
      ...progress,
      ...breakdown,
    }),
    z.strictObject({
      messages: z.array(chatMessage),
      added_tools: z.array(tool),
      ...progress,
      ...breakdown,
    }),
  ])
  .meta({ title: "Observation" });

export const state = z
  .looseObject({
    episode_id: z.string().nullable(),
    step_count: z.int(),
    session_id: z.string().optional().describe("the id of the session under /v1"),
    task_id: z.string().optional(),
    digest: z.string().optional(),
  })
  .meta({ title: "State" });

/** The answer to a reset or a step. */
export const stepResponse = z.strictObject({
  observation,
  reward: z.number().nullable(),
  done: z.boolean(),
});
export const stepBody = z.looseObject({ action });
export const schemaResponse = z.strictObject({
  action: z.record(z.string(), z.unknown()),
  observation: z.record(z.string(), z.unknown()),
  state: z.record(z.string(), z.unknown()),
});
export const metadataResponse = z.strictObject({
  name: z.string(),
  description: z.string(),
  version: z.string(),
});
export const rpcResponse = z.looseObject({ jsonrpc: z.literal("2.0") });
/** Requests that are not JSON-RPC have an answer, too. */
export const rpcBody = z.unknown();
