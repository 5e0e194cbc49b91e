/** Puts the fields of a call's result into the assistant's words. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import { findEntities } from "../../trajectory/resultEntities.ts";
import { formatReplyValue, isMoney } from "../text/formatValue.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import { getEntityKey, type EntityInstance } from "../user/entityInstance.ts";
import { pointingWords } from "../user/entityMentions.ts";
import type { Intent } from "../user/intent.ts";
import { markVerbatim, removeMarks, endMark } from "../text/valueMarks.ts";
import { omitRepeatedDays } from "../text/grammar.ts";
import { fillSlots, findSlots, joinWithAnd } from "../text/templateText.ts";
import { getField, selectReplies } from "../text/selectReplies.ts";
import type { ToolTemplates } from "../text/templateSchema.ts";

/** A list of up to `all` rows is read out in full, of a longer one the first rows. */
const rowLimits = { all: 12, first: 10 };

/** The same for replies of limited length. */
const briefRowLimits = { all: 4, first: 3 };

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
  if (slot === "count") return rows && String(rows.length);
  if (slot === "items") {
    if (!rows || rows.length === 0) return undefined;
    const rowSchema = getRowSchema(schema, rows, call);
    const shownRows = rows.slice(0, countListedRows(rows, context));
    return renderRows(
      shownRows,
      rows.length - shownRows.length,
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
  const text = intent.argumentTexts[key];
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
    return name === undefined ? undefined : markVerbatim(name);
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
const selectItem = (item: ToolTemplates["item"], row: Json): string | undefined =>
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
export type ListedRow = Pick<EntityInstance, "entity" | "id">;

/** The entities whose rows a reply reads out. */
export function listShownRows(
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
function isMoneyField(schema: JsonSchema | undefined, path: string): boolean {
  const keys = path.split(".");
  let field: JsonSchema | undefined = schema;
  for (const key of keys) field = field && findProperty(field, key);
  return isMoney(keys.at(-1)!, field);
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

function getRowSchema(
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
