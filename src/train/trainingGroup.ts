/**
 * What the attempts of a group are trained on: tokens, log-probabilities and advantages. It is
 * small, so that any replica can train on the attempts of another one.
 */
import { packGroups, type Branch, type PackedBatch } from "../model/packedBatch.ts";
import { listTokenAdvantages } from "./advantages.ts";
import type { ScoredAttempt } from "./scoredAttempt.ts";

export interface TrainingAttempt {
  /** Its place in the group. */
  readonly number: number;
  readonly branch: Branch;
  /** lp_old of the sampled tokens, at least one. */
  readonly logprobs: readonly number[];
  /** The advantages of the sampled tokens. */
  readonly advantages: readonly number[];
}

export interface TrainingGroup {
  /** Its place in the step. */
  readonly number: number;
  /** Whether the KL term is measured on it. */
  readonly isMeasured: boolean;
  /** The tokens that all attempts begin with. */
  readonly opening: readonly number[];
  readonly attempts: readonly TrainingAttempt[];
}

/** Attempts without a sampled token are left out. */
export const createTrainingGroup = (
  attempts: readonly ScoredAttempt[],
  { number, isMeasured }: Pick<TrainingGroup, "number" | "isMeasured">,
): TrainingGroup => ({
  number,
  isMeasured,
  opening: attempts[0]!.opening,
  attempts: attempts.flatMap((it, i) =>
    it.logprobs.length === 0
      ? []
      : [
          {
            number: i,
            branch: it.branch,
            logprobs: it.logprobs,
            advantages: listTokenAdvantages(it),
          },
        ],
  ),
});

/** The prompt of a group is computed once, and its attempts branch off it. */
export const packAttempts = (groups: readonly TrainingGroup[]): PackedBatch =>
  packGroups(
    groups.map(({ opening, attempts }) => ({
      prefix: opening,
      branches: attempts.map(it => it.branch),
    })),
  );

/**
 * Tokens in one backward pass: its memory grows with them, and WebAssembly memory never shrinks.
 */
export const tokensPerBatch = 2_000;

/**
 * Batches of about `tokensPerBatch` tokens. The attempts of a group that has more are divided, and
 * the batches of each part begin with the opening.
 */
export function splitIntoBatches(groups: readonly TrainingGroup[]): (readonly TrainingGroup[])[] {
  const batches: TrainingGroup[][] = [];
  let room = 0;
  for (const group of groups.flatMap(splitGroup)) {
    const size = countTokens(group);
    if (size > room) {
      batches.push([]);
      room = tokensPerBatch;
    }
    batches.at(-1)!.push(group);
    room -= size;
  }
  return batches;
}

const countTokens = ({ opening, attempts }: TrainingGroup): number =>
  attempts.reduce((sum, it) => sum + it.branch.ids.length, opening.length);

/** A group whose attempts take more tokens than a batch, in as few parts as fit. */
function splitGroup(group: TrainingGroup): TrainingGroup[] {
  const parts: TrainingAttempt[][] = [];
  let room = 0;
  for (const attempt of group.attempts) {
    const size = attempt.branch.ids.length;
    if (parts.length === 0 || size > room) {
      parts.push([]);
      room = tokensPerBatch - group.opening.length;
    }
    parts.at(-1)!.push(attempt);
    room -= size;
  }
  return parts.map(attempts => ({ ...group, attempts }));
}
