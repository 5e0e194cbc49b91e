/**
 * Finds requests that take a recovery, of the sorts that the plan of a conversation wants, the
 * first sort first. One conversation has at most one of them.
 */
import type { ToolDeclaration } from "../../graph/declarations.ts";
import type { ServerRecoveries } from "../../text/recoveries.ts";
import type { FeasibilityResult } from "../intents/feasibility.ts";
import { findAmbiguousIntent, findPagedIntent, findStaleIntent } from "./inexactReferences.ts";
import { findHintedIntent, findRepairedIntent } from "./refusedRequests.ts";
import type { RecoverySort } from "../intents/intent.ts";
import type { DrawOptions, RecoveryRequest, RecoverySource } from "./recoveryRequest.ts";

/** Draws of an intent for one sort of recovery. */
const maxDraws = 24;

type Finder = (request: RecoveryRequest) => FeasibilityResult | undefined;

const finders: Readonly<Record<RecoverySort, Finder>> = {
  repair: findRepairedIntent,
  hint: findHintedIntent,
  page: findPagedIntent,
  ambiguous: findAmbiguousIntent,
  stale: findStaleIntent,
};

/** How intents for a tool are drawn. */
export interface RecoveryDraws {
  readonly declaration: ToolDeclaration;
  /** Draws an intent and checks it; `continues` if it may go on with what the conversation is about. */
  readonly check: (options: DrawOptions, continues: boolean) => FeasibilityResult | string;
  /** Whether the intent that was drawn last, with its recovery, is one that is wanted. */
  readonly isWanted?: (result: FeasibilityResult) => boolean;
}

/** An intent for a tool that takes a recovery, or undefined if none is wanted or possible. */
export function findRecovery(
  { declaration, isWanted = () => true, ...source }: RecoveryDraws,
  search: RecoverySource,
): FeasibilityResult | undefined {
  const { plan } = search;
  if (!plan.recovery || search.recovery !== undefined) return undefined;
  const { sorts, recoveries } = plan.recovery;
  for (const sort of sorts.filter(it => isDeclared(it, declaration, recoveries))) {
    const find = finders[sort];
    // what is further down a list is known beforehand
    const draws = sort === "page" ? 1 : maxDraws;
    for (let draw = 0; draw < draws; draw++) {
      // what the conversation is about comes first, because a follow-up continues with it
      const check = (options: DrawOptions = {}) => {
        const result = source.check(options, draw < maxDraws / 2);
        return typeof result === "string" || result.missingCapability ? undefined : result;
      };
      const result = find({ search, declaration, recoveries, check });
      if (result && isWanted(result)) return result;
    }
  }
  return undefined;
}

/** Whether a tool can have a recovery of a sort, by what its server declares. */
function isDeclared(
  sort: RecoverySort,
  { tool, inputs }: ToolDeclaration,
  { repairs = [], hints = [], apart = {}, moved = [], outdated = {} }: ServerRecoveries,
): boolean {
  const takes = (entities: readonly string[]) => inputs.some(it => entities.includes(it.entity));
  switch (sort) {
    case "repair":
      return repairs.some(it => it.of.includes(tool.name));
    case "hint":
      return hints.some(it => it.of.includes(tool.name));
    case "page":
      return inputs.some(it => it.isRequired && !it.isList);
    case "ambiguous":
      return takes(Object.keys(apart));
    case "stale":
      return takes([...moved.map(it => it.entity), ...Object.keys(outdated)]);
  }
}
