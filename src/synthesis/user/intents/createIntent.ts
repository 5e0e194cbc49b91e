/**
 * Creates an intent from a template: chooses a value for every argument and fills in the clause.
 * Whether the call succeeds is checked elsewhere.
 */
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { Tool, JsonSchema } from "../../../environment/server.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { Intent, IntentDraft, IntentRequest, PassedValues, EntityMention } from "./intent.ts";
import { applyContractions, isRequest } from "../../text/grammar.ts";
import {
  markVerbatim,
  chooseAlternatives,
  fillSlots,
  findSlots,
  joinWithAnd,
} from "../../text/templateText.ts";
import {
  getFixedArguments,
  getOwnReplies,
  getTemplateText,
  findArgumentTemplates,
} from "../../text/templates.ts";
import { formatValue, isMoney } from "../../text/formatValue.ts";
import type { EntityInput } from "../../graph/declarations.ts";
import { getEntityKey, type EntityInstance, type MentionText } from "../entities/entitySample.ts";
import { mentionEntity } from "../entities/entityMentions.ts";
import { addDays } from "../../../environment/time.ts";

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

// Chooses the entities that the arguments of an intent refer to.

/** Draws of instances for one argument, until there are words for them. */
const maxDraws = 5;

/** Adds an argument that refers to entities. Returns false if none can be named. */
function addEntityArgument(
  context: ConversationContext,
  request: IntentRequest,
  input: EntityInput,
  draft: IntentDraft,
): boolean {
  const { key, isSpoken, isList } = input;
  let instances: EntityInstance[] = [];
  let mentions: (MentionText | undefined)[] = [];
  // not every instance can be told apart from others by its name
  for (let attempt = 0; attempt < maxDraws; attempt++) {
    instances = request.isSettled
      ? getSettledInstances(request, input)
      : drawInstances(context, request, input, draft);
    if (instances.length === 0) return isSpoken && !isList && addSpokenValue(context, input, draft);
    mentions = instances.map(it => mentionEntity(context, it, isSpoken));
    if (request.isSettled || !mentions.includes(undefined)) break;
  }
  if (mentions.includes(undefined)) return false;
  draft.arguments[key] = isList ? instances.map(it => it.id) : instances[0]!.id;
  draft.argumentTexts[key] = joinWithAnd(mentions.map(it => it!.text));
  for (const [i, instance] of instances.entries()) {
    const { isIdSpoken, partialName, isAmbiguous } = mentions[i]!;
    draft.mentions.push({ instance, isIdSpoken, partialName, isAmbiguous });
  }
  return true;
}

/** Adds an argument that another call's result gives: an instance by its label, or a name. */
function addPassedEntity(
  context: ConversationContext,
  { key, entity, isList }: EntityInput,
  { values, instances }: PassedValues,
  draft: IntentDraft,
): void {
  const value = values[key] as string;
  const labelled = instances[key];
  const instance = labelled ?? { entity, id: value, facts: {}, parents: {} };
  draft.arguments[key] = isList ? [instance.id] : instance.id;
  const mention = labelled && mentionEntity(context, labelled, false);
  draft.argumentTexts[key] = mention?.text ?? markVerbatim(value);
  const partialName = mention?.partialName;
  draft.mentions.push({ instance, isIdSpoken: labelled === undefined, partialName });
}

function getSettledInstances(
  { base }: IntentRequest,
  { key, entity }: EntityInput,
): EntityInstance[] {
  const ids = [base?.arguments[key] ?? []].flat();
  return (base?.mentions ?? []).flatMap(({ instance }) =>
    instance.entity === entity && ids.includes(instance.id) ? [instance] : [],
  );
}

/** Instances that flow in from the last intent, or others of that entity not yet in the draft. */
function drawInstances(
  context: ConversationContext,
  { flow, base }: IntentRequest,
  { key, entity, isList }: EntityInput,
  draft: IntentDraft,
): EntityInstance[] {
  const { random } = context;
  const excludedIds = draft.mentions
    .filter(it => it.instance.entity === entity)
    .map(it => it.instance.id);
  if (base && typeof base.arguments[key] === "string") excludedIds.push(base.arguments[key]);
  const flowing = flow?.[key]?.filter(it => !excludedIds.includes(it.id) && !isSelf(context, it));
  const count = isList ? 1 + random.integer(2) : 1;
  const instances: EntityInstance[] = [];
  for (let i = 0; i < count; i++) {
    const instance =
      (i === 0 && flowing?.length ? random.pick(flowing) : undefined) ??
      pickInstance(context, entity, [...excludedIds, ...instances.map(it => it.id)]);
    if (instance) instances.push(instance);
  }
  return instances;
}

/** Adds a value that a person can say although no result has shown it, such as a time slot. */
function addSpokenValue(
  context: ConversationContext,
  { key, entity, schema }: EntityInput,
  draft: IntentDraft,
): boolean {
  const { now, persona, random } = context;
  const value = generateValue(context, schema);
  if (typeof value !== "string") return false;
  draft.arguments[key] = value;
  draft.argumentTexts[key] = formatValue(value, { now, persona, random });
  draft.mentions.push({
    instance: { entity, id: value, facts: {}, parents: {} },
    isIdSpoken: true,
  });
  return true;
}

