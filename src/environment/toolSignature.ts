/**
 * A tool as a signature in one line, which has about a fifth of the tokens of its JSON Schema, for
 * models that are trained to read it.
 */
import { getProperties, listRequired, removeNull, toSchema } from "./schemaKeywords.ts";
import type { JsonSchema } from "./server.ts";
import type { ToolDescription } from "./toolDescription.ts";

/**
 * For example `banking_list_transactions(account_id, from_date?: date, limit?: int)  # List an
 * account's transactions`. Optional arguments have a question mark, and texts without a format have
 * no type. Of the description, the beginning of the first sentence is left.
 */
export const formatToolSignature = ({ name, description, parameters }: ToolDescription): string =>
  `${name}(${formatKeys(parameters)})  # ${description.split(/[.,:;]\s/, 1)[0]!.replace(/\.$/, "")}`;

function formatKeys(schema: JsonSchema): string {
  const required = new Set(listRequired(schema));
  return Object.entries(getProperties(schema))
    .map(([key, it]) => {
      const type = formatType(toSchema(it));
      return `${key}${required.has(key) ? "" : "?"}${type === "" ? "" : `: ${type}`}`;
    })
    .join(", ");
}

const typeNames: Readonly<Record<string, string>> = {
  integer: "int",
  number: "num",
  boolean: "bool",
  object: "{}",
};

/** How a text is written, where only the description says so. */
const writtenForm = /\b(?:YYYY[-:MDTH]*|HH:MM)\b/;

function formatType(whole: JsonSchema): string {
  const schema = removeNull(whole);
  const { enum: choices, const: only, type, format, items, description } = schema;
  if (Array.isArray(choices)) return choices.map(formatChoice).join("|");
  if (only !== undefined) return formatChoice(only);
  if (type === "array") return `[${formatType(toSchema(items))}]`;
  if (Object.keys(getProperties(schema)).length > 0) return `{${formatKeys(schema)}}`;
  if (typeof format === "string") return format;
  if (typeof type === "string" && type !== "string") return typeNames[type] ?? type;
  return (typeof description === "string" && writtenForm.exec(description)?.[0]) || "";
}

const formatChoice = (value: unknown): string =>
  typeof value === "string" && /^[^\s|,()[\]{}?:#"]+$/.test(value) ? value : JSON.stringify(value);
