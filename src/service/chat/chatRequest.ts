/**
 * The requests for chat completions in OpenAI's format, and the schemas of requests and responses.
 * What the service does not support, and what no conversation can be, is refused with the name of
 * the parameter.
 */
import { z } from "zod";
import { isJsonObject, type Json } from "../../environment/json.ts";
import { HttpError, type HttpErrorCode } from "../httpError.ts";
import { parseArguments } from "../../policy/callText/callText.ts";
import { findResults } from "../../policy/chatMessages.ts";
import type { ToolDescription } from "../../environment/toolDescription.ts";
import type { ChatMessage } from "../../policy/chatModel.ts";
import type { Decoding } from "../../policy/policy.ts";
import { findReason } from "../../storage/schemaIssue.ts";

export interface ChatRequest {
  readonly model: string;
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDescription[];
  readonly tool: Decoding["tool"];
  readonly hasParallelCalls: boolean;
  readonly isStream: boolean;
  readonly includesUsage: boolean;
  readonly includesLogprobs: boolean;
  readonly count: number;
  readonly temperature: number;
  readonly seed: number | undefined;
  readonly maxTokens: number | undefined;
  readonly stop: readonly string[];
}

/** An error with the parameter and the code that OpenAI's format has for it. */
export class ChatError extends HttpError {
  readonly param: string | null;
  readonly chatCode: string | null;

  constructor(
    code: HttpErrorCode,
    what: string,
    remedy: string,
    { param = null, chatCode = null }: { param?: string | null; chatCode?: string | null } = {},
  ) {
    super(code, what, remedy);
    this.param = param;
    this.chatCode = chatCode;
  }
}

/** An error as clients of OpenAI's format read it. */
export function formatChatError(error: HttpError): string {
  const own = error instanceof ChatError ? error : undefined;
  return JSON.stringify({
    error: {
      message: error.message,
      type: error.status < 500 ? "invalid_request_error" : "server_error",
      param: own?.param ?? null,
      code: own?.chatCode ?? error.code.toLowerCase(),
    },
  });
}

const refuse = (param: string, what: string, remedy: string) =>
  new ChatError("INVALID_REQUEST", what, remedy, { param });

/** Throws a `ChatError` for a body that cannot be answered. */
export function parseChatRequest(json: unknown): ChatRequest {
  const parsed = chatBody.safeParse(json);
  if (!parsed.success) {
    const { path, message } = findReason(parsed.error);
    const param = path.join(".");
    throw refuse(
      param,
      param === "" ? message : `${param}: ${message}`,
      "send the body that GET /openapi.json describes",
    );
  }
  const body = parsed.data;
  checkSupported(body);
  const messages = body.messages.map(parseMessage);
  checkOrder(messages);
  const tools = (body.tools ?? []).map(parseTool);
  checkSize(tools);
  return {
    model: body.model,
    messages,
    tools,
    tool: parseToolChoice(body.tool_choice, tools),
    hasParallelCalls: body.parallel_tool_calls ?? true,
    isStream: body.stream ?? false,
    includesUsage: body.stream_options?.include_usage ?? false,
    includesLogprobs: body.logprobs ?? false,
    count: body.n ?? 1,
    temperature: body.temperature ?? 1,
    seed: body.seed ?? undefined,
    maxTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    stop: [body.stop ?? []].flat().filter(it => it !== ""),
  };
}

/** The most schemas in all tools: of properties, items and branches. */
const maxSchemas = 20_000;

/** Each token that a student chooses for a call is compared with all schemas. */
function checkSize(tools: readonly ToolDescription[]): void {
  const count = tools.reduce((sum, it) => sum + countRecords(it.parameters), 0);
  if (count <= maxSchemas) return;
  throw refuse(
    "tools",
    `the tools have ${count} schemas, and ${maxSchemas} are the most`,
    "offer fewer tools, or list values in an enum, which may have any number",
  );
}

function countRecords(value: Json): number {
  if (value === null || typeof value !== "object") return 0;
  const inside = Object.values(value).reduce<number>((sum, it: Json) => sum + countRecords(it), 0);
  return isJsonObject(value) ? inside + 1 : inside;
}

