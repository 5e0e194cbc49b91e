/** A call of the attempt aligned with a call of a goal. */
import type { ArgumentEvidence } from "./breakdown.ts";

export interface AlignedPair {
  readonly goal: number;
  /** Index within the goal. */
  readonly part: number;
  /** Position in the transcript, from 0. */
  readonly call: number;
  readonly arguments: readonly ArgumentEvidence[];
}
