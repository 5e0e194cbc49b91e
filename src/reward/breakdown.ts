/**
 * A reward split into its parts, with the evidence for each. It is stored beside the trajectory and
 * not recomputed when it is shown.
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
  /** The value of the part's own equation, before the weight. */
  readonly score: number;
  readonly weight: number;
  /** score · weight */
  readonly value: number;
}

/** The comparison of an argument with the goal's. */
export interface ArgumentEvidence {
  readonly key: string;
  readonly goal: unknown;
  readonly model: unknown;
  readonly equal: boolean;
  readonly masked: boolean;
}

/** How one call of the attempt was scored. */
export interface CallEvidence {
  /** Position in the transcript, from 0. */
  readonly call: number;
  readonly name: string;
  /** 0, ⅓, ⅔ or 1: a third each for a known name, valid arguments and an accepted call. */
  readonly validity: number;
  /** The refusal's message; absent for a call that succeeded. */
  readonly message?: string;
  /** Whether its name is among the goals' names. */
  readonly named: boolean;
  /** The goal call it serves: goal index, and index within the goal. */
  readonly serves?: { readonly goal: number; readonly call: number };
  /** Its arguments compared with the goal call's; empty if it serves none. */
  readonly arguments: readonly ArgumentEvidence[];
  /** Whether its number, from 1, exceeds the budget B. */
  readonly overBudget: boolean;
  /** It was refused as the same call of the teacher was, so that it was right to try. */
  readonly expected?: true;
  /** The call is one of the teacher's, before the turn that was attempted: no part counts it. */
  readonly given?: true;
}

/** How one goal was matched. */
export interface GoalEvidence {
  readonly goal: number;
  readonly matched: boolean;
  /** The position of its last call, μ; absent if unmatched. */
  readonly position?: number;
  /** The position of the call that serves each of its calls; null for none. */
  readonly calls: readonly (number | null)[];
  /** A call that serves it has other arguments than the goal's. */
  readonly otherArguments?: true;
  /** The goals that should have come before it but did not. */
  readonly broken: readonly number[];
  /** Absent unless the attempt did not need it: then no part counts it. */
  readonly needed?: false;
  /** What met its look-ups or what they lack; absent if the goal does not say what they are for. */
  readonly notes?: readonly string[];
}

/** How a fact that was due was told. */
export interface AnswerEvidence {
  /** The user turn at whose end it was due. */
  readonly turn: number;
  /** The goal that asks for it; absent for what could not be done, which belongs to no goal. */
  readonly goal?: number;
  /** What was asked, such as "the balance of account acc_101 (Everyday)". */
  readonly subject: string;
  /** What was to be told, such as "1,204.00". */
  readonly wanted: string;
  readonly isTold: boolean;
  /** What is wrong, such as "told 1,240.00, is 1,204.00"; absent if it was told. */
  readonly note?: string;
}

export interface Breakdown {
  readonly profile: string;
  /** `tool`: the five parts; `abstain`: the rule for tasks without goals. */
  readonly rule: "tool" | "abstain";
  readonly parts: Readonly<Record<PartName, Part>>;
  /**
   * What a profile adds to the paper's five parts (`success` and, where something was to be told,
   * `answer` in `prove-plus`); empty under `paper`.
   */
  readonly extras: Readonly<Record<string, Part>>;
  readonly total: number;
  /** Calls made, N. */
  readonly n: number;
  /** Calls that cost nothing, B. */
  readonly budget: number;
  readonly calls: readonly CallEvidence[];
  readonly goals: readonly GoalEvidence[];
  /** What was to be told; absent if that does not count. */
  readonly answers?: readonly AnswerEvidence[];
}

/** Whether an argument counts as wrong. */
export const isWrongArgument = ({ equal, masked }: ArgumentEvidence): boolean => !equal && !masked;

/** A breakdown in files and in printed JSON, where a refusal's message has the key `why`. */
export interface BreakdownLine extends Omit<Breakdown, "calls"> {
  readonly calls: readonly CallEvidenceLine[];
}

type CallEvidenceLine = Omit<CallEvidence, "message"> & { readonly why?: string };

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
