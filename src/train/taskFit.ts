/**
 * Which tasks fit a model: those whose conversation with the teacher is within its limits, and, for
 * a small student, which sees no descriptions of tools, on servers that it was trained on. On others
 * it hardly ever succeeds, and has nothing to learn from.
 */
import type { Catalog } from "../environment/catalog.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import type { Task } from "../trajectory/task.ts";
import { createConversation, encodeConversation } from "./corpus.ts";

/** Whether a task fits, or why it does not. */
export type TaskFit = "fits" | "unknown-server" | "too-long";

/** Returns the function that checks whether tasks fit a student. */
export function createFitCheck(
  { config, chat }: Pick<StoredModel, "config" | "chat">,
  catalog: Catalog,
): (task: Task) => TaskFit {
  const isKnown = (server: string) =>
    (chat.describesTools || Object.hasOwn(config.saw.servers, server)) &&
    catalog.servers.has(server);
  return task => {
    if (!task.servers.every(it => isKnown(it.name))) return "unknown-server";
    const conversation = createConversation(catalog, task, task.trajectory);
    return encodeConversation(chat, conversation) ? "fits" : "too-long";
  };
}
