/** Combines two intents in one clause: `freeze the Travel card and the Gift card`. */
import { pointingWords } from "./entityMentions.ts";
import type { FeasibilityResult } from "./feasibilityResult.ts";
import type { Intent } from "./intent.ts";
import { canNameTwo } from "./intentRules.ts";
import type { IntentSearch } from "./intentSearch.ts";
import { substitutePartialNames } from "./partialMention.ts";
import { isRequest } from "../text/clauses.ts";
import { fillSlots } from "../text/templateText.ts";

/** How often the same is asked for two instances, and how often with the word "both". */
const shares = { pair: 0.08, both: 0.3 };

/** The same intent for another instance, with the clause that asks for both. */
export function createPairedIntent(
  { intent, declaration, outcome }: FeasibilityResult,
  search: IntentSearch,
): { readonly intent: Intent; readonly clause: string } | undefined {
  const { random, sample } = search.context;
  const { template } = intent;
  if (
    outcome.kind !== "ok" ||
    intent.prerequisite ||
    intent.recovery ||
    substitutePartialNames(intent) ||
    search.plan.linkSteps ||
    !random.boolean(shares.pair) ||
    !isRequest(template)
  )
    return undefined;
  const exists = (entity: string, id: unknown) =>
    typeof id === "string" && sample.find(entity, id) !== undefined;
  const inputs = declaration.inputs.filter(
    it =>
      !it.isList &&
      exists(it.entity, intent.arguments[it.key]) &&
      canNameTwo(template, it.key) &&
      !pointingWords.test(intent.argumentTexts[it.key] ?? "it"),
  );
  const hasSecret = declaration.values.some(it => it.isSensitive && it.key in intent.arguments);
  if (inputs.length === 0 || hasSecret) return undefined;
  const { key } = random.pick(inputs);
  const other = search.findAccepted(
    { declaration, template: `{${key}}`, base: intent },
    it => it.arguments[key] !== intent.arguments[key],
  );
  if (!other || pointingWords.test(other.argumentTexts[key]!)) return undefined;
  const lead = random.boolean(shares.both) ? "both " : "";
  const names = `${lead}${intent.argumentTexts[key]!} and ${other.argumentTexts[key]!}`;
  const clause = fillSlots(template, slot => (slot === key ? names : intent.argumentTexts[slot]))!;
  return { intent: other, clause };
}
