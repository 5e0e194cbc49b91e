/**
 * Formats requests to `/v1/chat/completions`, parses the answers, and says why there is none. Sends
 * nothing.
 */
import { z } from "zod";
import { findLongNumber, formatCallArguments } from "../storage/exactJson.ts";
import type { Json, JsonObject } from "../environment/json.ts";
import type { ToolDescription } from "../environment/toolDescription.ts";
import type { ChatAnswer, ChatCall, ChatMessage, ChatRequest } from "./chatModel.ts";
import { type CallableTool, parseArguments, readMessageText } from "./callText/callText.ts";
import { describeSchemaInPrompt } from "./structuredOutput.ts";
import { PolicyFault } from "./policy.ts";
import { findReason } from "../storage/schemaIssue.ts";

/** The options that some endpoints reject; requests then omit or replace them. */
export type UnsupportedOption = "response_format" | "temperature" | "max_tokens";

/** The body of a request, without the options that the endpoint does not support. */
export function createRequestBody(
  model: string,
  request: ChatRequest,
  omitted: ReadonlySet<UnsupportedOption>,
): JsonObject {
  const { tools = [], schema, temperature, maxTokens } = request;
  const schemaInPrompt = schema !== undefined && omitted.has("response_format");
  const messages = schemaInPrompt
    ? describeSchemaInPrompt(request.messages, schema.schema)
    : request.messages;
  return {
    model,
    messages: messages.map(formatChatMessage),
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(formatChatTool),
        }),
    ...(schema && !schemaInPrompt
      ? {
          response_format: {
            type: "json_schema",
            json_schema: { name: schema.name, schema: schema.schema, strict: true },
          },
        }
      : {}),
    ...(temperature === undefined || omitted.has("temperature") ? {} : { temperature }),
    ...(maxTokens === undefined
      ? {}
      : { [omitted.has("max_tokens") ? "max_completion_tokens" : "max_tokens"]: maxTokens }),
  };
}

/** A tool as endpoints read it. */
export const formatChatTool = ({ name, description, parameters }: ToolDescription): JsonObject => ({
  type: "function",
  function: { name, description, parameters },
});

/** A message as endpoints read it. */
export function formatChatMessage(message: ChatMessage): JsonObject {
  if (message.role === "tool")
    return { role: "tool", tool_call_id: message.call, content: message.content };
  if (message.role !== "assistant" || !message.calls?.length)
    return { role: message.role, content: message.content };
  const calls = message.calls.map(({ id, name, arguments: args }) => ({
    id,
    type: "function",
    function: {
      name,
      arguments: formatArguments(args),
    },
  }));
  return { role: "assistant", content: message.content, tool_calls: calls };
}

/** Endpoints parse the arguments of earlier calls, so text that is not JSON is wrapped. */
function formatArguments(args: Json): string {
  const isText = typeof args === "string" && findLongNumber(args) === undefined;
  return formatCallArguments(isText ? { unparsed: args } : args);
}

/** The option of a request that the body of a 400 response complains about. */
export function findUnsupportedOption(
  text: string,
  body: JsonObject,
): UnsupportedOption | undefined {
  const option = (["temperature", "max_tokens"] as const).find(
    it => it in body && text.includes(it),
  );
  return option ?? ("response_format" in body ? "response_format" : undefined);
}

const part = z.looseObject({ type: z.string(), text: z.string().optional() });

/** A message of the assistant, as chat endpoints write it. */
export const assistantMessageSchema = z.looseObject({
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z
    .array(
      z.looseObject({
        id: z.string().nullish(),
        // not z.json(), which drops a key named __proto__
        function: z.looseObject({ name: z.string(), arguments: z.unknown().optional() }),
      }),
    )
    .nullish(),
  refusal: z.string().nullish(),
});

const completion = z.looseObject({
  choices: z.array(
    z.looseObject({
      message: assistantMessageSchema,
      finish_reason: z.string().nullish(),
    }),
  ),
  usage: z
    .looseObject({ prompt_tokens: z.number().nullish(), completion_tokens: z.number().nullish() })
    .nullish(),
});

