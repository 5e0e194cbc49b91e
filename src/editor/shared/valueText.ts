/** Formats JSON values as short texts for trees and quick picks. */
import { isJsonObject, type Json } from "../../environment/json.ts";

/** A string as it is, any other value as JSON. */
export const formatJson = (value: Json): string =>
  typeof value === "string" ? value : JSON.stringify(value);

const nameKeys = ["name", "title", "label", "summary", "text", "subject"];

/** Describes an entity by its name or title, otherwise by its first three plain values. */
export function describeEntity(value: Json): string {
  if (!isJsonObject(value))
    return Array.isArray(value) ? `${value.length} items` : formatJson(value);
  for (const key of nameKeys) if (typeof value[key] === "string") return value[key];
  return Object.entries(value)
    .filter(([, it]) => it === null || typeof it !== "object")
    .slice(0, 3)
    .map(([, it]) => formatJson(it))
    .join(", ");
}
