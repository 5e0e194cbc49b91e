/**
 * Keeps what the assistant knows in a conversation: the ids in results and in the user's texts, and
 * the calls that it has made. Decides which look-ups a request needs first.
 */
import { canonicalJson, type Json } from "../../environment/json.ts";
import type { Call } from "../../policy/policy.ts";
import { getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import { findEntities } from "../../trajectory/resultEntities.ts";
import { getEntityKey, type EntityInstance } from "../user/entityInstance.ts";
import type { FeasibilityChecker } from "../user/feasibilityChecker.ts";
import type { EntityMention, Intent } from "../user/intent.ts";
import { getPartialNameKey } from "../user/lookUpPlan.ts";
import { findLookUps, type LookUp } from "../user/lookUps.ts";
import type { UserTurn } from "../user/userPlan.ts";

/** Look-ups that a look-up may itself need, one after the other. */
const maxDepth = 2;

export class AssistantKnowledge {
  readonly #feasibility: FeasibilityChecker;
  /** Entities whose ids are known, by `getEntityKey`. */
  readonly #known = new Set<string>();
  /** The latest result of each call, by `getCallKey`. */
  readonly #results = new Map<string, string>();

  constructor(feasibility: FeasibilityChecker) {
    this.#feasibility = feasibility;
  }

  /** Learns the ids that the user has said. */
  learnFromTurn({ intents }: UserTurn): void {
    for (const it of intents)
      for (const { instance, isIdSpoken } of it.mentions)
        if (isIdSpoken) this.#known.add(getEntityKey(instance));
  }

  /** Learns the ids in a result. */
  learnFromCall(event: CallEvent): void {
    const key = getCallKey(event.name, event.arguments);
    this.#results.set(key, canonicalJson(getCallValue(event) ?? null));
    const declaration = this.#feasibility.context.declarations.get(event.name);
    if (event.outcome.kind === "ok" && declaration)
      for (const it of findEntities(declaration, event.outcome.value))
        this.#known.add(getEntityKey(it));
  }

  /** Lists the mentioned entities whose ids are not known yet. */
  listUnknown({ mentions }: Intent): EntityMention[] {
    return mentions.filter(it => !it.isIdSpoken && !this.#known.has(getEntityKey(it.instance)));
  }

  /** The intent itself, or the read that has to be made before it and has not been made yet. */
  findDueIntent(intent: Intent): Intent {
    const { prerequisite } = intent;
    if (!prerequisite) return intent;
    const { tool, arguments: args } = prerequisite.intent;
    const isDone =
      this.#results.get(getCallKey(tool.name, args)) === canonicalJson(prerequisite.result);
    return isDone ? intent : this.findDueIntent(prerequisite.intent);
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
      const unknown = lookUp.requiredInstances.filter(it => !this.#known.has(getEntityKey(it)));
      if (unknown.length > 0) {
        if (depth > maxDepth) continue;
        return unknown.flatMap(it => this.#planLookUp(it, depth + 1) ?? []);
      }
      const { tool } = lookUp.declaration;
      if (!this.#results.has(getCallKey(tool.name, lookUp.arguments)))
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
