/**
 * Renders the assistant's reply to one successful call. `renderReply` joins the replies of a turn.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import { getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import type { StyleGuide } from "../text/personas.ts";
import { type ToolReply, verbPattern, getField, selectReplies } from "../text/replies.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import { isEmptyResult } from "../user/intents/feasibility.ts";
import type { Intent } from "../user/intents/intent.ts";
import { asksForAll, countAllRows } from "../user/intents/wholeLists.ts";
import {
  removeMarks,
  endMark,
  chooseAlternatives,
  fillSlots,
  findSlots,
  listAlternatives,
  markVerbatim,
  joinWithAnd,
} from "../text/templateText.ts";
import type { ReplyTemplate, ToolTemplates } from "../text/templates.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { findEntities } from "../../trajectory/entities.ts";
import { formatReplyValue, isMoney } from "../text/formatValue.ts";
import { getEntityKey, type EntityInstance } from "../user/entities/entitySample.ts";
import { pointingWords } from "../user/entities/entityMentions.ts";
import { omitRepeatedDays } from "../text/grammar.ts";

/** A reply, the rows that it lists, in order, and the fields of the result that it depends on. */
export interface ResultReply extends ToolReply {
  readonly listedRows: readonly ListedRow[];
  /** Slots of its template, and paths of its conditions. */
  readonly paths: readonly string[];
  readonly common: CommonReply;
  /** Its template, and the one that it was chosen from. */
  readonly template?: ChosenTemplate;
}

interface ChosenTemplate {
  readonly text: string;
  readonly source: string;
}

/** What every reply says that could be given instead of one. */
interface CommonReply {
  /** The slots of all, without `.size`. */
  readonly slots: readonly string[];
  /** All of them answer yes or no. */
  readonly polarity?: "yes" | "no" | undefined;
  /** All of them say that there is nothing. */
  readonly isNone: boolean;
}

interface ResultReplyOptions {
  /** The reply is the whole message. */
  readonly isAlone?: boolean;
  /** The reply that this one follows. */
  readonly before?: string;
  /** The template of the replies before, which is used again where it suits the result. */
  readonly sameAs?: ChosenTemplate | undefined;
}

