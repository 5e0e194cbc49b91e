/**
 * The language models that the editor itself offers, as a teacher that the terminal program asks
 * over its channel. They get the tools of the ask and never the editor's own. Knows nothing of
 * tasks.
 */
import {
  CancellationError,
  CancellationTokenSource,
  LanguageModelChatMessage,
  LanguageModelError,
  LanguageModelTextPart,
  LanguageModelToolCallPart,
  LanguageModelToolResultPart,
  lm,
  type Disposable,
  type LanguageModelChat,
} from "vscode";
import type { ChatCall, ChatMessage } from "../../policy/chatModel.ts";
import type { WorkAsk, WorkSays } from "../../protocol/work.ts";
import { getLog } from "../shared/report.ts";

type ModelRequest = Extract<WorkSays, { kind: "model-ask" }>;
type ModelReply = Extract<WorkAsk, { kind: "model-answer" | "model-failed" }>;

/** The models there are; none where the editor has no provider of any. */
export const listEditorModels = async (): Promise<readonly LanguageModelChat[]> =>
  lm.selectChatModels();

/**
 * Answers what forked work asks of the editor's models; what is still asked when it ends is
 * cancelled.
 */
export class ModelRequestHandler implements Disposable {
  readonly #pending = new Map<number, CancellationTokenSource>();
  readonly #send: (answer: ModelReply) => void;

  constructor(send: (answer: ModelReply) => void) {
    this.#send = send;
  }

  /** Answers in its own time. Never throws: what goes wrong is the answer. */
  async handle(ask: ModelRequest): Promise<void> {
    const cancelling = new CancellationTokenSource();
    this.#pending.set(ask.id, cancelling);
    try {
      const { text, calls } = await requestCompletion(ask, cancelling);
      if (cancelling.token.isCancellationRequested) return;
      this.#send({ kind: "model-answer", id: ask.id, text, calls });
    } catch (error) {
      if (cancelling.token.isCancellationRequested) return;
      getLog().warn(error instanceof Error ? (error.stack ?? error.message) : String(error));
      this.#send({ kind: "model-failed", id: ask.id, what: describeError(error, ask.model) });
    } finally {
      this.#pending.delete(ask.id);
      cancelling.dispose();
    }
  }

  cancel(id: number): void {
    this.#pending.get(id)?.cancel();
  }

  dispose(): void {
    for (const it of this.#pending.values()) it.cancel();
  }
}

async function requestCompletion(
  { model: id, messages, tools = [] }: ModelRequest,
  { token }: CancellationTokenSource,
): Promise<{ readonly text: string; readonly calls: readonly ChatCall[] }> {
  const [model] = await lm.selectChatModels({ id });
  if (!model) throw new Error(`the editor no longer offers ${id}`);
  if (token.isCancellationRequested) throw new CancellationError();
  const response = await model.sendRequest(
    messages.map(toEditorMessage),
    {
      justification:
        "PROVE asks it to write and answer conversations for the tasks that you are synthesizing.",
      tools: tools.map(it => ({
        name: it.name,
        description: it.description,
        inputSchema: it.parameters,
      })),
    },
    token,
  );
  let text = "";
  const calls: ChatCall[] = [];
  for await (const part of response.stream) {
    if (part instanceof LanguageModelTextPart) text += part.value;
    else if (part instanceof LanguageModelToolCallPart)
      calls.push({
        id: part.callId,
        name: part.name,
        arguments: part.input as ChatCall["arguments"],
      });
  }
  return { text, calls };
}

/** The editor knows two roles: what a system says and what a tool gave is told by the user. */
function toEditorMessage(message: ChatMessage): LanguageModelChatMessage {
  switch (message.role) {
    case "system":
    case "user":
      return LanguageModelChatMessage.User(message.content);
    case "assistant":
      return LanguageModelChatMessage.Assistant([
        ...(message.content ? [new LanguageModelTextPart(message.content)] : []),
        ...(message.calls ?? []).map(
          it => new LanguageModelToolCallPart(it.id, it.name, toObject(it.arguments)),
        ),
      ]);
    case "tool":
      return LanguageModelChatMessage.User([
        new LanguageModelToolResultPart(message.call, [new LanguageModelTextPart(message.content)]),
      ]);
    default:
      throw new Error(`nobody says ${JSON.stringify(message satisfies never)}`);
  }
}

const toObject = (value: ChatCall["arguments"]): object =>
  value !== null && typeof value === "object" ? value : { value };

function describeError(error: unknown, model: string): string {
  if (!(error instanceof LanguageModelError))
    return error instanceof Error ? error.message : String(error);
  if (error.code === LanguageModelError.NoPermissions.name)
    return `you have not allowed PROVE to use ${model}`;
  if (error.code === LanguageModelError.Blocked.name)
    return `${model} is blocked: its quota is used up`;
  if (error.code === LanguageModelError.NotFound.name)
    return `the editor no longer offers ${model}`;
  return error.message;
}
