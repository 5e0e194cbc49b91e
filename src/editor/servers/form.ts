/**
 * A tool's arguments as fields that a person fills in one by one: what to ask, in which way, and
 * whether what was given fits. Read from the published JSON Schema, checked by the tool's own;
 * knows no editor.
 */
import { z } from "zod";
import { misfit } from "../../environment/typeCheck.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";

interface Ask {
  readonly key: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly example?: string;
  /** The entity that the value identifies. */
  readonly entity?: string;
  readonly schema: JsonSchema;
  /** Why a value cannot be given here, or undefined. */
  readonly complaint: (value: Json) => string | undefined;
}

/** One argument, or one part of one. `kind` says in which way it is asked for. */
export type Field = Ask &
  (
    | { readonly kind: "text" | "day" | "minute" | "number" | "json" }
    | { readonly kind: "choice"; readonly choices: readonly Json[] }
    | { readonly kind: "list"; readonly item: Field; readonly least: number; readonly most: number }
    | { readonly kind: "record"; readonly fields: readonly Field[] }
    | { readonly kind: "either"; readonly branches: readonly Field[] }
  );

/** The fields of a tool's arguments, required ones first. */
export const formOf = (tool: {
  readonly inputSchema: JsonSchema;
  readonly input?: z.ZodType;
}): readonly Field[] =>
  fieldsOf(
    tool.inputSchema,
    checkOf(tool.input ?? fromOutside(tool.inputSchema), it => it, []),
  );

type Check = (value: Json) => string | undefined;
type Path = readonly (string | number)[];
/** How to make the check of a part from the name or number of that part. */
type Checks = (part: string | number) => { readonly check: Check; readonly within: Checks };

/**
 * A part is checked by the schema of the whole, with nothing but that part filled in: only what is
 * wrong with it counts.
 */
function checkOf(whole: z.ZodType, wrap: (value: Json) => Json, at: Path): Checks {
  return part => {
    const path = [...at, part];
    const inside = (value: Json): Json =>
      wrap(typeof part === "number" ? [value] : { [part]: value });
    const check: Check = value => {
      const issues = whole.safeParse(inside(value)).error?.issues ?? [];
      const own = issues.find(it => path.every((step, i) => it.path[i] === step));
      return own && words(own, own.path.slice(path.length));
    };
    return { check, within: checkOf(whole, inside, path) };
  };
}

/** The check of a schema that is not ours; where it cannot be read, its server says what fits. */
function fromOutside(schema: JsonSchema): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    return z.unknown();
  }
}

function fieldsOf(schema: JsonSchema, checks: Checks): readonly Field[] {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  const fields = Object.entries(properties).map(([key, it]) =>
    fieldOf(key, it, required.has(key), checks(key)),
  );
  return [...fields.filter(it => it.isRequired), ...fields.filter(it => !it.isRequired)];
}

function fieldOf(
  key: string,
  schema: JsonSchema,
  isRequired: boolean,
  own: ReturnType<Checks>,
): Field {
  const examples = schema["examples"] as readonly Json[] | undefined;
  const entity = schema["x-entity"];
  const ask: Ask = {
    key,
    isRequired,
    description: (schema["description"] as string | undefined) ?? typeName(schema),
    schema,
    ...(examples?.length ? { example: textOf(examples[0]!) } : {}),
    ...(typeof entity === "string" ? { entity } : {}),
    complaint(value) {
      const why = misfit(schema, value, key);
      if (why) return why;
      const rule = own.check(value);
      return rule && `${key} ${rule}`;
    },
  };
  return { ...ask, ...kindOf(ask, own) } as Field;
}

