/**
 * A policy as a chat endpoint in OpenAI's format: `/v1/chat/completions` and `/v1/models`. Requests
 * end when their client disconnects. Answers are formatted as a whole or as server-sent events,
 * with text as the policy writes it, calls once they are complete, and the log-probabilities with
 * the end of each choice. Where a policy does not keep to the request, the request is refused
 * rather than answered in another way.
 */
import { randomUUID, randomBytes, randomInt } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HttpError } from "../httpError.ts";
import { sendJson, readJsonBody } from "../jsonBody.ts";
import type { ServedPolicy, ServedAnswer, ServedToken } from "../../policy/servedPolicy.ts";
import { decodeSegment, type Route } from "../route.ts";
import {
  chatBody,
  ChatError,
  completionResponse,
  modelResponse,
  modelsResponse,
  parseChatRequest,
  type ChatRequest,
  type Completion,
  formatChatError,
  type CompletionChoice,
  type CompletionChunk,
} from "./chatRequest.ts";
import { computeRandomKey } from "../../environment/random.ts";
import { PolicyFault, type Decoding } from "../../policy/policy.ts";
import { formatCallArguments } from "../../storage/exactJson.ts";

/** Choices that may be in progress at the same time; a student batches 64 of them. */
const maxChoices = 1_024;

/** Whether errors at a path have OpenAI's format. */
export const isChatPath = (url: string | undefined): boolean =>
  /^\/v1\/(chat\/|models(?:[/?]|$))/.test(url ?? "");

export class ChatRoutes {
  readonly #policy: ServedPolicy;
  readonly #created: number;
  #choices = 0;

  /** `created` is in seconds since 1970. */
  constructor(policy: ServedPolicy, created: number) {
    this.#policy = policy;
    this.#created = created;
  }

  /** What OpenAPI describes; `answer` below answers the requests for completions itself. */
  get routes(): readonly Omit<Route, "answer">[] {
    return [
      {
        method: "GET",
        path: "/v1/models",
        summary: "The policy that is served, as a model",
        response: modelsResponse,
      },
      {
        method: "GET",
        path: "/v1/models/{id}",
        summary: "The model with that name",
        response: modelResponse,
      },
      {
        method: "POST",
        path: "/v1/chat/completions",
        summary: "The policy's next message in a chat, in OpenAI's format; a stream if asked for",
        body: chatBody,
        response: completionResponse,
      },
    ];
  }

