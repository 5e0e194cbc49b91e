/**
 * Labels tool pairs by the names of fields and arguments alone, for servers that declare no
 * entities. Finds no implicit edges.
 */
import type { JsonSchema } from "../../environment/server.ts";
import type { Label, PublishedTool } from "./labels.ts";

/**
 * Returns an explicit label where a field of a's result and a required argument of b have the same
 * name and type. `accounts[].id` counts as `account_id`, and `from_account_id` takes an
 * `account_id`.
 */
export function labelByNames(tools: readonly PublishedTool[]): Label[] {
  const outputs = new Map(tools.map(it => [it.name, listFields(it.outputSchema, "", "")]));
  return tools.flatMap(b =>
    listRequiredInputs(b).flatMap(([input, type]) =>
      tools.flatMap((a): Label[] => {
        if (a === b) return [];
        const field = outputs
          .get(a.name)!
          .find(it => it.type === type && listMatchingNames(input).includes(it.name));
        return field
          ? [
              {
                a: a.name,
                b: b.name,
                label: "explicit",
                via: { output: field.path, input },
                confidence: field.path.includes("[") ? 0.6 : 0.7,
              },
            ]
          : [];
      }),
    ),
  );
}

/** Names too general to suggest a dependency between two tools that share them. */
const genericNames = new Set([
  "name",
  "title",
  "text",
  "query",
  "limit",
  "status",
  "date",
  "from",
  "to",
  "type",
  "kind",
  "note",
  "message",
  "content",
  "subject",
  "body",
  "state",
  "category",
  "condition",
  "priority",
  "color",
  "mode",
  "description",
  "amount",
  "count",
  "value",
  "reason",
  "day",
  "month",
  "start",
  "end",
  "at",
]);

interface Field {
  readonly path: string;
  readonly name: string;
  readonly type: string;
}

function listFields(schema: JsonSchema, path: string, noun: string): Field[] {
  const branches =
    ((schema["anyOf"] ?? schema["oneOf"]) as readonly JsonSchema[] | undefined) ?? [];
  const own = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>).flatMap(
    ([key, it]): Field[] => {
      const fieldPath = path ? `${path}.${key}` : key;
      const items = it["type"] === "array" ? (it["items"] as JsonSchema | undefined) : undefined;
      const nested = items
        ? listFields(items, `${fieldPath}[]`, toSingular(key))
        : listFields(it, fieldPath, key);
      const name = normalizeName(key, noun);
      const type = items ? items["type"] : it["type"];
      return typeof type === "string" && type !== "object" && !genericNames.has(name)
        ? [{ path: items ? `${fieldPath}[]` : fieldPath, name, type }, ...nested]
        : nested;
    },
  );
  return [...own, ...branches.flatMap(it => listFields(it, path, noun))];
}

function listRequiredInputs({ inputSchema }: PublishedTool): [key: string, type: string][] {
  const properties = (inputSchema["properties"] ?? {}) as Record<string, JsonSchema>;
  return ((inputSchema["required"] ?? []) as readonly string[]).flatMap(
    (key): [string, string][] => {
      const schema = properties[key];
      const type =
        schema?.["type"] === "array"
          ? (schema["items"] as JsonSchema | undefined)?.["type"]
          : schema?.["type"];
      // people choose numbers and enum values themselves; they need no look-up
      const needsLookUp =
        type === "string"
          ? schema?.["enum"] === undefined
          : type === "integer" && /(^|_)id$/.test(normalizeName(key, ""));
      return needsLookUp && !genericNames.has(normalizeName(key, ""))
        ? [[key, type as string]]
        : [];
    },
  );
}

/**
 * Normalizes a name: `id` of an account to `account_id`, `name` of an entity to `entity_name`,
 * plural to singular, camel case to snake case.
 */
function normalizeName(key: string, noun: string): string {
  const name = toSingular(key.replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase());
  return (name === "id" || name === "name") && noun !== "" ? `${toSingular(noun)}_${name}` : name;
}

const toSingular = (word: string): string => word.replace(/ies$/, "y").replace(/([^su])s$/, "$1");

/** Lists the field names that match an argument: its own, and without a prefix like `from_`. */
function listMatchingNames(input: string): string[] {
  const name = normalizeName(input, "");
  return [name, name.replace(/^(from|to|new|old|source|target|parent|other)_/, "")];
}