/** Whether an instance is the user. */
export const isSelf = (
  { templates: { self } }: ConversationContext,
  { id, label }: EntityInstance,
): boolean => self !== undefined && (label === self || id === self);

/** Any instance of an entity but those excluded and the user. */
function pickInstance(
  context: ConversationContext,
  entity: string,
  excludedIds: readonly string[],
  isAllowed: (it: EntityInstance) => boolean = () => true,
): EntityInstance | undefined {
  const { sample, known, random } = context;
  const instances = (sample.instances.get(entity) ?? []).map(
    it => known.get(getEntityKey(it)) ?? it,
  );
  const choices = instances.filter(
    it => !excludedIds.includes(it.id) && !isSelf(context, it) && isAllowed(it),
  );
  return choices.length === 0 ? undefined : random.pick(choices);
}

// Chooses plain values for arguments and puts them into words.

interface Argument {
  readonly tool: Tool;
  readonly key: string;
  readonly schema: JsonSchema;
}

/**
 * A value for an argument: from the tool's templates, else generated from the schema. A secret is
 * that of one of its `owners`, where a row shows it. `mentions` are the entities that the request
 * names.
 */
function pickArgumentValue(
  context: ConversationContext,
  {
    tool,
    key,
    schema,
    owners = [],
    mentions = [],
  }: Argument & {
    readonly owners?: readonly EntityMention[];
    readonly mentions?: readonly EntityMention[];
  },
): Json | undefined {
  const owner = owners.find(it => it.instance.facts[key] !== undefined);
  if (owner) return owner.instance.facts[key];
  const templates = findArgumentTemplates(context.templates, tool.name, key);
  const suiting = mentions.flatMap(it => templates?.valuesBy?.[it.instance.label ?? ""] ?? []);
  if (suiting.length > 0) return context.random.pick(suiting);
  if (templates?.values) return context.random.pick(templates.values);
  if (templates?.words && !schema["enum"])
    return parseKey(context.random.pick(Object.keys(templates.words)), schema);
  return generateValue(context, schema, templates?.days);
}

const parseKey = (key: string, schema: JsonSchema): Json =>
  schema["type"] === "string" ? key : (JSON.parse(key) as Json);

/**
 * A value that fits a schema, or undefined for a schema of which any text could be meant. `days` is
 * the range of dates, counted from today.
 */
function generateValue(
  { now, random, localize }: Pick<ConversationContext, "now" | "random" | "localize">,
  schema: JsonSchema,
  days: readonly [number, number] = [1, 21],
): Json | undefined {
  const values = schema["enum"] as readonly Json[] | undefined;
  if (values?.length) return random.pick(values);
  const examples = schema["examples"] as readonly Json[] | undefined;
  if (examples?.length) {
    const example = random.pick(examples);
    return localize ? localize(example) : example;
  }
  const pickDay = () => addDays(now.slice(0, 10), days[0] + random.integer(days[1] - days[0] + 1));
  const pickTime = () =>
    `${String(9 + random.integer(8)).padStart(2, "0")}:${random.pick(["00", "00", "30", "15", "45"])}`;
  if (isDate(schema)) return pickDay();
  if (isDateTime(schema)) {
    // meetings are mostly on weekdays
    const [first, second] = [pickDay(), pickDay()];
    return `${[0, 6].includes(new Date(first).getUTCDay()) ? second : first}T${pickTime()}`;
  }
  switch (schema["type"]) {
    case "integer":
    case "number": {
      const { minimum = 1, maximum = 60 } = schema as { minimum?: number; maximum?: number };
      const start = Math.ceil(minimum);
      const end = Math.min(maximum, minimum + 60);
      return start + random.integer(Math.max(1, end - start));
    }
    case "boolean":
      return random.boolean(0.5);
    case "array": {
      const item = generateValue(
        { now, random, ...(localize ? { localize } : {}) },
        (schema["items"] ?? {}) as JsonSchema,
        days,
      );
      return item === undefined ? undefined : [item];
    }
    default:
      return undefined;
  }
}

const isDate = (schema: JsonSchema): boolean => hasPatternFor(schema, "2026-03-09");
const isDateTime = (schema: JsonSchema): boolean => hasPatternFor(schema, "2026-03-09T10:30");

/** Whether the schema's pattern accepts the example, and not just any text. */
function hasPatternFor(schema: JsonSchema, example: string): boolean {
  const pattern = schema["pattern"];
  if (typeof pattern !== "string") return false;
  let regex = patterns.get(pattern);
  if (!regex) patterns.set(pattern, (regex = new RegExp(pattern, "u")));
  return regex.test(example) && !regex.test("x");
}

const patterns = new Map<string, RegExp>();

/** An argument's value in the user's words. */
export function renderArgumentValue(
  { templates, now, persona, random }: ConversationContext,
  { tool, key, schema, value }: Argument & { readonly value: Json },
): string {
  const own = findArgumentTemplates(templates, tool.name, key);
  const words = own?.words?.[typeof value === "string" ? value : JSON.stringify(value)];
  const text = words
    ? random.pick(words)
    : markVerbatim(
        Array.isArray(value)
          ? joinWithAnd(value.map(String))
          : formatValue(value, { now, persona, random }, isMoney(key, schema)),
      );
  return own?.say
    ? fillSlots(chooseAlternatives(random.pick(own.say), random), slot =>
        slot === "value" ? text : undefined,
      )!
    : text;
}

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
