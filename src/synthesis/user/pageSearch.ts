/** Finds requests about an entity that a list shows only if it is read further than its first rows. */
import { markVerbatim } from "../text/valueMarks.ts";
import { getEntityKey } from "./entityInstance.ts";
import { findsSomething, type FeasibilityResult } from "./feasibilityResult.ts";
import type { RecoveryRequest } from "./recoveryRequest.ts";

/** A request about an entity that is not among the first rows of any list, or undefined. */
export function findPagedIntent({ search, check }: RecoveryRequest): FeasibilityResult | undefined {
  const { checker, plan } = search;
  const result = check({ usesPages: true });
  if (!result || !findsSomething(result)) return undefined;
  const { intent } = result;
  const paged = intent.mentions.find(it =>
    checker.lookUpPlan.pagedLookUps.has(getEntityKey(it.instance)),
  );
  if (!paged) return undefined;
  const key = Object.keys(intent.arguments).find(it =>
    [intent.arguments[it]].flat().includes(paged.instance.id),
  );
  const name =
    paged.instance.label === undefined
      ? intent.argumentTexts[key ?? ""]?.replace(/^my /, "your ")
      : markVerbatim(paged.instance.label);
  if (name === undefined) return undefined;
  const told = plan.styleGuide.recovery.later.map(it => it.replace("{name}", () => name));
  const recovery = { sort: "page", steps: [], told: [told] } as const;
  return { ...result, intent: { ...intent, recovery } };
}
