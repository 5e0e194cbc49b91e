/**
 * Finds requests that take a recovery, of the sorts that the plan of a conversation wants, the
 * first sort first. One conversation has at most one of them.
 */
import type { ToolDeclaration } from "../graph/declarations.ts";
import type { ServerRecoveries } from "../text/recoverySchema.ts";
import type { ConversationContext } from "./conversationContext.ts";
import type { EntityInstance } from "./entityInstance.ts";
import type { FeasibilityResult } from "./feasibilityResult.ts";
import { findHintedIntent } from "./hintSearch.ts";
import type { RecoverySort } from "./intentRecovery.ts";
import type { IntentSearch } from "./intentSearch.ts";
import { findRepairedIntent } from "./repairSearch.ts";

/** Draws of an intent for one sort of recovery. */
const maxDraws = 8;

export interface RecoveryRequest {
  readonly search: IntentSearch;
  readonly declaration: ToolDeclaration;
  readonly recoveries: ServerRecoveries;
  /** Draws an intent and checks it; undefined if it makes no sense. */
  readonly check: (context?: ConversationContext, flow?: Flow) => FeasibilityResult | undefined;
}

type Flow = Readonly<Record<string, readonly EntityInstance[]>>;

type Finder = (request: RecoveryRequest) => FeasibilityResult | undefined;

const finders: Partial<Record<RecoverySort, Finder>> = {
  repair: findRepairedIntent,
  hint: findHintedIntent,
};

/** An intent for a tool that takes a recovery, or undefined if none is wanted or possible. */
export function findRecovery(
  declaration: ToolDeclaration,
  flow: Flow,
  search: IntentSearch,
): FeasibilityResult | undefined {
  const { plan, checker, context } = search;
  if (!plan.recovery || search.recovery !== undefined) return undefined;
  const { sorts, recoveries } = plan.recovery;
  const { name } = declaration.tool;
  const { forms } = context.templates.tools[name]!;
  for (const sort of sorts) {
    const find = finders[sort];
    if (!find) continue;
    for (let draw = 0; draw < maxDraws; draw++) {
      // the instances that flow in come first, because a follow-up continues with them
      const ownFlow = draw < maxDraws / 2 ? flow : {};
      const check = (own: ConversationContext = search.context, of: Flow = ownFlow) => {
        const template = search.pickTemplate(forms);
        const result = checker.check({ declaration, template, flow: of }, own);
        return typeof result === "string" || result.missingCapability ? undefined : result;
      };
      const result = find({ search, declaration, recoveries, check });
      if (result) return result;
    }
  }
  return undefined;
}
