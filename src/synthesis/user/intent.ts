/**
 * One thing the user wants: a call with all its arguments, and the clause that asks for it. Values
 * come from declarations and phrases, entities from the sample and from the talk so far. Knows no
 * sessions: whether the call succeeds is tried elsewhere.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema, Tool } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";
import { dayAfter } from "../../environment/time.ts";
import type { Declarations, ToolDeclaration, EntityInput } from "../graph/declarations.ts";
import { applyContractions, isRequest } from "../text/clauses.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import type { StyleGuide, Persona } from "../text/personas.ts";
import {
  findArgumentTemplates,
  getFixedArguments,
  getOwnReplies,
  getTemplateText,
  type ClauseTemplate,
  type ServerTemplates,
  type ReplyTemplate,
} from "../text/templateSchema.ts";
import { chooseAlternatives, fillSlots, joinWithAnd, findSlots } from "../text/templateText.ts";
import { entityKey } from "./lookUps.ts";
import { formatValue, isMoney } from "../text/formatValue.ts";
import type { EntitySample, EntityInstance } from "./entitySampling.ts";

/** What a clause needs to know of the talk it is said in. */
export interface ConversationContext {
  readonly declarations: Declarations;
  readonly templates: ServerTemplates;
  readonly persona: Persona;
  readonly sample: EntitySample;
  readonly now: string;
  readonly random: Random;
  /** Things that results have shown or the user has named, by `keyOf`. */
  readonly known: ReadonlyMap<string, EntityInstance>;
  /** Things of the last wish: what flows on, and what `it` can mean. */
  readonly focus: readonly EntityInstance[];
  /** Things named in the last two wishes: with two of a kind, nobody knows which `it` is. */
  readonly recent: readonly EntityInstance[];
  /**
   * Things that the last reply read out, in its order, so that "the second one" means one of them.
   */
  readonly listed?: readonly EntityInstance[];
  /** Ways to put a value right while it is said. */
  readonly corrections?: StyleGuide["corrections"];
  /** Letters of an answer, where it has to be short. */
  readonly maxReplyLength?: number | undefined;
  /** People half say names that the assistant then has to put right. */
  readonly usesPartialNames?: boolean | undefined;
  /** Entities are named in the fewest words. */
  readonly isMinimal: boolean;
}

export interface Intent {
  readonly tool: Tool;
  readonly arguments: JsonObject;
  /** The things that its arguments name; those whose ids were said aloud need no look-up. */
  readonly mentions: readonly EntityMention[];
  readonly clause: string;
  /** The form that the clause was made from, its choices made. */
  readonly template: string;
  /** What answers this way of asking; the tool's own replies where absent. */
  readonly replies?: readonly ReplyTemplate[];
  /** How each argument was said, for replies. */
  readonly argumentTexts: Readonly<Record<string, string>>;
  /**
   * A read that nobody asks for and that has to be made first: some of the arguments are read off
   * what it shows.
   */
  readonly prerequisite?: { readonly intent: Intent; readonly result: Json };
}

/** What the result of one call passes on to another. */
export interface PassedValues {
  /** By argument. */
  readonly values: Readonly<Record<string, Json>>;
  /** Those among them that name something of the other server by its label, by argument. */
  readonly instances: Readonly<Record<string, EntityInstance>>;
  /** Words for slots that are no arguments. */
  readonly slotTexts: Readonly<Record<string, string>>;
  readonly prerequisite?: Intent["prerequisite"];
}

/** A thing as a clause names it. */
export interface EntityMention {
  readonly instance: EntityInstance;
  readonly isIdSpoken: boolean;
  /** The user's own words where they are not its label: what it can be looked up by. */
  readonly partialName?: string | undefined;
}

export interface IntentRequest {
  readonly declaration: ToolDeclaration;
  readonly template: ClauseTemplate;
  /**
   * Arguments that stay as they were, but for those that the form has a slot for: they change,
   * unless all is settled.
   */
  readonly base?: Intent;
  readonly isSettled?: boolean;
  /** Things that flow in from the call before, by argument. */
  readonly flow?: Readonly<Record<string, readonly EntityInstance[]>>;
  /** An argument that the form leaves out and that is chosen all the same. */
  readonly withheld?: string;
  readonly passed?: PassedValues;
}

