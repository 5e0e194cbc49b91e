/**
 * Puts an entity into the user's words: `it` where that is unambiguous, briefly where the entity is
 * known, else in such a way that it can be looked up.
 */
import { formatValue, isMoney } from "../../text/formatValue.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { getEntityKey, type EntityInstance, type MentionText } from "./entitySample.ts";
import { markVerbatim, chooseAlternatives, fillSlots, findSlots } from "../../text/templateText.ts";
import type { Json, JsonObject } from "../../../environment/json.ts";
import { isSimilar, misspell } from "../../text/misspelling.ts";
import type { Intent } from "../intents/intent.ts";
import { type EntityId } from "../../../trajectory/entities.ts";

/** Words that refer to an entity only at one point of the conversation. */
export const pointingWords =
  /^(it|that|this|them|there|the same|the other|the (first|second|third))\b/;

/**
 * How often a pronoun is used where it is unambiguous, a position in the list that was read out, a
 * part of a label, and a part of an id.
 */
const odds = { pronoun: 0.7, position: 0.45, partialLabel: 0.12, partialId: 0.1 };

/**
 * Words for an entity, or undefined if there are none that tell it from others. `isSpoken`: people
 * say its id.
 */
export function mentionEntity(
  context: ConversationContext,
  instance: EntityInstance,
  isSpoken: boolean,
): MentionText | undefined {
  const { random, templates, known, untoldIds } = context;
  const maySayId = isSpoken && !untoldIds?.has(getEntityKey(instance));
  const wording = context.wordings?.get(getEntityKey(instance));
  if (wording) return wording;
  if (!templates.entities[instance.entity]) return undefined;
  const pronouns = findPronouns(context, instance);
  const position = renderPosition(context, instance);
  if (position !== undefined && random.boolean(odds.position))
    return { text: position, isIdSpoken: false };
  if (pronouns.length > 0 && random.boolean(odds.pronoun))
    return { text: random.pick(pronouns), isIdSpoken: false };
  const isKnown = known.has(getEntityKey(instance));
  const partial = isKnown ? undefined : mentionPartially(context, instance, maySayId);
  if (partial) return partial;
  const named = mentionByName(context, instance, { isKnown, maySayId });
  if (named) return named;
  return pronouns.length > 0 ? { text: random.pick(pronouns), isIdSpoken: false } : undefined;
}

/**
 * Whether the conversation is about this instance and no other of its entity, and the user has
 * named or created it, or the assistant has told them about it.
 */
function isInFocus(
  { focus, recent }: ConversationContext,
  { entity, id }: EntityInstance,
): boolean {
  const alike = focus.filter(it => it.entity === entity);
  return (
    alike.length === 1 &&
    alike[0]!.id === id &&
    recent.some(it => it.entity === entity) &&
    recent.every(it => it.entity !== entity || it.id === id)
  );
}

/** `it`, `that card`: words that are unambiguous here. */
function findPronouns(context: ConversationContext, instance: EntityInstance): readonly string[] {
  const { noun, again = [] } = context.templates.entities[instance.entity]!;
  if (!isInFocus(context, instance)) return [];
  return again.filter(it => context.focus.length === 1 || it.includes(noun));
}

const positions = ["first", "second", "third"];

/** The instance's position in the list that was read out: `the second one`. */
function renderPosition(
  { listed, recent, templates, random }: ConversationContext,
  { entity, id }: EntityInstance,
): string | undefined {
  const alike = listed?.filter(it => it.entity === entity) ?? [];
  const index = alike.findIndex(it => it.id === id);
  if (index < 0 || index >= positions.length || alike.length < 2) return undefined;
  const isRecent = (id: EntityId) => recent.some(it => it.id === id && it.entity === entity);
  // a reply that lists both makes neither of them "the other one"
  const isOtherOfTwo = alike.length === 2 && isRecent(alike[1 - index]!.id) && !isRecent(id);
  return isOtherOfTwo && random.boolean(0.7)
    ? "the other one"
    : `the ${positions[index]!} ${random.boolean(0.6) ? "one" : templates.entities[entity]!.noun}`;
}

/** A part of the label, or a part of the id, now and then. */
function mentionPartially(
  context: ConversationContext,
  instance: EntityInstance,
  maySayId: boolean,
): MentionText | undefined {
  const { random, templates, usesPartialNames, usesFullNames, misspeltShare = 0 } = context;
  const { short } = templates.entities[instance.entity]!;
  if (usesFullNames) return undefined;
  const hasOwnLabel = (instance.label ?? instance.id) !== instance.id;
  const mayMisspell = misspeltShare > 0 && hasOwnLabel && !maySayId;
  const misspelt =
    mayMisspell && random.boolean(misspeltShare) ? mentionMisspelt(context, instance) : undefined;
  if (misspelt) return misspelt;
  if (!short) return undefined;
  const byLabel =
    !(maySayId && !hasOwnLabel) && random.boolean(odds.partialLabel)
      ? shortenLabel(context, instance, short)
      : undefined;
  const unquoted = usesPartialNames && maySayId ? short.filter(it => !it.includes('"')) : [];
  const byId =
    unquoted.length > 0 && random.boolean(odds.partialId)
      ? shortenLabel(context, { ...instance, label: String(instance.id) }, unquoted)
      : undefined;
  return byLabel ?? (byId && { ...byId, isIdSpoken: true });
}

/**
 * The first word of a label, or all of it in lower case, if no other label contains those words.
 */
