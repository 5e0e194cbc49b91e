/** The facts that an answer to a request would tell, and whether results show them. */
import { isJsonObject, type Json, type JsonObject } from "../../environment/json.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { findEntities } from "../../trajectory/resultEntities.ts";
import { getField, selectReplies } from "../text/selectReplies.ts";
import { findSlots } from "../text/templateText.ts";
import type { ReplyTemplate } from "../text/templateSchema.ts";
import type { Intent } from "../user/intent.ts";
import type { ShownResult } from "./answerSearch.ts";

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

/** Whether a result shows a fact. */
export function showsFact(result: ShownResult, fact: WantedFact): boolean {
  const { owners, field, value } = fact;
  const said = Object.values(result.arguments).flat();
  for (const { key, scalar, context } of listScalars(result.value)) {
    if (field === undefined) {
      if (owners.includes(scalar as string)) return true;
      continue;
    }
    if (scalar !== value || !(key === field || isDistinctive(scalar))) continue;
    if (owners.length === 0 || owners.some(it => context.has(it) || said.includes(it))) return true;
  }
  return false;
}

/** Whether a value hardly occurs by chance. */
const isDistinctive = (value: Json): boolean =>
  typeof value === "number"
    ? !Number.isInteger(value) || Math.abs(value) >= 100
    : typeof value === "string" && value.length >= 4;

interface ShownScalar {
  readonly key: string;
  readonly scalar: Json;
  /** The scalars beside it and around it. */
  readonly context: ReadonlySet<Json>;
}

function* listScalars(
  value: Json,
  key = "",
  around: ReadonlySet<Json> = new Set(),
): Generator<ShownScalar> {
  if (value === null || typeof value !== "object") yield { key, scalar: value, context: around };
  else if (Array.isArray(value)) for (const it of value) yield* listScalars(it, key, around);
  else {
    const fields = Object.entries(value as JsonObject);
    const scalars = fields.map(([, it]) => it).filter(it => it === null || typeof it !== "object");
    const context = new Set([...around, ...scalars]);
    for (const [name, it] of fields) yield* listScalars(it, name, context);
  }
}