interface Filling {
  readonly arguments: Record<string, Json>;
  readonly things: EntityMention[];
  readonly said: Record<string, string>;
}

/** A wish with every argument chosen, or undefined where there is nothing to choose from. */
export function createIntent(
  scene: ConversationContext,
  asking: IntentRequest,
): Intent | undefined {
  const { declaration, base, withheld, passed } = asking;
  const plain = chooseAlternatives(getTemplateText(asking.template), scene.random);
  const form = scene.persona.contracts ? applyContractions(plain) : plain;
  const fixed = getFixedArguments(asking.template);
  const slots = findSlots(form);
  const filling: Filling = {
    arguments: { ...base?.arguments, ...fixed },
    things: [],
    said: { ...carried(asking), ...passed?.slotTexts },
  };
  const wanted = new Set([...slots, ...(withheld === undefined ? [] : [withheld])]);
  if (base)
    filling.things.push(
      ...base.mentions.filter(
        ({ instance }) =>
          !slots.some(key => [base.arguments[key] ?? []].flat().includes(instance.id)),
      ),
    );
  for (const input of declaration.inputs) {
    if (passed?.values[input.key] !== undefined) {
      const named = passed.instances[input.key];
      if (named && isSelf(scene, named)) return undefined;
      fillPassed(scene, input, passed, filling);
      continue;
    }
    if (!wanted.has(input.key) && (base || !input.isRequired || input.key in fixed)) continue;
    if (!fillEntity(scene, asking, input, filling)) return undefined;
  }
  for (const { key, entity } of declaration.labels) {
    const given = passed?.values[key];
    if (!wanted.has(key) && given === undefined) continue;
    const label =
      given !== undefined
        ? given
        : asking.isSettled
          ? base?.arguments[key]
          : pickThing(scene, entity, [], it => it.label !== undefined)?.label;
    if (typeof label !== "string") return undefined;
    filling.arguments[key] = label;
    filling.said[key] = markVerbatim(label);
  }
  for (const value of declaration.values) {
    const given = passed?.values[value.key];
    if (!wanted.has(value.key) && given === undefined) continue;
    const settled =
      given !== undefined ? given : asking.isSettled ? base?.arguments[value.key] : undefined;
    const chosenValue =
      settled ??
      pickValue(
        scene,
        declaration.tool,
        value.key,
        value.schema,
        value.isSensitive ? filling : undefined,
      );
    if (chosenValue === undefined) return undefined;
    filling.arguments[value.key] = chosenValue;
    filling.said[value.key] = sayValue(
      scene,
      declaration.tool,
      value.key,
      value.schema,
      chosenValue,
    );
  }
  const slip = withheld === undefined ? slipOf(scene, asking, form, filling) : undefined;
  const clause = fillSlots(form, slot => (slip?.key === slot ? slip.text : filling.said[slot]));
  if (clause === undefined) return undefined;
  const replies =
    getOwnReplies(asking.template) ?? (asksTheSame(asking, slots) ? base?.replies : undefined);
  return {
    mentions: filling.things,
    argumentTexts: filling.said,
    tool: declaration.tool,
    arguments: inOrder(declaration.tool, filling.arguments),
    clause,
    template: form,
    ...(replies ? { replies } : {}),
    ...(passed?.prerequisite ? { prerequisite: passed.prerequisite } : {}),
  };
}

/** Words of the wish before; what they read off another result is of that one alone. */
const carried = ({ base, isSettled }: IntentRequest): Record<string, string> =>
  Object.fromEntries(
    Object.entries(base?.argumentTexts ?? {}).filter(
      ([slot]) => isSettled || !slot.startsWith("from."),
    ),
  );

/**
 * The value that was missing, or the same question about another thing: what suited the wish before
 * suits this one.
 */
