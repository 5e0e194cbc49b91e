/**
 * Converts the result or error of another server's tool call to an outcome: its value, or a fault
 * that a model can act on. Servers report failed calls in several ways, all of which are
 * recognized.
 */
import { isJsonObject, omitUndefined, type Json, type JsonObject } from "../environment/json.ts";
import type { ErrorType, Fault, Outcome } from "../environment/outcome.ts";
import { describeTooDeep, isTooDeep } from "../storage/jsonDepth.ts";
import type { ReplyError } from "./rpcClient.ts";

/**
 * A result is a fault if it is marked as an error, or if an error key in its value says so. One
 * that is nested too deeply is not used. Throws an `Error` for what is no result.
 */
export function createOutcome(result: Json, errorKeys: readonly string[]): Outcome {
  if (!isJsonObject(result)) throw new Error("it is not an object");
  const value = parseResult(result);
  if (isTooDeep(value, "value"))
    return {
      kind: "broken",
      type: "internal",
      message: `the result is ${describeTooDeep("value")}`,
    };
  if (result["isError"] === true) return createRefusal(value);
  return isJsonObject(value) && errorKeys.some(key => indicatesError(key, value))
    ? createRefusal(value)
    : { kind: "ok", value };
}

/** The code of an error that the arguments of a call cause. */
const invalidParams = -32602;

/** The fault of a protocol error that the server sent instead of a result. */
export const createErrorFault = ({ code, message }: ReplyError): Fault => ({
  kind: "refused",
  type: code === invalidParams ? "invalid_params" : "precondition_failed",
  message: removeErrorPrefix(message),
});

/** `success` and `ok` indicate an error if they are false, any other key if it is not empty. */
function indicatesError(key: string, value: JsonObject): boolean {
  if (!Object.hasOwn(value, key)) return false;
  const it = value[key]!;
  if (key === "success" || key === "ok") return it === false;
  return it !== null && it !== false && it !== "" && !(Array.isArray(it) && it.length === 0);
}

/**
 * The structured value, or the content: a single part as itself, several as a list. A structured
 * value that is a single text or number says less than the content.
 */
function parseResult(result: JsonObject): Json {
  const { structuredContent = null, content = null, toolResult } = result;
  if (structuredContent !== null && typeof structuredContent === "object") return structuredContent;
  const parts = (Array.isArray(content) ? content : [content]).flatMap(parsePart);
  if (parts.length > 0) return parts.length === 1 ? parts[0]! : parts;
  if (structuredContent !== null) return structuredContent;
  // the result of the protocol's first version
  if (toolResult !== undefined)
    return typeof toolResult === "string" ? parseText(toolResult) : toolResult;
  if ("content" in result || result["isError"] === true) return parts;
  throw new Error("it has neither content nor structuredContent");
}

/** The value of a part of the content; none if there is nothing in it. */
function parsePart(part: Json): Json[] {
  if (typeof part === "string") return [parseText(part)];
  if (!isJsonObject(part)) return part === null ? [] : [part];
  const { type, text, data, mimeType, uri, name } = part;
  switch (type) {
    case "text":
      return typeof text === "string" ? [parseText(text)] : [text ?? ""];
    case "image":
    case "audio": {
      // the bytes themselves would be of no use to a model that reads text
      const bytes = typeof data === "string" ? Math.floor((data.length * 3) / 4) : 0;
      return [omitNull({ type, mimeType, bytes })];
    }
    case "resource_link":
      return [omitNull({ type, uri, name })];
    case "resource": {
      const resource = isJsonObject(part["resource"]) ? part["resource"] : {};
      return [omitNull({ type, uri: resource["uri"], text: resource["text"] })];
    }
    default:
      return [part];
  }
}

const omitNull = (value: Readonly<Record<string, Json | undefined>>): JsonObject =>
  omitUndefined(
    Object.fromEntries(Object.entries(value).map(([key, it]) => [key, it ?? undefined])),
  );

/** Parses text that is a JSON object or list. A bare word or number stays text. */
function parseText(text: string): Json {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

const errorTypes: Readonly<Record<ErrorType, true>> = {
  unknown_tool: true,
  invalid_params: true,
  not_found: true,
  precondition_failed: true,
  permission_denied: true,
  conflict: true,
  limit_exceeded: true,
};

const isErrorType = (type: unknown): type is ErrorType =>
  typeof type === "string" && Object.hasOwn(errorTypes, type);

/** A refusal with the server's own message. Servers of this program also send a type and a hint. */
function createRefusal(value: Json): Fault {
  const { error_type: type, message, error, hint } = isJsonObject(value) ? value : {};
  const text = findText(message, error, value) ?? JSON.stringify(value);
  const isInvalid = /MCP error -32602|^invalid arguments/i.test(text);
  return {
    kind: "refused",
    type: isErrorType(type) ? type : isInvalid ? "invalid_params" : "precondition_failed",
    message: removeErrorPrefix(text),
    ...(typeof hint === "string" ? { hint } : {}),
  };
}

const findText = (...values: readonly (Json | undefined)[]): string | undefined =>
  values.find((it): it is string => typeof it === "string" && it !== "");

const removeErrorPrefix = (message: string) => message.replace(/^MCP error -?\d+: /, "");
