/**
 * Asks the served policy for the choices of a chat completion, and formats its answers. Where a
 * policy does not keep to the request, the request is refused rather than answered in another way.
 */
import { randomBytes, randomInt } from "node:crypto";
import { computeRandomKey } from "../environment/random.ts";
import { PolicyFault, type Decoding } from "../policy/policy.ts";
import type { ServedAnswer, ServedPolicy, ServedToken } from "../policy/servedPolicy.ts";
import { ChatError, type ChatRequest } from "./chatRequest.ts";
import type { Completion, CompletionChoice } from "./chatSchemas.ts";
import { HttpError } from "./httpError.ts";

export interface ChoiceOptions {
  readonly index: number;
  readonly signal: AbortSignal;
  readonly onText?: (text: string) => void;
}

/** A choice, and the tokens that were read and written for it. */
export interface AnsweredChoice {
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
