/**
 * Tool calls as people type them in the Debug Console: with JSON, `transfer({"amount": 5})`, or as
 * transcripts show them, `transfer(amount: 5)`.
 */
import { isJsonObject, type Json, type JsonObject } from "../../../environment/json.ts";
import { ExpressionError } from "./expression.ts";

export interface CallExpression {
  readonly name: string;
  readonly arguments: JsonObject;
}

/**
 * Parses a call. Returns undefined for a text that is none, and throws an `ExpressionError` where
 * the arguments cannot be read.
 */
export function parseCallExpression(text: string): CallExpression | undefined {
  const [, name, inner] = /^\s*([A-Za-z_][\w.]*)\s*\(([^]*)\)\s*$/.exec(text) ?? [];
  if (name === undefined || inner === undefined) return undefined;
  const args = parseArguments(inner.trim());
  if (!args)
    throw new ExpressionError(
      `the arguments are not JSON: write ${name}(key: "text", other: 5) or ${name}({"key": "text"})`,
    );
  return { name, arguments: args };
}

function parseArguments(text: string): JsonObject | undefined {
  const object = text.startsWith("{") ? text : `{${text}}`;
  try {
    const value = JSON.parse(quoteKeys(object)) as Json;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Adds the quotes around keys that JSON asks for. Strings stay as they are. */
const quoteKeys = (text: string) =>
  text.replace(/"(?:[^"\\]|\\.)*"|([A-Za-z_]\w*)(?=\s*:)/g, (match, key: string | undefined) =>
    key === undefined ? match : `"${key}"`,
  );
