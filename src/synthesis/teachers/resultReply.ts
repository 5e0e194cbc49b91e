/** The assistant's reply to one successful call. Combining the replies of a turn is done elsewhere. */
import type { Json, JsonObject } from "../../environment/json.ts";
import { getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import type { StyleGuide } from "../text/personas.ts";
import type { ToolReply } from "../text/renderReply.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import { isEmptyResult } from "../user/feasibilityResult.ts";
import type { Intent } from "../user/intent.ts";
import { listShownRows, renderField, type ListedRow } from "./resultFields.ts";
import { removeMarks, endMark } from "../text/valueMarks.ts";
import { verbPattern } from "../text/joinReplies.ts";
import { chooseAlternatives, fillSlots, findSlots } from "../text/templateText.ts";
import { getField, selectReplies } from "../text/selectReplies.ts";

/** A reply, and the rows that it lists, in order. */
export interface ResultReply extends ToolReply {
  readonly listedRows: readonly ListedRow[];
}

export interface ResultReplyOptions {
  /** The reply is the whole message. */
  readonly isAlone?: boolean;
  /** The reply that this one follows. */
  readonly before?: string;
}

/** The reply to an intent whose call succeeded, with its values marked. */
export function renderResultReply(
  intent: Intent,
  call: CallEvent,
  context: ConversationContext,
  styleGuide: StyleGuide,
  { isAlone = true, before = "" }: ResultReplyOptions = {},
): ResultReply {
  const { templates, random, maxReplyLength = Infinity } = context;
  const toolTemplates = templates.tools[intent.tool.name]!;
  const isWrite = intent.tool.effect === "write";
  const rows = findRows(getCallValue(call));
  const replyNothing = (): ResultReply => ({
    text: random.pick(toolTemplates.empty ?? styleGuide.nothing),
    isWrite,
    listedRows: [],
  });
  const getCountedField = (path: string): Json | undefined =>
    getField(getCallValue(call), path) ?? (path === "count" ? rows?.length : undefined);
  const order = <T>(replies: readonly T[]): readonly T[] => {
    const shuffled = random.shuffle(replies);
    return isAlone ? shuffled : sortForCombination(shuffled, before);
  };
  const intentReplies = selectReplies(intent.replies ?? [], getCountedField, order);
  const toolReplies = selectReplies(toolTemplates.reply ?? styleGuide.done, getCountedField, order);
  if (
    isEmptyResult(getCallValue(call)) &&
    !hasConditions(intent.replies ?? toolTemplates.reply ?? [])
  )
    return replyNothing();
  const lacksRows =
    rows?.length === 0 && intentReplies.length > 0 && intentReplies.every(listsItems);
  const renderSlot = (slot: string) => renderField(slot, intent, call, rows, context);
  const maxLength = isAlone ? maxReplyLength : maxReplyLength / 2;
  let shortest: ResultReply | undefined;
  for (const avoidsRepetition of [true, false]) {
    for (const template of [...intentReplies, ...toolReplies]) {
      if (lacksRows && template === toolReplies[0]) return replyNothing();
      const chosen = chooseAlternatives(template, random);
      if (avoidsRepetition && repeatsValue(chosen, renderSlot)) continue;
      const text = fillSlots(chosen, renderSlot);
      if (text === undefined) continue;
      const listedRows =
        listsItems(chosen) && rows ? listShownRows(intent, call, rows, context) : [];
      const reply = { text, isWrite, listedRows };
      if (text.length <= maxLength) return reply;
      if (!shortest || text.length < shortest.text.length) shortest = reply;
    }
    if (shortest) return shortest;
  }
  return rows?.length === 0
    ? replyNothing()
    : { text: random.pick(styleGuide.done), isWrite, listedRows: [] };
}

const findRows = (value: Json | undefined): readonly Json[] | undefined =>
  Object.values((value ?? {}) as JsonObject).find(it => Array.isArray(it)) as
    readonly Json[] | undefined;

/** Whole sentences first, and those last that begin like the reply before. */
function sortForCombination<T>(replies: readonly T[], before: string): readonly T[] {
  const rank = (it: T) =>
    2 * Number(!verbPattern.test(getReplyText(it))) + Number(beginsLike(getReplyText(it), before));
  return replies.toSorted((a, b) => rank(a) - rank(b));
}

const getReplyText = (reply: unknown): string =>
  typeof reply === "string" ? reply : ((reply as { say?: string }).say ?? "");

const getFirstWords = (text: string): string => text.split(" ").slice(0, 2).join(" ");

const beginsLike = (text: string, before: string): boolean =>
  before !== "" && getFirstWords(text) === getFirstWords(before);

const hasConditions = (replies: readonly unknown[]): boolean =>
  replies.some(it => typeof it !== "string");

const listsItems = (template: string): boolean => /\{items\}/.test(template);

/** Whether two slots have the same text, as in "off instead of off". Equal numbers are allowed. */
function repeatsValue(template: string, renderSlot: (slot: string) => string | undefined): boolean {
  const values = findSlots(template).flatMap(it => {
    const text = renderSlot(it);
    return text === undefined ? [] : [removeMarks(text).replaceAll(endMark, "").toLowerCase()];
  });
  const compares = /\b(instead of|rather than|was|from .* to|to .* from|now|before)\b/.test(
    template,
  );
  return values.some((it, i) => values.indexOf(it) !== i && (compares || !/^-?[\d.]+$/.test(it)));
}
