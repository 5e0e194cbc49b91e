/** Parses and formats JSON-RPC messages. Independent of methods and transports. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { JSONRPCMessageSchema } from "@modelcontextprotocol/sdk/types.js";

export type Params = Readonly<Record<string, unknown>>;

const codes = {
  "parse error": -32700,
  "invalid request": -32600,
  "method not found": -32601,
  "invalid params": -32602,
  "no such resource": -32002,
  "no such session": -32001,
} as const;

/** Why a request cannot be answered. The SDK, too, reads its `code`. */
export class JsonRpcError extends Error {
  readonly code: number;
  constructor(kind: keyof typeof codes, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = codes[kind];
  }
}

export const isRequestId = (value: unknown): value is string | number =>
  typeof value === "string" || Number.isSafeInteger(value);

/** The text of a reply, from the JSON text of its result. */
export const formatReply = (id: string | number, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

export const formatError = (id: string | number | null, { code, message }: JsonRpcError): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } });

/** Checks that a value is a message. Throws a `JsonRpcError` if it is not. */
export function parseMessage(value: unknown): JSONRPCMessage {
  const parsed = JSONRPCMessageSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new JsonRpcError("invalid request", "this is not a JSON-RPC 2.0 message");
}
