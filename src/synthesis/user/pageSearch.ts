/** Finds requests about an entity that a list shows only if it is read further than its first rows. */
import { markVerbatim } from "../text/valueMarks.ts";
import type { ConversationContext } from "./conversationContext.ts";
import { getEntityKey, type EntityInstance } from "./entityInstance.ts";
import { findsSomething, type FeasibilityResult } from "./feasibilityResult.ts";
import { readWithLargestLimit } from "./lookUpPlan.ts";
import { findLookUps, listRows, type LookUp } from "./lookUps.ts";
import type { Flow, RecoveryRequest, RecoverySource } from "./recoveryRequest.ts";

/** How many of the entities that are further down a list are tried. */
const maxChoices = 4;

/** A request about an entity that is not among the first rows of any list, or undefined. */
export function findPagedIntent(request: RecoveryRequest): FeasibilityResult | undefined {
  const { search, declaration } = request;
  const { random, known } = search.context;
  const inputs = declaration.inputs.filter(it => it.isRequired && !it.isList);
  const choices = inputs.flatMap(({ key, entity }) =>
    listFurtherDown(entity, search)
      .filter(it => !known.has(getEntityKey(it)))
      .map(instance => ({ [key]: [instance] })),
  );
  for (const flow of random.shuffle(choices).slice(0, maxChoices)) {
    const result = findIntentFurtherDown(flow, request);
    if (result) return result;
  }
  return undefined;
}

/** A request about one of these entities that takes a look-up further down a list, or undefined. */
function findIntentFurtherDown(
  flow: Flow,
  { search: { checker, plan }, check }: RecoveryRequest,
): FeasibilityResult | undefined {
  const result = check({ usesPages: true, flow });
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

/** The entities of a kind that a list shows only if it is read with its largest limit. */
function listFurtherDown(entity: string, { context, checker }: RecoverySource): EntityInstance[] {
  const session = checker.forkSession();
  return listPagedLookUps(entity, context, checker.hiddenTools).flatMap(([first, all]) => {
    const shown = new Set(listRows(first, createUnknown(entity), session).map(it => it.id));
    return listRows(all, createUnknown(entity), session).flatMap(({ id }) =>
      shown.has(id) ? [] : (context.sample.find(entity, id) ?? []),
    );
  });
}

/** The whole lists of a kind of entity that have a limit, each as it is and with its largest. */
function listPagedLookUps(
  entity: string,
  { declarations, sample }: ConversationContext,
  hiddenTools: ReadonlySet<string> | undefined,
): (readonly [first: LookUp, all: LookUp])[] {
  const lookUps = findLookUps(createUnknown(entity), declarations, sample, {
    prefersLists: true,
    preferredTools: new Set(),
    ...(hiddenTools ? { hiddenTools } : {}),
  });
  return lookUps.flatMap(first => {
    const all = readWithLargestLimit(first);
    return all ? [[first, all] as const] : [];
  });
}

const createUnknown = (entity: string): EntityInstance => ({
  entity,
  id: "",
  facts: {},
  parents: {},
});