const asksTheSame = (
  { declaration, isSettled }: IntentRequest,
  slots: readonly string[],
): boolean =>
  isSettled === true || slots.every(slot => declaration.inputs.some(it => it.key === slot));

/** A value that is put right while it is said: `40, no, 45 euros`. The last word counts. */
function slipOf(
  scene: ConversationContext,
  { declaration, base }: IntentRequest,
  form: string,
  filling: Filling,
): { key: string; text: string } | undefined {
  const { corrections, persona, random, isMinimal } = scene;
  if (!corrections || base || isMinimal || !random.boolean(persona.corrects ?? 0.008))
    return undefined;
  const open = declaration.values.filter(
    it =>
      form.includes(`{${it.key}}`) &&
      !findArgumentTemplates(scene.templates, declaration.tool.name, it.key)?.words,
  );
  const value = open.find(
    it =>
      typeof filling.arguments[it.key] === "number" ||
      takes(it.schema, "2026-03-09") ||
      takes(it.schema, "2026-03-09T10:30"),
  );
  if (!value) return undefined;
  const first = pickValue(scene, declaration.tool, value.key, value.schema, undefined);
  if (first === undefined || first === filling.arguments[value.key]) return undefined;
  const [before, final] = [
    formatValue(first, scene, isMoney(value.key, value.schema)),
    filling.said[value.key]!,
  ];
  const text = random
    .pick(corrections)
    .replace("{first}", () => markVerbatim(before))
    .replace("{clause}", () => final);
  // what follows the value in the clause must not run on from the slip
  return new RegExp(
    `\\{${value.key}\\}(\\?|,|$| (from|to|into|in|on|for|of|with|at|before|until|as)\\b)`,
  ).test(form) && isRequest(form)
    ? { key: value.key, text }
    : undefined;
}

/** The arguments in the order in which the tool declares them. */
const inOrder = (tool: Tool, args: Readonly<Record<string, Json>>): JsonObject =>
  Object.fromEntries(
    Object.keys((tool.inputSchema["properties"] ?? {}) as object).flatMap(key =>
      args[key] === undefined ? [] : [[key, args[key]]],
    ),
  );

/** Things tried for one argument until one can be named. */
const namings = 5;

function fillEntity(
  scene: ConversationContext,
  asking: IntentRequest,
  input: EntityInput,
  filling: Filling,
): boolean {
  const { key, isSpoken } = input;
  let things: EntityInstance[] = [];
  let mentions: (Mention | undefined)[] = [];
  // not everything has a name of its own: another of its kind may
  for (let attempt = 0; attempt < namings; attempt++) {
    things = asking.isSettled
      ? settledThings(asking, input)
      : chosenThings(scene, asking, input, filling);
    if (things.length === 0) return isSpoken && !input.isList && fillSpoken(scene, input, filling);
    mentions = things.map(it => mentionOf(scene, it, isSpoken));
    if (asking.isSettled || !mentions.includes(undefined)) break;
  }
  if (mentions.includes(undefined)) return false;
  filling.arguments[key] = input.isList ? things.map(it => it.id) : things[0]!.id;
  filling.said[key] = joinWithAnd(mentions.map(it => it!.text));
  for (const [i, it] of things.entries())
    filling.things.push({
      instance: it,
      isIdSpoken: mentions[i]!.isSpoken,
      partialName: mentions[i]!.words,
    });
  return true;
}

/** What another result said: a name as it is, else the thing of that label. */
function fillPassed(
  scene: ConversationContext,
  { key, entity, isList }: EntityInput,
  { values, instances }: PassedValues,
  filling: Filling,
): void {
  const value = values[key] as string;
  const thing = instances[key] ?? { entity, id: value, facts: {}, parents: {} };
  filling.arguments[key] = isList ? [thing.id] : thing.id;
  filling.said[key] =
    (instances[key] && mentionOf(scene, thing, false)?.text) ?? markVerbatim(value);
  filling.things.push({ instance: thing, isIdSpoken: instances[key] === undefined });
}