  /** Answers a request and returns the path of its route. `describe` explains later errors. */
  async answer(
    request: IncomingMessage,
    response: ServerResponse,
    describe: (error: unknown) => HttpError,
  ): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0]!;
    const isCompletion = path === "/v1/chat/completions";
    checkMethod(request, isCompletion ? "POST" : "GET");
    if (isCompletion) return this.#complete(request, response, describe);
    if (path === "/v1/models")
      return sendJson(response, {
        status: 200,
        text: JSON.stringify({ object: "list", data: [this.#describeModel()] }),
      });
    if (!path.startsWith("/v1/models/"))
      throw new HttpError(
        "UNKNOWN_ROUTE",
        "nothing is served at this address",
        "use /v1/chat/completions",
      );
    const name = path.slice("/v1/models/".length);
    this.#checkModel(decodeSegment(name) ?? name);
    sendJson(response, { status: 200, text: JSON.stringify(this.#describeModel()) });
  }

  #describeModel() {
    const { model } = this.#policy;
    return { id: model, object: "model", created: this.#created, owned_by: "prove" };
  }

  #checkModel(name: string): void {
    if (name === this.#policy.model) return;
    throw new ChatError(
      "UNKNOWN_MODEL",
      `there is no model ${JSON.stringify(name)}`,
      `the model is ${this.#policy.model}`,
      { param: "model", chatCode: "model_not_found" },
    );
  }

  async #complete(
    request: IncomingMessage,
    response: ServerResponse,
    describe: (error: unknown) => HttpError,
  ): Promise<void> {
    const body = parseChatRequest(await readJsonBody(request));
    this.#checkModel(body.model);
    if (this.#choices + body.count > maxChoices)
      throw new HttpError(
        "CAPACITY_REACHED",
        `${this.#choices} choices are in progress`,
        "send the request again later",
        { "retry-after": "1" },
      );
    const controller = new AbortController();
    response.once("close", () => controller.abort());
    this.#choices += body.count;
    try {
      await this.#answerCompletion(body, response, controller.signal, describe);
    } catch (error) {
      // the other choices of a request that failed are not needed
      controller.abort();
      throw error;
    } finally {
      this.#choices -= body.count;
    }
  }

  async #answerCompletion(
    body: ChatRequest,
    response: ServerResponse,
    signal: AbortSignal,
    describe: (error: unknown) => HttpError,
  ): Promise<void> {
    const head = {
      id: `chatcmpl-${randomUUID()}`,
      created: Math.floor(Date.now() / 1_000),
      model: this.#policy.model,
    };
    if (body.isStream)
      return streamCompletion(this.#policy, body, response, { head, signal, describe });
    const seed = chooseSeed(body);
    const answers = await Promise.all(
      Array.from({ length: body.count }, (_, index) =>
        answerChoice(this.#policy, body, seed, { index, signal }),
      ),
    );
    const completion: Completion = {
      ...head,
      object: "chat.completion",
      choices: answers.map(it => it.choice),
      usage: sumUsage(answers.map(it => it.usage)),
    };
    sendJson(response, { status: 200, text: JSON.stringify(completion) });
  }
}

function checkMethod({ method }: IncomingMessage, allow: string): void {
  if (method === allow) return;
  throw new HttpError(
    "METHOD_NOT_ALLOWED",
    `this address does not answer ${method}`,
    `use ${allow}`,
    {
      allow,
    },
  );
}

interface ChoiceOptions {
  readonly index: number;
  readonly signal: AbortSignal;
  readonly onText?: (text: string) => void;
}

/** A choice, and the tokens that were read and written for it. */
interface AnsweredChoice {
  readonly choice: CompletionChoice;
  readonly usage: { readonly read: number; readonly written: number };
}

/** The seed of a request, which is random if it has none. */
const chooseSeed = ({ seed }: ChatRequest): number => seed ?? randomInt(2 ** 31);

/** Asks for one choice. Rejects with an `HttpError`, and with the signal's reason if aborted. */
async function answerChoice(
  policy: ServedPolicy,
  request: ChatRequest,
  seed: number,
  { index, signal, onText }: ChoiceOptions,
): Promise<AnsweredChoice> {
  const { messages, tools, tool, temperature, maxTokens } = request;
  const decoding: Decoding = {
    temperature,
    seed: computeRandomKey(Math.trunc(seed), `choice ${index}`),
    maxTokens,
    tool,
  };
  let answer: ServedAnswer;
  try {
    answer = await policy.answer({ messages, tools, decoding }, signal, onText);
  } catch (error) {
    if (error instanceof PolicyFault)
      throw new HttpError("POLICY_FAILED", error.message, "send the request again", {
        "retry-after": "1",
      });
    throw error;
  }
  checkFits(answer, policy.model);
  const { text, calls } = splitCalls(answer);
  checkToolChoice({ calls, cut: answer.cut ?? false }, tool, policy.model);
  return {
    choice: createChoice({ ...answer, text, calls }, request, index),
    usage: answer.usage ?? { read: 0, written: 0 },
  };
}

/** A student answers with nothing at all if the conversation is beyond its limits. */
function checkFits({ excess }: ServedAnswer, model: string): void {
  if (!excess) return;
  const { part, tokens, limit } = excess;
  throw new ChatError(
    "INVALID_REQUEST",
    `the conversation is too long for ${model}: the ${part} ${part.endsWith("s") ? "have" : "has"} ${tokens} tokens, and the limit is ${limit}`,
    "offer fewer tools, or leave earlier messages out",
    { param: "messages", chatCode: "context_length_exceeded" },
  );
}

/**
 * Calls that could not be parsed, which have no name, are text. The tags, which are those of most
 * models, tell a program that sends the message back as an attempt's that it has such a call.
 */
function splitCalls({ text, calls, cut }: ServedAnswer): Pick<ServedAnswer, "text" | "calls"> {
  const unparsed = calls.flatMap(it => {
    if (it.name !== "") return [];
    const { unparsed: part } = (it.arguments ?? {}) as { readonly unparsed?: unknown };
    const written = typeof part === "string" ? part : JSON.stringify(it.arguments);
    return cut ? written : `<tool_call>${written}</tool_call>`;
  });
  return {
    text: [text, ...unparsed].filter(it => it !== "").join("\n"),
    calls: calls.filter(it => it.name !== ""),
  };
}

/** A message that was cut off may lack its call, but must not have another one. */
function checkToolChoice(
  { calls, cut }: Pick<ServedAnswer, "calls"> & { readonly cut: boolean },
  tool: Decoding["tool"],
  model: string,
): void {
  const isKept =
    tool === undefined ||
    (tool === "none"
      ? calls.length === 0
      : (cut || calls.length > 0) &&
        (tool === "required" || calls.every(it => it.name === tool.name)));
  if (isKept) return;
  throw new ChatError(
    "INVALID_REQUEST",
    `${model} did not keep to tool_choice`,
    "leave tool_choice out, or serve a student, whose tokens can be limited to the choice",
    { param: "tool_choice", chatCode: "tool_choice_not_followed" },
  );
}

function createChoice(
  answer: ServedAnswer,
  { hasParallelCalls, includesLogprobs, stop }: ChatRequest,
  index: number,
): CompletionChoice {
  const calls = hasParallelCalls ? answer.calls : answer.calls.slice(0, 1);
  const text = cutAtStop(answer.text, stop);
  return {
    index,
    message: {
      role: "assistant",
      content: text === "" && calls.length > 0 ? null : text,
      refusal: null,
      ...(calls.length === 0
        ? {}
        : {
            tool_calls: calls.map(it => ({
              id: `call_${randomBytes(12).toString("hex")}`,
              type: "function" as const,
              function: { name: it.name, arguments: formatCallArguments(it.arguments) },
            })),
          }),
    },
    finish_reason: answer.cut ? "length" : calls.length > 0 ? "tool_calls" : "stop",
    logprobs:
      includesLogprobs && answer.tokens ? { content: answer.tokens.map(formatToken) } : null,
  };
}

function cutAtStop(text: string, stop: readonly string[]): string {
  const ends = stop.map(it => text.indexOf(it)).filter(it => it >= 0);
  return ends.length === 0 ? text : text.slice(0, Math.min(...ends));
}

function formatToken({ bytes, logprob }: ServedToken) {
  const buffer = Buffer.from(bytes, "latin1");
  return { token: buffer.toString("utf8"), logprob, bytes: [...buffer], top_logprobs: [] };
}

/** The prompt counts once, however many choices were asked for. */
function sumUsage(usages: readonly AnsweredChoice["usage"][]): Completion["usage"] {
  const prompt = usages[0]?.read ?? 0;
  const written = usages.reduce((sum, it) => sum + it.written, 0);
  return { prompt_tokens: prompt, completion_tokens: written, total_tokens: prompt + written };
}

type Delta = CompletionChunk["choices"][number]["delta"];

/** What all events of a stream have. */
type ChunkHead = Pick<CompletionChunk, "id" | "created" | "model">;

interface StreamOptions {
  readonly head: ChunkHead;
  readonly signal: AbortSignal;
  /** The error that a client receives for any error. */
  readonly describe: (error: unknown) => HttpError;
}

/**
 * Streams a completion. Rejects if it fails before the first event; later errors are events.
 */
async function streamCompletion(
  policy: ServedPolicy,
  request: ChatRequest,
  response: ServerResponse,
  { head, signal, describe }: StreamOptions,
): Promise<void> {
  const stream = new ChunkStream(response, head, request.includesUsage);
  const seed = chooseSeed(request);
  const answer = async (index: number): Promise<AnsweredChoice["usage"]> => {
    let sent = 0;
    // a stop text may begin in one part and end in the next
    const onText =
      request.stop.length > 0
        ? undefined
        : (text: string) => {
            stream.sendDelta(index, { content: text });
            sent += text.length;
          };
    const { choice, usage } = await answerChoice(policy, request, seed, {
      index,
      signal,
      ...(onText ? { onText } : {}),
    });
    stream.sendEnd(choice, sent);
    return usage;
  };
  try {
    const usages = await Promise.all(Array.from({ length: request.count }, (_, i) => answer(i)));
    stream.finish(sumUsage(usages));
  } catch (error) {
    if (!response.headersSent || signal.aborted) throw error;
    stream.fail(formatChatError(describe(error)));
  }
}

class ChunkStream {
  readonly #response: ServerResponse;
  readonly #head: ChunkHead;
  readonly #includesUsage: boolean;
  readonly #begun = new Set<number>();

  constructor(response: ServerResponse, head: ChunkHead, includesUsage: boolean) {
    this.#response = response;
    this.#head = head;
    this.#includesUsage = includesUsage;
  }

  sendDelta(index: number, delta: Delta): void {
    this.#begin(index);
    this.#sendChoice({ index, delta, finish_reason: null, logprobs: null });
  }

  /** Sends what is left of a choice. `sent` characters of its text have been sent. */
  sendEnd({ index, message, finish_reason, logprobs }: CompletionChoice, sent: number): void {
    const rest = message.content?.slice(sent) ?? "";
    if (rest !== "") this.sendDelta(index, { content: rest });
    for (const [i, it] of (message.tool_calls ?? []).entries())
      this.sendDelta(index, { tool_calls: [{ index: i, ...it }] });
    this.#begin(index);
    this.#sendChoice({ index, delta: {}, finish_reason, logprobs });
  }

  finish(usage: CompletionChunk["usage"]): void {
    if (this.#includesUsage) this.#send(this.#createChunk([], usage));
    this.#response.end("data: [DONE]\n\n");
  }

  fail(error: string): void {
    this.#response.end(`data: ${error}\n\n`);
  }

  #begin(index: number): void {
    if (this.#begun.has(index)) return;
    this.#begun.add(index);
    this.#sendChoice({
      index,
      delta: { role: "assistant", content: "" },
      finish_reason: null,
      logprobs: null,
    });
  }

  #sendChoice(choice: CompletionChunk["choices"][number]): void {
    this.#send(this.#createChunk([choice], null));
  }

  #createChunk(
    choices: CompletionChunk["choices"],
    usage: CompletionChunk["usage"],
  ): CompletionChunk {
    return {
      ...this.#head,
      object: "chat.completion.chunk",
      choices,
      ...(this.#includesUsage ? { usage } : {}),
    };
  }

  #send(chunk: CompletionChunk): void {
    if (!this.#response.headersSent)
      this.#response.writeHead(200, {
        "content-type": "text/event-stream",
        "cache-control": "no-cache",
      });
    this.#response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }
}
