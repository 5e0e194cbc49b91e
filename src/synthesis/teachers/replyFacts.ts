/** Lists the facts of a result that a reply to the user tells, so that any call may show them. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { Fact } from "../../trajectory/task.ts";
import { getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { findEntities } from "../../trajectory/resultEntities.ts";
import { getField } from "../text/selectReplies.ts";
import type { Intent } from "../user/intent.ts";

/**
 * The facts behind the slots and conditions of a reply: a field with the entity it belongs to, or
 * every row of the list that `{items}` or `{count}` stands for.
 */
export function listReplyFacts(
  paths: Iterable<string>,
  { arguments: args, mentions }: Pick<Intent, "arguments" | "mentions">,
  call: CallEvent,
  declaration: ToolDeclaration,
): Fact[] {
  const value = getCallValue(call);
  if (!isJsonObject(value)) return [];
  const ids = new Set(findEntities(declaration, value).map(it => it.id));
  const saidTexts = new Set<Json | undefined>([
    ...Object.values(args),
    ...mentions.map(it => it.instance.label),
  ]);
  const facts = new Map<string, Fact>();
  const context = { ids, args, subjects: listSubjects(declaration, args) };
  for (const slot of paths)
    for (const it of listSlotFacts(slot.replace(/\.size$/, ""), value, context))
      facts.set(JSON.stringify(it), it);
  const all = [...facts.values()];
  const news = all.filter(it => !saidTexts.has(it.value) && it.value !== it.entity);
  return news.length > 0 ? news : all;
}

interface FactContext {
  /** The ids in the result. */
  readonly ids: ReadonlySet<string>;
  readonly args: JsonObject;
  /** The entities that the call names. */
  readonly subjects: readonly string[];
}

const listSubjects = ({ inputs }: ToolDeclaration, args: JsonObject): string[] =>
  inputs.flatMap(it => [args[it.key] ?? []].flat()).filter(it => typeof it === "string");

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
  { ids, args, subjects }: FactContext,
): string | undefined {
  const owners = [value];
  for (const key of path) owners.push(owners.at(-1)![key] as JsonObject);
  for (const owner of owners.toReversed()) {
    const own = Object.values(owner).filter(it => typeof it === "string" && ids.has(it));
    const argument = own.find(it => Object.values(args).includes(it));
    if (own.length > 0) return (argument ?? own[0]) as string;
  }
  return subjects.length === 1 ? subjects[0] : undefined;
}

/**
 * One fact per row of the first list, each of the entities that the call names, or the number of
 * rows if they have no ids of their own.
 */
function listRowFacts(value: JsonObject, { ids, subjects }: FactContext): Fact[] {
  const rows = Object.values(value).find(it => Array.isArray(it)) as readonly Json[] | undefined;
  if (!rows) return [];
  const rowIds = rows.length > 0 ? findRowIds(rows, ids) : undefined;
  return rowIds
    ? [...new Set(rowIds)].map(entity => {
        const of = subjects.filter(it => it !== entity);
        return { entity, ...(of.length > 0 ? { of } : {}) };
      })
    : [{ field: "count", value: rows.length }];
}

function findRowIds(rows: readonly Json[], ids: ReadonlySet<string>): string[] | undefined {
  if (rows.every(it => typeof it === "string")) return rows as string[];
  if (!rows.every(isJsonObject)) return undefined;
  for (const key of Object.keys(rows[0]!)) {
    const own = rows.map(it => it[key]);
    const isId = own.every(it => typeof it === "string" && ids.has(it));
    if (isId && new Set(own).size === own.length) return own as string[];
  }
  return undefined;
}
