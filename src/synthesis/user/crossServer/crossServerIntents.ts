/**
 * Creates intents that need a value from another server: the call that shows the value, asked for
 * or made without being asked for, and the call that takes it.
 */
import type { Json } from "../../../environment/json.ts";
import type { Random } from "../../../environment/random.ts";
import { containsToken } from "../../../trajectory/valueMatching.ts";
import { type CrossServerLink, getValueAt } from "../../text/crossServerLinks.ts";
import {
  type FeasibilityChecker,
  describeProblem,
  isEmptyResult,
  type FeasibilityResult,
} from "../intents/feasibility.ts";
import type { Intent, PassedValues } from "../intents/intent.ts";
import type { LinkStep } from "../userPlan.ts";
import { findSlots, markVerbatim } from "../../text/templateText.ts";
import { getFixedArguments, getTemplateText, type ClauseTemplate } from "../../text/templates.ts";
import type { ToolDeclaration } from "../../graph/declarations.ts";
import { formatReplyValue, isMoney } from "../../text/formatValue.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { EntityInstance } from "../entities/entitySample.ts";

/** Draws of a case and of an intent before a step is given up. */
const maxAttempts = 12;

/** How often a call that finds nothing is the end of a link. */
const emptyResultShare = 0.3;

/**
 * The intent of a step; `source` is the first call of the link where the user does not ask for it.
 */
interface StepResult {
  readonly source?: FeasibilityResult;
  readonly result: FeasibilityResult;
}

/** What a step is created from. */
interface StepRequest {
  readonly link: CrossServerLink;
  readonly linkCase: LinkCase;
}

/**
 * The intents over the links of one conversation: each link keeps the case that was drawn for it.
 */
export class CrossServerIntents {
  readonly #cases = new Map<CrossServerLink, LinkCase>();

  /**
   * Checks and commits the intent of a step, or returns the reason why there is none.
   * `pickTemplate` draws the clause for the first call of a link.
   */
  createIntent(
    { link, end }: LinkStep,
    pickTemplate: () => ClauseTemplate,
    checker: FeasibilityChecker,
  ): FeasibilityResult | string {
    const { random } = checker.context;
    let problem = "";
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const linkCase = (end === "to" && this.#cases.get(link)) || drawCase(link, random);
      const request = { link, linkCase };
      const step =
        end === "to"
          ? checkTarget(request, checker)
          : checkRequestedSource(request, pickTemplate(), checker);
      problem = describeProblem(typeof step === "string" ? step : step.result);
      if (typeof step === "string" || !isUseful(step.result, end, random)) continue;
      if (end === "from" && !canContinue(step.result, request, checker)) {
        problem = "it leads nowhere";
        continue;
      }
      this.#cases.set(link, linkCase);
      for (const it of [step.source, step.result]) if (it) checker.commit(it);
      return step.result;
    }
    return `no sensible ${link[end]} over ${link.name} (${problem})`;
  }
}

const isUseful = ({ outcome }: FeasibilityResult, end: LinkStep["end"], random: Random): boolean =>
  outcome.kind === "ok" &&
  (!isEmptyResult(outcome.value) || (end !== "from" && random.boolean(emptyResultShare)));

/** Whether the second call of the link is possible with what the first one shows. */
function canContinue(
  source: FeasibilityResult,
  request: StepRequest,
  checker: FeasibilityChecker,
): boolean {
  const fork = checker.fork();
  fork.commit(source);
  return [1, 2].some(() => {
    const step = checkTarget(request, fork);
    return typeof step !== "string" && step.result.outcome.kind === "ok";
  });
}

/**
 * The intent for the second call: worded by `after` if the first call was the last intent, else by
 * `forms`, and then the first call is made without being asked for.
 */
function checkTarget(request: StepRequest, checker: FeasibilityChecker): StepResult | string {
  const { link } = request;
  const { last, context } = checker;
  if (link.after && last?.intent.tool.name === link.from) {
    const template = context.random.pick(link.after);
    const result = checkTargetCall(request, { template, source: last, isRequested: true }, checker);
    return typeof result === "string" ? result : { result };
  }
  if (!link.forms) return `${link.from} was not asked for`;
  const template = context.random.pick(link.forms);
  const sourceResult = checkUnrequestedSource(request, template, checker);
  if (typeof sourceResult === "string") return sourceResult;
  if (sourceResult.outcome.kind !== "ok") return sourceResult.outcome.message;
  const source = { intent: sourceResult.intent, result: sourceResult.outcome.value };
  const result = checkTargetCall(request, { template, source, isRequested: false }, checker);
  return typeof result === "string" ? result : { source: sourceResult, result };
}