function shortenLabel(
  { sample, random }: ConversationContext,
  { entity, id, label }: EntityInstance,
  templates: readonly string[],
): MentionText | undefined {
  if (label === undefined) return undefined;
  const template = chooseAlternatives(random.pick(templates), random);
  const words = template.includes("{first}") ? label.split(" ")[0]! : label.toLowerCase();
  const containsWords = (other: string) =>
    ` ${other.toLowerCase()} `.includes(` ${words.toLowerCase()} `);
  const isAmbiguous = (sample.instances.get(entity) ?? []).some(
    it => it.id !== id && it.label !== undefined && containsWords(it.label),
  );
  if (words === label || words.length < 3 || isAmbiguous) return undefined;
  const text = fillSlots(template, () => markVerbatim(words))!;
  return { text, isIdSpoken: false, partialName: words };
}

/**
 * The entity with a slip in its label, of which everybody sees what is meant, or undefined. What
 * takes other things to be looked up is named as it is spelt.
 */
function mentionMisspelt(
  context: ConversationContext,
  instance: EntityInstance,
): MentionText | undefined {
  const { label, entity, id, parents } = instance;
  const slip = label === undefined ? undefined : misspell(label, context.random);
  if (slip === undefined || Object.keys(parents).length > 0) return undefined;
  const others = context.sample.instances.get(entity) ?? [];
  const isClear = others.every(
    it => it.id === id || it.label === undefined || !isSimilar(it.label, slip),
  );
  const named = isClear
    ? mentionByName(context, { ...instance, label: slip }, { isKnown: false, maySayId: false })
    : undefined;
  if (!named || named.isIdSpoken || !named.text.includes(slip)) return undefined;
  return { ...named, partialName: slip, spelt: named.text.replace(slip, () => label!) };
}

/** The entity by its label, id or facts. */
function mentionByName(
  context: ConversationContext,
  instance: EntityInstance,
  { isKnown, maySayId }: { readonly isKnown: boolean; readonly maySayId: boolean },
): MentionText | undefined {
  const { random, templates, isMinimal } = context;
  const { mention, known } = templates.entities[instance.entity]!;
  const parents = Object.keys(instance.parents);
  const withoutParents = () =>
    mention.filter(it => !findSlots(it).some(slot => parents.includes(slot)));
  const choices = isKnown ? (known ?? withoutParents()) : mention;
  const saysSelf = (slot: string) =>
    templates.self !== undefined && instance.facts[slot] === templates.self;
  // words without a slot, such as "that reminder", only fit what is in focus
  const usable = (choices.length > 0 ? choices : mention).filter(
    it =>
      (maySayId || !it.includes("{id}")) &&
      (findSlots(it).length > 0 || isInFocus(context, instance)) &&
      !findSlots(it).some(saysSelf) &&
      isUnambiguous(context, instance, it),
  );
  if (usable.length === 0) return undefined;
  const template = chooseAlternatives(
    isMinimal ? usable.reduce((a, b) => (b.length < a.length ? b : a)) : random.pick(usable),
    random,
  );
  const text = fillSlots(template, slot => renderSlot(context, instance, slot));
  return text === undefined ? undefined : { text, isIdSpoken: template.includes("{id}") };
}

function renderSlot(
  context: ConversationContext,
  instance: EntityInstance,
  slot: string,
): string | undefined {
  const { now, persona, random, sample } = context;
  if (slot === "id") return markVerbatim(formatValue(instance.id, { now, persona, random }));
  if (slot === "label")
    return instance.label === undefined ? undefined : markVerbatim(instance.label);
  const fact = instance.facts[slot];
  if (fact !== undefined)
    return formatValue(fact, { now, persona, random }, isMoney(slot, undefined));
  const id = instance.parents[slot];
  const parent = id === undefined ? undefined : sample.find(slot, id);
  const ownContext = { ...context, focus: [], listed: [], usesFullNames: true };
  return parent && mentionEntity(ownContext, parent, false)?.text;
}

/** Whether the template makes other words for every other instance of the entity. */
function isUnambiguous(
  { sample, known }: ConversationContext,
  instance: EntityInstance,
  template: string,
): boolean {
  const slots = findSlots(template);
  const getSlotValue = ({ id, label, facts, parents }: EntityInstance, slot: string) =>
    slot === "id" ? id : slot === "label" ? label : (facts[slot] ?? parents[slot]);
  const getSignature = (it: EntityInstance) =>
    JSON.stringify(slots.map(slot => getSlotValue(it, slot)));
  const own = getSignature(instance);
  const others = [
    ...(sample.instances.get(instance.entity) ?? []),
    ...[...known.values()].filter(it => it.entity === instance.entity),
  ];
  return others.every(it => it.id === instance.id || getSignature(it) !== own);
}

// Substitutes the partial names that the user has given in a call's arguments. The assistant calls
// a tool with them first, and the server's refusal says which full name is meant.

/**
 * The intent's arguments with partial names in place of full ones, or undefined if the user gave
 * all names in full.
 */
export function substitutePartialNames({
  arguments: args,
  mentions,
}: Pick<Intent, "arguments" | "mentions">): JsonObject | undefined {
  const partialNames = new Map<Json, string>(
    mentions.flatMap(it =>
      it.isIdSpoken && it.partialName !== undefined
        ? [[it.instance.id, it.partialName] as const]
        : [],
    ),
  );
  if (partialNames.size === 0) return undefined;
  const substitute = (value: Json): Json =>
    Array.isArray(value) ? value.map(substitute) : (partialNames.get(value) ?? value);
  return Object.fromEntries(Object.entries(args).map(([key, value]) => [key, substitute(value)]));
}
