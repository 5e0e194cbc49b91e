/**
 * The schemas of chat completions in OpenAI's format: what the service reads of a request, and its
 * responses. `chatRequest.ts` refuses what the format allows and the service does not support.
 */
import { z } from "zod";

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const content = z.union([z.string(), z.array(textPart)], {
  error: "content is text, or parts of the type text",
});

const calledFunction = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

export const chatMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["system", "developer", "user"]), content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: content.nullish(),
    tool_calls: z.array(calledFunction).nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string(), content }),
]);

const name = z.string().regex(/^[\w.-]{1,64}$/);

export const chatToolSchema = z.looseObject({
  type: z.literal("function"),
  function: z.looseObject({
    name,
    description: z.string().nullish(),
    parameters: z.record(z.string(), z.json()).nullish(),
  }),
});

/** Null stands for the default, as the official clients send it. */
export const chatBody = z.looseObject({
  model: z.string(),
  messages: z.array(chatMessage).min(1),
  tools: z.array(chatToolSchema).nullish(),
  tool_choice: z
    .union([
      z.enum(["none", "auto", "required"]),
      z.looseObject({ type: z.literal("function"), function: z.looseObject({ name }) }),
    ])
    .nullish()
    .describe("default: auto"),
  parallel_tool_calls: z
    .boolean()
    .nullish()
    .describe("with false, only the first call of a message is returned"),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  n: z.int().min(1).max(64).nullish().describe("default: 1"),
  temperature: z.number().min(0).max(2).nullish().describe("default: 1"),
  seed: z.int().nullish().describe("the same request with the same seed has the same answer"),
  max_completion_tokens: z.int().min(1).nullish(),
  max_tokens: z.int().min(1).nullish(),
  stop: z.union([z.string(), z.array(z.string()).max(4)]).nullish(),
  logprobs: z.boolean().nullish(),
  top_logprobs: z.int().min(0).nullish().describe("0 only"),
  top_p: z.number().nullish().describe("1 only"),
  frequency_penalty: z.number().nullish().describe("0 only"),
  presence_penalty: z.number().nullish().describe("0 only"),
  logit_bias: z.record(z.string(), z.number()).nullish().describe("none only"),
  response_format: z.looseObject({ type: z.string() }).nullish().describe("text only"),
});

export type ChatBody = z.infer<typeof chatBody>;

const finishReason = z.enum(["stop", "length", "tool_calls"]);
const logprobs = z.strictObject({
  content: z.array(
    z.strictObject({
      token: z.string(),
      logprob: z.number(),
      bytes: z.array(z.int()),
      top_logprobs: z.array(z.never()),
    }),
  ),
});
const toolCall = z.strictObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.strictObject({ name: z.string(), arguments: z.string() }),
});
const usage = z.strictObject({
  prompt_tokens: z.int(),
  completion_tokens: z.int(),
  total_tokens: z.int(),
});
const shared = { id: z.string(), created: z.int(), model: z.string() };

export const completionResponse = z.strictObject({
  ...shared,
  object: z.literal("chat.completion"),
  choices: z.array(
    z.strictObject({
      index: z.int(),
      message: z.strictObject({
        role: z.literal("assistant"),
        content: z.string().nullable(),
        refusal: z.null(),
        tool_calls: z.array(toolCall).optional(),
      }),
      finish_reason: finishReason,
      logprobs: logprobs.nullable(),
    }),
  ),
  usage: usage.describe("0 if the policy does not count tokens"),
});

/** One event of a stream. */
export const completionChunk = z.strictObject({
  ...shared,
  object: z.literal("chat.completion.chunk"),
  choices: z.array(
    z.strictObject({
      index: z.int(),
      delta: z.strictObject({
        role: z.literal("assistant").optional(),
        content: z.string().nullable().optional(),
        tool_calls: z.array(toolCall.extend({ index: z.int() })).optional(),
      }),
      finish_reason: finishReason.nullable(),
      logprobs: logprobs.nullable(),
    }),
  ),
  usage: usage.nullable().optional(),
});

const model = z.strictObject({
  id: z.string(),
  object: z.literal("model"),
  created: z.int(),
  owned_by: z.string(),
});
export const modelResponse = model;
export const modelsResponse = z.strictObject({ object: z.literal("list"), data: z.array(model) });

export type Completion = z.infer<typeof completionResponse>;
export type CompletionChoice = Completion["choices"][number];
export type CompletionChunk = z.infer<typeof completionChunk>;
