/**
 * Renders the assistant's reply to one successful call. `renderReply` joins the replies of a turn.
 */
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
import type { ReplyTemplate } from "../text/templateSchema.ts";

/** A reply, the rows that it lists, in order, and the fields of the result that it depends on. */
export interface ResultReply extends ToolReply {
  readonly listedRows: readonly ListedRow[];
  /** Slots of its template, and paths of its conditions. */
  readonly paths: readonly string[];
}

export interface ResultReplyOptions {
  /** The reply is the whole message. */
  readonly isAlone?: boolean;
  /** The reply that this one follows. */
  readonly before?: string;
}

/** Renders the reply to an intent whose call succeeded, with its values marked. */
export function renderResultReply(
  intent: Intent,
  call: CallEvent,
  context: ConversationContext,
  styleGuide: StyleGuide,
  { isAlone = true, before = "" }: ResultReplyOptions = {},
): ResultReply {
  const { templates, random, maxReplyLength = Infinity } = context;
  const toolTemplates = templates.tools[intent.tool.name]!;
  const value = getCallValue(call);
  const rows = findRows(value);
  const isWrite = intent.tool.effect === "write";
  const pickReply = (texts: readonly string[], paths: readonly string[] = []): ResultReply => ({
    text: random.pick(texts),
    isWrite,
    listedRows: [],
    paths,
  });
  const pickEmptyReply = () => pickReply(toolTemplates.empty ?? styleGuide.nothing, ["count"]);
  const getFieldOrCount = (path: string): Json | undefined =>
    getField(value, path) ?? (path === "count" ? rows?.length : undefined);
  const order = <T>(replies: readonly T[]): readonly T[] => {
    const shuffled = random.shuffle(replies);
    return isAlone ? shuffled : sortForCombination(shuffled, before);
  };
  const intentReplies = selectReplies(intent.replies ?? [], getFieldOrCount, order);
  const toolReplies = selectReplies(toolTemplates.reply ?? styleGuide.done, getFieldOrCount, order);
  if (isEmptyResult(value) && !hasConditions(intent.replies ?? toolTemplates.reply ?? []))
    return pickEmptyReply();
  const lacksRows =
    rows?.length === 0 && intentReplies.length > 0 && intentReplies.every(listsItems);
  const reply = findFittingReply(
    [...intentReplies, ...toolReplies],
    lacksRows ? toolReplies[0] : undefined,
    (template, avoidsRepetition) =>
      renderTemplate(template, avoidsRepetition, { intent, call, context, rows }),
    isAlone ? maxReplyLength : maxReplyLength / 2,
  );
  return reply ?? (rows?.length === 0 ? pickEmptyReply() : pickReply(styleGuide.done));
}

/** The paths of the conditions under which a reply is given. */
const listConditionPaths = (template: string, replies: readonly ReplyTemplate[]): string[] =>
  replies.flatMap(it => (typeof it !== "string" && it.say === template ? Object.keys(it.if) : []));

/**
 * Finds the first reply that is short enough, or else the shortest one. Replies that repeat a value
 * are considered only if there is no other. Returns undefined when it comes to the template `end`.
 */
function findFittingReply(
  templates: readonly string[],
  end: string | undefined,
  render: (template: string, avoidsRepetition: boolean) => ResultReply | undefined,
  maxLength: number,
): ResultReply | undefined {
  for (const avoidsRepetition of [true, false]) {
    let shortest: ResultReply | undefined;
    for (const template of templates) {
      if (template === end) return undefined;
      const reply = render(template, avoidsRepetition);
      if (!reply) continue;
      if (reply.text.length <= maxLength) return reply;
      if (!shortest || reply.text.length < shortest.text.length) shortest = reply;
    }
    if (shortest) return shortest;
  }
  return undefined;
}

interface ReplySource {
  readonly intent: Intent;
  readonly call: CallEvent;
  readonly context: ConversationContext;
  /** The rows of the result's first list. */
  readonly rows: readonly Json[] | undefined;
}

/** Renders one template, or returns undefined if a slot has no text. */
function renderTemplate(
  template: string,
  avoidsRepetition: boolean,
  { intent, call, context, rows }: ReplySource,
): ResultReply | undefined {
  const chosen = chooseAlternatives(template, context.random);
  const renderSlot = (slot: string) => renderField(slot, intent, call, rows, context);
  if (avoidsRepetition && repeatsValue(chosen, renderSlot)) return undefined;
  const text = fillSlots(chosen, renderSlot)?.replaceAll(/ euros euros\b/g, " euros");
  if (text === undefined) return undefined;
  const replies = [
    ...(intent.replies ?? []),
    ...(context.templates.tools[intent.tool.name]?.reply ?? []),
  ];
  return {
    text,
    isWrite: intent.tool.effect === "write",
    listedRows: listsItems(chosen) && rows ? listShownRows(intent, call, rows, context) : [],
    paths: [...findSlots(chosen), ...listConditionPaths(template, replies)],
  };
}

const findRows = (value: Json | undefined): readonly Json[] | undefined =>
  Object.values((value ?? {}) as JsonObject).find(it => Array.isArray(it)) as
    readonly Json[] | undefined;

/**
 * Whole sentences first, and those last that begin like the reply before or with a pronoun, which
 * could refer to what that one was about.
 */
function sortForCombination<T>(replies: readonly T[], before: string): readonly T[] {
  const rank = (it: T) =>
    2 * Number(!verbPattern.test(getReplyText(it))) +
    3 * Number(pronounPattern.test(getReplyText(it))) +
    Number(/\bits?\b/.test(getReplyText(it))) +
    Number(beginsLike(getReplyText(it), before));
  return replies.toSorted((a, b) => rank(a) - rank(b));
}

const pronounPattern = /^\(?(It|Its|They|That|This|These|Those|[OI]n it)\b/;

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
