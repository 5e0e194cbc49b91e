/**
 * Finds requests that take a recovery, of the sorts that the plan of a conversation wants, the
 * first sort first. One conversation has at most one of them.
 */
import type { ToolDeclaration } from "../graph/declarations.ts";
import type { FeasibilityResult } from "./feasibilityResult.ts";
import { findAmbiguousIntent } from "./apartSearch.ts";
import { findHintedIntent } from "./hintSearch.ts";
import type { RecoverySort } from "./intentRecovery.ts";
import type { DrawOptions, Flow, RecoveryRequest, RecoverySource } from "./recoveryRequest.ts";
import { findPagedIntent } from "./pageSearch.ts";
import { findStaleIntent } from "./staleSearch.ts";
import { findRepairedIntent } from "./repairSearch.ts";

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

/** An intent for a tool that takes a recovery, or undefined if none is wanted or possible. */
export function findRecovery(
  declaration: ToolDeclaration,
  flow: Flow,
  search: RecoverySource,
): FeasibilityResult | undefined {
  const { plan, checker, context } = search;
  if (!plan.recovery || search.recovery !== undefined) return undefined;
  const { sorts, recoveries } = plan.recovery;
  const { name } = declaration.tool;
  const { forms } = context.templates.tools[name]!;
  for (const sort of sorts) {
    const find = finders[sort];
    for (let draw = 0; draw < maxDraws; draw++) {
      // the instances that flow in come first, because a follow-up continues with them
      const ownFlow = draw < maxDraws / 2 ? flow : {};
      const check = ({ context: own, flow: of = ownFlow, ...options }: DrawOptions = {}) => {
        const template = search.pickTemplate(forms);
        const result = checker.check(
          { declaration, template, flow: of },
          own ?? search.context,
          options,
        );
        return typeof result === "string" || result.missingCapability ? undefined : result;
      };
      const result = find({ search, declaration, recoveries, check });
      if (result) return result;
    }
  }
  return undefined;
}
