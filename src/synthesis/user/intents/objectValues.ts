/**
 * Composes the values of arguments that are objects or lists of objects from their parts, each of
 * which is chosen and said like an argument of its own.
 */
import {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../../environment/json.ts";
import {
  getItemSchema,
  getProperties,
  listRequired,
  removeNull,
} from "../../../environment/schemaKeywords.ts";
import type { JsonSchema } from "../../../environment/server.ts";
import { findArgumentTemplates } from "../../text/templates.ts";
import { chooseAlternatives, fillSlots } from "../../text/templateText.ts";
import type { ConversationContext } from "../conversationContext.ts";
import {
  chooseEntities,
  findInstance,
  sayGivenEntities,
  type SaidValue,
} from "./entityArguments.ts";
import type { IntentDraft, IntentRequest } from "./intent.ts";
import { pickArgumentValue, renderArgumentValue, type Argument } from "./plainValues.ts";

/** The weights of one, two and three objects in a list. */
const counts = [7, 2, 1];

/** Draws of an object until it differs from those before it. */
const maxDraws = 5;

/** How often objects are taken from results where new ones are possible. */
const existingShare = 0.3;

/** Whether a value is composed of parts, and not one of those that the templates list. */
export function isComposed(
  { templates }: ConversationContext,
  { tool, key, schema }: Argument,
): boolean {
  const isGiven = schema["enum"] ?? schema["examples"] ?? schema["const"];
  return (
    isGiven === undefined &&
    isObject(getItemSchema(schema) ?? schema) &&
    !findArgumentTemplates(templates, tool.name, key)?.values
  );
}

/** A value with the words for it, or undefined if there is nothing to choose from. */
export const composeValue = (
  context: ConversationContext,
  request: IntentRequest,
  { key, schema }: Pick<Argument, "key" | "schema">,
  draft: IntentDraft,
  given: Json | undefined,
): SaidValue | undefined =>
  new Composer(context, request, draft).choose({ path: key, schema }, given);

/** A part of an argument; `relations[].from` is its path. */
interface Part {
  readonly path: string;
  readonly schema: JsonSchema;
}

class Composer {
  readonly #context: ConversationContext;
  readonly #request: IntentRequest;
  readonly #draft: IntentDraft;

  constructor(context: ConversationContext, request: IntentRequest, draft: IntentDraft) {
    this.#context = context;
    this.#request = request;
    this.#draft = draft;
  }

  choose(part: Part, given: Json | undefined): SaidValue | undefined {
    const input = this.#findInput(part);
    if (input)
      return given === undefined
        ? chooseEntities(this.#context, this.#request, input, this.#draft)
        : sayGivenEntities(this.#context, this.#request, input, this.#draft, given);
    const items = getItemSchema(part.schema);
    if (items && isObject(items))
      return this.#chooseRows({ path: `${part.path}[]`, schema: items }, part.schema, given);
    return isObject(part.schema) ? this.#chooseObject(part, given) : this.#choosePlain(part, given);
  }

  #findInput({ path }: Part) {
    return this.#request.declaration.inputs.find(it => it.path === path);
  }

  #choosePlain({ path, schema }: Part, given: Json | undefined): SaidValue | undefined {
    const { declaration } = this.#request;
    const argument = { tool: declaration.tool, key: removeBrackets(path), schema };
    const { mentions } = this.#draft;
    const value = given ?? pickArgumentValue(this.#context, { ...argument, mentions });
    return value === undefined
      ? undefined
      : { value, text: renderArgumentValue(this.#context, { ...argument, value }) };
  }

  #chooseObject(part: Part, given: Json | undefined): SaidValue | undefined {
    const { random, templates } = this.#context;
    const fields: Record<string, Json> = {};
    const texts: Record<string, string> = {};
    for (const field of listParts(part)) {
      const said = this.choose(field, isJsonObject(given) ? given[field.key] : undefined);
      if (!said) return undefined;
      fields[field.key] = said.value;
      texts[field.key] = said.text;
    }
    const { tool } = this.#request.declaration;
    const say = findArgumentTemplates(templates, tool.name, removeBrackets(part.path))?.say ?? [
      Object.keys(fields)
        .map(it => `{${it}}`)
        .join(", "),
    ];
    const text = fillSlots(chooseAlternatives(random.pick(say), random), slot => texts[slot]);
    return text === undefined ? undefined : { value: fields, text };
  }

  #chooseRows(row: Part, list: JsonSchema, given: Json | undefined): SaidValue | undefined {
    const { random } = this.#context;
    const { minItems = 1, maxItems = 3 } = list as { minItems?: number; maxItems?: number };
    const rows: SaidValue[] = [];
    const count = Array.isArray(given)
      ? given.length
      : Math.min(maxItems, minItems - 1 + random.pickWeighted([1, 2, 3], it => counts[it - 1]!));
    while (rows.length < count) {
      const said = Array.isArray(given)
        ? this.choose(row, given[rows.length] as Json)
        : this.#chooseNewRow(row, rows);
      if (!said) break;
      rows.push(said);
    }
    if (rows.length < (Array.isArray(given) ? count : minItems)) return undefined;
    const texts = rows.map(it => it.text);
    return {
      value: rows.map(it => it.value),
      text: [texts.slice(0, -1).join(", "), texts.at(-1)!].filter(it => it !== "").join(", and "),
    };
  }

  /** An object that differs from those before it. */
  #chooseNewRow(row: Part, before: readonly SaidValue[]): SaidValue | undefined {
    const { mentions } = this.#draft;
    const mentioned = mentions.length;
    const [first] = listRequired(row.schema);
    const getFirst = ({ value }: SaidValue) => canonicalJson((value as JsonObject)[first!] ?? null);
    for (let draw = 0; draw < maxDraws; draw++) {
      mentions.length = mentioned;
      const said = this.choose(row, this.#pickShownRow(row));
      if (said && !before.some(it => getFirst(it) === getFirst(said))) return said;
    }
    mentions.length = mentioned;
    return undefined;
  }

  /** An object that a result has shown: what is deleted or changed must be there. */
  #pickShownRow(row: Part): Json | undefined {
    const { sample, random } = this.#context;
    const { destructive } = this.#request.declaration.tool;
    const shown = sample.rows.flatMap(it => this.#readRow(row, it) ?? []);
    return shown.length > 0 && (destructive || random.boolean(existingShare))
      ? random.pick(shown)
      : undefined;
  }

  /** The fields of an object that fit the parts of another one: what it refers to, and its names. */
  #readRow(row: Part, shown: JsonObject): JsonObject | undefined {
    const fields: Record<string, Json> = {};
    for (const part of listParts(row)) {
      const input = this.#findInput(part);
      const isKnown = (it: Json | undefined): it is Json =>
        it !== undefined &&
        it !== null &&
        typeof it !== "object" &&
        (!input || findInstance(this.#context, input.entity, it) !== undefined);
      const own = shown[part.key];
      const choices = Array.isArray(own) && getItemSchema(part.schema) ? (own as Json[]) : [own];
      const fitting = choices.filter(isKnown);
      const others = input && fitting.length === 0 ? Object.values(shown).filter(isKnown) : [];
      if (fitting.length + others.length === 0) return undefined;
      const value = this.#context.random.pick([...fitting, ...others]);
      fields[part.key] = getItemSchema(part.schema) ? [value] : value;
    }
    return fields;
  }
}

const listParts = ({ path, schema }: Part): (Part & { readonly key: string })[] => {
  const properties = getProperties(schema);
  return listRequired(schema).map(key => ({
    key,
    path: `${path}.${key}`,
    schema: removeNull(properties[key] ?? {}),
  }));
};

const isObject = (schema: JsonSchema): boolean =>
  schema["type"] === "object" && listRequired(schema).length > 0;

const removeBrackets = (path: string): string => path.replaceAll("[]", "");