function checkSupported(body: ChatBody): void {
  const unsupported: Readonly<Record<string, boolean>> = {
    top_p: (body.top_p ?? 1) !== 1,
    top_logprobs: (body.top_logprobs ?? 0) !== 0,
    frequency_penalty: (body.frequency_penalty ?? 0) !== 0,
    presence_penalty: (body.presence_penalty ?? 0) !== 0,
    logit_bias: Object.keys(body.logit_bias ?? {}).length > 0,
    response_format: (body.response_format?.type ?? "text") !== "text",
  };
  const param = Object.keys(unsupported).find(it => unsupported[it]);
  if (param === undefined) return;
  throw new ChatError("INVALID_REQUEST", `${param} is not supported`, "leave it out", {
    param,
    chatCode: "unsupported_parameter",
  });
}

function parseMessage(message: ChatBody["messages"][number]): ChatMessage {
  const content = joinText(message.content);
  switch (message.role) {
    case "system":
    case "developer":
      return { role: "system", content };
    case "user":
      return { role: "user", content };
    case "tool":
      return { role: "tool", call: message.tool_call_id, content };
    case "assistant": {
      const calls = (message.tool_calls ?? []).map(({ id, function: called }) => ({
        id,
        name: called.name,
        arguments: parseArguments(called.arguments),
      }));
      return { role: "assistant", content, ...(calls.length > 0 ? { calls } : {}) };
    }
  }
}

const joinText = (content: ChatBody["messages"][number]["content"]): string =>
  typeof content === "string" ? content : (content ?? []).map(it => it.text).join("");

function parseTool({ function: offered }: NonNullable<ChatBody["tools"]>[number]): ToolDescription {
  const { name, description, parameters } = offered;
  return {
    name,
    description: description ?? "",
    parameters: parameters ?? { type: "object", properties: {} },
  };
}

/** Every call needs its result, and every result its call. */
function checkOrder(messages: readonly ChatMessage[]): void {
  let open: ReadonlySet<string> = new Set();
  for (const [i, it] of messages.entries()) {
    if (it.role === "tool") {
      if (!open.has(it.call))
        throw refuse(
          `messages.${i}.tool_call_id`,
          `messages.${i} is the result of ${it.call}, which the message of the assistant before it does not call`,
          "send results directly after the message with their calls",
        );
      continue;
    }
    open = new Set();
    if (it.role !== "assistant") continue;
    open = new Set((it.calls ?? []).map(call => call.id));
    const results = findResults(messages, i + 1);
    const missing = [...open].find(id => !results.has(id));
    if (missing !== undefined)
      throw refuse(
        `messages.${i}.tool_calls`,
        `messages.${i} has the call ${missing}, whose result does not follow`,
        "add a message of the role tool for each call",
      );
  }
  if (messages.at(-1)!.role === "assistant")
    throw refuse(
      "messages",
      "the last message is the assistant's",
      "end with a message of the user, or with the results of calls",
    );
}

function parseToolChoice(
  choice: ChatBody["tool_choice"],
  tools: readonly ToolDescription[],
): Decoding["tool"] {
  if (choice === undefined || choice === null || choice === "auto") return undefined;
  if (choice === "none") return "none";
  const name = typeof choice === "object" ? choice.function.name : undefined;
  if (tools.length === 0 || (name !== undefined && !tools.some(it => it.name === name)))
    throw refuse(
      "tool_choice",
      `tool_choice is ${name ?? "required"}, and tools does not have ${name === undefined ? "any" : "it"}`,
      "add the tool, or leave tool_choice out",
    );
  return name === undefined ? "required" : { name };
}

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });
const content = z.union([z.string(), z.array(textPart)], {
  error: "content is text, or parts of the type text",
});

const calledFunction = z.looseObject({
  id: z.string(),
  type: z.literal("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const chatMessage = z.discriminatedUnion("role", [
  z.looseObject({ role: z.enum(["system", "developer", "user"]), content }),
  z.looseObject({
    role: z.literal("assistant"),
    content: content.nullish(),
    tool_calls: z.array(calledFunction).nullish(),
  }),
  z.looseObject({ role: z.literal("tool"), tool_call_id: z.string(), content }),
]);

const name = z.string().regex(/^[\w.-]{1,64}$/);

const chatToolSchema = z.looseObject({
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

type ChatBody = z.infer<typeof chatBody>;

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
const completionChunk = z.strictObject({
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
