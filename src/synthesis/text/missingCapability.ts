/**
 * Renders what the assistant says when it cannot do something: because the tool is missing, or
 * because no tool can look up what the user named.
 */
import type { Random } from "../../environment/random.ts";
import type { Tool } from "../../environment/server.ts";
import type { TaskRule } from "../../trajectory/taskRules.ts";
import { capitalize } from "./clauses.ts";
import { addressUser, isRepeatable } from "./repeatedClause.ts";

/**
 * What is missing: the tool itself, a look-up of the entity that the user named, or the permission,
 * because a rule forbids the call.
 */
export type MissingCapability =
  | { readonly kind: "tool" }
  | { readonly kind: "rule"; readonly rule: TaskRule }
  | {
      readonly kind: "thing";
      readonly noun: string;
      /** How the user named the entity. */
      readonly mention: string;
    };

/** Templates for the assistant's answer and for the user who continues after it. */
export interface MissingCapabilityTemplates {
  /** `{clause}` is the user's request, in the assistant's words. */
  readonly request: readonly string[];
  /** For requests that are not repeated: after a question, and after a request for a change. */
  readonly question: readonly string[];
  readonly deed: readonly string[];
  /** For several requests of one turn: only questions, and others. */
  readonly several: { readonly question: readonly string[]; readonly deed: readonly string[] };
  /** The same after something that was done. */
  readonly rest: { readonly question: readonly string[]; readonly deed: readonly string[] };
  /** The same after something else that could not be done. */
  readonly again: {
    readonly request: readonly string[];
    readonly question: readonly string[];
    readonly deed: readonly string[];
  };
  /** `{thing}` is how the user named the entity, `{noun}` its kind. */
  readonly thing: readonly string[];
  readonly goOn: readonly string[];
  /** `{because}` and `{Because}` are the reason of the rule that forbids it. */
  readonly forbidden: { readonly request: readonly string[]; readonly plain: readonly string[] };
}

/** What users say when they bring a tool. */
export interface ToolArrivalTexts {
  /** Sentences that say that the tool is there. */
  readonly says: readonly string[];
  /** Clauses that ask again, for a read and for a write. */
  readonly asks: { readonly read: readonly string[]; readonly write: readonly string[] };
}

/**
 * Where the answer stands: alone, after other requests of the same turn, or after an earlier answer
 * of this kind.
 */
export type RefusalPosition = "alone" | "rest" | "again";

/** A request that cannot be fulfilled. */
export interface UnfulfilledRequest {
  readonly clause: string;
  readonly tool: Pick<Tool, "effect">;
}

export interface RefusalContext {
  readonly templates: MissingCapabilityTemplates;
  readonly position: RefusalPosition;
  readonly random: Random;
}

export function renderMissingCapability(
  missing: MissingCapability,
  { clause, tool }: UnfulfilledRequest,
  { templates, position, random }: RefusalContext,
): string {
  if (missing.kind === "thing") {
    const { noun, mention } = missing;
    return random
      .pick(templates.thing)
      .replaceAll("{thing}", () => addressUser(mention))
      .replaceAll("{noun}", noun);
  }
  if (missing.kind === "rule") {
    const { because } = missing.rule;
    return random
      .pick(isRepeatable(clause) ? templates.forbidden.request : templates.forbidden.plain)
      .replace("{clause}", () => addressUser(clause))
      .replace("{because}", () => because)
      .replace("{Because}", () => capitalize(because));
  }
  if (isRepeatable(clause))
    return random
      .pick(position === "again" ? templates.again.request : templates.request)
      .replace("{clause}", () => addressUser(clause));
  const own = position === "alone" ? templates : templates[position];
  return random.pick(tool.effect === "read" ? own.question : own.deed);
}
