/**
 * Completions of the editor's own language models, for teachers in the command-line program. A
 * model receives the tools of the request only, and none of the editor's.
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
  type CancellationToken,
  type LanguageModelChat,
} from "vscode";
import type { ChatCall, ChatMessage } from "../../policy/chatModel.ts";
import type { Completion, CompletionRequest } from "../../protocol/work.ts";
import { getLog } from "../shared/report.ts";

/** The available models; empty if the editor has no provider of models. */
export const listEditorModels = async (): Promise<readonly LanguageModelChat[]> =>
  lm.selectChatModels();

/**
 * A completion of one of the editor's models, for the command-line program. Throws an error whose
 * message says for the user why there is none.
 */
export async function completeWithEditorModel(
  request: CompletionRequest,
  signal: AbortSignal,
): Promise<Completion> {
  const source = new CancellationTokenSource();
  const cancel = () => source.cancel();
  if (signal.aborted) cancel();
  signal.addEventListener("abort", cancel);
  try {
    return await sendRequest(request, source.token);
  } catch (error) {
    if (signal.aborted) throw error;
    getLog().warn(error instanceof Error ? (error.stack ?? error.message) : String(error));
    throw new Error(describeError(error, request.model), { cause: error });
  } finally {
    signal.removeEventListener("abort", cancel);
    source.dispose();
  }
}

async function sendRequest(
  { model: id, messages, tools = [] }: CompletionRequest,
  token: CancellationToken,
): Promise<Completion> {
  const [model] = await lm.selectChatModels({ id });
  if (!model) throw new Error(`the editor no longer offers ${id}`);
  if (token.isCancellationRequested) throw new CancellationError();
  const response = await model.sendRequest(
    messages.map(toEditorMessage),
    {
      justification:
        "PROVE uses it to write the conversations of the tasks that you are synthesizing.",
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

/** The editor has two roles only, so system messages and tool results become user messages. */
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
      throw new Error(`unknown message ${JSON.stringify(message satisfies never)}`);
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