/** Renders the reply to an intent whose call succeeded, with its values marked. */
export function renderResultReply(
  intent: Intent,
  call: CallEvent,
  context: ConversationContext,
  styleGuide: StyleGuide,
  { isAlone = true, before = "", sameAs }: ResultReplyOptions = {},
): ResultReply {
  const { templates, random, maxReplyLength = Infinity } = context;
  const toolTemplates = templates.tools[intent.tool.name]!;
  const value = getCallValue(call);
  const rows = findRows(value);
  const isWrite = intent.tool.effect === "write";
  const pickReply = (texts: readonly string[], isNone = false): ResultReply => ({
    text: random.pick(texts),
    isWrite,
    listedRows: [],
    paths: isNone ? ["count"] : [],
    common: { slots: [], isNone },
  });
  const pickEmptyReply = () => pickReply(toolTemplates.empty ?? styleGuide.nothing, true);
  const getFieldOrCount = (path: string): Json | undefined =>
    getField(value, path) ??
    (path === "count" && rows ? countAllRows(intent, value ?? null, rows.length) : undefined);
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
  const source: ReplySource = { intent, call, context, rows };
  const usual = intent.replies ?? toolTemplates.reply ?? styleGuide.done;
  const common = findCommonReply(usual, getFieldOrCount, source);
  const candidates = [...intentReplies, ...toolReplies];
  const reply = findFittingReply(
    sameAs && candidates.includes(sameAs.source) ? [sameAs.text, ...candidates] : candidates,
    lacksRows ? toolReplies[0] : undefined,
    (template, avoidsRepetition) => renderTemplate(template, avoidsRepetition, common, source),
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

/**
 * Finds what all usual replies say that suit a result: those whose conditions it meets or, if none
 * does, those without conditions.
 */
function findCommonReply(
  replies: readonly ReplyTemplate[],
  getFieldOrCount: (path: string) => Json | undefined,
  { intent, call, context, rows }: ReplySource,
): CommonReply {
  const suitable = new Set(selectReplies(replies, getFieldOrCount, all => all));
  const renderSlot = (slot: string) => renderField(slot, intent, call, rows, context);
  const findTexts = (isConditional: boolean) =>
    replies.flatMap(it =>
      (typeof it !== "string") === isConditional && suitable.has(getReplyText(it))
        ? listAlternatives(getReplyText(it)).filter(
            text =>
              findSlots(text).every(slot => renderSlot(slot) !== undefined) &&
              !repeatsValue(text, renderSlot),
          )
        : [],
    );
  const conditional = findTexts(true);
  const texts = conditional.length > 0 ? conditional : findTexts(false);
  const [first = "", ...others] = texts;
  return {
    slots: listPaths(first).filter(slot => others.every(it => listPaths(it).includes(slot))),
    polarity: (["yes", "no"] as const).find(
      it => texts.length > 0 && texts.every(text => getPolarity(text) === it),
    ),
    isNone: conditional.length > 0 && conditional.every(it => negation.test(it)),
  };
}

/** The slots of a text, without `.size`. */
const listPaths = (text: string): string[] => findSlots(text).map(it => it.replace(/\.size$/, ""));

/** The answer that a text begins with, in lower case. */
const getPolarity = (text: string): string | undefined =>
  /^(Yes|No)[,.:;!]/.exec(text)?.[1]!.toLowerCase();

const negation = /\b(no|none|nobody|nothing|never|not|without)\b|n't\b/i;

/** Renders one template, or returns undefined if a slot has no text. */
function renderTemplate(
  template: string,
  avoidsRepetition: boolean,
  common: CommonReply,
  { intent, call, context, rows }: ReplySource,
): ResultReply | undefined {
  const chosen = chooseAlternatives(template, context.random);
  const renderSlot = (slot: string) => {
    const text = renderField(slot, intent, call, rows, context);
    const total = slot === "items" && rows ? countTold(rows, { intent, call, context }) : undefined;
    return total !== undefined && !/\{count\}/.test(chosen)
      ? text?.replace(endMark, ` (${total} in all)${endMark}`)
      : text;
  };
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
    template: { text: chosen, source: template },
    paths: [...findSlots(chosen), ...listConditionPaths(template, replies)],
    common: {
      ...common,
      polarity: getPolarity(chosen) === common.polarity ? common.polarity : undefined,
      slots: common.slots.filter(it => listPaths(chosen).includes(it)),
      isNone: common.isNone && negation.test(chosen),
    },
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

// Puts the fields of a call's result into the assistant's words.

/** A list of up to `all` rows is read out in full, of a longer one the first rows. */
const rowLimits = { all: 12, first: 10 };

/** The same for replies of limited length. */
const briefRowLimits = { all: 4, first: 3 };

/** The number of rows is told of a list with more rows than this, or that is not read out whole. */
const maxToldRows = 10;

/**
 * The number that sums up a list: that of all rows, if they are many or if the list is cut although
 * the user wants all of it. Undefined for a list that is read out.
 */
export function countTold(
  rows: readonly Json[],
  { intent, call, context }: Pick<ReplySource, "intent" | "call" | "context">,
): number | undefined {
  const total = countAllRows(intent, getCallValue(call) ?? null, rows.length);
  const isLong = rows.length > maxToldRows || countListedRows(rows, context) < rows.length;
  return isLong || (total > rows.length && asksForAll(intent)) ? total : undefined;
}

function countListedRows(
  rows: readonly Json[],
  { maxReplyLength }: Pick<ConversationContext, "maxReplyLength">,
): number {
  const { all, first } = maxReplyLength === undefined ? rowLimits : briefRowLimits;
  return rows.length <= all ? rows.length : first;
}

/** The text of a slot: a field of the result, else an argument in the user's words. */
export function renderField(
  slot: string,
  intent: Intent,
  call: CallEvent,
  rows: readonly Json[] | undefined,
  context: ConversationContext,
): string | undefined {
  const { templates, now, random } = context;
  const schema = intent.tool.outputSchema;
  if (slot.endsWith(".size")) {
    const path = slot.slice(0, -".size".length);
    const value = getField(getCallValue(call), path);
    if (typeof value !== "number") return undefined;
    const text = formatReplyValue(Math.abs(value), { now, random }, isMoneyField(schema, path));
    return markVerbatim(text) + endMark;
  }
  const field = getField(getCallValue(call), slot);
  if (field !== undefined && field !== null && typeof field !== "object")
    return (
      markVerbatim(formatReplyValue(field, { now, random }, isMoneyField(schema, slot))) + endMark
    );
  const names = Array.isArray(field) && slot !== "items" ? listNames(field) : [];
  if (names.length > 0) return markVerbatim(joinWithAnd(names)) + endMark;
  if (slot === "count")
    return rows && String(countAllRows(intent, getCallValue(call) ?? null, rows.length));
  if (slot === "items") {
    if (!rows || rows.length === 0) return undefined;
    const rowSchema = findRowSchema(schema, rows, call);
    const shownRows = rows.slice(0, countListedRows(rows, context));
    return renderRows(
      shownRows,
      (countTold(rows, { intent, call, context }) ?? rows.length) - shownRows.length,
      templates.tools[intent.tool.name]?.item,
      (value, key) => formatReplyValue(value, { now, random }, isMoneyField(rowSchema, key)),
    );
  }
  return renderArgument(slot, intent, context);
}

/** The rows of a list, or the first text of each. */
const listNames = (rows: readonly Json[]): string[] =>
  rows.flatMap(row => {
    const values = row !== null && typeof row === "object" ? Object.values(row) : [row];
    return values.find(it => typeof it === "string") ?? [];
  });

/** The text of an argument, as the user said it. */
export function renderArgument(
  key: string,
  intent: Intent,
  context: ConversationContext,
): string | undefined {
  const { now, random } = context;
  const text = intent.valueTexts?.[key] ?? intent.argumentTexts[key];
  if (text === undefined) return undefined;
  const value = intent.arguments[key];
  if (typeof value === "number" && isMoneyField(intent.tool.inputSchema, key))
    return `${markVerbatim(formatReplyValue(value, { now, random }, true))}${endMark} euros`;
  // the assistant has its own way to say dates
  if (typeof value === "string" && /^\d{4}-\d{2}(-\d{2}(T\d{2}:\d{2})?)?$/.test(value))
    return markVerbatim(formatReplyValue(value, { now, random })) + endMark;
  const named = pointingWords.test(text) ? (renderName(intent, key, context) ?? text) : text;
  return named.replace(/^my /, "your ").replace(/ my /g, " your ") + endMark;
}

/** The name of an entity that the user has only pointed at. */
function renderName(
  { mentions, arguments: args }: Intent,
  key: string,
  { templates, known }: ConversationContext,
): string | undefined {
  const mentioned = mentions.find(it => it.instance.id === args[key])?.instance;
  const instance: EntityInstance | undefined =
    mentioned && (known.get(getEntityKey(mentioned)) ?? mentioned);
  const entityTemplates = instance && templates.entities[instance.entity];
  if (!entityTemplates) return undefined;
  const template = [...(entityTemplates.known ?? []), ...entityTemplates.mention].find(it => {
    const slots = findSlots(it);
    return slots.length > 0 && slots.every(slot => slot === "label" || slot === "id");
  });
  if (template === undefined) return undefined;
  return fillSlots(template, slot => {
    const name = slot === "id" ? instance.id : instance.label;
    return name === undefined ? undefined : markVerbatim(String(name));
  });
}

/** `more` is the number of rows that are not read out. */
function renderRows(
  rows: readonly Json[],
  more: number,
  item: ToolTemplates["item"],
  format: (value: Json, key: string) => string,
): string {
  const texts = rows.map(it => renderRow(it, selectItem(item, it), format));
  const clean = omitRepeatedDays(texts.map(it => removeMarks(it).replace(/[,;.]$/, "")));
  const [first, ...others] = more > 0 ? [...clean, `${more} more`] : clean;
  const beginsVerbatim = texts[0]!.startsWith(markVerbatim(""));
  return joinWithAnd([beginsVerbatim ? markVerbatim(first!) : first!, ...others]) + endMark;
}

/** The template whose conditions a row meets. */
export const selectItem = (item: ToolTemplates["item"], row: Json): string | undefined =>
  typeof item === "object"
    ? selectReplies(
        item,
        path => getField(row, path),
        all => all,
      )[0]
    : item;

function renderRow(
  row: Json,
  template: string | undefined,
  format: (value: Json, key: string) => string,
): string {
  if (row === null || typeof row !== "object")
    return (
      fillSlots(template ?? "{value}", slot =>
        slot === "value" ? markVerbatim(format(row, "")) : undefined,
      ) ?? markVerbatim(format(row, ""))
    );
  const first = Object.values(row)[0];
  return (
    fillSlots(template ?? "", slot => {
      const value = getField(row, slot);
      return value === undefined || value === null ? undefined : markVerbatim(format(value, slot));
    }) || markVerbatim(format(first ?? "", ""))
  );
}

/** An entity whose row was read out. */
type ListedRow = Pick<EntityInstance, "entity" | "id">;

/** The entities whose rows a reply reads out. */
function listShownRows(
  intent: Intent,
  call: CallEvent,
  rows: readonly Json[],
  context: ConversationContext,
): ListedRow[] {
  const declaration = context.declarations.get(intent.tool.name);
  if (!declaration) return [];
  const entities = findEntities(declaration, getCallValue(call) ?? null);
  return rows.slice(0, countListedRows(rows, context)).flatMap(row => {
    const ids = row !== null && typeof row === "object" ? Object.values(row) : [row];
    const first = entities.find(it => ids.includes(it.id));
    return first ? [{ entity: first.entity, id: first.id }] : [];
  });
}

/** Whether the field of a result at a dotted path is a sum of money. */
const isMoneyField = (schema: JsonSchema | undefined, path: string): boolean =>
  isMoney(path.split(".").at(-1)!, findFieldSchema(schema, path));

/** The schema of the field at a dotted path. */
export function findFieldSchema(
  schema: JsonSchema | undefined,
  path: string,
): JsonSchema | undefined {
  let field = schema;
  for (const key of path.split(".")) field = field && findProperty(field, key);
  return field;
}

function findProperty(schema: JsonSchema, key: string): JsonSchema | undefined {
  const own = (schema["properties"] as Record<string, JsonSchema> | undefined)?.[key];
  if (own) return own;
  const branches = (schema["anyOf"] ?? schema["oneOf"] ?? []) as readonly JsonSchema[];
  for (const branch of branches) {
    const found = findProperty(branch, key);
    if (found) return found;
  }
  return undefined;
}

/** The schema of the rows of a call's result. */
export function findRowSchema(
  schema: JsonSchema,
  rows: readonly Json[],
  call: CallEvent,
): JsonSchema | undefined {
  const key = Object.entries((getCallValue(call) ?? {}) as JsonObject).find(
    ([, it]) => it === rows,
  )?.[0];
  const field = key === undefined ? undefined : findProperty(schema, key);
  return field?.["items"] as JsonSchema | undefined;
}