/** The first call as an intent of its own, about what the case names. */
function checkRequestedSource(
  { link, linkCase }: StepRequest,
  template: ClauseTemplate,
  checker: FeasibilityChecker,
): StepResult | string {
  const { from } = link;
  const passed = getCaseValues(linkCase, "from.", from, checker);
  if (typeof passed === "string") return passed;
  // a value of the case that the template neither has a slot for nor fixes
  const unsaid = Object.entries(passed.values).find(
    ([key, it]) =>
      !findSlots(getTemplateText(template)).includes(key) &&
      getFixedArguments(template)[key] !== it,
  );
  if (unsaid) return `nobody says ${unsaid[0]}`;
  const declaration = checker.context.declarations.get(from)!;
  const result = checker.check({ declaration, template, passed });
  if (typeof result === "string") return result;
  return findUnfitArgument(link, result.intent) ?? { result };
}

/** The first call without being asked for; its clause is how the second call's clause names it. */
function checkUnrequestedSource(
  { link: { from, with: fixed = {} }, linkCase }: StepRequest,
  template: string,
  checker: FeasibilityChecker,
): FeasibilityResult | string {
  const passed = getCaseValues(linkCase, "from.", from, checker);
  if (typeof passed === "string") return passed;
  const say = findSlots(template)
    .flatMap(it => (it.startsWith("from.") ? [`{${it.slice(5)}}`] : []))
    .join(" ");
  return checker.check({
    declaration: checker.context.declarations.get(from)!,
    template: { say: say || " ", with: fixed },
    passed,
  });
}

/** Why the result of the first call cannot have the value that the link passes on. */
function findUnfitArgument(
  { needs, without }: CrossServerLink,
  source: Intent,
): string | undefined {
  const has = (key: string) => source.arguments[key] !== undefined;
  const lacking = needs?.find(it => !has(it));
  return lacking === undefined
    ? without?.find(has) && "it is asked for too much"
    : `${lacking} is not asked for`;
}

/** The call that takes a value from the result of the first one. */
function checkTargetCall(
  { link, linkCase }: StepRequest,
  {
    template,
    source,
    isRequested,
  }: { readonly template: string; readonly source: SourceCall; readonly isRequested: boolean },
  checker: FeasibilityChecker,
): FeasibilityResult | string {
  const caseValues = getCaseValues(linkCase, "", link.to, checker);
  if (typeof caseValues === "string") return caseValues;
  const problem = findUnfitArgument(link, source.intent);
  if (problem !== undefined) return problem;
  const linked = getLinkedValues(link, source, caseValues, checker);
  if (typeof linked === "string") return linked;
  const result = checker.check({
    declaration: checker.context.declarations.get(link.to)!,
    template: {
      say: template,
      with: link.fixed ?? {},
      reply: (isRequested && link.added) || link.reply,
    },
    passed: {
      ...linked,
      slotTexts: getSourceTexts(source, checker.context),
      ...(isRequested ? {} : { prerequisite: source }),
    },
  });
  if (typeof result === "string") return result;
  const userText = `${source.intent.clause}\n${result.intent.clause}`;
  const isSaid = (value: Json) =>
    checker.knowledge.isSaid(formatPlain(value)) || containsToken(userText, formatPlain(value));
  return Object.keys(link.fill).every(key => isSaid(linked.values[key]!))
    ? "the user says it already"
    : result;
}

// Computes the values that a cross-server link passes on, and those that its cases set.

/** One value for each argument of a link's case. */
type LinkCase = Readonly<Record<string, Json>>;

/** The first call of a link, with its result. */
interface SourceCall {
  readonly intent: Intent;
  readonly result: Json;
}

/** Draws one of a link's cases, and one value for each of its arguments. */
function drawCase({ cases }: CrossServerLink, random: Random): LinkCase {
  if (!cases) return {};
  return Object.fromEntries(
    Object.entries(random.pick(cases)).map(([key, it]) => [
      key,
      Array.isArray(it) ? random.pick(it as readonly Json[]) : it,
    ]),
  );
}

