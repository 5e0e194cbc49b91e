/**
 * Counts the tokens of tasks, as the model of a folder reads them: of the offered tools, of the
 * prompt, and of the teacher's whole conversation. Without a folder, they are estimated.
 */
import type { Catalog } from "../environment/catalog.ts";
import { listMenuTools } from "../environment/menu.ts";
import { createChatMessages } from "../policy/chatMessages.ts";
import { formatChatMessage, formatChatTool } from "../policy/endpointFormat.ts";
import { describeTool } from "../environment/toolDescription.ts";
import { createRules } from "../policy/policy.ts";
import { listOfferedItems, type Task } from "../trajectory/task.ts";
import { listAddedTools } from "../trajectory/trajectory.ts";

export interface TaskTokens {
  /** The tools that are on offer from the start, as JSON or signatures. */
  readonly tools: number;
  /** The system message, the tools and the first turn of the user. */
  readonly prompt: number;
  /** The prompt and all that the teacher's conversation adds to it. */
  readonly conversation: number;
}

type CountTokens = (task: Task) => TaskTokens;

/**
 * Counts with the tokenizer and the chat template of a model folder. Results have the length that
 * the service gives them, which a model that is computed here may shorten further. Throws a
 * `UserError` if the folder has no tokenizer or template that can be used.
 */
export async function createTokenCounter(folder: string, catalog: Catalog): Promise<CountTokens> {
  // loads the numerics
  const { readCountingFormat } = await import("../model/huggingface/folder.ts");
  const { createConversation } = await import("../train/sft/corpus.ts");
  const chat = readCountingFormat(folder);
  return task => {
    const conversation = createConversation(catalog, task, task.trajectory);
    const { ids, opening } = chat.encode(conversation);
    return {
      tools: chat.countTools(listFirstTools(task, catalog)),
      prompt: opening,
      conversation: ids.length,
    };
  };
}

/** Counts whole conversations for a synthesis; undefined if it has no limit of tokens. */
export async function createConversationCounter(
  { tokenizer }: { readonly tokenizer?: string | undefined },
  catalog: Catalog,
): Promise<((task: Task) => number) | undefined> {
  if (tokenizer === undefined) return undefined;
  const count = await createTokenCounter(tokenizer, catalog);
  return task => count(task).conversation;
}

/** Bytes of a token in texts that are mostly JSON. Most tokenizers have tokens of more bytes. */
const bytesPerToken = 3;

export const estimateTokens =
  (catalog: Catalog): CountTokens =>
  task => {
    const estimate = (value: unknown) =>
      Math.ceil(Buffer.byteLength(JSON.stringify(value)) / bytesPerToken);
    const { events } = task.trajectory;
    const messages = createChatMessages({ now: task.now, events, ...createRules(task) });
    const formatted = messages.map(formatChatMessage);
    const tools = estimate(
      listFirstTools(task, catalog).map(it => formatChatTool(describeTool(it))),
    );
    const added = listAddedTools(events).flatMap(name => catalog.tools.get(name) ?? []);
    return {
      tools,
      prompt: tools + estimate(formatted.slice(0, 2)),
      conversation:
        tools + estimate(formatted) + estimate(added.map(it => formatChatTool(describeTool(it)))),
    };
  };

function listFirstTools(task: Task, catalog: Catalog) {
  const added = new Set(listAddedTools(task.trajectory.events));
  return listMenuTools(catalog.tools, listOfferedItems(task), task.tools).filter(
    it => !added.has(it.name),
  );
}
