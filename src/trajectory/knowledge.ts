/**
 * What a conversation has made known up to a point: what the user has said, what results have shown
 * to the assistant, and what the assistant has told the user.
 */
import { canonicalJson, type Json, type JsonObject } from "../environment/json.ts";
import type { Tool } from "../environment/server.ts";
import { containsToken, isCommonNumber, listScalars, type Scalar } from "./valueMatching.ts";
import { findEntities, findEntityValues, type EntityId, type ResultSource } from "./entities.ts";
import type { Event } from "./trajectory.ts";

/** A call that succeeded, with its result. */
export interface ShownResult {
  readonly name: string;
  readonly arguments: JsonObject;
  readonly value: Json;
}

/** The tool of a call, and what is known of the entities of its server. */
type CallSource = ResultSource & { readonly tool: Tool };

export class Knowledge {
  #userText = "";
  #told = "";
  #lastReply = "";
  readonly #results: ShownResult[] = [];
  readonly #scalars = new Set<Scalar>();
  /** By server and entity, the latest last. */
  readonly #ids = new Map<string, Set<EntityId>>();
  readonly #labels = new Map<string, Set<string>>();
  /** For each call that is still right, its result: nothing was written on its server since. */
  readonly #current = new Map<string, ShownResult & { readonly server: string }>();

  learnUserText(text: string): void {
    this.#userText += `\n${text.toLowerCase()}`;
  }

  learnReply(text: string): void {
    this.#lastReply = text.toLowerCase();
    this.#told += `\n${this.#lastReply}`;
  }

  /** Learns an id that the user has said, in whatever words. */
  learnId(server: string, entity: string, id: EntityId): void {
    add(this.#ids, getKey(server, entity), id);
  }

  /** Learns the result of a call that succeeded. A tool that is unknown may have changed all. */
  learnResult(result: ShownResult, source: CallSource | undefined): void {
    this.#results.push(result);
    for (const it of listScalars(result.value)) this.#scalars.add(it);
    if (!source) return this.#current.clear();
    const { tool, nameOnly } = source;
    const { server } = tool;
    if (tool.effect === "read") this.#current.set(getCallKey(result), { ...result, server });
    else for (const [key, it] of this.#current) if (it.server === server) this.#current.delete(key);
    const entities = findEntities({ tool, ...(nameOnly ? { nameOnly } : {}) }, result.value);
    for (const { entity, id, label } of entities) {
      // a number that only refers to a thing does not say which one it is
      const isReference = typeof id === "number" && label === undefined && tool.effect === "read";
      if (!isReference) this.learnId(server, entity, id);
    }
    for (const { entity, value } of findEntityValues(tool.outputSchema, result.value).labels)
      add(this.#labels, getKey(server, entity), value);
  }

  /** Whether the user has said a name, in upper or lower case. */
  isSaid(name: string): boolean {
    return containsToken(this.#userText, name.toLowerCase());
  }

  /** Whether the assistant's last reply tells a name. */
  isInLastReply(name: string): boolean {
    return containsToken(this.#lastReply, name.toLowerCase());
  }

  /** Whether the user has said a name, or the assistant has told it. */
  isMentioned(name: string): boolean {
    return this.isSaid(name) || containsToken(this.#told, name.toLowerCase());
  }

  /** Whether a result has shown a value. */
  isShown(value: Scalar): boolean {
    return this.#scalars.has(value);
  }

  /** Whether the assistant can know a value: a result has shown it or the user has said it. */
  hasSeen(value: Scalar): boolean {
    // a small number is in many results by chance
    const isShown = isCommonNumber(value) ? this.isId(value) : this.isShown(value);
    return isShown || this.isSaid(String(value));
  }

  /** Whether an id of an entity was in a result, or the user has said it. */
  knowsId(server: string, entity: string, id: EntityId): boolean {
    return this.#ids.get(getKey(server, entity))?.has(id) ?? false;
  }

  /** The known ids of an entity, the latest last. */
  listIds(server: string, entity: string): readonly EntityId[] {
    return [...(this.#ids.get(getKey(server, entity)) ?? [])];
  }

  /** Whether a value is an entity's id in results so far. */
  isId(value: Scalar): boolean {
    return [...this.#ids.values()].some(it => it.has(value as EntityId));
  }

  /** The names of an entity in results so far, the latest last. */
  listLabels(server: string, entity: string): readonly string[] {
    return [...(this.#labels.get(getKey(server, entity)) ?? [])];
  }

  /** The last result of a call. */
  findLast({
    name,
    arguments: args,
  }: Pick<ShownResult, "name" | "arguments">): ShownResult | undefined {
    const wanted = canonicalJson(args);
    return this.#results.findLast(it => it.name === name && canonicalJson(it.arguments) === wanted);
  }

  /** The last result with a value. */
  findResultWith(value: Scalar): ShownResult | undefined {
    return this.#results.findLast(it => [...listScalars(it.value)].includes(value));
  }

  /** All results so far, the latest last. */
  listResults(): readonly ShownResult[] {
    return this.#results;
  }

  /** The results that are still right: nothing was written on their servers since. */
  listCurrent(): readonly ShownResult[] {
    return [...this.#current.values()];
  }

  /** The result of a read that was made and would show the same again. */
  findCurrent(call: Pick<ShownResult, "name" | "arguments">): ShownResult | undefined {
    return this.#current.get(getCallKey(call));
  }
}

/** What the events of a conversation have made known. */
export function readKnowledge(
  events: readonly Event[],
  getSource: (tool: string) => CallSource | undefined,
): Knowledge {
  const knowledge = new Knowledge();
  for (const it of events) {
    if (it.kind === "user") knowledge.learnUserText(it.text);
    if (it.kind === "assistant" && it.text !== "") knowledge.learnReply(it.text);
    if (it.kind === "call" && it.outcome.kind === "ok")
      knowledge.learnResult(
        { name: it.name, arguments: it.arguments as JsonObject, value: it.outcome.value },
        getSource(it.name),
      );
  }
  return knowledge;
}

const getKey = (server: string, entity: string): string => `${server}.${entity}`;

const getCallKey = ({ name, arguments: args }: Pick<ShownResult, "name" | "arguments">): string =>
  `${name} ${canonicalJson(args)}`;

function add<Value extends EntityId>(
  values: Map<string, Set<Value>>,
  key: string,
  value: Value,
): void {
  const known = values.get(key) ?? new Set();
  known.delete(value);
  values.set(key, known.add(value));
}
