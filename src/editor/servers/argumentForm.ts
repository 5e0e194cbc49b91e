/**
 * Represents a tool's arguments as a form of fields that a person fills in one by one. The fields
 * are read from the published JSON Schema and validated by the tool's own schema.
 */
import { z } from "zod";
import { isJsonObject, type Json } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import { findTypeMismatch } from "../../environment/argumentChecks.ts";
import { describeLongNumber, findLongNumber } from "../../storage/exactJson.ts";
import { formatJson } from "../shared/jsonValues.ts";
import { explainIssue } from "../../storage/schemaIssue.ts";

interface FieldProperties {
  readonly key: string;
  readonly isRequired: boolean;
  readonly description: string;
  readonly example?: string;
  /** The entity that the value identifies. */
  readonly entity?: string;
  readonly schema: JsonSchema;
  /** Returns what is wrong with a value, or undefined. */
  readonly validate: (value: Json) => string | undefined;
}

/** An argument or a part of one. `kind` decides how the person is asked for it. */
export type Field = FieldProperties &
  (
    | { readonly kind: "text" | "day" | "minute" | "number" | "json" }
    | { readonly kind: "choice"; readonly choices: readonly Json[] }
    | {
        readonly kind: "list";
        readonly item: Field;
        readonly minItems: number;
        readonly maxItems: number;
      }
    | { readonly kind: "record"; readonly fields: readonly Field[] }
    | { readonly kind: "either"; readonly branches: readonly Field[] }
  );

/** Reads the fields of a tool's arguments, required ones first. */
export const readForm = (tool: {
  readonly inputSchema: JsonSchema;
  readonly input?: z.ZodType;
}): readonly Field[] =>
  readFields(
    tool.inputSchema,
    createValidators(tool.input ?? parsePublishedSchema(tool.inputSchema), it => it, []),
  );

type Validator = (value: Json) => string | undefined;
type Path = readonly (string | number)[];
/** The validators of a part and of the parts within it. */
interface PartValidators {
  readonly validate: Validator;
  readonly within: ValidatorFactory;
}
/** Creates the validators of a part from its key or index. */
type ValidatorFactory = (part: string | number) => PartValidators;

/**
 * Creates validators that check a part with the schema of the whole arguments, where only that part
 * is filled in. Issues of other parts are ignored.
 */
function createValidators(
  whole: z.ZodType,
  wrap: (value: Json) => Json,
  parentPath: Path,
): ValidatorFactory {
  return part => {
    const path = [...parentPath, part];
    const wrapPart = (value: Json): Json =>
      wrap(typeof part === "number" ? [value] : { [part]: value });
    const validate: Validator = value => {
      const issues = whole.safeParse(wrapPart(value)).error?.issues ?? [];
      const issue = issues
        .map(explainIssue)
        .find(it => path.every((step, i) => it.path[i] === step));
      return issue && formatIssue(issue, issue.path.slice(path.length));
    };
    return { validate, within: createValidators(whole, wrapPart, path) };
  };
}

/**
 * Parses a schema that a third-party server published. One that cannot be parsed accepts every
 * value; the server itself then rejects what is wrong.
 */
function parsePublishedSchema(schema: JsonSchema): z.ZodType {
  try {
    return z.fromJSONSchema(schema);
  } catch {
    return z.unknown();
  }
}

function readFields(schema: JsonSchema, getValidators: ValidatorFactory): readonly Field[] {
  const properties = (schema["properties"] ?? {}) as Record<string, JsonSchema>;
  const required = new Set((schema["required"] ?? []) as readonly string[]);
  const fields = Object.entries(properties).map(([key, it]) =>
    readField(key, it, required.has(key), getValidators(key)),
  );
  return [...fields.filter(it => it.isRequired), ...fields.filter(it => !it.isRequired)];
}

