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

/** Attempts in an order in which those with a common beginning are neighbors. */
export const sortAttempts = (attempts: readonly TrainingAttempt[]): readonly TrainingAttempt[] =>
  attempts.toSorted((a, b) => compareIds(a.branch.ids, b.branch.ids) || a.number - b.number);

function compareIds(a: readonly number[], b: readonly number[]): number {
  const n = countCommon(a, b);
  return (a[n] ?? -1) - (b[n] ?? -1);
}

function countCommon(a: readonly number[], b: readonly number[]): number {
  let n = 0;
  while (n < a.length && n < b.length && a[n] === b[n]) n++;
  return n;
}

/** Tokens to compute for sorted attempts of a group; what neighbors have in common counts once. */
export const countTokens = (
  { opening }: Pick<TrainingGroup, "opening">,
  sorted: readonly TrainingAttempt[],
): number => sorted.reduce((sum, it, i) => sum + countNewTokens(it, sorted[i - 1]), opening.length);

/** A beginning in common with the attempt before is computed already. */
const countNewTokens = ({ branch }: TrainingAttempt, before?: TrainingAttempt): number =>
  branch.ids.length - countCommon(before?.branch.ids ?? [], branch.ids);

/**
 * Tokens in one backward pass: its memory grows with them, and WebAssembly memory never shrinks.
 */
export const tokensPerBatch = 2_000;

/**
 * Batches of about `tokensPerBatch` tokens to compute. The attempts of a group that has more are
 * divided, and the batches of each part begin with the opening.
 */
export function splitIntoBatches(groups: readonly TrainingGroup[]): (readonly TrainingGroup[])[] {
  const batches: TrainingGroup[][] = [];
  let room = 0;
  for (const { group, tokens } of groups.flatMap(splitGroup)) {
    if (tokens > room) {
      batches.push([]);
      room = tokensPerBatch;
    }
    batches.at(-1)!.push(group);
    room -= tokens;
  }
  return batches;
}

/** A group, or a part of one, and the number of tokens to compute for it. */
interface SizedGroup {
  readonly group: TrainingGroup;
  readonly tokens: number;
}

/** Divides a group whose attempts take more tokens than a batch. */
function splitGroup(group: TrainingGroup): SizedGroup[] {
  const sorted = sortAttempts(group.attempts);
  const total = countTokens(group, sorted);
  if (total <= tokensPerBatch) return [{ group, tokens: total }];
  const parts: { readonly attempts: TrainingAttempt[]; tokens: number }[] = [];
  for (const attempt of sorted) {
    const part = parts.at(-1);
    const added = countNewTokens(attempt, part?.attempts.at(-1));
    if (part && part.tokens + added <= tokensPerBatch) {
      part.attempts.push(attempt);
      part.tokens += added;
    } else parts.push({ attempts: [attempt], tokens: countTokens(group, [attempt]) });
  }
  return parts.map(({ attempts, tokens }) => ({ group: { ...group, attempts }, tokens }));
}
