/**
 * Creates an intent from a template: chooses a value for every argument and fills in the clause.
 * Whether the call succeeds is checked elsewhere.
 */
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { Tool } from "../../../environment/server.ts";
import { listScalars } from "../../../trajectory/valueMatching.ts";
import { formatValue, isMoney } from "../../text/formatValue.ts";
import { applyContractions, isRequest } from "../../text/grammar.ts";
import {
  getFixedArguments,
  getOwnReplies,
  getTemplateText,
  findArgumentTemplates,
} from "../../text/templates.ts";
import { markVerbatim, chooseAlternatives, fillSlots, findSlots } from "../../text/templateText.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { addPassedEntity, chooseEntities, isSelf, pickInstance } from "./entityArguments.ts";
import type { Intent, IntentDraft, IntentRequest } from "./intent.ts";
import { computeValue } from "./computedValues.ts";
import { composeValue, isComposed } from "./objectValues.ts";
import { isDate, isDateTime, pickArgumentValue, renderArgumentValue } from "./plainValues.ts";
import { type EntityId } from "../../../trajectory/entities.ts";

/** An intent with every argument chosen, or undefined if there is nothing to choose from. */
export function createIntent(
  context: ConversationContext,
  request: IntentRequest,
): Intent | undefined {
  const { declaration, base, withheld, passed, determined = [] } = request;
  const plain = chooseAlternatives(getTemplateText(request.template), context.random);
  const template = context.persona.contracts ? applyContractions(plain) : plain;
  const slots = findSlots(template);
  const draft = startDraft(request, slots);
  const wantedKeys = new Set([
    ...slots,
    ...determined,
    ...(withheld === undefined ? [] : [withheld]),
  ]);
  const isComplete =
    addEntities(context, request, wantedKeys, draft) &&
    addLabels(context, request, wantedKeys, draft) &&
    addValues(context, request, wantedKeys, draft);
  if (!isComplete) return undefined;
  const { computed, valueTexts, ...said } = draft;
  const correction =
    withheld === undefined && computed.length === 0
      ? createSelfCorrection(context, request, template, draft)
      : undefined;
  const clause = fillSlots(template, slot =>
    correction?.key === slot ? correction.text : draft.argumentTexts[slot],
  );
  if (clause === undefined) return undefined;
  const replies =
    getOwnReplies(request.template) ?? (asksTheSame(request, slots) ? base?.replies : undefined);
  return {
    ...said,
    ...(computed.length > 0 ? { computed } : {}),
    ...(Object.keys(valueTexts).length > 0 ? { valueTexts } : {}),
    tool: declaration.tool,
    arguments: sortArguments(declaration.tool, draft.arguments),
    clause,
    template,
    ...(base ? { isContinued: true } : {}),
    ...(replies ? { replies } : {}),
    ...(passed?.prerequisite ? { prerequisite: passed.prerequisite } : {}),
  };
}

/** A draft with what the base intent, the template and the passed values already determine. */
function startDraft(request: IntentRequest, slots: readonly string[]): IntentDraft {
  const { base, passed } = request;
  const inherited = getInheritedArguments(request, slots);
  const contains = (value: Json, id: EntityId) => [...listScalars(value)].includes(id);
  const isReplaced = (id: EntityId) =>
    slots.some(key => contains(base?.arguments[key] ?? null, id));
  const isDropped = (id: EntityId) =>
    Object.entries(base?.arguments ?? {}).some(
      ([key, value]) => !(key in inherited) && contains(value, id),
    );
  return {
    arguments: { ...inherited, ...getFixedArguments(request.template) },
    mentions: (base?.mentions ?? []).filter(
      ({ instance: { id } }) => !isReplaced(id) && !isDropped(id),
    ),
    argumentTexts: { ...getCarriedTexts(request), ...passed?.slotTexts },
    computed: [],
    valueTexts: Object.fromEntries(
      Object.entries(base?.valueTexts ?? {}).filter(([key]) => !slots.includes(key)),
    ),
  };
}

/**
 * The arguments of the base intent that stay. A change with new values is a new one, so that nobody
 * takes it to have the optional arguments of the last one too, unless the user says "the same".
 */
function getInheritedArguments(
  { base, declaration, isRepeated, template }: IntentRequest,
  slots: readonly string[],
): JsonObject {
  const { inputs, labels, values, tool } = declaration;
  const isOther =
    isRepeated &&
    tool.effect === "write" &&
    values.some(it => slots.includes(it.key)) &&
    !/\b(same|again)\b/.test(getTemplateText(template));
  if (!base || !isOther) return base?.arguments ?? {};
  const optional = [...inputs, ...labels, ...values].filter(it => !it.isRequired);
  return Object.fromEntries(
    Object.entries(base.arguments).filter(([key]) => !optional.some(it => it.key === key)),
  );
}

/** The texts of the base intent; those from another call's result only fit the same arguments. */
const getCarriedTexts = ({ base, isSettled }: IntentRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(base?.argumentTexts ?? {}).filter(
      ([slot]) => isSettled || !slot.startsWith("from."),
    ),
  );

