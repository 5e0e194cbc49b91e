/**
 * The revision 2026-07-28 of MCP, which has no handshake: every request states its version, and is
 * answered for itself. https://modelcontextprotocol.io/specification/2026-07-28
 */
import { SUPPORTED_PROTOCOL_VERSIONS } from "@modelcontextprotocol/sdk/types.js";
import type { IncomingHttpHeaders } from "node:http";
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import { version } from "../version.ts";
import { JsonRpcError, type Params } from "./jsonRpc.ts";

export const statelessVersion = "2026-07-28";

export const discoverMethod = "server/discover";

export const supportedVersions: readonly string[] = [
  statelessVersion,
  ...SUPPORTED_PROTOCOL_VERSIONS,
];

const key = (name: string) => `io.modelcontextprotocol/${name}`;

const getMeta = (params: unknown): Params =>
  isJsonObject(params) && isJsonObject(params["_meta"]) ? params["_meta"] : {};

/** Whether a request states its version, as those of earlier revisions do not. */
export const isStateless = ({ params }: Params): boolean =>
  getMeta(params)[key("protocolVersion")] !== undefined;

/** Throws a `JsonRpcError` unless the metadata of a stateless request is as it must be. */
export function checkMeta({ params }: Params): void {
  const meta = getMeta(params);
  const stated = meta[key("protocolVersion")];
  if (stated !== statelessVersion) throw createVersionError(stated);
  if (!isJsonObject(meta[key("clientCapabilities")]))
    throw new JsonRpcError("malformed request", `_meta needs ${key("clientCapabilities")}`);
}

const createVersionError = (requested: unknown) =>
  new JsonRpcError(
    "unsupported version",
    `protocol version ${String(requested)} is not supported; choose one of ${supportedVersions.join(", ")}`,
    { data: { supported: supportedVersions, requested: String(requested) } },
  );

/** The parameter that is repeated in the header `Mcp-Name`. */
const namedBy: Readonly<Record<string, string>> = {
  "tools/call": "name",
  "prompts/get": "name",
  "resources/read": "uri",
};

/**
 * Throws a `JsonRpcError` unless the headers say what the body says. A request of an earlier
 * revision may only name a version that is supported.
 */
export function checkHeaders(headers: IncomingHttpHeaders, message: Params): void {
  const stated = headers["mcp-protocol-version"] as string | undefined;
  if (!isStateless(message)) {
    if (stated === statelessVersion && "id" in message)
      throw new JsonRpcError("malformed request", `_meta needs ${key("protocolVersion")}`);
    if (stated !== undefined && !supportedVersions.includes(stated))
      throw createVersionError(stated);
    return;
  }
  const { method, params } = message as { method?: unknown; params: Params };
  checkHeader("MCP-Protocol-Version", stated, getMeta(params)[key("protocolVersion")]);
  checkHeader("Mcp-Method", headers["mcp-method"], method);
  const name = Object.hasOwn(namedBy, String(method)) ? namedBy[String(method)]! : undefined;
  if (name !== undefined) checkHeader("Mcp-Name", decode(headers["mcp-name"]), params[name]);
}

function checkHeader(name: string, value: unknown, expected: unknown): void {
  if (value === undefined) throw new JsonRpcError("header mismatch", `header ${name} is missing`);
  if (value !== expected)
    throw new JsonRpcError(
      "header mismatch",
      `header ${name} is ${JSON.stringify(value)}, and the request says ${JSON.stringify(expected)}`,
    );
}

/** Decodes a value that is no plain ASCII, and was therefore sent in Base64. */
function decode(value: string | string[] | undefined): string | undefined {
  const [, encoded] = /^=\?base64\?([\w+/=]*)\?=$/.exec(String(value)) ?? [];
  return encoded === undefined ? value?.toString() : Buffer.from(encoded, "base64").toString();
}

/** Replaces a code that only earlier revisions have. */
export const withoutOldCode = (error: JsonRpcError): JsonRpcError =>
  error.kind === "no such resource" || error.kind === "no such session"
    ? new JsonRpcError("invalid params", error.message, {
        cause: error,
        ...(error.data ? { data: error.data } : {}),
      })
    : error;

/** For how long a result of each method stays true: a session's tools never change. */
const freshness: Readonly<Record<string, number>> = {
  [discoverMethod]: 3_600_000,
  "tools/list": 3_600_000,
  "resources/templates/list": 3_600_000,
  "resources/list": 0,
  "resources/read": 0,
};

/** Adds what a result of this revision has to the JSON text of one of an earlier revision. */
export function completeResult(serverName: string, method: string, result: string): string {
  const fields = {
    resultType: "complete",
    _meta: { [key("serverInfo")]: { name: serverName, version } },
    ...(Object.hasOwn(freshness, method)
      ? { ttlMs: freshness[method], cacheScope: "private" }
      : {}),
  };
  const text = JSON.stringify(fields);
  return result === "{}" ? text : `${text.slice(0, -1)},${result.slice(1)}`;
}

