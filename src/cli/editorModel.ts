/** Uses a language model of the editor as a chat model, over the channel to the editor. */
import type { Channel } from "../channel/channel.ts";
import type { ChatAnswer, ChatModel, ChatRequest } from "../policy/chatModel.ts";
import { PolicyFault } from "../policy/policy.ts";
import { describeSchemaInPrompt } from "../policy/structuredOutput.ts";
import type { EditorMessages, ProgramMessages } from "../protocol/work.ts";

export class EditorModel implements ChatModel {
  readonly name: string;
  readonly #channel: Channel<ProgramMessages, EditorMessages>;

  constructor(name: string, channel: Channel<ProgramMessages, EditorMessages>) {
    this.name = name;
    this.#channel = channel;
  }

  /** The editor's models support no schemas and no temperature, and do not count tokens. */
  async complete(
    { messages, tools, schema }: ChatRequest,
    signal?: AbortSignal,
  ): Promise<ChatAnswer> {
    signal?.throwIfAborted();
    const request = {
      model: this.name,
      messages: schema ? describeSchemaInPrompt(messages, schema.schema) : messages,
      ...(tools?.length ? { tools } : {}),
    };
    try {
      const { text, calls } = await this.#channel.request("complete", request, signal);
      return { text, calls, tokens: { read: 0, written: 0 } };
    } catch (cause) {
      signal?.throwIfAborted();
      throw new PolicyFault(
        `the editor's model ${this.name} gave no answer: ${(cause as Error).message}`,
        { cause },
      );
    }
  }
}
