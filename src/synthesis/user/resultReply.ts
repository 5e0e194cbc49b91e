/**
 * What the assistant makes of one result: the reply that fits it, with its values in people's
 * words. Knows one wish and its call, not the message that the reply becomes a part of.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import { findEntities } from "../graph/resultEntities.ts";
import { removeMarks, markVerbatim, endMark } from "../text/valueMarks.ts";
import type { StyleGuide } from "../text/personas.ts";
import { chooseAlternatives, fillSlots, joinWithAnd, findSlots } from "../text/templateText.ts";
import { getField, selectReplies } from "../text/selectReplies.ts";
import { isEmptyResult } from "./feasibility.ts";
import { verbPattern } from "../text/joinReplies.ts";
import { omitRepeatedDays } from "../text/grammar.ts";
import type { ToolReply } from "../text/renderReply.ts";
import { isMoney, formatReplyValue } from "../text/formatValue.ts";
import { entityKey } from "./lookUps.ts";
import type { ConversationContext, Intent } from "./intent.ts";

/** Rows of a listing that a reply reads out: all of a short one, the first of a long one. */
const mostItems = { whole: 4, part: 3 };

/** An answer, and what it has read out in order. */
export interface ResultReply extends ToolReply {
  readonly listedRows: readonly { readonly entity: string; readonly id: string }[];
}

/**
 * The reply to a wish that was granted, with its values marked; `before` is the answer that it
 * stands after.
 */
export function renderResultReply(
  wish: Intent,
  call: CallEvent,
  scene: ConversationContext,
  manners: StyleGuide,
  { isAlone = true, before = "" } = {},
): ResultReply {
  const { templates, random } = scene;
  const words = templates.tools[wish.tool.name]!;
  const isWrite = wish.tool.effect === "write";
  const list = Object.values((getCallValue(call) ?? {}) as JsonObject).find(it =>
    Array.isArray(it),
  ) as readonly Json[] | undefined;
  const nothing = (): ResultReply => ({
    text: random.pick(words.empty ?? manners.nothing),
    isWrite,
    listedRows: [],
  });
  const of = (path: string): Json | undefined =>
    getField(getCallValue(call), path) ?? (path === "count" ? list?.length : undefined);
  // beside other answers, "At nine." would hang in the air
  const order = <T>(them: readonly T[]): readonly T[] => {
    const shuffled = random.shuffle(them);
    const rank = (it: T) => 2 * Number(!isSentence(it)) + Number(beginsLike(it, before));
    return isAlone ? shuffled : shuffled.toSorted((a, b) => rank(a) - rank(b));
  };
  const made = selectReplies(wish.replies ?? [], of, order);
  const own = selectReplies(words.reply ?? manners.done, of, order);
  if (isEmptyResult(getCallValue(call)) && !hasConditions(wish.replies ?? words.reply ?? []))
    return nothing();
  const slot = (key: string) => renderField(key, wish, call, list, scene);
  let shortest: ResultReply | undefined;
  for (const strict of [true, false]) {
    for (const form of [...made, ...own]) {
      // no rows to read out: what was asked for is not there
      if (
        list?.length === 0 &&
        made.length > 0 &&
        form === own[0] &&
        made.every(it => readsOut(it))
      )
        return nothing();
      const reply = chooseAlternatives(form, random);
      if (strict && saysTwice(reply, slot)) continue;
      const text = fillSlots(reply, slot);
      if (text === undefined) continue;
      const said = {
        text,
        isWrite,
        listedRows: readsOut(reply) && list ? listedBy(wish, call, list, scene) : [],
      };
      const room =
        scene.maxReplyLength === undefined
          ? Infinity
          : isAlone
            ? scene.maxReplyLength
            : scene.maxReplyLength / 2;
      if (text.length <= room) return said;
      if (!shortest || text.length < shortest.text.length) shortest = said;
    }
    if (shortest) return shortest;
  }
  return list?.length === 0
    ? nothing()
    : { text: random.pick(manners.done), isWrite, listedRows: [] };
}

const wordsOf = (reply: unknown): string =>
  typeof reply === "string" ? reply : ((reply as { say?: string }).say ?? "");
const beginsLike = (reply: unknown, before: string): boolean =>
  before !== "" &&
  wordsOf(reply).split(" ").slice(0, 2).join(" ") === before.split(" ").slice(0, 2).join(" ");
const isSentence = (reply: unknown): boolean => verbPattern.test(wordsOf(reply));
const hasConditions = (replies: readonly unknown[]): boolean =>
  replies.some(it => typeof it !== "string");
const readsOut = (form: string): boolean => /\{items\}/.test(form);

/** "Off instead of off": two slots with the same words, where these are no numbers. */
function saysTwice(form: string, slot: (key: string) => string | undefined): boolean {
  const values = findSlots(form).flatMap(it => {
    const text = slot(it);
    return text === undefined ? [] : [removeMarks(text).replaceAll(endMark, "").toLowerCase()];
  });
  const compares = /\b(instead of|rather than|was|from .* to|to .* from|now|before)\b/.test(form);
  return values.some((it, i) => values.indexOf(it) !== i && (compares || !/^-?[\d.]+$/.test(it)));
}

