/** What a solver has seen: the user's words and the results of its own calls. */
import type { Json } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { listScalars, type Scalar } from "../../trajectory/scalars.ts";
import { containsToken } from "../../trajectory/containsToken.ts";
import { findEntityValues } from "../../trajectory/resultEntities.ts";

/** A successful call of the solver. */
export interface MadeCall {
  readonly name: string;
  readonly arguments: Json;
  readonly value: Json;
}

export class Knowledge {
  #text = "";
  readonly #scalars = new Set<Scalar>();
  readonly #ids = new Map<string, Set<string>>();
  readonly #labels = new Map<string, Set<string>>();
  readonly calls: MadeCall[] = [];
  /** How many of the calls came before the last write. */
  callsBeforeWrite = 0;

  learnText(text: string): void {
    this.#text += `\n${text}`;
  }

  learnCall(call: MadeCall, tool: Tool | undefined): void {
    this.calls.push(call);
    if (tool?.effect !== "read") this.callsBeforeWrite = this.calls.length;
    for (const it of listScalars(call.value)) this.#scalars.add(it);
    if (!tool) return;
    const { ids, labels } = findEntityValues(tool.outputSchema, call.value);
    for (const { entity, value } of ids) add(this.#ids, entity, value);
    for (const { entity, value } of labels) add(this.#labels, entity, value);
  }

  /** Whether a result or the user has shown the value. */
  hasSeen(value: Scalar): boolean {
    return this.#scalars.has(value) || this.isSaid(String(value));
  }

  /** Whether the user has said a name, in upper or lower case. */
  isSaid(name: string): boolean {
    return containsToken(this.#text.toLowerCase(), name.toLowerCase());
  }

  /** The ids of an entity in results so far, the latest last. */
  listIds(entity: string): readonly string[] {
    return [...(this.#ids.get(entity) ?? [])];
  }

  /** Whether a value is an entity's id in results so far. */
  isId(value: Scalar): boolean {
    return [...this.#ids.values()].some(it => it.has(value as string));
  }

  /** The names of an entity in results so far. */
  listLabels(entity: string): readonly string[] {
    return [...(this.#labels.get(entity) ?? [])];
  }

  /** The last call whose result has a value. */
  findCallThatShows(value: Scalar): MadeCall | undefined {
    return this.calls.findLast(it => [...listScalars(it.value)].includes(value));
  }
}

function add(values: Map<string, Set<string>>, entity: string, value: string): void {
  const known = values.get(entity) ?? new Set();
  known.delete(value);
  values.set(entity, known.add(value));
}
