/** The facts that an answer to a request would tell, and whether a result shows them. */
import { isJsonObject, type Json } from "../../environment/json.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import type { ShownResult } from "../../trajectory/knowledge.ts";
import { findEntities } from "../../trajectory/resultEntities.ts";
import { indexResult, showsFact, showsValue } from "../../trajectory/resultIndex.ts";
import { isDistinctive, listScalars, type Scalar } from "../../trajectory/scalars.ts";
import type { Fact } from "../../trajectory/task.ts";
import { getField, selectReplies } from "../text/selectReplies.ts";
import { findSlots } from "../text/templateText.ts";
import type { ReplyTemplate } from "../text/templateSchema.ts";
import type { Intent } from "../user/intent.ts";

/**
 * Something that a result must show: with `field`, that this field, or one of another name, has
 * this value for one of the owners; without, a row of one of them.
 */
export interface WantedFact {
  /** Ids and names of the entity; empty for a value that belongs to none. */
  readonly owners: readonly string[];
  readonly field?: string;
  readonly value?: Json;
}

/**
 * The facts of each reply that suits the result of an intent's call. What the user has said is
 * left out. Replies without facts are too.
 */
export function listWantedFacts(
  intent: Intent,
  value: Json,
  declaration: ToolDeclaration,
  toolReplies: readonly ReplyTemplate[],
): WantedFact[][] {
  const rows = findRows(value);
  const getFieldOrCount = (path: string) =>
    getField(value, path) ?? (path === "count" ? rows?.length : undefined);
  const own = intent.replies ?? [];
  const list = (replies: readonly ReplyTemplate[]) =>
    replies
      .filter(it => selectReplies([it], getFieldOrCount, all => all).length > 0)
      .map(it => listReplyFacts(it, intent, value, declaration))
      .filter(it => it.length > 0);
  const ownFacts = list(own);
  return ownFacts.length > 0 ? ownFacts : list(toolReplies);
}

function listReplyFacts(
  reply: ReplyTemplate,
  intent: Intent,
  value: Json,
  declaration: ToolDeclaration,
): WantedFact[] {
  const text = typeof reply === "string" ? reply : reply.say;
  const conditions = typeof reply === "string" ? [] : Object.keys(reply.if);
  const paths = new Set([...findSlots(text).map(it => it.replace(/\.size$/, "")), ...conditions]);
  const said = new Set<Json | undefined>([
    ...Object.values(intent.arguments).flat(),
    ...intent.mentions.map(it => it.instance.label),
  ]);
  return [...paths].flatMap((path): WantedFact[] => {
    if (path === "items" || path === "count") return listRowFacts(value, declaration);
    const field = getField(value, path);
    if (field === undefined || typeof field === "object" || said.has(field)) return [];
    return [{ owners: listOwners(intent), field: path.split(".").at(-1)!, value: field }];
  });
}

/** The ids and names of what a request is about. */
export const listOwners = ({ mentions }: Pick<Intent, "mentions">): string[] =>
  mentions.flatMap(({ instance: { id, label } }) => (label === undefined ? [id] : [id, label]));

/** One fact per row of the first list. */
function listRowFacts(value: Json, declaration: ToolDeclaration): WantedFact[] {
  const ids = new Set(findEntities(declaration, value).map(it => it.id));
  return (findRows(value) ?? []).flatMap((row): WantedFact[] => {
    if (!isJsonObject(row)) return typeof row === "string" ? [{ owners: [row] }] : [];
    const own = Object.values(row).find(it => typeof it === "string" && ids.has(it));
    if (own !== undefined) return [{ owners: [own as string] }];
    return Object.entries(row)
      .filter(([, it]) => it === null || typeof it !== "object")
      .slice(0, 1)
      .map(([field, it]) => ({ owners: [], field, value: it }));
  });
}

const findRows = (value: Json): readonly Json[] | undefined =>
  isJsonObject(value)
    ? (Object.values(value).find(it => Array.isArray(it)) as readonly Json[] | undefined)
    : undefined;

/**
 * Whether a result shows a fact. A distinctive value may be in a field of another name, because
 * what is found is neither refused nor asked for.
 */
export function showsWantedFact(
  result: ShownResult,
  { owners, field, value }: WantedFact,
): boolean {
  const index = indexResult(result.value, result.arguments, {
    texts: new Set(owners),
    aliases: new Map(),
  });
  if (field === undefined) return owners.some(entity => showsFact(index, { entity }));
  const isAnywhere = isScalar(value) && isDistinctive(value);
  if (owners.length === 0)
    return (
      showsValue(result.value, field, value!) ||
      (isAnywhere && [...listScalars(result.value)].includes(value))
    );
  return owners.some(
    entity =>
      showsFact(index, { entity, field, value: value as Fact["value"] }) ||
      (isAnywhere && [...(index.fields.get(entity)?.values() ?? [])].flat().includes(value)),
  );
}

const isScalar = (value: Json | undefined): value is Scalar =>
  value !== undefined && value !== null && typeof value !== "object";