/** A field of the result, else an argument as the user said it. */
export function renderField(
  slot: string,
  wish: Intent,
  call: CallEvent,
  list: readonly Json[] | undefined,
  scene: ConversationContext,
): string | undefined {
  const { templates, now, random } = scene;
  const schema = wish.tool.outputSchema;
  if (slot.endsWith(".size")) {
    const size = getField(getCallValue(call), slot.slice(0, -".size".length));
    return typeof size === "number"
      ? markVerbatim(
          formatReplyValue(
            Math.abs(size),
            { now, random },
            isMoneyAt(schema, slot.slice(0, -".size".length)),
          ),
        ) + endMark
      : undefined;
  }
  const own = getField(getCallValue(call), slot);
  if (own !== undefined && own !== null && typeof own !== "object")
    return markVerbatim(formatReplyValue(own, { now, random }, isMoneyAt(schema, slot))) + endMark;
  if (slot === "count") return list && String(list.length);
  if (slot === "items")
    return list && list.length > 0
      ? itemsOf(list, templates.tools[wish.tool.name]?.item, (it, key) =>
          formatReplyValue(it, { now, random }, isMoneyAt(rowSchema(schema, list, call), key)),
        )
      : undefined;
  // the assistant says days in its own way
  const given = wish.arguments[slot];
  if (
    wish.argumentTexts[slot] !== undefined &&
    typeof given === "string" &&
    /^\d{4}-\d{2}(-\d{2}(T\d{2}:\d{2})?)?$/.test(given)
  )
    return markVerbatim(formatReplyValue(given, { now, random })) + endMark;
  const said = pointingWords.test(wish.argumentTexts[slot] ?? "")
    ? (nameOf(wish, slot, scene) ?? wish.argumentTexts[slot])
    : wish.argumentTexts[slot];
  // "my" is the user's alone
  return said === undefined
    ? undefined
    : said.replace(/^my /, "your ").replace(/ my /g, " your ") + endMark;
}

/** Words that name a thing only where the talk has just come to it. */
export const pointingWords =
  /^(it|that|this|them|there|the same|the other|the (first|second|third))\b/;

/** What a thing that the user has only pointed at is called. */
function nameOf(
  { mentions, arguments: args }: Intent,
  slot: string,
  { templates, known }: ConversationContext,
): string | undefined {
  const named = mentions.find(it => it.instance.id === args[slot])?.instance;
  const thing = named && (known.get(entityKey(named)) ?? named);
  const words = thing && templates.entities[thing.entity];
  const form =
    words &&
    [...(words.known ?? []), ...words.mention].find(
      it => findSlots(it).every(key => key === "label" || key === "id") && findSlots(it).length > 0,
    );
  return (
    form &&
    fillSlots(form, key =>
      key === "id"
        ? markVerbatim(thing.id)
        : thing.label === undefined
          ? undefined
          : markVerbatim(thing.label),
    )
  );
}

function itemsOf(
  list: readonly Json[],
  item: string | undefined,
  say: (value: Json, key: string) => string,
): string {
  const most = list.length <= mostItems.whole ? mostItems.whole : mostItems.part;
  const words = list.slice(0, most).map(it => {
    if (it === null || typeof it !== "object")
      return (
        fillSlots(item ?? "{value}", slot =>
          slot === "value" ? markVerbatim(say(it, "")) : undefined,
        ) ?? markVerbatim(say(it, ""))
      );
    const first = Object.values(it)[0];
    return (
      fillSlots(item ?? "", slot => {
        const value = getField(it, slot);
        return value === undefined || value === null ? undefined : markVerbatim(say(value, slot));
      }) || markVerbatim(say(first ?? "", ""))
    );
  });
  const clean = omitRepeatedDays(words.map(it => removeMarks(it).replace(/[,;.]$/, "")));
  const more = list.length - words.length;
  const [first, ...others] = more > 0 ? [...clean, `${more} more`] : clean;
  return (
    joinWithAnd([
      words[0]!.startsWith(markVerbatim("")) ? markVerbatim(first!) : first!,
      ...others,
    ]) + endMark
  );
}

/** The things whose rows were read out. */
function listedBy(
  wish: Intent,
  call: CallEvent,
  list: readonly Json[],
  { declarations }: ConversationContext,
): ResultReply["listedRows"] {
  const declared = declarations.get(wish.tool.name);
  const read = list.length <= mostItems.whole ? list.length : mostItems.part;
  if (!declared) return [];
  const shown = findEntities(declared, getCallValue(call) ?? null);
  return list.slice(0, read).flatMap(row => {
    const ids = row !== null && typeof row === "object" ? Object.values(row) : [row];
    const first = shown.find(it => ids.includes(it.id));
    return first ? [{ entity: first.entity, id: first.id }] : [];
  });
}

/** Whether the field of a result at a dotted path is a sum of money. */
function isMoneyAt(schema: JsonSchema | undefined, path: string): boolean {
  let at: JsonSchema | undefined = schema;
  const keys = path.split(".");
  for (const key of keys) at = at === undefined ? undefined : propertyOf(at, key);
  return isMoney(keys.at(-1)!, at);
}

function propertyOf(schema: JsonSchema, key: string): JsonSchema | undefined {
  const own = (schema["properties"] as Record<string, JsonSchema> | undefined)?.[key];
  if (own) return own;
  for (const branch of ((schema["anyOf"] ?? schema["oneOf"]) as
    readonly JsonSchema[] | undefined) ?? []) {
    const found = propertyOf(branch, key);
    if (found) return found;
  }
  return undefined;
}

function rowSchema(
  schema: JsonSchema,
  list: readonly Json[],
  call: CallEvent,
): JsonSchema | undefined {
  const key = Object.entries((getCallValue(call) ?? {}) as JsonObject).find(
    ([, it]) => it === list,
  )?.[0];
  const field = key === undefined ? undefined : propertyOf(schema, key);
  return field?.["items"] as JsonSchema | undefined;
}
