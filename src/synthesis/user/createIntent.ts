/**
 * Creates an intent from a template: chooses a value for every argument and fills in the clause.
 * Whether the call succeeds is checked elsewhere.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { pickArgumentValue, renderArgumentValue } from "./argumentValues.ts";
import type { ConversationContext } from "./conversationContext.ts";
import { addEntityArgument, addPassedEntity, isSelf, pickInstance } from "./entityArguments.ts";
import type { Intent, IntentDraft, IntentRequest } from "./intent.ts";
import { createSelfCorrection } from "./selfCorrection.ts";
import { applyContractions } from "../text/clauses.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import { chooseAlternatives, fillSlots, findSlots } from "../text/templateText.ts";
import { getFixedArguments, getOwnReplies, getTemplateText } from "../text/templateSchema.ts";

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
  const correction =
    withheld === undefined ? createSelfCorrection(context, request, template, draft) : undefined;
  const clause = fillSlots(template, slot =>
    correction?.key === slot ? correction.text : draft.argumentTexts[slot],
  );
  if (clause === undefined) return undefined;
  const replies =
    getOwnReplies(request.template) ?? (asksTheSame(request, slots) ? base?.replies : undefined);
  return {
    ...draft,
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
  const isReplaced = (id: string) =>
    slots.some(key => [base?.arguments[key] ?? []].flat().includes(id));
  const isDropped = (id: string) =>
    Object.entries(base?.arguments ?? {}).some(
      ([key, value]) => !(key in inherited) && [value].flat().includes(id),
    );
  return {
    arguments: { ...inherited, ...getFixedArguments(request.template) },
    mentions: (base?.mentions ?? []).filter(
      ({ instance: { id } }) => !isReplaced(id) && !isDropped(id),
    ),
    argumentTexts: { ...getCarriedTexts(request), ...passed?.slotTexts },
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
    if (passed?.values[input.key] !== undefined) {
      const instance = passed.instances[input.key];
      if (instance && isSelf(context, instance)) return false;
      addPassedEntity(context, input, passed, draft);
      continue;
    }
    if (!wantedKeys.has(input.key) && (base || !input.isRequired || input.key in fixed)) continue;
    if (!addEntityArgument(context, request, input, draft)) return false;
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
  { declaration, base, isSettled, passed }: IntentRequest,
  wantedKeys: ReadonlySet<string>,
  draft: IntentDraft,
): boolean {
  const { tool } = declaration;
  for (const { key, schema, isSensitive } of declaration.values) {
    const passedValue = passed?.values[key];
    if (!wantedKeys.has(key) && passedValue === undefined) continue;
    const settledValue =
      passedValue !== undefined ? passedValue : isSettled ? base?.arguments[key] : undefined;
    const { mentions } = draft;
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