/**
 * The messages that answer `subscriptions/listen`: nothing that this program offers announces its
 * changes, so that a subscription ends when it has been acknowledged.
 */
export function formatSubscription(id: string | number, serverName: string): readonly string[] {
  const subscription = { [key("subscriptionId")]: id };
  const result = {
    resultType: "complete",
    _meta: { ...subscription, [key("serverInfo")]: { name: serverName, version } },
  };
  return [
    {
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: subscription, notifications: {} },
    },
    { id, result },
  ].map(it => JSON.stringify({ jsonrpc: "2.0", ...it }));
}

// what this program sends

/** The `_meta` of a request of this program, as the first member of an object's JSON text. */
const clientMeta = JSON.stringify({
  _meta: {
    [key("protocolVersion")]: statelessVersion,
    [key("clientInfo")]: { name: "prove", version },
    [key("clientCapabilities")]: {},
  },
}).slice(0, -1);

/** The JSON text of a request's parameters with what this revision adds. */
export const completeParams = (params: string): string =>
  params === "{}" ? `${clientMeta}}` : `${clientMeta},${params.slice(1)}`;

/** What a server says that it is, in a result of this revision. */
export const readServerInfo = (result: Json): Json | undefined =>
  isJsonObject(result) && isJsonObject(result["_meta"])
    ? result["_meta"][key("serverInfo")]
    : undefined;

/**
 * The headers that repeat a part of a request, whose parameters are JSON text, and the arguments of
 * a call that the schema of its tool marks.
 */
export function createHeaders(
  method: string,
  params: string,
  getInputSchema: (tool: string) => JsonObject | undefined,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {
    "MCP-Protocol-Version": statelessVersion,
    "Mcp-Method": method,
  };
  if (!Object.hasOwn(namedBy, method)) return headers;
  const parsed = JSON.parse(params) as JsonObject;
  const name = parsed[namedBy[method]!] as string;
  headers["Mcp-Name"] = encode(name);
  const schema = method === "tools/call" ? getInputSchema(name) : undefined;
  for (const { path, header } of schema ? findParameterHeaders(schema).headers : []) {
    const value = path.reduce<Json | undefined>(
      (it, part) => (isJsonObject(it) && Object.hasOwn(it, part) ? it[part] : undefined),
      parsed["arguments"],
    );
    if (value !== undefined && value !== null && typeof value !== "object")
      headers[`Mcp-Param-${header}`] = encode(String(value));
  }
  return headers;
}

/** Encodes a value that could not be sent, or would be read as an encoded one, in Base64. */
const encode = (value: string): string =>
  /^(?:[!-~](?:[ -~]*[!-~])?)?$/.test(value) && !value.startsWith("=?base64?")
    ? value
    : `=?base64?${Buffer.from(value).toString("base64")}?=`;

interface ParameterHeaders {
  readonly headers: readonly { readonly path: readonly string[]; readonly header: string }[];
  /** Why the tool cannot be called over HTTP. */
  readonly fault?: string;
}

const headerKeyword = "x-mcp-header";

/** Keywords whose values are no schemas. */
const dataKeywords = new Set(["const", "default", "enum", "examples"]);

/** The arguments of a tool that are repeated in headers, as its input schema marks them. */
export function findParameterHeaders(schema: JsonObject): ParameterHeaders {
  const headers: { path: readonly string[]; header: string }[] = [];
  let fault: string | undefined;
  const visit = (node: Json, path: readonly string[], isProperty: boolean): void => {
    if (Array.isArray(node)) for (const it of node as readonly Json[]) visit(it, path, false);
    if (!isJsonObject(node)) return;
    const { [headerKeyword]: header, type } = node;
    if (header !== undefined) {
      const place = path.join(".");
      if (typeof header !== "string" || !/^[\w!#$%&'*+.^`|~-]+$/.test(header))
        fault ??= `${headerKeyword} of ${place} is no name of a header`;
      else if (!isProperty || !["string", "integer", "boolean"].includes(type as string))
        fault ??= `${headerKeyword} of ${place} is not on a property that is a string, an integer or a boolean`;
      else if (headers.some(it => it.header.toLowerCase() === header.toLowerCase()))
        fault ??= `${headerKeyword} ${header} occurs twice`;
      else headers.push({ path, header });
    }
    const isReachable = isProperty || path.length === 0;
    for (const [keyword, value] of Object.entries(node)) {
      if (dataKeywords.has(keyword) || keyword === headerKeyword) continue;
      if (keyword === "properties" && isJsonObject(value))
        for (const [name, it] of Object.entries(value)) visit(it, [...path, name], isReachable);
      else visit(value, [...path, keyword], false);
    }
  };
  visit(schema, [], false);
  return fault === undefined ? { headers } : { headers: [], fault };
}