function kindOf({ key, schema, description }: Ask, own: ReturnType<Checks>) {
  const choices = choicesOf(schema);
  if (choices) return { kind: "choice", choices };
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  // a branch stands in the same place, and so under the same rule
  if (branches)
    return {
      kind: "either",
      branches: branches.map(it => fieldOf(key, { description, ...it }, true, own)),
    };
  switch (schema["type"]) {
    case "string":
      return {
        kind:
          ({ date: "day", "date-time": "minute" } as const)[schema["format"] as string] ?? "text",
      };
    case "number":
    case "integer":
      return { kind: "number" };
    case "array":
      return isRecord(schema["items"])
        ? {
            kind: "list",
            item: fieldOf(key, { description, ...schema["items"] }, true, own.within(0)),
            least: (schema["minItems"] as number | undefined) ?? 0,
            most: (schema["maxItems"] as number | undefined) ?? Infinity,
          }
        : { kind: "json" };
    case "object":
      return Object.keys((schema["properties"] ?? {}) as object).length
        ? { kind: "record", fields: fieldsOf(schema, own.within) }
        : { kind: "json" };
    default:
      return { kind: "json" };
  }
}

function choicesOf(schema: JsonSchema): readonly Json[] | undefined {
  if (Array.isArray(schema["enum"])) return schema["enum"] as Json[];
  if (schema["type"] === "boolean") return [true, false];
  if (schema["type"] === "null") return [null];
  return "const" in schema ? [schema["const"]!] : undefined;
}

export const textOf = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);

/**
 * What was typed, as the value of a field; or why it does not fit. Text needs no quotes, what is
 * neither text nor number is JSON.
 */
export function parseField(
  field: Field,
  typed: string,
): { readonly value: Json } | { readonly why: string } {
  const isText = field.kind === "text" || field.kind === "day" || field.kind === "minute";
  const value = isText ? typed : jsonOf(typed);
  if (value === undefined)
    return {
      why: `${field.key} must be ${typeName(field.schema)}${field.kind === "number" ? "" : ", written as JSON"}`,
    };
  const why = field.complaint(value);
  return why ? { why } : { value };
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // what a person types is often not JSON: the caller says so
    return undefined;
  }
}

/** What a field takes, in a word or two. */
export function typeName(schema: JsonSchema): string {
  if (schema["format"] === "date") return "a day";
  if (schema["format"] === "date-time") return "a day and time";
  const names: Readonly<Record<string, string>> = {
    string: "a text",
    number: "a number",
    integer: "a whole number",
    array: "a list",
    object: "a record",
    boolean: "true or false",
    null: "nothing",
  };
  const types = [(schema["type"] as string | string[] | undefined) ?? []].flat();
  return types.length ? types.map(it => names[it] ?? it).join(" or ") : "a value";
}

/** A rule that a value breaks, as the rest of a sentence about it. */
function words(issue: z.core.$ZodIssue, below: readonly PropertyKey[]): string {
  const at = below.length ? `at ${below.join(".")} ` : "";
  return `${at}${ruleOf(issue)}`;
}

function ruleOf(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "too_small":
      return limit(
        issue.origin,
        issue.inclusive === false ? "more than" : "at least",
        Number(issue.minimum),
      );
    case "too_big":
      return limit(
        issue.origin,
        issue.inclusive === false ? "less than" : "at most",
        Number(issue.maximum),
      );
    case "invalid_value":
      return `must be one of ${issue.values.map(String).join(", ")}`;
    case "invalid_format":
      if (issue.format === "regex") return `must look like ${issue.pattern}`;
      return issue.message.startsWith("Invalid")
        ? `must be a valid ${issue.format}`
        : issue.message;
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    default:
      return issue.message.startsWith("Invalid") ? "does not fit" : issue.message;
  }
}

function limit(origin: string, bound: string, n: number): string {
  if (origin === "string")
    return bound === "at least" && n === 1
      ? "must not be empty"
      : `must have ${bound} ${n} ${n === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "set")
    return `must have ${bound} ${n} ${n === 1 ? "item" : "items"}`;
  return `must be ${bound} ${n}`;
}

const isRecord = (value: unknown): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
