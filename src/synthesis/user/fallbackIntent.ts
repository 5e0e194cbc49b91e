/**
 * Creates fallbacks: what the user wants instead if an intent is refused, said in the same turn.
 */
import type { ToolDeclaration } from "../graph/declarations.ts";
import { findsSomething, type FeasibilityResult } from "./feasibilityResult.ts";
import type { Intent } from "./intent.ts";
import { isAcceptableChange } from "./intentRules.ts";
import type { IntentSearch } from "./intentSearch.ts";
import { substitutePartialNames } from "./partialMention.ts";
import { isRequest } from "../text/clauses.ts";

/**
 * How often a fallback is said: where it is needed, where it is not, with another tool, and with
 * another tool where there is no fallback with the same one.
 */
const shares = { needed: 0.6, spare: 0.04, anotherTool: 0.15, onlyTool: 0.4 };

/** Tools that are tried for a fallback with another tool. */
const maxTools = 4;

const leads = [
  "if that is not possible,",
  "if that does not work,",
  "if it cannot be done,",
  "should that be impossible,",
];

/** An intent that the session accepts in place of another one, or undefined. */
export function createFallback(
  result: FeasibilityResult,
  search: IntentSearch,
): Intent | undefined {
  const { intent, declaration, outcome } = result;
  // after a partial name the server's refusal is expected, and a question has no alternative
  if (substitutePartialNames(intent) || intent.clause.endsWith("?")) return undefined;
  if (intent.recovery) return undefined;
  const { templates, random } = search.context;
  const ownTemplates = templates.tools[intent.tool.name]!.otherwise;
  const isNeeded = outcome.kind !== "ok";
  if (isNeeded && random.boolean(ownTemplates ? shares.anotherTool : shares.onlyTool))
    return createFallbackWithOtherTool(intent, search);
  if (!ownTemplates || !random.boolean(isNeeded ? shares.needed : shares.spare)) return undefined;
  const [key, choices] = random.pick(Object.entries(ownTemplates));
  const checker = isNeeded ? search.checker : search.checker.fork();
  return search.findAccepted(
    { declaration, base: intent, template: random.pick(choices) },
    it => isAcceptableChange(it, intent, key),
    checker,
  );
}

/** A read about the same instance: `cancel it; if that is not possible, tell me where it is`. */
function createFallbackWithOtherTool(intent: Intent, search: IntentSearch): Intent | undefined {
  const { declarations, templates, random } = search.context;
  const [mention] = intent.mentions;
  if (!mention || intent.clause.endsWith("?") || search.plan.linkSteps) return undefined;
  const { instance } = mention;
  const isRelatedRead = ({ tool, inputs }: ToolDeclaration) =>
    tool.effect === "read" &&
    templates.tools[tool.name] &&
    inputs.some(it => it.isRequired && !it.isList && it.entity === instance.entity);
  const choices = random.shuffle([...declarations.values()].filter(isRelatedRead));
  for (const declaration of choices.slice(0, maxTools)) {
    const { key } = declaration.inputs.find(it => it.isRequired && it.entity === instance.entity)!;
    const template = random.pick(templates.tools[declaration.tool.name]!.forms);
    const result = search.checker.check(
      { declaration, template, flow: { [key]: [instance] } },
      { ...search.context, focus: [instance], recent: [instance] },
    );
    if (typeof result === "string" || result.missingCapability || !findsSomething(result)) continue;
    const { arguments: args, mentions, clause } = result.intent;
    if (args[key] !== instance.id || mentions.length > 1 || !isRequest(clause)) continue;
    search.checker.commit(result);
    return { ...result.intent, clause: `${random.pick(leads)} ${clause}` };
  }
  return undefined;
}