function settledThings({ base }: IntentRequest, { key, entity }: EntityInput): EntityInstance[] {
  const ids = [base?.arguments[key] ?? []].flat();
  return (base?.mentions ?? []).flatMap(({ instance }) =>
    instance.entity === entity && ids.includes(instance.id) ? [instance] : [],
  );
}

/**
 * What flows in from the wish before, or anything else of that kind that this wish does not name
 * yet.
 */
function chosenThings(
  scene: ConversationContext,
  { flow, base }: IntentRequest,
  { key, entity, isList }: EntityInput,
  filling: Filling,
): EntityInstance[] {
  const taken = filling.things
    .filter(it => it.instance.entity === entity)
    .map(it => it.instance.id);
  if (base && typeof base.arguments[key] === "string") taken.push(base.arguments[key]);
  const flowing = flow?.[key]?.filter(it => !taken.includes(it.id) && !isSelf(scene, it));
  const n = isList ? 1 + scene.random.integer(2) : 1;
  const things: EntityInstance[] = [];
  for (let i = 0; i < n; i++) {
    const thing =
      (i === 0 && flowing?.length ? scene.random.pick(flowing) : undefined) ??
      pickThing(scene, entity, [...taken, ...things.map(it => it.id)]);
    if (thing) things.push(thing);
  }
  return things;
}

/** A value that a person may say although no result has shown it, such as a time that suits. */
function fillSpoken(
  scene: ConversationContext,
  { key, entity, schema }: EntityInput,
  filling: Filling,
): boolean {
  const value = madeUp(scene, schema, undefined);
  if (typeof value !== "string") return false;
  filling.arguments[key] = value;
  filling.said[key] = formatValue(value, scene);
  filling.things.push({
    instance: { entity, id: value, facts: {}, parents: {} },
    isIdSpoken: true,
  });
  return true;
}

/** Whether a thing is the user. */
const isSelf = (
  { templates: { self } }: ConversationContext,
  { id, label }: EntityInstance,
): boolean => self !== undefined && (label === self || id === self);

function pickThing(
  scene: ConversationContext,
  entity: string,
  taken: readonly string[],
  fits: (it: EntityInstance) => boolean = () => true,
): EntityInstance | undefined {
  const things = (scene.sample.instances.get(entity) ?? []).map(
    it => scene.known.get(entityKey(it)) ?? it,
  );
  const choices = things.filter(it => !taken.includes(it.id) && !isSelf(scene, it) && fits(it));
  return choices.length === 0 ? undefined : scene.random.pick(choices);
}

interface Mention {
  readonly text: string;
  readonly isSpoken: boolean;
  readonly words?: string;
}

/**
 * How often a thing is pointed at in the list just read out, and how often one is named sloppily.
 */
const odds = { again: 0.7, ordinal: 0.45, short: 0.12, half: 0.1 };

/**
 * How the user names a thing: as `it` where that is clear, briefly where it is known, else so that
 * it can be looked up.
 */