function readField(
  key: string,
  schema: JsonSchema,
  isRequired: boolean,
  validators: PartValidators,
): Field {
  const examples = schema["examples"] as readonly Json[] | undefined;
  const entity = schema["x-entity"];
  const field: FieldProperties = {
    key,
    isRequired,
    description: (schema["description"] as string | undefined) ?? describeType(schema),
    schema,
    ...(examples?.length ? { example: formatJson(examples[0]!) } : {}),
    ...(typeof entity === "string" ? { entity } : {}),
    validate(value) {
      const typeError = findTypeMismatch(schema, value, key);
      if (typeError) return typeError;
      const problem = validators.validate(value);
      return problem && `${key} ${problem}`;
    },
  };
  return { ...field, ...readKind(field, validators) } as Field;
}

function readKind({ key, schema, description }: FieldProperties, validators: PartValidators) {
  const choices = readChoices(schema);
  if (choices) return { kind: "choice", choices };
  const branches = (schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined;
  // a branch has the same path, and so the same validators
  if (branches)
    return {
      kind: "either",
      branches: branches.map(it => readField(key, { description, ...it }, true, validators)),
    };
  switch (schema["type"]) {
    case "string":
      return { kind: textKinds.get(schema["format"]) ?? "text" };
    case "number":
    case "integer":
      return { kind: "number" };
    case "array":
      return isJsonObject(schema["items"])
        ? {
            kind: "list",
            item: readField(key, { description, ...schema["items"] }, true, validators.within(0)),
            minItems: (schema["minItems"] as number | undefined) ?? 0,
            maxItems: (schema["maxItems"] as number | undefined) ?? Infinity,
          }
        : { kind: "json" };
    case "object":
      return Object.keys((schema["properties"] ?? {}) as object).length
        ? { kind: "record", fields: readFields(schema, validators.within) }
        : { kind: "json" };
    default:
      return { kind: "json" };
  }
}

const textKinds: ReadonlyMap<unknown, "day" | "minute"> = new Map([
  ["date", "day"],
  ["date-time", "minute"],
]);

function readChoices(schema: JsonSchema): readonly Json[] | undefined {
  if (Array.isArray(schema["enum"])) return schema["enum"] as Json[];
  if (schema["type"] === "boolean") return [true, false];
  if (schema["type"] === "null") return [null];
  return "const" in schema ? [schema["const"]!] : undefined;
}

/**
 * Parses what the person typed for a field and validates it. Text is typed without quotes; any
 * other value is JSON.
 */
export function parseField(
  field: Field,
  text: string,
): { readonly value: Json } | { readonly error: string } {
  const isText = field.kind === "text" || field.kind === "day" || field.kind === "minute";
  const number = isText ? undefined : findLongNumber(text);
  if (number !== undefined) return { error: describeLongNumber(number) };
  const value = isText ? text : tryParseJson(text);
  if (value === undefined)
    return {
      error: `${field.key} must be ${describeType(field.schema)}${field.kind === "number" ? "" : ", written as JSON"}`,
    };
  const error = field.validate(value);
  return error ? { error } : { value };
}

function tryParseJson(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // the caller reports it
    return undefined;
  }
}

/** Names the type of values that a schema accepts, such as "a whole number". */
export function describeType(schema: JsonSchema): string {
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

/**
 * Formats a validation issue as the predicate of a sentence, such as "must be at least 1".
 * `subpath` leads from the field to the part that is wrong.
 */
function formatIssue(issue: z.core.$ZodIssue, subpath: readonly PropertyKey[]): string {
  const at = subpath.length ? `at ${subpath.join(".")} ` : "";
  return `${at}${formatRule(issue)}`;
}

function formatRule(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "too_small":
      return formatLimit(
        issue.origin,
        issue.inclusive === false ? "more than" : "at least",
        Number(issue.minimum),
      );
    case "too_big":
      return formatLimit(
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
      return issue.message.includes("Invalid") ? "does not fit" : issue.message;
  }
}

function formatLimit(origin: string, bound: string, n: number): string {
  if (origin === "string")
    return bound === "at least" && n === 1
      ? "must not be empty"
      : `must have ${bound} ${n} ${n === 1 ? "character" : "characters"}`;
  if (origin === "array" || origin === "set")
    return `must have ${bound} ${n} ${n === 1 ? "item" : "items"}`;
  return `must be ${bound} ${n}`;
}
