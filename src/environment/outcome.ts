/**
 * The outcome of a call: a value or a fault. Rewards, the editor's icons and the tests all use the
 * same outcomes.
 */
import { describeTooDeep } from "../storage/jsonDepth.ts";
import type { Digest } from "./digest.ts";
import { isJsonObject, type Json } from "./json.ts";

/** Why a call failed, as a term that a model can act on. */
export type ErrorType =
  | "unknown_tool"
  | "invalid_params"
  | "not_found"
  | "precondition_failed"
  | "permission_denied"
  | "conflict"
  | "limit_exceeded";

/**
 * `ok`: it ran. `refused`: the tool exists and the JSON types are right, but the tool's full schema
 * or the server's rules do not allow the call. `bad-arguments`: a required key is missing or a JSON
 * type is wrong. `unknown-tool`: the name is not on the menu. `broken`: a time-out, a crash or a
 * bug in this program; never scored.
 */
export type OutcomeKind = "ok" | "refused" | "bad-arguments" | "unknown-tool" | "broken";

export interface Fault {
  readonly kind: Exclude<OutcomeKind, "ok">;
  readonly type: ErrorType | "internal";
  readonly message: string;
  readonly hint?: string;
}

export type Outcome = { readonly kind: "ok"; readonly value: Json } | Fault;

/** The fault of a call to a tool that is not on the menu, or of a text that is no call. */
export function createUnknownToolFault(name: string, args?: unknown): Fault {
  const { unparsed, reason } = (name === "" && isJsonObject(args) ? args : {}) as UnparsedText;
  const isUnparsed = typeof unparsed === "string" && typeof reason === "string";
  const syntax = isUnparsed && unparsed.startsWith("<function=") ? "XML" : "JSON";
  return {
    kind: "unknown-tool",
    type: "unknown_tool",
    message: isUnparsed
      ? `this is not a call in ${syntax}: ${reason.slice(0, 200)}`
      : `there is no tool ${name}`,
    hint: isUnparsed ? "write the call again" : "call one of the tools on offer",
  };
}

/** The arguments of a text that could not be read as a call. */
interface UnparsedText {
  readonly unparsed?: Json;
  readonly reason?: Json;
}

/** The fault of a call whose arguments are nested too deeply. */
export const createTooDeepFault = (): Fault => ({
  kind: "bad-arguments",
  type: "invalid_params",
  message: `the arguments are ${describeTooDeep("value")}`,
});

/** One RFC 6902 operation. Paths start at the session's state: `/<server>/world/…`. */
export interface Patch {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  readonly value?: Json;
}

/** A call as it was written. A block of a model's text that could not be parsed has the name "". */
export interface Call {
  readonly name: string;
  readonly arguments: Json;
}

/** A call and its outcome: the shape of a call from the session to the evidence of a reward. */
export interface CompletedCall extends Call {
  readonly outcome: Outcome;
}

/** What a session returns for a call: the outcome, its changes, and the digest of the new state. */
export interface CallResult {
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  readonly digest: Digest;
}
