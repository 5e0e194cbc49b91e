/**
 * Converts the result or error of another server's tool call to an outcome: its value, or a fault
 * that a model can act on. Servers report failed calls in several ways, all of which are
 * recognized.
 */
import { ErrorCode, type CallToolResult, type McpError } from "@modelcontextprotocol/sdk/types.js";
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import type { ErrorType, Fault, Outcome } from "../environment/outcome.ts";
import { describeTooDeep, isTooDeep } from "../storage/jsonDepth.ts";

/**
 * A result is a fault if it is marked as an error, or if an error key in its value says so. One
 * that is nested too deeply is not used.
 */
export function createOutcome(result: CallToolResult, errorKeys: readonly string[]): Outcome {
  const value = parseResult(result);
  if (isTooDeep(value, "value"))
    return {
      kind: "broken",
      type: "internal",
      message: `the result is ${describeTooDeep("value")}`,
    };
  if (result.isError) return createRefusal(value);
  return isJsonObject(value) && errorKeys.some(key => indicatesError(key, value))
    ? createRefusal(value)
    : { kind: "ok", value };
}

/** The fault of a protocol error that the server sent instead of a result. */
export function createErrorFault(error: McpError): Fault {
  const type =
    error.code === (ErrorCode.InvalidParams as number) ? "invalid_params" : "precondition_failed";
  return { kind: "refused", type, message: removeErrorPrefix(error.message) };
}

/** `success` and `ok` indicate an error if they are false, any other key if it is not empty. */
function indicatesError(key: string, value: JsonObject): boolean {
  if (!Object.hasOwn(value, key)) return false;
  const it = value[key]!;
  if (key === "success" || key === "ok") return it === false;
  return it !== null && it !== false && it !== "" && !(Array.isArray(it) && it.length === 0);
}

/** The structured value; without one, the content: a single part as itself, several as a list. */
function parseResult({ structuredContent, content }: CallToolResult): Json {
  if (structuredContent) return structuredContent as JsonObject;
  const parts = content.map(parsePart);
  return parts.length === 1 ? parts[0]! : parts;
}

function parsePart(part: CallToolResult["content"][number]): Json {
  switch (part.type) {
    case "text":
      return parseText(part.text);
    case "image":
    case "audio":
      // the bytes themselves would be of no use to a model that reads text
      return {
        type: part.type,
        mimeType: part.mimeType,
        bytes: Math.floor((part.data.length * 3) / 4),
      };
    case "resource_link":
      return { type: part.type, uri: part.uri, name: part.name };
    case "resource":
      return {
        type: part.type,
        uri: part.resource.uri,
        ...("text" in part.resource ? { text: part.resource.text } : {}),
      };
    default:
      throw new Error(`unknown content ${JSON.stringify(part satisfies never)}`);
  }
}

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
