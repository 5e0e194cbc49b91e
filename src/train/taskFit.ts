/**
 * Which tasks can be attempted at all, and which fit a model: those whose conversation with the
 * teacher is within its limits, and, for a small student, which sees no descriptions of tools, on
 * servers that it was trained on. On other tasks a student hardly ever succeeds, and has nothing to
 * learn from.
 */
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import type { StoredModel } from "../model/modelFolder.ts";
import {
  createAttemptHeader,
  listOfferedTools,
  TaskConversation,
} from "../policy/taskConversation.ts";
import type { RunConfig } from "../run/config.ts";
import type { FitCounts } from "../run/startModel.ts";
import { checkGoals } from "../trajectory/attempt.ts";
import { listSingleTurns } from "../trajectory/oneTurn.ts";
import { listOfferedItems, type Task } from "../trajectory/task.ts";
import { UserError } from "../userError.ts";
import { createConversation, encodeConversation } from "./sft/corpus.ts";

/**
 * Throws a `UserError` if a run cannot use a task with the servers as they are now: they lack a
 * tool that it offers or, where it is attempted, its goals or the teacher's turns no longer run.
 */
export function checkTask(task: Task, config: RunConfig, catalog: Catalog): void {
  const { servers, seed } = task;
  const open = () => openSessionByName(catalog, { servers, seed });
  listOfferedTools(task, listOfferedItems(task), open());
  if (config.method === "sft") return;
  checkGoals(catalog, task);
  const turn = config.grpo.turns === "one" ? listSingleTurns(task).at(-1) : undefined;
  if (turn !== undefined)
    void new TaskConversation(task, createAttemptHeader(task, catalog, "", { turn }), open());
}

/**
 * Throws a `UserError` with the numbers if a model that reads descriptions of tools cannot read the
 * menu and the first turn of any of these tasks.
 */
export function checkMenus(
  { folder = "FOLDER", config, chat }: Pick<StoredModel, "config" | "chat"> & { folder?: string },
  tasks: Iterable<Task>,
  catalog: Catalog,
): void {
  if (!chat.describesTools) return;
  const { limits } = chat;
  let shortest: { readonly task: Task; readonly tokens: number } | undefined;
  for (const task of tasks) {
    const { header, events } = task.trajectory;
    const first = events.slice(0, events.findIndex(it => it.kind === "user") + 1);
    const start = { header, events: first } as Task["trajectory"];
    const tokens = chat.encode(createConversation(catalog, task, start)).opening;
    if (tokens <= limits.prompt) return;
    if (!shortest || tokens < shortest.tokens) shortest = { task, tokens };
  }
  if (!shortest) return;
  const format = (n: number) => n.toLocaleString("en");
  throw new UserError(
    `the menu and the first turn of task ${shortest.task.id} take ` +
      `${format(shortest.tokens)} tokens, and those of the other tasks at least as many; ${config.name} reads ` +
      `${format(limits.context)} tokens, and ${format(limits.sampled)} of them are for its answers`,
    config.architecture.context > limits.context
      ? `set a longer context with prove-rl model ${folder} --context N, or synthesize tasks with smaller menus`
      : "synthesize tasks with smaller menus, or choose a model that reads more tokens",
  );
}

/** Whether a task fits, or why it does not. */
type TaskFit = "fits" | "unknown-server" | "too-long";

/** Returns the function that checks whether tasks fit a student. */
export function createFitCheck(
  { config, chat }: Pick<StoredModel, "config" | "chat">,
  catalog: Catalog,
): (task: Task) => TaskFit {
  const isKnown = (server: string) =>
    (chat.describesTools || Object.hasOwn(config.saw.servers, server)) && catalog.hasServer(server);
  return task => {
    if (!task.servers.every(it => isKnown(it.name))) return "unknown-server";
    const conversation = createConversation(catalog, task, task.trajectory);
    return encodeConversation(chat, conversation) ? "fits" : "too-long";
  };
}

/** Counts how many tasks fit a model, and why others do not. */
export class FitTally {
  readonly #counts = { total: 0, fitting: 0, unknownServers: 0, tooLong: 0 };

  count(fit: TaskFit): void {
    this.#counts.total++;
    if (fit === "fits") this.#counts.fitting++;
    else if (fit === "too-long") this.#counts.tooLong++;
    else this.#counts.unknownServers++;
  }

  get counts(): FitCounts {
    return this.#counts;
  }
}
