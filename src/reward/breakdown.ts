/**
 * The reward by part, with the evidence for each part. A value: stored beside the trajectory, never
 * recomputed to be shown.
 */

export type PartName = "validity" | "coverage" | "efficiency" | "name" | "argument";

/** In the order in which the paper's equation (5) adds them. */
export const partNames: readonly PartName[] = [
  "validity",
  "coverage",
  "efficiency",
  "name",
  "argument",
];

export interface Part {
  /** The part by its own equation, before the weight. */
  readonly score: number;
  readonly weight: number;
  /** score · weight */
  readonly value: number;
}

/** Why an argument pair counts or does not. */
export interface ArgumentEvidence {
  readonly key: string;
  readonly goal: unknown;
  readonly model: unknown;
  readonly equal: boolean;
  readonly masked: boolean;
}

/** What one call of the attempt earned. */
export interface CallEvidence {
  /** Position in the transcript, from 0. */
  readonly call: number;
  readonly name: string;
  /** 0, ⅓, ⅔ or 1: known name, fitting arguments, accepted by the server. */
  readonly validity: number;
  /** The refusal's message; absent for a call with validity 1. */
  readonly message?: string;
  /** Whether its name is among the goals' names. */
  readonly named: boolean;
  /** The goal call it serves: goal index, and index within the goal. */
  readonly serves?: { readonly goal: number; readonly call: number };
  /** Its arguments against the goal call's; empty where it serves none. */
  readonly arguments: readonly ArgumentEvidence[];
  /** Beyond the budget: 1-based ordinal minus B is positive. */
  readonly overBudget: boolean;
}

/** What became of one goal. */
export interface GoalEvidence {
  readonly goal: number;
  readonly matched: boolean;
  /** Position of its last call, μ; absent where unmatched. */
  readonly position?: number;
  /** The call positions that serve it, one for each of its calls; null where none does. */
  readonly calls: readonly (number | null)[];
  /** Goals that should have come before it and did not. */
  readonly broken: readonly number[];
}

export interface Breakdown {
  readonly profile: string;
  /** `tool`: the five parts; `abstain`: 1 for no call, else 0. */
  readonly rule: "tool" | "abstain";
  readonly parts: Readonly<Record<PartName, Part>>;
  /**
   * What a profile adds to the paper's five parts (`success` in `prove-plus`); empty under `paper`.
   */
  readonly extras: Readonly<Record<string, Part>>;
  readonly total: number;
  /** Calls made, N. */
  readonly n: number;
  /** Calls that cost nothing, B. */
  readonly budget: number;
  readonly calls: readonly CallEvidence[];
  readonly goals: readonly GoalEvidence[];
}

/** A breakdown in files and in printed JSON, where a refusal's message has the key `why`. */
export interface BreakdownLine extends Omit<Breakdown, "calls"> {
  readonly calls: readonly CallEvidenceLine[];
}

export type CallEvidenceLine = Omit<CallEvidence, "message"> & { readonly why?: string };

export const formatBreakdownLine = (breakdown: Breakdown): BreakdownLine => ({
  ...breakdown,
  calls: breakdown.calls.map(formatCallEvidence),
});

export const formatCallEvidence = ({
  call,
  name,
  validity,
  message,
  ...rest
}: CallEvidence): CallEvidenceLine => ({
  call,
  name,
  validity,
  ...(message === undefined ? {} : { why: message }),
  ...rest,
});

export const parseBreakdownLine = (line: BreakdownLine): Breakdown => ({
  ...line,
  calls: line.calls.map(({ why, ...rest }) => ({
    ...rest,
    ...(why === undefined ? {} : { message: why }),
  })),
});
