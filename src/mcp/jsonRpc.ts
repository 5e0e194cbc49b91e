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
  "malformed request": -32602,
  "header mismatch": -32020,
  "unsupported version": -32022,
} as const;

type ErrorKind = keyof typeof codes;

/** Why a request cannot be answered. The SDK, too, reads its `code` and `data`. */
export class JsonRpcError extends Error {
  readonly kind: ErrorKind;
  readonly code: number;
  readonly data: object | undefined;
  constructor(kind: ErrorKind, message: string, options?: ErrorOptions & { data?: object }) {
    super(message, options);
    this.kind = kind;
    this.code = codes[kind];
    this.data = options?.data;
  }

  /** The HTTP status of a response that says nothing but this, since 2026-07-28. */
  get status(): 200 | 400 | 404 {
    if (this.kind === "method not found") return 404;
    return this.kind === "malformed request" ||
      this.kind === "header mismatch" ||
      this.kind === "unsupported version"
      ? 400
      : 200;
  }
}

export const isRequestId = (value: unknown): value is string | number =>
  typeof value === "string" || Number.isSafeInteger(value);

/** The text of a reply, from the JSON text of its result. */
export const formatReply = (id: string | number, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

export const formatError = (
  id: string | number | null,
  { code, message, data }: JsonRpcError,
): string => JSON.stringify({ jsonrpc: "2.0", id, error: { code, message, data } });

/** Checks that a value is a message. Throws a `JsonRpcError` if it is not. */
export function parseMessage(value: unknown): JSONRPCMessage {
  const parsed = JSONRPCMessageSchema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new JsonRpcError("invalid request", "this is not a JSON-RPC 2.0 message");
}
