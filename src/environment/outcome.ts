/**
 * What a call gave. The same outcomes are the validity score, the icon in the tree and the oracle
 * of the tests.
 */
import type { Digest } from "./digest.ts";
import type { Json } from "./json.ts";

/** Why a call was turned down, in words that a model can act on. */
export type ErrorType =
  | "unknown_tool"
  | "invalid_params"
  | "not_found"
  | "precondition_failed"
  | "permission_denied"
  | "conflict"
  | "limit_exceeded";

/**
 * `ok`: it ran. `refused`: known and well-formed, but turned down by the tool's whole schema or the
 * server's rules. `bad-arguments`: a required key is missing or a JSON type does not fit.
 * `unknown-tool`: the name is not on the menu. `broken`: a time-out, a crash or a bug of ours;
 * never scored.
 */
export type OutcomeKind = "ok" | "refused" | "bad-arguments" | "unknown-tool" | "broken";

export interface Fault {
  readonly kind: Exclude<OutcomeKind, "ok">;
  readonly type: ErrorType | "internal";
  readonly message: string;
  readonly hint?: string;
}

export type Outcome = { readonly kind: "ok"; readonly value: Json } | Fault;

/** One RFC 6902 operation. Paths start at the session's state: `/<server>/world/…`. */
export interface Patch {
  readonly op: "add" | "remove" | "replace";
  readonly path: string;
  readonly value?: Json;
}

/**
 * A call as it was answered: the outcome, what it changed, and the digest of the state after it.
 */
export interface Called {
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  readonly digest: Digest;
}
