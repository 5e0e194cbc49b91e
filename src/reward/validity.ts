/**
 * R_validity: how far each call got, a third for each rung. It is the outcome, read as a number.
 */
import type { ScoredCall } from "./align.ts";

const rungs = { "unknown-tool": 0, "bad-arguments": 1 / 3, refused: 2 / 3, ok: 1 } as const;

/**
 * v(c): 0, ⅓, ⅔ or 1 for a known name, fitting arguments, accepted by the server. A block that
 * could not be parsed has no name.
 */
export const getCallValidity = (call: ScoredCall): number =>
  call.name === "" ? 0 : rungs[call.outcome.kind];

/** R_validity = (1/N) Σ v(c); 0 for no calls. */
export const scoreValidity = (calls: readonly ScoredCall[]): number =>
  calls.length === 0 ? 0 : calls.reduce((sum, it) => sum + getCallValidity(it), 0) / calls.length;
