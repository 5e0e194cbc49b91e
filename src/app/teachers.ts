/** The models that may teach in a synthesis: those of an endpoint and those of the editor. */
import type { Channel } from "../channel/channel.ts";
import type { ChatAnswer, ChatModel, ChatRequest } from "../policy/chatModel.ts";
import { PolicyFault } from "../policy/policy.ts";
import { describeSchemaInPrompt } from "../policy/structuredOutput.ts";
import type { EditorMessages, ProgramMessages } from "../protocol/work.ts";
import type { ModelTeacher } from "../synthesis/pipeline/run/runSynthesis.ts";
import { createLlmRoles } from "../synthesis/teachers/chatModel/roles.ts";
import type { AppContext } from "./context.ts";
import { openEndpointFor, sentContent, type EndpointChoice } from "./endpoints.ts";

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

/** An endpoint's model as a teacher. The address and the key default to those in `env`. */
export function createEndpointTeacher(
  choice: EndpointChoice,
  context: Pick<AppContext, "printNote">,
  env?: NodeJS.ProcessEnv,
): ModelTeacher {
  const { endpoint, concurrency } = openEndpointFor(choice, sentContent.synthesis, context, env);
  return { roles: createLlmRoles(endpoint, `endpoint:${endpoint.name}`), concurrency };
}

/** One of the editor's models as a teacher, with few requests at a time. */
export const createEditorTeacher = (model: ChatModel): ModelTeacher => ({
  roles: createLlmRoles(model, `editor:${model.name}`),
  concurrency: 2,
});
