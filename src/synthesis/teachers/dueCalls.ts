/** Decides which look-ups and reads a request needs first, from what the conversation has shown. */
import { canonicalJson, type Json, type JsonObject } from "../../environment/json.ts";
import type { Call } from "../../policy/policy.ts";
import type { ShownResult } from "../../trajectory/knowledge.ts";
import { indexResult } from "../../trajectory/resultIndex.ts";
import { listScalars } from "../../trajectory/scalars.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import { getEntityKey, type EntityInstance } from "../user/entityInstance.ts";
import type { FeasibilityChecker } from "../user/feasibilityChecker.ts";
import type { EntityMention, Intent } from "../user/intent.ts";
import { getPartialNameKey } from "../user/lookUpPlan.ts";
import { findLookUps, type LookUp } from "../user/lookUps.ts";
import type { UserTurn } from "../user/userPlan.ts";

/** Look-ups that a look-up may itself need, one after the other. */
const maxDepth = 2;

export class DueCalls {
  readonly #feasibility: FeasibilityChecker;
  /** The server of entities whose names do not begin with one. */
  readonly #home: string;
  /** Calls that were made, by `getCallKey`. */
  readonly #made = new Set<string>();

  constructor(feasibility: FeasibilityChecker) {
    this.#feasibility = feasibility;
    const [first] = feasibility.context.declarations.values();
    this.#home = first?.tool.server ?? "";
  }

  /** Learns the ids that the user has said. */
  learnFromTurn({ intents }: UserTurn): void {
    for (const { mentions } of intents)
      for (const { instance, isIdSpoken } of mentions)
        if (isIdSpoken)
          this.#feasibility.knowledge.learnId(...this.#getPlace(instance), instance.id);
  }

  /** Learns what a call has shown. */
  learnFromCall({ name, arguments: args, outcome }: CallEvent): void {
    this.#made.add(getCallKey(name, args));
    const { knowledge, context } = this.#feasibility;
    if (outcome.kind === "ok")
      knowledge.learnResult(
        { name, arguments: args as JsonObject, value: outcome.value },
        context.declarations.get(name),
      );
  }

  #isKnown(instance: EntityInstance): boolean {
    return this.#feasibility.knowledge.knowsId(...this.#getPlace(instance), instance.id);
  }

  /** The server and the entity of an instance. */
  #getPlace({ entity }: EntityInstance): [string, string] {
    const at = entity.indexOf(".");
    return at < 0 ? [this.#home, entity] : [entity.slice(0, at), entity.slice(at + 1)];
  }

  /** Lists the mentioned entities whose ids are not known yet. */
  listUnknown({ mentions }: Intent): EntityMention[] {
    return mentions.filter(it => !it.isIdSpoken && !this.#isKnown(it.instance));
  }

  /** The intent itself, or the read that has to be made before it and has not been made yet. */
  findDueIntent(intent: Intent): Intent {
    const { prerequisite } = intent;
    if (!prerequisite) return intent;
    const { tool, arguments: args } = prerequisite.intent;
    const last = this.#feasibility.knowledge.findLast({ name: tool.name, arguments: args });
    const isDone =
      last !== undefined && canonicalJson(last.value) === canonicalJson(prerequisite.result);
    return isDone || this.#hasShownValues(intent)
      ? intent
      : this.findDueIntent(prerequisite.intent);
  }

  /** Whether other results show all that an intent takes from the read before it. */
  #hasShownValues({ arguments: args, prerequisite }: Intent): boolean {
    const { knowledge } = this.#feasibility;
    const { intent, result } = prerequisite!;
    const wanted = {
      texts: new Set(intent.mentions.map(it => it.instance.id)),
      aliases: new Map<string, string>(),
    };
    const listFields = (shown: Pick<ShownResult, "arguments" | "value">) =>
      [...indexResult(shown.value, shown.arguments, wanted).fields].flatMap(([id, fields]) =>
        [...fields].flatMap(([key, values]) => values.map(it => JSON.stringify([id, key, it]))),
      );
    const own = listFields({ arguments: intent.arguments, value: result });
    const shown = new Set(knowledge.listCurrent().flatMap(listFields));
    const results = new Set(listScalars(result));
    const taken = [...listScalars(args)].filter(it => results.has(it));
    return (
      taken.length > 0 &&
      taken.every(value => own.some(it => shown.has(it) && (JSON.parse(it) as Json[])[2] === value))
    );
  }

  /** The next look-ups for the entities of an intent that are not known yet, each once. */
  planLookUps(intent: Intent): Call[] {
    const calls = this.listUnknown(intent).flatMap(
      it => this.#planLookUp(it.instance, 0, it.partialName) ?? [],
    );
    return [...new Map(calls.map(it => [getCallKey(it.name, it.arguments), it])).values()];
  }

  /** The next calls of a look-up, or undefined where every way has been tried. */
  #planLookUp(instance: EntityInstance, depth: number, partialName?: string): Call[] | undefined {
    for (const lookUp of this.#listLookUps(instance, partialName)) {
      const unknown = lookUp.requiredInstances.filter(it => !this.#isKnown(it));
      if (unknown.length > 0) {
        if (depth > maxDepth) continue;
        return unknown.flatMap(it => this.#planLookUp(it, depth + 1) ?? []);
      }
      const { tool } = lookUp.declaration;
      if (!this.#made.has(getCallKey(tool.name, lookUp.arguments)))
        return [{ name: tool.name, arguments: lookUp.arguments }];
    }
    return undefined;
  }

  /** The look-up that the user simulator has checked first, then all others. */
  #listLookUps(instance: EntityInstance, partialName: string | undefined): readonly LookUp[] {
    const { context, lookUpPlan, hiddenTools } = this.#feasibility;
    const { lookUps, partialNameLookUps, pagedLookUps } = lookUpPlan;
    const paged = pagedLookUps.get(getEntityKey(instance));
    if (paged) return paged;
    // what the user said is all that the assistant can search for
    const byPartialName =
      partialName === undefined
        ? undefined
        : partialNameLookUps.get(getPartialNameKey(instance, partialName));
    const checked = partialName === undefined ? lookUps.get(getEntityKey(instance)) : undefined;
    const others =
      byPartialName ??
      findLookUps(instance, context.declarations, context.sample, {
        prefersLists: true,
        preferredTools: new Set(),
        ...(hiddenTools ? { hiddenTools } : {}),
      });
    return checked ? [checked, ...others] : others;
  }
}

/** Identifies a call by its tool and arguments. */
export const getCallKey = (name: string, args: Json): string => `${name} ${JSON.stringify(args)}`;
