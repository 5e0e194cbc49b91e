/**
 * The conversation of a task's teacher as an OpenTelemetry trace with the attributes of the GenAI
 * conventions: an agent, its requests to a model, and its tools.
 */
import { createHash } from "node:crypto";
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { version } from "../../version.ts";

interface TracedConversation {
  /** From which the ids of trace and spans follow. */
  readonly id: string;
  readonly task: string;
  /** The model, or whoever wrote the messages of the assistant. */
  readonly model: string;
  /** When it begins, as a date. */
  readonly now: string;
  /** In OpenAI's chat format, with the arguments of calls as objects. */
  readonly messages: readonly JsonObject[];
  /** OpenAI function definitions. */
  readonly tools: readonly JsonObject[];
}

type Attributes = Readonly<Record<string, string>>;

/** One document of OTLP in its JSON encoding. */
export function createOtlpTrace(conversation: TracedConversation): JsonObject {
  const { id, task, model, messages, tools } = conversation;
  const spans = new SpanList(conversation);
  const isSystem = (it: JsonObject): boolean => it["role"] === "system";
  const said = messages.filter(it => !isSystem(it));
  const system = messages.filter(isSystem).map(it => ({ type: "text", content: it["content"]! }));
  const results = new Map<unknown, string>();
  for (const it of said)
    if (it["role"] === "tool") results.set(it["tool_call_id"], it["content"] as string);
  for (const [i, message] of said.entries()) {
    if (message["role"] !== "assistant") continue;
    const calls = listCalls(message);
    spans.add(`chat ${model}`, {
      "gen_ai.operation.name": "chat",
      "gen_ai.request.model": model,
      "gen_ai.input.messages": JSON.stringify(said.slice(0, i).map(toMessage)),
      "gen_ai.output.messages": JSON.stringify([
        { ...toMessage(message), finish_reason: calls.length === 0 ? "stop" : "tool_call" },
      ]),
    });
    for (const call of calls)
      spans.add(`execute_tool ${call.name}`, {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.call.arguments": JSON.stringify(call.arguments),
        "gen_ai.tool.call.result": results.get(call.id) ?? "",
      });
  }
  return spans.finish({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.agent.name": "prove-rl",
    "gen_ai.conversation.id": id,
    "gen_ai.request.model": model,
    "gen_ai.system_instructions": JSON.stringify(system),
    "gen_ai.tool.definitions": JSON.stringify(
      tools.map(it =>
        isJsonObject(it["function"]) ? { type: "function", ...it["function"] } : it,
      ),
    ),
    "prove.task_id": task,
  });
}

/** Spans of one agent, each a second long after the one before. */
class SpanList {
  readonly #conversation: TracedConversation;
  readonly #spans: JsonObject[] = [];

  constructor(conversation: TracedConversation) {
    this.#conversation = conversation;
  }

  add(name: string, attributes: Attributes): void {
    const at = this.#spans.length;
    this.#spans.push({
      ...this.#createSpan(at + 1, name, [at, at + 1], attributes),
      parentSpanId: this.#createId(0),
    });
  }

  finish(attributes: Attributes): JsonObject {
    const agent = this.#createSpan(0, "invoke_agent prove-rl", [0, this.#spans.length], attributes);
    const scope = { name: "prove-rl", version };
    const resource = { attributes: toList({ "service.name": "prove-rl" }) };
    return {
      resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [agent, ...this.#spans] }] }],
    };
  }

  #createSpan(
    number: number,
    name: string,
    [start, end]: readonly [number, number],
    attributes: Attributes,
  ): JsonObject {
    const { id, now } = this.#conversation;
    const time = (seconds: number) => `${(Date.parse(`${now}Z`) || 0) + seconds * 1000}000000`;
    return {
      traceId: hash(id).slice(0, 32),
      spanId: this.#createId(number),
      name,
      kind: 1,
      startTimeUnixNano: time(start),
      endTimeUnixNano: time(end),
      attributes: toList(attributes),
      status: {},
    };
  }

  #createId = (number: number): string => hash(`${this.#conversation.id} ${number}`).slice(0, 16);
}

const toList = (attributes: Attributes): JsonObject[] =>
  Object.entries(attributes).map(([key, value]) => ({ key, value: { stringValue: value } }));

interface TracedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: Json;
}

const listCalls = (message: JsonObject): readonly TracedCall[] =>
  ((message["tool_calls"] ?? []) as unknown as { id: string; function: TracedCall }[]).map(it => ({
    id: it.id,
    name: it.function.name,
    arguments: it.function.arguments,
  }));

/** A message of the chat format with parts, as the GenAI conventions have it. */
function toMessage(message: JsonObject): JsonObject {
  const { role, content, tool_call_id: id } = message;
  if (role === "tool")
    return { role, parts: [{ type: "tool_call_response", id: id!, response: content! }] };
  const calls = listCalls(message).map(it => ({ type: "tool_call", ...it }));
  const text = content === "" || content == null ? [] : [{ type: "text", content }];
  return { role: role!, parts: [...text, ...calls] };
}

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
