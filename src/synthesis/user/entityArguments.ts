/** Chooses the entities that the arguments of an intent refer to. */
import { formatValue } from "../text/formatValue.ts";
import type { EntityInput } from "../graph/declarations.ts";
import { generateValue } from "./argumentValues.ts";
import type { ConversationContext } from "./conversationContext.ts";
import { getEntityKey, type EntityInstance } from "./entityInstance.ts";
import { mentionEntity } from "./entityMentions.ts";
import type { MentionText } from "./mentionText.ts";
import type { IntentDraft, IntentRequest, PassedValues } from "./intent.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import { joinWithAnd } from "../text/templateText.ts";

/** Draws of instances for one argument, until there are words for them. */
const maxDraws = 5;

/** Adds an argument that refers to entities. Returns false if none can be named. */
export function addEntityArgument(
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
export function addPassedEntity(
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
export function pickInstance(
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