function addEntities(
  context: ConversationContext,
  request: IntentRequest,
  wantedKeys: ReadonlySet<string>,
  draft: IntentDraft,
): boolean {
  const { declaration, base, passed } = request;
  const fixed = getFixedArguments(request.template);
  for (const input of declaration.inputs) {
    // what an object refers to is chosen with the object
    if (input.path !== input.key) continue;
    if (passed?.values[input.key] !== undefined) {
      const instance = passed.instances[input.key];
      if (instance && isSelf(context, instance)) return false;
      addPassedEntity(context, input, passed, draft);
      continue;
    }
    if (!wantedKeys.has(input.key) && (base || !input.isRequired || input.key in fixed)) continue;
    const said = chooseEntities(context, request, input, draft);
    if (!said) return false;
    draft.arguments[input.key] = said.value;
    draft.argumentTexts[input.key] = said.text;
    if (said.told !== undefined) draft.valueTexts[input.key] = said.told;
  }
  return true;
}

function addLabels(
  context: ConversationContext,
  { declaration, base, isSettled, passed }: IntentRequest,
  wantedKeys: ReadonlySet<string>,
  draft: IntentDraft,
): boolean {
  for (const { key, entity } of declaration.labels) {
    const passedValue = passed?.values[key];
    if (!wantedKeys.has(key) && passedValue === undefined) continue;
    const label =
      passedValue !== undefined
        ? passedValue
        : isSettled
          ? base?.arguments[key]
          : pickInstance(context, entity, [], it => it.label !== undefined)?.label;
    if (typeof label !== "string") return false;
    draft.arguments[key] = label;
    draft.argumentTexts[key] = markVerbatim(label);
  }
  return true;
}

function addValues(
  context: ConversationContext,
  request: IntentRequest,
  wantedKeys: ReadonlySet<string>,
  draft: IntentDraft,
): boolean {
  const { declaration, base, isSettled, passed, withheld, isDeliberate } = request;
  const { tool } = declaration;
  const mayCompute = !base && withheld === undefined && !isDeliberate;
  for (const { key, schema, isSensitive } of declaration.values) {
    const passedValue = passed?.values[key];
    if (!wantedKeys.has(key) && passedValue === undefined) continue;
    const settledValue =
      passedValue !== undefined ? passedValue : isSettled ? base?.arguments[key] : undefined;
    if (isComposed(context, { tool, key, schema })) {
      const said = composeValue(context, request, { key, schema }, draft, settledValue);
      if (!said) return false;
      draft.arguments[key] = said.value;
      draft.argumentTexts[key] = said.text;
      continue;
    }
    const { mentions } = draft;
    const computed =
      mayCompute && passedValue === undefined
        ? computeValue(context, { tool, key, schema }, mentions)
        : undefined;
    if (computed) {
      const { value } = computed;
      draft.arguments[key] = value;
      draft.argumentTexts[key] = computed.text;
      draft.valueTexts[key] = renderArgumentValue(context, { tool, key, schema, value });
      draft.computed.push(computed.source);
      continue;
    }
    const owners = isSensitive ? mentions : [];
    const value =
      settledValue ?? pickArgumentValue(context, { tool, key, schema, owners, mentions });
    if (value === undefined) return false;
    draft.arguments[key] = value;
    draft.argumentTexts[key] = renderArgumentValue(context, { tool, key, schema, value });
  }
  return true;
}

/** Whether the request is the base intent with its missing value, or about another instance. */
const asksTheSame = (
  { declaration, isSettled }: IntentRequest,
  slots: readonly string[],
): boolean =>
  isSettled === true || slots.every(slot => declaration.inputs.some(it => it.key === slot));

/** The arguments in the order in which the tool declares them. */
const sortArguments = (tool: Tool, args: Readonly<Record<string, Json>>): JsonObject =>
  Object.fromEntries(
    Object.keys((tool.inputSchema["properties"] ?? {}) as object).flatMap(key =>
      args[key] === undefined ? [] : [[key, args[key]]],
    ),
  );

// Creates corrections of a value within the same sentence: `40, no, 45 euros`.

/** How often a persona without a share of its own corrects a value. */
const defaultShare = 0.008;

/** An argument whose text names a wrong value first, or undefined if nothing is corrected. */
function createSelfCorrection(
  context: ConversationContext,
  { declaration, base }: IntentRequest,
  template: string,
  draft: IntentDraft,
): { readonly key: string; readonly text: string } | undefined {
  const { corrections, templates, now, persona, random, isMinimal } = context;
  const { tool } = declaration;
  if (!corrections || base || isMinimal || !random.boolean(persona.corrects ?? defaultShare))
    return undefined;
  const value = declaration.values.find(
    it =>
      template.includes(`{${it.key}}`) &&
      !findArgumentTemplates(templates, tool.name, it.key)?.words &&
      (typeof draft.arguments[it.key] === "number" || isDate(it.schema) || isDateTime(it.schema)),
  );
  if (!value) return undefined;
  const { key, schema } = value;
  const wrong = pickArgumentValue(context, { tool, key, schema, mentions: draft.mentions });
  if (wrong === undefined || wrong === draft.arguments[key]) return undefined;
  const wrongText = formatValue(wrong, { now, persona, random }, isMoney(key, schema));
  const text = random
    .pick(corrections)
    .replace("{first}", () => markVerbatim(wrongText))
    .replace("{clause}", () => draft.argumentTexts[key]!);
  return endsPhrase(template, key) && isRequest(template) ? { key, text } : undefined;
}

/** Whether the words after a slot can follow a correction. */
const endsPhrase = (template: string, key: string): boolean =>
  new RegExp(`\\{${key}\\}(\\?|,|$| (from|to|into|in|on|for|of|with|at|before|until|as)\\b)`).test(
    template,
  );
