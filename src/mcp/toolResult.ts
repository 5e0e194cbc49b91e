/**
 * What another server answered, as an outcome: its value, or a fault in words that a model can act
 * on. Knows the several ways in which servers say that a call failed, and no process.
 */
import { ErrorCode, type CallToolResult, type McpError } from "@modelcontextprotocol/sdk/types.js";
import type { Json, JsonObject } from "../environment/json.ts";
import type { ErrorType, Fault, Outcome } from "../environment/outcome.ts";

/** A result is a fault where it is marked so, or where one of the keys says so in its value. */
export function createOutcome(result: CallToolResult, errorKeys: readonly string[]): Outcome {
  const value = valueOf(result);
  if (result.isError) return refused(value);
  return isRecord(value) && errorKeys.some(key => saysFailed(key, value))
    ? refused(value)
    : { kind: "ok", value };
}

/** An error of the protocol that the server sent in place of a result. */
export function createErrorFault(error: McpError): Fault {
  const type =
    error.code === (ErrorCode.InvalidParams as number) ? "invalid_params" : "precondition_failed";
  return { kind: "refused", type, message: error.message.replace(/^MCP error -?\d+: /, "") };
}

/** `success` and `ok` say so by being false, any other key by holding something. */
function saysFailed(key: string, value: JsonObject): boolean {
  if (!Object.hasOwn(value, key)) return false;
  const it = value[key]!;
  if (key === "success" || key === "ok") return it === false;
  return it !== null && it !== false && it !== "" && !(Array.isArray(it) && it.length === 0);
}

/** The structured value; else what the content says: one part as itself, several as a list. */
function valueOf({ structuredContent, content }: CallToolResult): Json {
  if (structuredContent) return structuredContent as JsonObject;
  const parts = content.map(partOf);
  return parts.length === 1 ? parts[0]! : parts;
}

function partOf(part: CallToolResult["content"][number]): Json {
  switch (part.type) {
    case "text":
      return textOf(part.text);
    case "image":
    case "audio":
      // the bytes are for eyes and ears; a model and a person read of them that they are there
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
      throw new Error(`no value of ${JSON.stringify(part satisfies never)}`);
  }
}

/** JSON where the text is an object or a list: a bare word or number is a text. */
function textOf(text: string): Json {
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

/** A fault in the server's own words; one of our servers says its type and hint as well. */
function refused(value: Json): Fault {
  const { error_type: type, message, error, hint } = isRecord(value) ? value : {};
  const words = [message, error, value].find(it => typeof it === "string" && it !== "") as
    string | undefined;
  const text = words ?? JSON.stringify(value);
  return {
    kind: "refused",
    type:
      typeof type === "string" && Object.hasOwn(errorTypes, type)
        ? (type as ErrorType)
        : /MCP error -32602|^invalid arguments/i.test(text)
          ? "invalid_params"
          : "precondition_failed",
    message: text.replace(/^MCP error -?\d+: /, ""),
    ...(typeof hint === "string" ? { hint } : {}),
  };
}

const isRecord = (value: Json): value is JsonObject =>
  value !== null && typeof value === "object" && !Array.isArray(value);
