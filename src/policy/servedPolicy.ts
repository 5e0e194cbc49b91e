/**
 * A policy behind a chat endpoint: answers requests of messages and tools, each of which is a
 * conversation of its own. The program that answers HTTP may be another one.
 */
import type { Call } from "../environment/outcome.ts";
import type { Catalog } from "../environment/catalog.ts";
import type { ToolDescription } from "../environment/toolDescription.ts";
import type { ChatMessage } from "./chatModel.ts";
import { createConversation } from "./chatMessages.ts";
import type { AssistantMessage, Conversation, Decoding, Excess, Policy } from "./policy.ts";

/** A chat to answer. All of it is data, which can be sent to another process. */
export interface ServedRequest {
  readonly messages: readonly ChatMessage[];
  readonly tools: readonly ToolDescription[];
  readonly decoding: Omit<Decoding, "onText">;
}

export interface ServedToken {
  /** Its bytes, as Latin-1 text. */
  readonly bytes: string;
  readonly logprob: number;
}

export interface ServedAnswer {
  readonly text: string;
  readonly calls: readonly Call[];
  readonly cut?: true;
  readonly excess?: Excess;
  readonly usage?: AssistantMessage["usage"];
  /** Every token of the message, also those of calls; absent if the policy does not report them. */
  readonly tokens?: readonly ServedToken[];
}

export interface ServedPolicy {
  /** The name of the model that clients ask for. */
  readonly model: string;
  /**
   * Throws a `PolicyFault` if the policy cannot answer for an external reason, and the signal's
   * reason if aborted.
   */
  answer(
    request: ServedRequest,
    signal: AbortSignal,
    onText?: (text: string) => void,
  ): Promise<ServedAnswer>;
}

interface ServingOptions {
  readonly model: string;
  readonly catalog: Catalog;
  /** The time of conversations whose system message tells none, `YYYY-MM-DDTHH:MM`. */
  readonly now: string;
  /** The id of the task that a conversation is about, if the policy depends on it. */
  readonly findTask?: (conversation: Conversation) => string;
}

/** Serves a policy from this process. */
export function servePolicy(
  policy: Policy,
  { model, catalog, now, findTask }: ServingOptions,
): ServedPolicy {
  let count = 0;
  return {
    model,
    async answer({ messages, tools, decoding }, signal, onText) {
      const id = `chat-${count++}`;
      const created = createConversation({ messages, tools }, { catalog, now, id });
      const task = findTask?.(created) ?? "";
      const conversation = { ...created, header: { ...created.header, task, policy: policy.name } };
      try {
        const message = await policy.next(conversation, signal, { ...decoding, onText });
        return createAnswer(message, policy);
      } finally {
        policy.release?.(conversation);
      }
    },
  };
}

function createAnswer(
  { text, calls, cut, excess, usage, tokens, logprobs }: AssistantMessage,
  policy: Policy,
): ServedAnswer {
  const readToken = (id: number) => Buffer.from(policy.readToken!(id)).toString("latin1");
  return {
    text,
    calls,
    ...(cut ? { cut } : {}),
    ...(excess ? { excess } : {}),
    ...(usage ? { usage } : {}),
    ...(tokens && logprobs && policy.readToken
      ? { tokens: tokens.map((id, i) => ({ bytes: readToken(id), logprob: logprobs[i]! })) }
      : {}),
  };
}
