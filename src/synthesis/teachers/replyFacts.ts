/**
 * Lists the facts of a result that a reply to the user rests on, so that any call may show them,
 * and says which of them the user's question asks for, so that the assistant must tell them.
 */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import { getKeyword, removeNull } from "../../environment/schemaKeywords.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { findEntities, type EntityId, isEntityId } from "../../trajectory/entities.ts";
import type { AnswerKind, Fact } from "../../trajectory/task.ts";
import { getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import {
  containsToken,
  isDistinctive,
  listScalars,
  normalizeText,
  type Scalar,
} from "../../trajectory/valueMatching.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { isMoney } from "../text/formatValue.ts";
import { getField } from "../text/replies.ts";
import { findSlots } from "../text/templateText.ts";
import { findFirstList } from "../user/scenarios/condition.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import { countAllRows } from "../user/intents/wholeLists.ts";
import type { PlannedIntent, UserTurn } from "../user/userPlan.ts";
import {
  findFieldSchema,
  findRowSchema,
  countTold,
  selectItem,
  type ResultReply,
} from "./resultReply.ts";

/** A read of a turn that succeeded, and what the user said. */
interface AnsweredRead {
  readonly intent: PlannedIntent;
  readonly call: CallEvent;
  readonly declaration: ToolDeclaration;
  readonly turn: Pick<UserTurn, "text" | "intents">;
  readonly context: ConversationContext;
}

/**
 * The facts behind the slots and conditions of a reply: a field with the entity it belongs to, or
 * every row of the list that `{items}` or `{count}` stands for. What every such reply tells, and
 * the user has not said in this turn, must be told.
 */
export function listReplyFacts(
  { paths, common }: Pick<ResultReply, "paths" | "common">,
  read: AnsweredRead,
): Fact[] {
  const { intent, call, declaration } = read;
  const value = getCallValue(call);
  if (!isJsonObject(value)) return [];
  const entities = findEntities(declaration, value);
  const context: FactContext = {
    ids: new Set(entities.map(it => it.id)),
    names: new Map(
      entities.flatMap(({ id, label }) =>
        typeof id === "number" && label !== undefined ? [[id, label]] : [],
      ),
    ),
    args: intent.arguments,
    subjects: listSubjects(declaration, intent.arguments),
  };
  const slots = [...paths, ...(intent.condition ? [intent.condition.field] : [])];
  const isAsked = intent.condition?.isUnasked !== true && common.polarity === undefined;
  const facts = new Map<string, Fact>();
  for (const slot of new Set(slots)) {
    const path = slot.replace(/\.size$/, "");
    const slotFacts = listSlotFacts(path, value, context);
    const toldSlot = { slot, path, common, value };
    for (const it of isAsked ? markDueFacts(slotFacts, toldSlot, read) : slotFacts) {
      const { tell, ...fact } = it;
      const key = JSON.stringify(fact);
      if (tell || !facts.has(key)) facts.set(key, it);
    }
  }
  const all = omitKnownDays(markPlainAnswer([...facts.values()], common), read);
  const saidTexts = new Set<Json | undefined>([
    ...Object.values(intent.arguments),
    ...intent.mentions.map(it => it.instance.label),
  ]);
  const news = all.filter(
    it =>
      it.tell !== undefined ||
      it.field === undefined ||
      (!saidTexts.has(it.value) && it.value !== it.entity),
  );
  return news.length > 0 ? news : all;
}

interface FactContext {
  /** The ids in the result. */
  readonly ids: ReadonlySet<EntityId>;
  /** Names for ids that are numbers, which are the ids of other things, too. */
  readonly names: ReadonlyMap<EntityId, string>;
  readonly args: JsonObject;
  /** The entities that the call names. */
  readonly subjects: readonly string[];
}

const listSubjects = ({ inputs }: ToolDeclaration, args: JsonObject): string[] =>
  inputs
    .flatMap(it => [args[it.key] ?? []].flat())
    .filter(isEntityId)
    .map(String);

function listSlotFacts(path: string, value: JsonObject, context: FactContext): Fact[] {
  const fieldValue = getField(value, path);
  if (fieldValue !== undefined && (fieldValue === null || typeof fieldValue !== "object")) {
    const keys = path.split(".");
    const entity = findOwner(value, keys.slice(0, -1), context);
    return [
      { ...(entity === undefined ? {} : { entity }), field: keys.at(-1)!, value: fieldValue },
    ];
  }
  return path === "items" || path === "count" ? listRowFacts(value, context) : [];
}

/**
 * The id beside a field or further out: one that the call names, else the first; without any, the
 * entity that the call is about.
 */
function findOwner(
  value: JsonObject,
  path: readonly string[],
  { ids, names, args, subjects }: FactContext,
): string | undefined {
  const owners = [value];
  for (const key of path) owners.push(owners.at(-1)![key] as JsonObject);
  for (const owner of owners.toReversed()) {
    const own = Object.values(owner)
      .filter(isEntityId)
      .filter(it => ids.has(it));
    const argument = own.find(it => Object.values(args).includes(it));
    const id = argument ?? own[0];
    if (id !== undefined) return names.get(id) ?? String(id);
  }
  return subjects.length === 1 ? subjects[0] : undefined;
}

/**
 * One fact per row of the first list, each of the entities that the call names, or the number of
 * rows if they have no ids of their own.
 */
function listRowFacts(value: JsonObject, { ids, names, subjects }: FactContext): Fact[] {
  const rows = Object.values(value).find(it => Array.isArray(it)) as readonly Json[] | undefined;
  if (!rows) return [];
  const rowIds = rows.length > 0 ? findRowIds(rows, ids) : undefined;
  return rowIds
    ? [...new Set(rowIds.map(it => names.get(it) ?? String(it)))].map(entity => {
        const of = subjects.filter(it => it !== entity);
        return { entity, ...(of.length > 0 ? { of } : {}) };
      })
    : [{ field: "count", value: rows.length }];
}

function findRowIds(rows: readonly Json[], ids: ReadonlySet<EntityId>): EntityId[] | undefined {
  if (rows.every(it => typeof it === "string")) return rows as string[];
  if (!rows.every(isJsonObject)) return undefined;
  for (const key of Object.keys(rows[0]!)) {
    const own = rows.map(it => it[key]);
    const isId = own.every(it => isEntityId(it) && ids.has(it));
    if (isId && new Set(own).size === own.length) return own as EntityId[];
  }
  return undefined;
}

// Marks the facts that must be told, with the kind of value.

/** What a slot of a reply stands for. */
interface ToldSlot {
  readonly slot: string;
  /** The slot without `.size`. */
  readonly path: string;
  readonly common: ResultReply["common"];
  /** The whole result. */
  readonly value: JsonObject;
}

/** Marks which facts of a slot must be told. */
function markDueFacts(
  facts: readonly Fact[],
  { slot, path, common, value }: ToldSlot,
  read: AnsweredRead,
): readonly Fact[] {
  if (!common.slots.includes(path)) return facts;
  const { outputSchema } = read.intent.tool;
  const field = getField(value, path);
  if (field === undefined || (field !== null && typeof field === "object")) {
    const rows = findFirstList(value);
    if (!rows) return facts;
    const list = { rows, schema: findRowSchema(outputSchema, rows, read.call) };
    return markListFacts(facts, path, list, { common, read });
  }
  const fieldSchema = findFieldSchema(outputSchema, path) ?? {};
  const answer = findAnswer(path.split(".").at(-1)!, field, fieldSchema);
  if (!answer || isSaid(field, read)) return facts;
  const told = slot === path ? answer.value : Math.abs(answer.value as number);
  const subjects = listScalars(read.intent.arguments);
  return facts.map(it =>
    // the user knows the name of what they ask about
    getLabel(fieldSchema) !== undefined &&
    (it.entity === field || subjects.map(String).includes(it.entity ?? ""))
      ? it
      : { ...it, tell: createTell({ ...answer, value: told }) },
  );
}

/** Whether a value says that there is nothing. */
const isNothing = (value: Json | undefined): boolean =>
  value === null || value === 0 || (typeof value === "string" && value.startsWith("not "));

/** Marks the fact that yes or no is about or, if nothing else must be told, those that say none. */
function markPlainAnswer(
  facts: readonly Fact[],
  { polarity, isNone }: ResultReply["common"],
): readonly Fact[] {
  if (polarity !== undefined) {
    const decisive = facts.find(it => typeof it.value === "boolean") ?? facts[0];
    return facts.map(it => (it === decisive ? { ...it, tell: { kind: polarity } } : it));
  }
  return isNone && facts.every(it => it.tell === undefined)
    ? facts.map(it => (isNothing(it.value) ? { ...it, tell: { kind: "none" } } : it))
    : facts;
}

/** Of a time on a day that is known, only the time of day must be told. */
function omitKnownDays(facts: readonly Fact[], { turn, context: { now } }: AnsweredRead): Fact[] {
  const said = turn.intents.flatMap(it => listScalars(it.arguments).map(String));
  const known = new Set([now, ...said].map(it => it.slice(0, 10)));
  return facts.map(it => {
    const { kind, value = it.value } = it.tell ?? {};
    if (kind !== "time" || typeof value !== "string" || value.length < 16) return it;
    const [day = "", time = ""] = value.split("T");
    if (known.has(day)) return { ...it, tell: { kind, value: time } };
    known.add(day);
    return it;
  });
}

/** The rows of a list, and their schema. */
interface ToldList {
  readonly rows: readonly Json[];
  readonly schema: JsonSchema | undefined;
}

/**
 * Marks the rows of a list that is read out, or else the first fact with the number of rows. Rows
 * without ids become facts of their own.
 */
function markListFacts(
  facts: readonly Fact[],
  path: string,
  list: ToldList,
  { common, read }: { readonly common: ResultReply["common"]; readonly read: AnsweredRead },
): readonly Fact[] {
  const { rows } = list;
  const tellsRows = common.slots.includes("items");
  if (rows.length === 0 || (path === "count" && tellsRows)) return facts;
  const count = tellsRows
    ? countTold(rows, read)
    : countAllRows(read.intent, getCallValue(read.call) ?? null, rows.length);
  if (count !== undefined) return isSaid(count, read) ? facts : markCount(facts, count);
  const tells = rows.map(row => ({ row, told: findRowTell(row, list, read) }));
  if (facts[0]?.entity !== undefined)
    return facts.map(fact => {
      const told = tells.find(({ row }) => hasValue(row, fact.entity!))?.told;
      return told ? { ...fact, tell: { kind: told.kind, value: told.value } } : fact;
    });
  const own = tells.flatMap(({ told }): Fact[] =>
    told?.key === undefined ? [] : [{ field: told.key, value: told.shown, tell: createTell(told) }],
  );
  return [...facts, ...own];
}

const markCount = ([first, ...others]: readonly Fact[], count: number): Fact[] =>
  first
    ? [
        { ...first, tell: { kind: "count", ...(first.value === count ? {} : { value: count }) } },
        ...others,
      ]
    : [];

const hasValue = (row: Json, value: string): boolean =>
  row === value ||
  (isJsonObject(row) && Object.values(row).some(it => isEntityId(it) && String(it) === value));

/** What the assistant must tell about a row. `key` is its field. */
interface RowTell extends Answer {
  readonly key?: string;
}

/**
 * What the assistant must tell about a row: its name, or else the first value that its template
 * reads out, of those that the user has not said.
 */
function findRowTell(
  row: Json,
  { rows, schema = {} }: ToldList,
  read: AnsweredRead,
): RowTell | undefined {
  if (!isJsonObject(row)) return isSaid(row, read) ? undefined : findRowAnswer("", row, schema);
  const { templates } = read.context;
  const template = selectItem(templates.tools[read.intent.tool.name]?.item, row);
  const slots = template === undefined ? Object.keys(row).slice(0, 1) : findSlots(template);
  const answers = slots.flatMap(slot => {
    const value = getField(row, slot) ?? null;
    const fieldSchema = findFieldSchema(schema, slot) ?? {};
    const key = slot.split(".").at(-1)!;
    const answer = findRowAnswer(key, value, fieldSchema);
    const isKnown = isSaid(value, read) || (rows.length === 1 && isSought(value, read));
    if (!answer || isKnown) return [];
    return [{ key, ...answer, isName: getLabel(fieldSchema) !== undefined }];
  });
  return answers.find(it => it.isName) ?? answers[0];
}

/** What to tell about a value in a list: of a path, the last part. */
function findRowAnswer(key: string, value: Json, schema: JsonSchema): Answer | undefined {
  const answer = findAnswer(key, value, schema);
  return answer && /^[/~]./.test(String(answer.value))
    ? { ...answer, value: String(answer.value).replace(/.*\/(?=.)/, "") }
    : answer;
}

/** Whether the user has said a value in this turn: in a request, or as the name of something. */
function isSaid(value: Json, { turn, intent }: AnsweredRead): boolean {
  if (value === null || typeof value === "object") return false;
  const isArgument = [intent, ...turn.intents].some(it =>
    listScalars(it.arguments).some(of => of === value),
  );
  if (isArgument) return true;
  if (typeof value === "string")
    return ` ${normalizeText(turn.text)} `.includes(` ${normalizeText(value)} `);
  return isDistinctive(value) && containsToken(turn.text, String(value));
}

/** Whether an argument is a part of a name, by which the user has searched for it. */
const isSought = (value: Json, { intent }: AnsweredRead): boolean =>
  typeof value === "string" &&
  listScalars(intent.arguments).some(
    it =>
      typeof it === "string" &&
      isDistinctive(it) &&
      normalizeText(value).includes(normalizeText(it)),
  );

/** Longer texts are told in other words. */
const maxNameLength = 60;

/** A text with more words that the schema does not call a name is told in other words. */
const maxNameWords = 5;

/** What to tell about a field, and the field's own value. */
interface Answer {
  readonly kind: AnswerKind;
  readonly value: Scalar;
  readonly shown: Scalar;
}

const createTell = ({ kind, value, shown }: Answer): NonNullable<Fact["tell"]> => ({
  kind,
  ...(value === shown ? {} : { value }),
});

/**
 * What to tell about a field; undefined for a value that is told in other words, such as a status
 * or a sentence, and for ids.
 */
function findAnswer(key: string, shown: Json, schema: JsonSchema): Answer | undefined {
  const plain = removeNull(schema);
  if (plain["enum"] !== undefined || plain["const"] !== undefined) return undefined;
  if (typeof shown === "number") return { kind: findNumberKind(key, plain), value: shown, shown };
  if (typeof shown !== "string") return undefined;
  const kind = findTextKind(shown, plain);
  // "20.2 °C"
  return kind && { kind, value: kind === "number" ? Number.parseFloat(shown) : shown, shown };
}

function findNumberKind(key: string, schema: JsonSchema): AnswerKind {
  if (isMoney(key, schema)) return "money";
  if (isDuration(key, schema)) return "duration";
  return key === "count" ? "count" : "number";
}

function findTextKind(text: string, schema: JsonSchema): AnswerKind | undefined {
  if (text === "" || /^\d{4}-\d{2}$/.test(text)) return undefined;
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) return "date";
  if (/^(\d{4}-\d{2}-\d{2}T)?\d{2}:\d{2}$/.test(text)) return "time";
  if (/^-?\d+(\.\d+)? ?(°C|%|[a-z]{1,5})$/.test(text)) return "number";
  return isNameText(text, schema) ? "name" : undefined;
}

function isDuration(key: string, { description }: JsonSchema): boolean {
  const units = /(^|[ _])(seconds|minutes|hours|days)([ _,;.]|$)/;
  return units.test(key) || (typeof description === "string" && units.test(description));
}

const getLabel = (schema: JsonSchema): string | undefined =>
  getKeyword(removeNull(schema), "x-label");

/** Whether a text is a name and no id, no sentence and no word of a fixed set. */
function isNameText(text: string, schema: JsonSchema): boolean {
  if (text.length > maxNameLength || /[.?!…]["”]?$/.test(text) || text.includes("\n")) return false;
  if (getLabel(schema) !== undefined || /^[/~]/.test(text)) return true;
  if (getKeyword(schema, "x-entity") !== undefined && schema["x-spoken"] !== true) return false;
  return (
    /[\p{Lu}\d@/]|\w\.\w/u.test(text) &&
    !/\d:\d/.test(text) &&
    text.split(" ").length <= maxNameWords
  );
}
