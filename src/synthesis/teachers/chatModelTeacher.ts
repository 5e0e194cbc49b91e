/**
 * A chat model in both parts of a talk: it words the user's turns and, as the assistant, makes the
 * calls. The assistant sees what a policy sees and nothing of the plan. Does not judge whether the
 * calls were the right ones.
 */
import type { Tool } from "../../environment/server.ts";
import type { ChatMessage, ChatModel } from "../../policy/chatModel.ts";
import { chatTool, messageIn, messagesOf } from "../../policy/endpointPolicy.ts";
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import type { TurnPlan } from "./turnPrompt.ts";
import { ChatModelUser, type ChatModelUserOptions } from "./chatModelUser.ts";
import { containsToken } from "../text/containsToken.ts";
import { hasInvisibleCharacters, findUnspokenId } from "./grounding.ts";
import { matchesIntent } from "./turnCheck.ts";
import type { SimulatedUser } from "./simulatedUser.ts";
import type { Recovery, Teacher } from "./teacher.ts";

/** Who plays a talk that has been planned. */
export interface LlmRoles {
  /** How the teacher is named in tasks. */
  readonly name: string;
  assign(part: RoleSetup): { readonly user: SimulatedUser; readonly teacher: Teacher };
}

/** What there is to play. */
export interface RoleSetup extends Omit<ChatModelUserOptions, "model"> {
  readonly conversation: Conversation;
}

/** A cast of one chat model. `name`: such as `endpoint:gemma` or `editor:gpt`. */
export const createLlmRoles = (model: ChatModel, name: string): LlmRoles => ({
  name,
  assign(part) {
    const user = new ChatModelUser({ ...part, model });
    return {
      user,
      teacher: new ChatModelTeacher({
        model,
        name,
        planOf: () => user.plan,
        conversation: part.conversation,
        signal: part.signal,
      }),
    };
  },
});

/**
 * How freely the assistant answers at first, and how much more freely after each message that could
 * not be used.
 */
const temperature = { first: 0.2, more: 0.1 };

/** Tokens of a message at most, and characters of a reply. */
const longestMessage = 1200;
const longestReply = 4000;

interface ChatModelTeacherOptions {
  readonly model: ChatModel;
  readonly name: string;
  /** What the user's turn was about: how well a call could be made good, never what to call. */
  readonly planOf: () => TurnPlan | undefined;
  readonly conversation: Conversation;
  readonly signal: AbortSignal | undefined;
}

export class ChatModelTeacher implements Teacher {
  readonly name: string;
  readonly #of: ChatModelTeacherOptions;
  #complaints = 0;

  constructor(teaching: ChatModelTeacherOptions) {
    this.name = teaching.name;
    this.#of = teaching;
  }

  async next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
    complaint?: string,
  ): Promise<AssistantMessage> {
    this.#complaints = complaint === undefined ? 0 : this.#complaints + 1;
    const remark =
      complaint === undefined
        ? recovery && remarks[recovery.kind]
        : `Your last message was not used: ${complaint}. Write it again.`;
    const messages: ChatMessage[] = [
      ...messagesOf(conversation),
      ...(remark === undefined ? [] : [{ role: "user" as const, content: `(${remark})` }]),
    ];
    const heat = temperature.first + temperature.more * this.#complaints;
    const answer = await this.#of.model.complete(
      {
        messages,
        tools: conversation.tools.map(chatTool),
        temperature: heat,
        maxTokens: longestMessage,
      },
      this.#of.signal,
    );
    const message = messageIn(answer);
    if (recovery?.kind === "give-up") return { ...message, calls: [] };
    // what is said beside calls is said to nobody
    return message.calls.length > 0 ? { ...message, text: "" } : message;
  }

  /** What the user said to do in that case, or nothing more; a mistake of its own it can mend. */
  listRecoveries(failed: CallEvent): readonly Recovery[] {
    const wish = this.#of.planOf()?.turn?.intents.find(it => matchesIntent(failed, it));
    if (!wish) return ["retry", "alternative", "give-up"];
    return wish.fallback ? ["retry", "give-up"] : ["give-up"];
  }

  findFlaw(text: string): string | undefined {
    const tool = this.#of.conversation.tools.find((it: Tool) => containsToken(text, it.name));
    if (tool) return `it names the tool ${tool.name}`;
    const plan = this.#of.planOf();
    const said = this.#of.conversation.events
      .flatMap(it => (it.kind === "user" ? [it.text] : []))
      .join("\n");
    const id = plan && findUnspokenId(text, { ...plan, plain: said });
    if (id !== undefined) return `it says the identifier ${id}, which means nothing to the user`;
    if (text.length > longestReply) return `it has ${text.length} characters`;
    return /^\s*[[{]|```|<\/?tool_call>/.test(text) || hasInvisibleCharacters(text)
      ? "it is no message to a person"
      : undefined;
  }
}

const remarks: Readonly<Record<Recovery, string>> = {
  retry:
    "That call failed. Mend it if the answer tells you how, or do what was asked for in that case.",
  alternative: "That call failed. Try another way with the tools on offer, if there is one.",
  "give-up":
    "Call nothing more. Tell the user in one or two sentences what was done, what could not be done and why.",
};