function mentionOf(
  scene: ConversationContext,
  thing: EntityInstance,
  maySayId: boolean,
): Mention | undefined {
  const { random, templates, focus, recent, known } = scene;
  const words = templates.entities[thing.entity];
  if (!words) return undefined;
  const alike = focus.filter(it => it.entity === thing.entity);
  const isClear =
    alike.length === 1 &&
    alike[0]!.id === thing.id &&
    recent.every(it => it.entity !== thing.entity || it.id === thing.id);
  const clear = (words.again ?? []).filter(
    it => isClear && (focus.length === 1 || it.includes(words.noun)),
  );
  const place = placeOf(scene, thing);
  if (place !== undefined && random.boolean(odds.ordinal)) return { text: place, isSpoken: false };
  if (clear.length > 0 && random.boolean(odds.again))
    return { text: random.pick(clear), isSpoken: false };
  const isMet = known.has(entityKey(thing));
  const short =
    !isMet &&
    words.short &&
    !(maySayId && (thing.label ?? thing.id) === thing.id) &&
    random.boolean(odds.short)
      ? shortly(scene, thing, words.short)
      : undefined;
  const halves =
    scene.usesPartialNames && !isMet && maySayId
      ? (words.short ?? []).filter(it => !it.includes('"'))
      : [];
  const half =
    halves.length > 0 && random.boolean(odds.half)
      ? shortly(scene, { ...thing, label: thing.id }, halves)
      : undefined;
  if (short) return short;
  if (half) return { ...half, isSpoken: true };
  const context = Object.keys(thing.parents);
  const forms = isMet
    ? (words.known ??
      words.mention.filter(it => !findSlots(it).some(slot => context.includes(slot))))
    : words.mention;
  // words without a slot, such as "that reminder", name only what is clear anyway
  const usable = (forms.length > 0 ? forms : words.mention).filter(
    it =>
      (maySayId || !it.includes("{id}")) &&
      (findSlots(it).length > 0 || isClear) &&
      !findSlots(it).some(
        slot => templates.self !== undefined && thing.facts[slot] === templates.self,
      ) &&
      isUnique(scene, thing, it),
  );
  if (usable.length === 0)
    return clear.length > 0 ? { text: random.pick(clear), isSpoken: false } : undefined;
  const form = chooseAlternatives(
    scene.isMinimal ? usable.reduce((a, b) => (b.length < a.length ? b : a)) : random.pick(usable),
    random,
  );
  const text = fillSlots(form, slot => sayPart(scene, thing, slot));
  if (text === undefined)
    return clear.length > 0 ? { text: random.pick(clear), isSpoken: false } : undefined;
  return { text, isSpoken: form.includes("{id}") };
}

const places = ["first", "second", "third"];

/** Its place in the list just read out: `the second one`. */
function placeOf(
  { listed: rows, recent, templates, random }: ConversationContext,
  thing: EntityInstance,
): string | undefined {
  const alike = rows?.filter(it => it.entity === thing.entity) ?? [];
  const at = alike.findIndex(it => it.id === thing.id);
  if (at < 0 || at >= places.length || alike.length < 2) return undefined;
  const isOther =
    alike.length === 2 &&
    recent.some(it => it.id === alike[1 - at]!.id && it.entity === thing.entity);
  return isOther && random.boolean(0.7)
    ? "the other one"
    : `the ${places[at]!} ${random.boolean(0.6) ? "one" : templates.entities[thing.entity]!.noun}`;
}

/** A part of its name, or all of it in lower case, where nothing else is called like that. */
function shortly(
  { sample, random }: ConversationContext,
  { entity, id, label }: EntityInstance,
  forms: readonly string[],
): Mention | undefined {
  if (label === undefined) return undefined;
  const [first, lower] = [label.split(" ")[0]!, label.toLowerCase()];
  const form = chooseAlternatives(random.pick(forms), random);
  const words = form.includes("{first}") ? first : lower;
  const holdsWords = (other: string) =>
    ` ${other.toLowerCase()} `.includes(` ${words.toLowerCase()} `);
  if (
    words === label ||
    words.length < 3 ||
    (sample.instances.get(entity) ?? []).some(
      it => it.id !== id && it.label !== undefined && holdsWords(it.label),
    )
  )
    return undefined;
  return { text: fillSlots(form, () => markVerbatim(words))!, isSpoken: false, words };
}

function sayPart(
  scene: ConversationContext,
  thing: EntityInstance,
  slot: string,
): string | undefined {
  if (slot === "id") return markVerbatim(formatValue(thing.id, scene));
  if (slot === "label") return thing.label === undefined ? undefined : markVerbatim(thing.label);
  const fact = thing.facts[slot];
  if (fact !== undefined) return formatValue(fact, scene, isMoney(slot, undefined));
  const id = thing.parents[slot];
  const other = id === undefined ? undefined : scene.sample.find(slot, id);
  return other && mentionOf({ ...scene, focus: [], listed: [] }, other, false)?.text;
}

