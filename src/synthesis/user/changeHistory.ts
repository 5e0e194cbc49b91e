/**
 * Records what a conversation has requested and changed, so that no intent repeats or undoes it.
 */
import type { Patch } from "../../environment/outcome.ts";
import type { State } from "../../environment/state.ts";
import type { Json } from "../../environment/json.ts";
import type { ResultEntity } from "../../trajectory/resultEntities.ts";
import { getEntityKey, type EntityInstance } from "./entityInstance.ts";
import type { Intent } from "./intent.ts";

export class ChangeHistory {
  readonly #requests = new Set<string>();
  /** Instances that writes have named or returned, by `getEntityKey`. */
  readonly #changed = new Set<string>();
  /** Instances that did not exist before the conversation, by `getEntityKey`. */
  readonly #created = new Set<string>();
  /** Instances that a write has had in one call. */
  readonly #combinations = new Set<string>();
  /** Tools of writes, each with an instance that it was about. */
  readonly #deeds = new Set<string>();
  /** The values that the last write replaced, by path. */
  #replacedValues = new Map<string, Json | undefined>();

  isRequested(intent: Intent): boolean {
    return this.#requests.has(getRequestKey(intent));
  }

  wasChanged(instance: EntityInstance): boolean {
    return this.#changed.has(getEntityKey(instance));
  }

  wasCreated(instance: EntityInstance): boolean {
    return this.#created.has(getEntityKey(instance));
  }

  /** Whether a write has had the same instances in one call. */
  hasCombined(intent: Intent): boolean {
    return this.#combinations.has(getCombinationKey(intent));
  }

  /** Whether a write with a tool was about one of the intent's instances. */
  wasDone(tool: string, { mentions }: Intent): boolean {
    return mentions.some(it => this.#deeds.has(getDeedKey(tool, it.instance)));
  }

  /** Whether the patches restore every value that the last write replaced. */
  undoesLastChange(patches: readonly Patch[]): boolean {
    const replacements = patches.filter(it => it.op === "replace" && !isClockOrDraws(it));
    const replaced = this.#replacedValues;
    return (
      replacements.length > 0 &&
      replacements.every(it => replaced.has(it.path) && replaced.get(it.path) === it.value) &&
      !patches.some(it => it.op !== "replace")
    );
  }

  recordRequest(intent: Intent): void {
    this.#requests.add(getRequestKey(intent));
  }

  /** Takes a write with its patches, the state before it, and the entities of its result. */
  recordWrite(
    intent: Intent,
    patches: readonly Patch[],
    before: State,
    results: readonly ResultEntity[],
  ): void {
    this.#combinations.add(getCombinationKey(intent));
    this.#replacedValues = new Map(patches.map(it => [it.path, getValueAt(before, it.path)]));
    for (const it of intent.mentions) this.#deeds.add(getDeedKey(intent.tool.name, it.instance));
    for (const it of [...intent.mentions.map(mention => mention.instance), ...results])
      this.#changed.add(getEntityKey(it));
  }

  recordCreated(entity: ResultEntity): void {
    this.#created.add(getEntityKey(entity));
  }
}

/** Whether a write changed nothing but the clock and the random draws. */
export const changesNothing = (patches: readonly Patch[]): boolean => patches.every(isClockOrDraws);

/** The clock and the number of random draws change with every call. */
const isClockOrDraws = ({ path }: Patch): boolean => /^\/[a-z_]+\/(clock|draws)$/.test(path);

/** The value at a path of the state. Only plain values can be compared with a patch's value. */
function getValueAt(state: State, path: string): Json | undefined {
  let value: unknown = state;
  for (const key of path.slice(1).split("/")) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as Record<string, unknown>)[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value as Json | undefined;
}

const getDeedKey = (tool: string, instance: EntityInstance): string =>
  `${tool} ${getEntityKey(instance)}`;

/** Equal for writes on the same two or more instances, unless they are by an amount. */
function getCombinationKey({ tool, mentions, arguments: args }: Intent): string {
  if (mentions.length < 2 || hasAmount(args)) return `${tool.name} ${JSON.stringify(args)}`;
  return mentions
    .map(it => getEntityKey(it.instance))
    .toSorted()
    .join(" ");
}

/** Equal for writes on the same instances, unless by an amount; for reads, by their arguments. */
function getRequestKey({ tool, mentions, arguments: args }: Intent): string {
  const isByInstance = tool.effect === "write" && mentions.length > 0 && !hasAmount(args);
  return `${tool.name} ${isByInstance ? mentions.map(it => getEntityKey(it.instance)).join(" ") : JSON.stringify(args)}`;
}

const hasAmount = (args: Intent["arguments"]): boolean =>
  Object.values(args).some(it => typeof it === "number");
