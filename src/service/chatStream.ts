/**
 * A chat completion as server-sent events: text as the policy writes it, calls once they are
 * complete, and the log-probabilities with the end of each choice.
 */
import type { ServerResponse } from "node:http";
import { answerChoice, chooseSeed, sumUsage, type AnsweredChoice } from "./chatAnswer.ts";
import { formatChatError, type ChatRequest } from "./chatRequest.ts";
import type { CompletionChoice, CompletionChunk } from "./chatSchemas.ts";
import type { HttpError } from "./httpError.ts";
import type { ServedPolicy } from "../policy/servedPolicy.ts";

type Delta = CompletionChunk["choices"][number]["delta"];

/** What all events of a stream have. */
export type ChunkHead = Pick<CompletionChunk, "id" | "created" | "model">;

export interface StreamOptions {
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