/** Parses the JSON of a completion. Throws an `EndpointFault` if it contains no answer. */
export function parseAnswer(json: Json, tools: readonly ToolDescription[] = []): ChatAnswer {
  const parsed = completion.safeParse(json);
  if (!parsed.success) {
    const { path, message } = findReason(parsed.error);
    throw new EndpointFault(
      "not-a-completion",
      `it answered with JSON that is no chat completion (${path.join(".") || "the whole"}: ${message})`,
      compatibleRemedy,
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
  const { text, calls } = parseAssistantMessage(
    message,
    tools.map(it => ({ name: it.name, inputSchema: it.parameters })),
    finish_reason === "length",
  );
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

/**
 * The text, without thinking, and the calls of a message. An engine leaves calls in the text that
 * its own parser cannot read; those in the text of a message that was cut off are not read.
 */
export function parseAssistantMessage(
  { content, tool_calls }: z.infer<typeof assistantMessageSchema>,
  tools: Iterable<CallableTool> = [],
  isCut = false,
): Pick<ChatAnswer, "text" | "calls"> {
  const { text, calls: written } = readMessageText(
    typeof content === "string" ? content : (content ?? []).map(it => it.text ?? "").join(""),
    isCut ? { syntax: "none" } : { tools },
  );
  const named = (tool_calls ?? []).map(it => ({
    id: it.id,
    name: it.function.name,
    arguments: parseArguments(it.function.arguments),
  }));
  const calls = [...named, ...written.map(it => ({ ...it, id: undefined }))];
  return { text, calls: calls.map((it, i): ChatCall => ({ ...it, id: it.id ?? `call${i}` })) };
}

/** What the user can do about an answer in another format. */
export const compatibleRemedy =
  "check that the base URL is that of an OpenAI-compatible server, which mostly ends in /v1";

/**
 * `unreachable`: the connection failed. `timed-out`: no complete answer in time. `overloaded`: 429,
 * 408, 425 or 5xx. `declined`: another status that is not a success. `redirected`: a redirect,
 * which is not followed. `not-json`: text, a web page or incomplete JSON. `not-a-completion`: JSON
 * without a message. `withheld`: blocked by the endpoint's content filter. `spent`: the token
 * budget is used up.
 */
type EndpointFaultKind =
  | "unreachable"
  | "timed-out"
  | "overloaded"
  | "declined"
  | "redirected"
  | "not-json"
  | "not-a-completion"
  | "withheld"
  | "spent";

interface FaultDetails {
  readonly status?: number;
  readonly isRetryable?: boolean;
  readonly pause?: number | undefined;
  readonly cause?: unknown;
}

export class EndpointFault extends PolicyFault {
  readonly kind: EndpointFaultKind;
  /** What the user can do about it. */
  readonly remedy: string;
  /** The HTTP status, if the endpoint answered with one that is not a success. */
  readonly status: number | undefined;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** Milliseconds that the endpoint asks to wait. */
  readonly pause: number | undefined;

  constructor(
    kind: EndpointFaultKind,
    what: string,
    remedy: string,
    { status, isRetryable = false, pause, cause }: FaultDetails = {},
  ) {
    super(what, cause === undefined ? {} : { cause });
    this.kind = kind;
    this.remedy = remedy;
    this.status = status;
    this.isRetryable = isRetryable;
    this.pause = pause;
  }

  /** Whether every later request would fail too. */
  get isPermanent(): boolean {
    return (
      this.kind === "redirected" ||
      this.kind === "spent" ||
      this.status === 401 ||
      this.status === 403 ||
      this.status === 404
    );
  }
}

/** The first characters of a text from outside, on one line and without control characters. */
export function excerptText(text: string, length = 160): string {
  const plain = text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ").trim();
  return plain.length > length
    ? `${plain.slice(0, length).replace(/[\uD800-\uDBFF]$/, "")}…`
    : plain;
}
