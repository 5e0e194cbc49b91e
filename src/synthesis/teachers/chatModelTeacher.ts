/**
 * A chat model as the assistant of a conversation. It sees what a policy sees and nothing of the
 * user's plan. Whether it made the right calls is checked by the user's side.
 */
import type { ChatMessage, ChatModel } from "../../policy/chatModel.ts";
import {
  createChatTool,
  createAssistantMessage,
  createChatMessages,
} from "../../policy/endpointPolicy.ts";
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import { containsToken } from "../../trajectory/containsToken.ts";
import { findUnspokenId, hasInvisibleCharacters } from "./grounding.ts";
import type { Recovery, Teacher } from "./teacher.ts";
import { matchesIntent } from "./turnCheck.ts";
import type { TurnPlan } from "./turnPlan.ts";

/** The sampling temperature of the first attempt, and the increase per rejected message. */
const temperature = { first: 0.2, increase: 0.1 };

/** Tokens of a message. */
const maxTokens = 1200;

/** Characters of a reply. */
const maxReplyLength = 4000;

export interface ChatModelTeacherOptions {
  readonly model: ChatModel;
  readonly name: string;
  /** The plan of the user's turn, used to check recoveries and ids, never shown to the model. */
  readonly getPlan: () => TurnPlan | undefined;
  readonly conversation: Conversation;
  readonly signal: AbortSignal | undefined;
}

export class ChatModelTeacher implements Teacher {
  readonly name: string;
  readonly #options: ChatModelTeacherOptions;
  /** Messages in a row that were rejected. */
  #rejections = 0;

  constructor(options: ChatModelTeacherOptions) {
    this.name = options.name;
    this.#options = options;
  }

  async next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
    complaint?: string,
  ): Promise<AssistantMessage> {
    const { model, signal } = this.#options;
    this.#rejections = complaint === undefined ? 0 : this.#rejections + 1;
    const instruction =
      complaint === undefined
        ? recovery && recoveryInstructions[recovery.kind]
        : `Your last message was not used: ${complaint}. Write it again.`;
    const messages: ChatMessage[] = [
      ...createChatMessages(conversation),
      ...(instruction === undefined
        ? []
        : [{ role: "user" as const, content: `(${instruction})` }]),
    ];
    const answer = await model.complete(
      {
        messages,
        tools: conversation.tools.map(createChatTool),
        temperature: temperature.first + temperature.increase * this.#rejections,
        maxTokens,
      },
      signal,
    );
    const message = createAssistantMessage(answer);
    if (recovery?.kind === "give-up") return { ...message, calls: [] };
    // the user does not see text beside calls
    return message.calls.length > 0 ? { ...message, text: "" } : message;
  }

  /**
   * A call for an intent can only be retried as the intent's fallback; any recovery is possible
   * after another call.
   */
  listRecoveries(failed: CallEvent): readonly Recovery[] {
    const { turn } = this.#options.getPlan() ?? {};
    const intent = turn?.intents.find(it => matchesIntent(failed, it));
    if (!intent) return ["retry", "alternative", "give-up"];
    return intent.fallback ? ["retry", "give-up"] : ["give-up"];
  }

  findFlaw(text: string): string | undefined {
    const { conversation, getPlan } = this.#options;
    const tool = conversation.tools.find(it => containsToken(text, it.name));
    if (tool) return `it names the tool ${tool.name}`;
    const plan = getPlan();
    const userText = conversation.events
      .flatMap(it => (it.kind === "user" ? [it.text] : []))
      .join("\n");
    const id = plan && findUnspokenId(text, { ...plan, plain: userText });
    if (id !== undefined) return `it says the identifier ${id}, which means nothing to the user`;
    if (text.length > maxReplyLength) return `it has ${text.length} characters`;
    return /^\s*[[{]|```|<\/?tool_call>/.test(text) || hasInvisibleCharacters(text)
      ? "it is no message to a person"
      : undefined;
  }
}

const recoveryInstructions: Readonly<Record<Recovery, string>> = {
  retry:
    "That call failed. Mend it if the answer tells you how, or do what was asked for in that case.",
  alternative: "That call failed. Try another way with the tools on offer, if there is one.",
  "give-up":
    "Call nothing more. Tell the user in one or two sentences what was done, what could not be done and why.",
};
