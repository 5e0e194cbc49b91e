/**
 * What a conversation must pass before it is a task: it replays byte for byte, it says nothing that
 * would give the answer away, its secrets have a source, and nothing like it is there already. Does
 * not know how it was made.
 */
import { openSessionByName, type Catalog } from "../../environment/catalog.ts";
import { canonicalJson, type Json, type JsonObject } from "../../environment/json.ts";
import type { Task } from "../../trajectory/task.ts";
import {
  getCallFault,
  getCallValue,
  listCalls,
  type CallEvent,
} from "../../trajectory/trajectory.ts";
import { declarationsOf } from "../graph/declarations.ts";
import { containsToken } from "../text/containsToken.ts";

/** More failed calls than this share, and a conversation is of no use. */
const mostErrors = 0.3;

type Rejection = "replay" | "errors" | "leak" | "provenance" | "duplicate";

/** Why a task may not be kept, or undefined. */
export function findRejection(
  task: Task,
  catalog: Catalog,
): { reason: Rejection; why: string } | undefined {
  const calls = listCalls(task.trajectory);
  const failed = calls.filter(it => it.outcome.kind !== "ok").length;
  if (failed > mostErrors * calls.length)
    return { reason: "errors", why: `${failed} of ${calls.length} calls failed` };
  const differs = replayed(task, calls, catalog);
  if (differs !== undefined) return { reason: "replay", why: differs };
  const leak = leaked(task, catalog);
  if (leak !== undefined) return { reason: "leak", why: leak };
  const secret = unsourced(task, catalog);
  return secret === undefined ? undefined : { reason: "provenance", why: secret };
}

/** Does it all again on a fresh session that offers the task's own menu. */
function replayed(task: Task, calls: readonly CallEvent[], catalog: Catalog): string | undefined {
  const session = openSessionByName(catalog, task.trajectory.header);
  for (const [i, it] of calls.entries()) {
    const { outcome, digest } = session.call(it.name, it.arguments);
    const isSame =
      outcome.kind === "ok"
        ? canonicalJson(outcome.value) === canonicalJson(getCallValue(it))
        : outcome.message === getCallFault(it)?.message;
    if (outcome.kind !== it.outcome.kind || digest !== it.digest || !isSame)
      return `call ${i} (${it.name}) answers otherwise`;
  }
  return undefined;
}

/** What the user says holds no call, no tool's name and no id that only a look-up could know. */
function leaked(task: Task, catalog: Catalog): string | undefined {
  const text = task.turns.map(it => it.user).join("\n");
  const names = [...task.menu.map(it => it.name), ...task.hidden].find(it =>
    containsToken(text, it),
  );
  if (names !== undefined) return `the user says ${names}`;
  for (const { calls } of task.goals) {
    for (const call of calls) {
      if (Object.keys(call.arguments).length > 0 && text.includes(JSON.stringify(call.arguments)))
        return `the user says the arguments of ${call.name}`;
      const id = unspokenIds(call.name, call.arguments, catalog).find(it =>
        containsToken(text, it),
      );
      if (id !== undefined) return `the user says the id ${id}`;
    }
  }
  return undefined;
}

function unspokenIds(name: string, args: JsonObject, catalog: Catalog): string[] {
  const tool = catalog.tools.get(name)!;
  const { inputs } = declarationsOf(catalog.getServer(tool.server)).get(name)!;
  return inputs.flatMap(it =>
    it.isSpoken || args[it.key] === undefined
      ? []
      : [args[it.key]].flat().filter(id => typeof id === "string"),
  );
}

/** Every sensitive value was said by the user or shown by a tool before it was used. */
function unsourced(task: Task, catalog: Catalog): string | undefined {
  let known = "";
  for (const event of task.trajectory.events) {
    if (event.kind === "user") known += `\n${event.text}`;
    if (event.kind !== "call") continue;
    const tool = catalog.tools.get(event.name);
    const secrets = tool
      ? declarationsOf(catalog.getServer(tool.server))
          .get(event.name)!
          .values.filter(it => it.isSensitive)
      : [];
    const args = event.arguments as JsonObject;
    const unknown = secrets.find(
      ({ key }) => args[key] !== undefined && !containsToken(known, wordOf(args[key])),
    );
    if (unknown) return `${event.name} uses a ${unknown.key} that nobody gave`;
    known += `\n${JSON.stringify(getCallValue(event) ?? getCallFault(event)?.message)}`;
  }
  return undefined;
}

const wordOf = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** How alike two conversations of one server may be: the share of calls they have in common. */
const likeness = 0.7;

/**
 * The conversations kept so far, found by the calls they make. Jaccard on tool and arguments, first
 * come first kept.
 */
export class DuplicateFilter {
  readonly #byItem = new Map<string, number[]>();
  readonly #sizes: number[] = [];

  /** Whether nothing like it is kept yet; if so, it is from now on. */
  addIfNew(task: Task): boolean {
    const items = signatureOf(task);
    const least = Math.ceil(likeness * items.length);
    // whatever shares enough items shares one of these, the rarest
    const probes = items
      .toSorted((a, b) => this.#count(a) - this.#count(b))
      .slice(0, items.length - least + 1);
    const alike = new Set(probes.flatMap(it => this.#byItem.get(it) ?? []));
    for (const other of alike) {
      const shared = items.filter(it => this.#byItem.get(it)?.includes(other)).length;
      if (shared / (items.length + this.#sizes[other]! - shared) >= likeness) return false;
    }
    const own = this.#sizes.push(items.length) - 1;
    for (const it of items) {
      const at = this.#byItem.get(it);
      if (at) at.push(own);
      else this.#byItem.set(it, [own]);
    }
    return true;
  }

  #count(item: string): number {
    return this.#byItem.get(item)?.length ?? 0;
  }
}

/**
 * Tool and arguments of each call, repeats numbered; of a talk without calls, what was asked first.
 */
function signatureOf({ trajectory, servers, turns }: Task): string[] {
  const seen = new Map<string, number>();
  const home = `${servers[0]!.name}/${servers[0]!.fixture}`;
  const items = listCalls(trajectory).map(it => {
    const item = `${home} ${it.name} ${canonicalJson(it.arguments)}`;
    const n = (seen.get(item) ?? 0) + 1;
    seen.set(item, n);
    return n === 1 ? item : `${item} #${n}`;
  });
  return items.length > 0 ? items : [`"${turns[0]!.user}"`];
}
