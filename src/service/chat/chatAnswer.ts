/**
 * Asks the served policy for the choices of a chat completion, and formats its answers: as a whole
 * or as server-sent events, with text as the policy writes it, calls once they are complete, and
 * the log-probabilities with the end of each choice. Where a policy does not keep to the request,
 * the request is refused rather than answered in another way.
 */
import { randomBytes, randomInt } from "node:crypto";
import type { ServerResponse } from "node:http";
import { computeRandomKey } from "../../environment/random.ts";
import { HttpError } from "../httpError.ts";
import { PolicyFault, type Decoding } from "../../policy/policy.ts";
import type { ServedAnswer, ServedPolicy, ServedToken } from "../../policy/servedPolicy.ts";
import {
  ChatError,
  formatChatError,
  type ChatRequest,
  type Completion,
  type CompletionChoice,
  type CompletionChunk,
} from "./chatRequest.ts";

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
export const chooseSeed = ({ seed }: ChatRequest): number => seed ?? randomInt(2 ** 31);

/** Asks for one choice. Rejects with an `HttpError`, and with the signal's reason if aborted. */
export async function answerChoice(
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

/** Calls that could not be parsed, which have no name, are text. */
function splitCalls({ text, calls }: ServedAnswer): Pick<ServedAnswer, "text" | "calls"> {
  const unparsed = calls.flatMap(it => {
    if (it.name !== "") return [];
    const { unparsed: part } = (it.arguments ?? {}) as { readonly unparsed?: unknown };
    return typeof part === "string" ? part : JSON.stringify(it.arguments);
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
              function: { name: it.name, arguments: JSON.stringify(it.arguments) },
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
export function sumUsage(usages: readonly AnsweredChoice["usage"][]): Completion["usage"] {
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
export async function streamCompletion(
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