/** No other thing of its kind would be named by the same words. */
function isUnique(
  { sample, known }: ConversationContext,
  thing: EntityInstance,
  form: string,
): boolean {
  const slots = findSlots(form);
  const signature = (it: EntityInstance) =>
    JSON.stringify(
      slots.map(slot =>
        slot === "id" ? it.id : slot === "label" ? it.label : (it.facts[slot] ?? it.parents[slot]),
      ),
    );
  const own = signature(thing);
  const others = [
    ...(sample.instances.get(thing.entity) ?? []),
    ...[...known.values()].filter(it => it.entity === thing.entity),
  ];
  return others.every(it => it.id === thing.id || signature(it) !== own);
}

function pickValue(
  scene: ConversationContext,
  tool: Tool,
  key: string,
  schema: JsonSchema,
  filling: Filling | undefined,
): Json | undefined {
  // a secret is one that belongs to something named beside it, where its row tells it
  const owner = filling?.things.find(it => it.instance.facts[key] !== undefined);
  if (owner) return owner.instance.facts[key];
  const phrases = findArgumentTemplates(scene.templates, tool.name, key);
  if (phrases?.values) return scene.random.pick(phrases.values);
  if (phrases?.words && !schema["enum"])
    return asJson(scene.random.pick(Object.keys(phrases.words)), schema);
  return madeUp(scene, schema, phrases?.days);
}

const asJson = (word: string, schema: JsonSchema): Json =>
  schema["type"] === "string" ? word : (JSON.parse(word) as Json);

function madeUp(
  { now, random }: Pick<ConversationContext, "now" | "random">,
  schema: JsonSchema,
  days: readonly [number, number] = [1, 21],
): Json | undefined {
  const list = (schema["enum"] ?? schema["examples"]) as readonly Json[] | undefined;
  if (list?.length) return random.pick(list);
  const day = () => dayAfter(now.slice(0, 10), days[0] + random.integer(days[1] - days[0] + 1));
  const hour = () =>
    `${String(9 + random.integer(8)).padStart(2, "0")}:${random.pick(["00", "00", "30", "15", "45"])}`;
  if (takes(schema, "2026-03-09")) return day();
  if (takes(schema, "2026-03-09T10:30")) {
    // people meet on weekdays, mostly
    const [first, second] = [day(), day()];
    return `${[0, 6].includes(new Date(first).getUTCDay()) ? second : first}T${hour()}`;
  }
  switch (schema["type"]) {
    case "integer":
    case "number": {
      const [least, most] = [
        (schema["minimum"] as number | undefined) ?? 1,
        (schema["maximum"] as number | undefined) ?? 60,
      ];
      return (
        Math.ceil(least) +
        random.integer(Math.max(1, Math.min(most, least + 60) - Math.ceil(least)))
      );
    }
    case "boolean":
      return random.boolean(0.5);
    case "array": {
      const one = madeUp({ now, random }, (schema["items"] ?? {}) as JsonSchema, days);
      return one === undefined ? undefined : [one];
    }
    default:
      return undefined;
  }
}

/**
 * Whether a schema wants strings of this make: by its pattern, where that does not take any word.
 */
function takes(schema: JsonSchema, example: string): boolean {
  const pattern = schema["pattern"];
  if (typeof pattern !== "string") return false;
  let regex = patterns.get(pattern);
  if (!regex) patterns.set(pattern, (regex = new RegExp(pattern, "u")));
  return regex.test(example) && !regex.test("x");
}

const patterns = new Map<string, RegExp>();

function sayValue(
  { templates, now, persona, random }: ConversationContext,
  tool: Tool,
  key: string,
  schema: JsonSchema,
  value: Json,
): string {
  const words = findArgumentTemplates(templates, tool.name, key);
  const plain = words?.words?.[typeof value === "string" ? value : JSON.stringify(value)];
  const spoken = plain
    ? random.pick(plain)
    : markVerbatim(
        Array.isArray(value)
          ? joinWithAnd(value.map(String))
          : formatValue(value, { now, persona, random }, isMoney(key, schema)),
      );
  return words?.say
    ? fillSlots(chooseAlternatives(random.pick(words.say), random), slot =>
        slot === "value" ? spoken : undefined,
      )!
    : spoken;
}