/** The case's values for one of the link's two calls, or the reason why there are none. */
function getCaseValues(
  linkCase: LinkCase,
  prefix: "" | "from.",
  tool: string,
  checker: FeasibilityChecker,
): PassedValues | string {
  const declaration = checker.context.declarations.get(tool)!;
  const values: Record<string, Json> = {};
  const instances: Record<string, EntityInstance> = {};
  for (const [name, value] of Object.entries(linkCase)) {
    if (name.startsWith("from.") !== (prefix === "from.")) continue;
    const key = name.slice(prefix.length);
    const instance = findReferredInstance(declaration, key, value, checker);
    if (typeof instance === "string") return instance;
    if (instance) instances[key] = instance;
    values[key] = value;
  }
  return { values, instances, slotTexts: {} };
}

/**
 * The values that the second call takes from the first one, with those of the case, or the reason
 * why they make no sense.
 */
function getLinkedValues(
  link: CrossServerLink,
  source: SourceCall,
  caseValues: PassedValues,
  checker: FeasibilityChecker,
): Pick<PassedValues, "values" | "instances"> | string {
  const declaration = checker.context.declarations.get(link.to)!;
  const values: Record<string, Json> = { ...caseValues.values };
  const instances: Record<string, EntityInstance> = { ...caseValues.instances };
  for (const [key, path] of Object.entries(link.fill)) {
    const value = path.startsWith("=")
      ? source.intent.arguments[path.slice(1)]
      : getValueAt(source.result, path);
    if (value === undefined || value === null || value === "" || typeof value === "object")
      return `${link.from} shows no ${path} here`;
    if (!isAllowedValue(link, key, value)) return `${formatPlain(value)} makes no sense there`;
    const instance = findReferredInstance(declaration, key, value, checker);
    if (typeof instance === "string") return instance;
    if (instance) instances[key] = instance;
    const isText = declaration.values.find(it => it.key === key)?.schema["type"] === "string";
    values[key] = isText ? formatPlain(value) : value;
  }
  return { values, instances };
}

function isAllowedValue({ like, never }: CrossServerLink, key: string, value: Json): boolean {
  const pattern = like?.[key];
  return (
    !never?.[key]?.includes(value) &&
    (pattern === undefined || new RegExp(pattern, "u").test(formatPlain(value)))
  );
}

/** The instance whose label an argument is given by, undefined for other arguments, or a reason. */
function findReferredInstance(
  { inputs }: ToolDeclaration,
  key: string,
  value: Json,
  checker: FeasibilityChecker,
): EntityInstance | string | undefined {
  const input = inputs.find(it => it.key === key);
  if (!input || input.isSpoken) return undefined;
  const label = formatPlain(value);
  return checker.findByLabel(input.entity, label) ?? `there is no ${input.entity} called ${label}`;
}

/** Texts for the slots `{from.…}`: the arguments as they were named, and every plain field. */
function getSourceTexts(
  { intent, result }: SourceCall,
  { declarations, now, random }: ConversationContext,
): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [path, value] of listPlainFields(result, ""))
    texts[`from.${path}`] = markVerbatim(
      formatReplyValue(value, { now, random }, isMoneyField(path)),
    );
  // an entity is called as the user mentioned it, a value as the result has it
  const { inputs } = declarations.get(intent.tool.name)!;
  for (const [key, text] of Object.entries(intent.argumentTexts))
    if (inputs.some(input => input.key === key) || texts[`from.${key}`] === undefined)
      texts[`from.${key}`] = text;
  return texts;
}

const isMoneyField = (path: string): boolean =>
  isMoney(path.split(".").at(-1)!, undefined) ||
  /(^|\.)(left|missing|last|buy_now|free)$/.test(path);

/** The plain fields of a result; of a list, those of the last and the first item. */
function* listPlainFields(value: Json, path: string): Generator<readonly [string, Json]> {
  if (value === null) return;
  if (typeof value !== "object") yield [path, value];
  else if (Array.isArray(value)) {
    if (value.length > 0) yield* listPlainFields(value.at(-1) as Json, `${path}.last`);
    if (value.length > 0) yield* listPlainFields(value[0] as Json, `${path}.0`);
  } else
    for (const [key, it] of Object.entries(value))
      yield* listPlainFields(it, path ? `${path}.${key}` : key);
}

/** A value as it stands, without formatting. */
const formatPlain = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);
