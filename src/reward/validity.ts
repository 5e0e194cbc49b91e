/** R_validity: how far each call got, as a number that follows from its outcome. */
import type { ScoredCall } from "./align.ts";

const validities = { "unknown-tool": 0, "bad-arguments": 1 / 3, refused: 2 / 3, ok: 1 } as const;

/**
 * v(c): a third each for a known name, valid arguments and acceptance by the server. A block that
 * could not be parsed has no name and scores 0.
 */
export const getCallValidity = (call: ScoredCall): number =>
  call.name === "" ? 0 : validities[call.outcome.kind];

/** R_validity = (1/N) Σ v(c); 0 without calls. */
export const scoreValidity = (calls: readonly ScoredCall[]): number =>
  calls.length === 0 ? 0 : calls.reduce((sum, it) => sum + getCallValidity(it), 0) / calls.length;
