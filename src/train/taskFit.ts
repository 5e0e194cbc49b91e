/**
 * Which tasks fit a student: those on servers that it was trained on, whose conversation with the
 * teacher is within its limits. On others it hardly ever succeeds, and has nothing to learn from.
 */
import type { Catalog } from "../environment/catalog.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import type { Task } from "../trajectory/task.ts";
import { createConversation, encodeConversation } from "./corpus.ts";

/** Whether a task fits, or why it does not. */
export type TaskFit = "fits" | "unknown-server" | "too-long";

/** Returns the function that checks whether tasks fit a student. */
export function createFitCheck(
  { config, tokenizer }: Pick<StoredModel, "config" | "tokenizer">,
  catalog: Catalog,
): (task: Task) => TaskFit {
  const isKnown = (server: string) =>
    Object.hasOwn(config.saw.servers, server) && catalog.servers.has(server);
  return task => {
    if (!task.servers.every(it => isKnown(it.name))) return "unknown-server";
    const conversation = createConversation(catalog, task, task.trajectory);
    return encodeConversation(tokenizer, conversation) ? "fits" : "too-long";
  };
}
