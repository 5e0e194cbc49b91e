/**
 * Filters synthesized tasks. A task is rejected if its calls do not replay exactly, if the user
 * reveals calls or ids, if a secret has no source, or if it makes nearly the same calls as an
 * earlier task.
 */
import { openSessionByName, type Catalog } from "../../../environment/catalog.ts";
import { canonicalJson, type Json, type JsonObject } from "../../../environment/json.ts";
import { repeatCalls } from "../../../trajectory/replay.ts";
import type { Task } from "../../../trajectory/task.ts";
import { getCallFault, getCallValue, listCalls } from "../../../trajectory/trajectory.ts";
import { listAt } from "../../../environment/argumentPaths.ts";
import { getDeclarations } from "../../graph/declarations.ts";
import { containsToken } from "../../../trajectory/valueMatching.ts";

/** The highest share of failed calls in a task. */
const maxFailedShare = 0.3;

interface Rejection {
  readonly reason: "replay" | "errors" | "leak" | "provenance";
  /** The reason in full. */
  readonly why: string;
}

/** Finds the reason to reject a task, or undefined. Duplicates are found by `DuplicateFilter`. */
export function findRejection(task: Task, catalog: Catalog): Rejection | undefined {
  const calls = listCalls(task.trajectory);
  const failed = calls.filter(it => it.outcome.kind !== "ok").length;
  if (failed > maxFailedShare * calls.length)
    return { reason: "errors", why: `${failed} of ${calls.length} calls failed` };
  const difference = findReplayDifference(task, catalog);
  if (difference !== undefined) return { reason: "replay", why: difference };
  const leak = findLeak(task, catalog);
  if (leak !== undefined) return { reason: "leak", why: leak };
  const secret = findUnsourcedSecret(task, catalog);
  return secret === undefined ? undefined : { reason: "provenance", why: secret };
}

/** Repeats the calls on a fresh session. Describes the first that has another outcome or state. */
function findReplayDifference(task: Task, catalog: Catalog): string | undefined {
  const session = openSessionByName(catalog, task.trajectory.header);
  let i = -1;
  for (const { event: it, result } of repeatCalls(session, task.trajectory.events)) {
    i++;
    const { outcome, digest } = result;
    const isSame =
      outcome.kind === "ok"
        ? canonicalJson(outcome.value) === canonicalJson(getCallValue(it))
        : outcome.message === getCallFault(it)?.message;
    if (outcome.kind !== it.outcome.kind || digest !== it.digest || !isSame)
      return `call ${i} (${it.name}) answers otherwise`;
  }
  return undefined;
}

/** Finds a call, a tool name or an id that people do not say in the user's texts. */
function findLeak(task: Task, catalog: Catalog): string | undefined {
  const text = task.turns.map(it => it.user).join("\n");
  const toolName = [...task.menu.map(it => it.name), ...task.hidden].find(it =>
    containsToken(text, it),
  );
  if (toolName !== undefined) return `the user says ${toolName}`;
  for (const { calls } of task.goals) {
    for (const call of calls) {
      if (Object.keys(call.arguments).length > 0 && text.includes(JSON.stringify(call.arguments)))
        return `the user says the arguments of ${call.name}`;
      const id = listUnspokenIds(call.name, call.arguments, catalog).find(it =>
        containsToken(text, it),
      );
      if (id !== undefined) return `the user says the id ${id}`;
    }
  }
  return undefined;
}

/** Lists the ids among a call's arguments that people do not say. */
function listUnspokenIds(name: string, args: JsonObject, catalog: Catalog): string[] {
  const tool = catalog.tools.get(name)!;
  const { inputs } = getDeclarations(catalog.getServer(tool.server)).get(name)!;
  return inputs.flatMap(it =>
    it.isSpoken
      ? []
      : listAt(args, it.path)
          .flat()
          .filter(id => typeof id === "string"),
  );
}

/** Finds a sensitive argument that neither the user nor a tool's result contained before. */
function findUnsourcedSecret(task: Task, catalog: Catalog): string | undefined {
  let earlierText = "";
  for (const event of task.trajectory.events) {
    if (event.kind === "user") earlierText += `\n${event.text}`;
    if (event.kind !== "call") continue;
    const tool = catalog.tools.get(event.name);
    const sensitiveInputs = tool
      ? getDeclarations(catalog.getServer(tool.server))
          .get(event.name)!
          .values.filter(it => it.isSensitive)
      : [];
    const args = event.arguments as JsonObject;
    const unsourced = sensitiveInputs.find(
      ({ key }) => args[key] !== undefined && !containsToken(earlierText, formatPlain(args[key])),
    );
    if (unsourced) return `${event.name} uses a ${unsourced.key} that nobody gave`;
    earlierText += `\n${JSON.stringify(getCallValue(event) ?? getCallFault(event)?.message)}`;
  }
  return undefined;
}

const formatPlain = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/** Two tasks are duplicates if the Jaccard similarity of their calls is at least this. */
const duplicateSimilarity = 0.7;

/** Finds tasks that make nearly the same calls as an earlier one, by Jaccard similarity. */
export class DuplicateFilter {
  /** Indexes of the tasks that have an item. */
  readonly #tasksByItem = new Map<string, number[]>();
  /** The number of items of each task. */
  readonly #sizes: number[] = [];

  /** Adds a task if it is no duplicate. Returns whether it was added. */
  addIfNew(task: Task): boolean {
    const items = listItems(task);
    const minShared = Math.ceil(duplicateSimilarity * items.length);
    // a task that shares enough items has at least one of these, the rarest
    const probes = items
      .toSorted((a, b) => this.#countTasks(a) - this.#countTasks(b))
      .slice(0, items.length - minShared + 1);
    const candidates = new Set(probes.flatMap(it => this.#tasksByItem.get(it) ?? []));
    for (const other of candidates) {
      const shared = items.filter(it => this.#tasksByItem.get(it)?.includes(other)).length;
      const union = items.length + this.#sizes[other]! - shared;
      if (shared / union >= duplicateSimilarity) return false;
    }
    const index = this.#sizes.push(items.length) - 1;
    for (const it of items) {
      const tasks = this.#tasksByItem.get(it);
      if (tasks) tasks.push(index);
      else this.#tasksByItem.set(it, [index]);
    }
    return true;
  }

  #countTasks(item: string): number {
    return this.#tasksByItem.get(item)?.length ?? 0;
  }
}

/**
 * Lists a task's calls as strings, with repeats numbered, or its first user turn if it has no
 * calls.
 */
function listItems({ trajectory, servers, turns }: Task): string[] {
  const counts = new Map<string, number>();
  const home = `${servers[0]!.name}/${servers[0]!.fixture}`;
  const items = listCalls(trajectory).map(it => {
    const item = `${home} ${it.name} ${canonicalJson(it.arguments)}`;
    const n = (counts.get(item) ?? 0) + 1;
    counts.set(item, n);
    return n === 1 ? item : `${item} #${n}`;
  });
  return items.length > 0 ? items : [`"${turns[0]!.user}"`];
}
