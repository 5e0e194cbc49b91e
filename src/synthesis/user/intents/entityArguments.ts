/** Chooses the entities that the arguments of an intent refer to, and puts them into words. */
import type { Json } from "../../../environment/json.ts";
import type { EntityInput } from "../../graph/declarations.ts";
import { formatValue } from "../../text/formatValue.ts";
import { joinWithAnd, markVerbatim } from "../../text/templateText.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { mentionEntity } from "../entities/entityMentions.ts";
import { getEntityKey, type EntityInstance, type MentionText } from "../entities/entitySample.ts";
import type { IntentDraft, IntentRequest, PassedValues } from "./intent.ts";
import { generateValue } from "./plainValues.ts";
import { type EntityId, isEntityId } from "../../../trajectory/entities.ts";

/** Draws of instances for one argument, until there are words for them. */
const maxDraws = 5;

/** A value of an argument, or of a part of one, and the user's words for it. */
export interface SaidValue {
  readonly value: Json;
  readonly text: string;
  /** The assistant's words for it, if they are others. */
  readonly told?: string;
}

/**
 * Chooses entities to refer to, which become mentions of the draft. Returns undefined if none can
 * be named.
 */
export function chooseEntities(
  context: ConversationContext,
  request: IntentRequest,
  input: EntityInput,
  draft: IntentDraft,
): SaidValue | undefined {
  const { isSpoken, isList } = input;
  let instances: EntityInstance[] = [];
  let mentions: (MentionText | undefined)[] = [];
  // not every instance can be told apart from others by its name
  for (let attempt = 0; attempt < maxDraws; attempt++) {
    instances = request.isSettled
      ? getSettledInstances(request, input)
      : drawInstances(context, request, input, draft);
    if (instances.length === 0)
      return isSpoken && !isList ? chooseSpokenValue(context, input, draft) : undefined;
    mentions = instances.map(it => mentionEntity(context, it, isSpoken));
    if (request.isSettled || !mentions.includes(undefined)) break;
  }
  return sayEntities(instances, mentions, input, draft);
}

/** The words for entities that are given, which become mentions of the draft. */
export function sayGivenEntities(
  context: ConversationContext,
  { base }: IntentRequest,
  input: EntityInput,
  draft: IntentDraft,
  given: Json,
): SaidValue | undefined {
  const { entity, isSpoken } = input;
  const mentioned = (base?.mentions ?? []).map(it => it.instance);
  const instances = [given]
    .flat()
    .flatMap(
      id =>
        mentioned.find(it => it.entity === entity && it.id === id) ??
        findInstance(context, entity, id) ??
        [],
    );
  const mentions = instances.map(it => mentionEntity(context, it, isSpoken));
  return instances.length === [given].flat().length
    ? sayEntities(instances, mentions, input, draft)
    : undefined;
}

/** The instance with an id, as far as the conversation and the sample know one. */
export function findInstance(
  { known, sample }: ConversationContext,
  entity: string,
  id: Json,
): EntityInstance | undefined {
  if (!isEntityId(id)) return undefined;
  return known.get(getEntityKey({ entity, id })) ?? sample.find(entity, id);
}

function sayEntities(
  instances: readonly EntityInstance[],
  mentions: readonly (MentionText | undefined)[],
  { isList }: EntityInput,
  draft: IntentDraft,
): SaidValue | undefined {
  if (instances.length === 0 || mentions.includes(undefined)) return undefined;
  for (const [i, instance] of instances.entries()) {
    const { isIdSpoken, partialName, isAmbiguous } = mentions[i]!;
    draft.mentions.push({ instance, isIdSpoken, partialName, isAmbiguous });
  }
  const isMisspelt = mentions.some(it => it!.spelt !== undefined);
  return {
    value: isList ? instances.map(it => it.id) : instances[0]!.id,
    text: joinWithAnd(mentions.map(it => it!.text)),
    ...(isMisspelt ? { told: joinWithAnd(mentions.map(it => it!.spelt ?? it!.text)) } : {}),
  };
}

/** Adds an argument that another call's result gives: an instance by its label, or a name. */
export function addPassedEntity(
  context: ConversationContext,
  { key, entity, isList }: EntityInput,
  { values, instances }: PassedValues,
  draft: IntentDraft,
): void {
  const value = values[key] as EntityId;
  const labelled = instances[key];
  const instance = labelled ?? { entity, id: value, facts: {}, parents: {} };
  draft.arguments[key] = isList ? [instance.id] : instance.id;
  const mention = labelled && mentionEntity({ ...context, misspeltShare: 0 }, labelled, false);
  draft.argumentTexts[key] = mention?.text ?? markVerbatim(String(value));
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
  { key, path, entity, isList }: EntityInput,
  draft: IntentDraft,
): EntityInstance[] {
  const { random } = context;
  const excludedIds = draft.mentions
    .filter(it => it.instance.entity === entity)
    .map(it => it.instance.id);
  const replaced = base?.arguments[key];
  if (isEntityId(replaced)) excludedIds.push(replaced);
  const flowing = flow?.[path]?.filter(it => !excludedIds.includes(it.id) && !isSelf(context, it));
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

/** A value that a person can say although no result has shown it, such as a time slot. */
function chooseSpokenValue(
  context: ConversationContext,
  { entity, schema }: EntityInput,
  draft: IntentDraft,
): SaidValue | undefined {
  const { now, persona, random, relativeDateShare } = context;
  const style = relativeDateShare === undefined ? {} : { relativeShare: relativeDateShare };
  const value = generateValue(context, schema);
  if (!isEntityId(value)) return undefined;
  draft.mentions.push({
    instance: { entity, id: value, facts: {}, parents: {} },
    isIdSpoken: true,
  });
  return { value, text: formatValue(value, { now, persona: { ...persona, ...style }, random }) };
}

/** Whether an instance is the user. */
export const isSelf = (
  { templates: { self } }: ConversationContext,
  { id, label }: EntityInstance,
): boolean => self !== undefined && (label === self || id === self);

/** Any instance of an entity but those excluded and the user. */
export function pickInstance(
  context: ConversationContext,
  entity: string,
  excludedIds: readonly EntityId[],
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
