/**
 * A chat request as the JSON of `/v1/chat/completions`, and such an answer read back. Knows no
 * network.
 */
import { z } from "zod";
import type { Json, JsonObject } from "../environment/json.ts";
import type { ChatAnswer, ChatCall, ChatMessage, ChatRequest } from "./chatModel.ts";
import { EndpointFault } from "./endpointFault.ts";
import { describeSchemaInPrompt } from "./structuredOutput.ts";

/** What an endpoint may turn out not to know; requests then go without it, or say it otherwise. */
export type UnsupportedOption = "response_format" | "temperature" | "max_tokens";

/** The request's body, without what the endpoint has declined before. */
export function createRequestBody(
  model: string,
  request: ChatRequest,
  without: ReadonlySet<UnsupportedOption>,
): JsonObject {
  const { tools = [], schema, temperature, maxTokens } = request;
  const inWords = schema !== undefined && without.has("response_format");
  const messages = inWords
    ? describeSchemaInPrompt(request.messages, schema.schema)
    : request.messages;
  return {
    model,
    messages: messages.map(formatMessage),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: "function",
            function: { name, description, parameters },
          })),
        }),
    ...(schema && !inWords
      ? {
          response_format: {
            type: "json_schema",
            json_schema: { name: schema.name, schema: schema.schema, strict: true },
          },
        }
      : {}),
    ...(temperature === undefined || without.has("temperature") ? {} : { temperature }),
    ...(maxTokens === undefined
      ? {}
      : { [without.has("max_tokens") ? "max_completion_tokens" : "max_tokens"]: maxTokens }),
  };
}

function formatMessage(message: ChatMessage): JsonObject {
  if (message.role === "tool")
    return { role: "tool", tool_call_id: message.call, content: message.content };
  if (message.role !== "assistant" || !message.calls?.length)
    return { role: message.role, content: message.content };
  // endpoints read the arguments of earlier calls back: what was no JSON is made some
  const calls = message.calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: {
      name,
      arguments: JSON.stringify(typeof args === "string" ? { unparsed: args } : args),
    },
  }));
  return { role: "assistant", content: message.content, tool_calls: calls };
}

/** What the body of a 400 seems to be about, of what the request had in it. */
export function findUnsupportedOption(
  text: string,
  body: JsonObject,
): UnsupportedOption | undefined {
  const named = (["temperature", "max_tokens"] as const).find(
    it => it in body && text.includes(it),
  );
  return named ?? ("response_format" in body ? "response_format" : undefined);
}

const part = z.looseObject({ type: z.string(), text: z.string().optional() });
const completion = z.looseObject({
  choices: z.array(
    z.looseObject({
      message: z.looseObject({
        content: z.union([z.string(), z.array(part)]).nullish(),
        tool_calls: z
          .array(
            z.looseObject({
              id: z.string().nullish(),
              function: z.looseObject({ name: z.string(), arguments: z.json().optional() }),
            }),
          )
          .nullish(),
        refusal: z.string().nullish(),
      }),
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: z
    .looseObject({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() })
    .nullish(),
});

/** The answer in a completion's JSON. Throws an `EndpointFault` where there is none. */
export function parseAnswer(json: Json): ChatAnswer {
  const parsed = completion.safeParse(json);
  if (!parsed.success) {
    const { path, message } = parsed.error.issues[0]!;
    throw new EndpointFault(
      "not-a-completion",
      `it answered with JSON that is no chat completion (${path.join(".") || "the whole"}: ${message})`,
      compatible,
    );
  }
  const { choices, usage } = parsed.data;
  const [choice] = choices;
  if (!choice)
    throw new EndpointFault(
      "not-a-completion",
      "it answered with no choices",
      "ask again later, or another model",
      { isRetryable: true },
    );
  const { message, finish_reason } = choice;
  const text = removeThoughts(
    typeof message.content === "string"
      ? message.content
      : (message.content ?? []).map(it => it.text ?? "").join(""),
  );
  const calls = (message.tool_calls ?? []).map((it, i): ChatCall => ({
    id: it.id ?? `call${i}`,
    name: it.function.name,
    arguments: parseArguments(it.function.arguments as Json | undefined),
  }));
  if (finish_reason === "content_filter" && text === "" && calls.length === 0)
    throw new EndpointFault(
      "withheld",
      "the endpoint's own filter kept the answer back",
      "ask another model",
    );
  return {
    text: text || (message.refusal ?? ""),
    calls,
    tokens: { read: usage?.prompt_tokens ?? 0, written: usage?.completion_tokens ?? 0 },
    ...(finish_reason === "length" ? { cut: true } : {}),
  };
}

/** What a person can do about an answer that is none. */
export const compatible =
  "check that the base URL is that of an OpenAI-compatible server, which mostly ends in /v1";

/**
 * Most endpoints write arguments as a text of JSON. A text that is none stays a text: it fits no
 * tool.
 */
function parseArguments(args: Json | undefined): Json {
  if (args === undefined || args === null) return {};
  if (typeof args !== "string") return args;
  if (args.trim() === "") return {};
  try {
    return JSON.parse(args) as Json;
  } catch {
    // the model's mistake, which the session turns down as such
    return args;
  }
}

/**
 * Without what a model thought aloud before it spoke; where only thoughts came, nothing is left.
 */
const removeThoughts = (text: string): string =>
  text.replace(/^\s*<think>[\s\S]*?(<\/think>\s*|$)/, "").trim();
