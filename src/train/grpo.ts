/**
 * Multi-turn group-relative policy optimization (Shao et al., 2024): attempts in live sessions,
 * rewards, advantages within each group, and clipped optimizer steps. Tokens that tools and users
 * wrote have no gradient.
 *
 *   A_i = (R_i − mean R) / (std R + 1e-6), over the group                                     (1)
 *   ρ = exp(lp − lp_old), for each token the student sampled                                  (2)
 *   L = −mean min(ρ A, clip(ρ, 1 − low, 1 + high) A) + β mean k3, over all those tokens       (3)
 *   k3 = exp(lp_ref − lp) − (lp_ref − lp) − 1                                                 (4)
 *
 * The mean of k3 is estimated on a part of the groups, another part at each step.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { Catalog } from "../environment/catalog.ts";
import { encodeChat } from "../model/chatFormat.ts";
import { packGroups, type PackedBatch } from "../model/packedBatch.ts";
import { openStudent, type Student } from "../model/student.ts";
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities,
  type Gradients,
  type Model,
} from "../model/transformer.ts";
import { rollout, type Rollout } from "../policy/rollout.ts";
import { paperProfile, type Profile } from "../reward/profiles.ts";
import { isScored, scoreAttempt, type Unscorable } from "../reward/reward.ts";
import { getSuccess } from "../reward/success.ts";
import type { Breakdown } from "../reward/breakdown.ts";
import type { GrpoConfig } from "../run/config.ts";
import { groupFormat, type GroupLine } from "../run/group.ts";
import { createAttemptFactory, type Attempt } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { createEpochSampler, shuffleIndices } from "./epochSampler.ts";
import { createConversation } from "./corpus.ts";
import { sumByName, type MethodContext, type TrainingMethod } from "./trainingMethod.ts";
import { sumAttempts, computeStepMetrics } from "./stepMetrics.ts";
import type { ScoredAttempt } from "./scoredAttempt.ts";

export interface GrpoContext extends MethodContext {
  readonly catalog: Catalog;
  readonly tasks: readonly Task[];
  /**
   * The weights at the start of the run: the reference of the KL term. Not used if its weight is 0.
   */
  readonly reference: Model | undefined;
  readonly profile: Profile;
}

export function openGrpo(context: GrpoContext, config: GrpoConfig): TrainingMethod {
  const { group: replicas, model, tokenizer, tasks } = context;
  const { grpo, seed } = config;
  const student = openStudent(model, tokenizer, {
    name: "student",
    temperature: grpo.temperature,
    seed,
  });
  const sampleIndex = createEpochSampler(tasks.length, seed);
  const scoreRollout = createAttemptScorer(context);

  async function step(
    step: number,
  ): Promise<{ metrics: ReturnType<typeof computeStepMetrics>; groups: GroupLine[] }> {
    const start = performance.now();
    const sampledBefore = student.usage.seconds;

    // this replica's share of the step's tasks, and a group of attempts at each
    const indices = Array.from({ length: grpo.prompts }, (_, i) => i).filter(
      it => it % replicas.count === replicas.rank,
    );
    const rollouts = await Promise.all(
      indices.map(index => {
        const task = tasks[sampleIndex((step - 1) * grpo.prompts + index)]!;
        return rolloutGroup(
          student,
          context.catalog,
          task,
          Array.from({ length: grpo.group }, (_, i) => `${task.id}/${step}.${index}.${i}`),
        );
      }),
    );
    const attempts = rollouts.map(group => group.map(it => scoreRollout(it.task, it.rollout)));
    const groups = attempts.map(group => group.filter(it => it !== undefined));
    const faults = attempts.flat().length - groups.flat().length;
    const rolloutsEnd = performance.now();

    // equation (1)
    for (const group of groups)
      for (const [i, advantage] of computeAdvantages(group.map(it => it.breakdown.total)).entries())
        group[i]!.advantage = advantage;
    if (grpo.advantages === "shuffled") shuffleAdvantages(groups.flat(), seed, step, replicas.rank);
    // a group whose attempts all have the same reward has no gradient
    const informativeGroups = groups.filter(group => group.some(it => it.advantage !== 0));

    const learningRate = grpo.learningRate * Math.min(1, step / 5);
    const measured = new Set(groups.filter((_, i) => (i + step) % measuredEvery === 0));
    const totals = { loss: 0, norm: 0, tokens: 0, kl: 0, measured: 0, clipped: 0 };
    for (let minibatch = 0; minibatch < grpo.minibatches; minibatch++) {
      const result = trainOnGroups(
        context,
        informativeGroups.filter((_, i) => i % grpo.minibatches === minibatch),
        grpo,
        learningRate,
        measured,
      );
      for (const key of ["loss", "norm", "tokens", "kl", "measured", "clipped"] as const)
        totals[key] += result[key];
    }

    const end = performance.now();
    const seconds = {
      sampling: student.usage.seconds - sampledBefore,
      rollouts: (rolloutsEnd - start) / 1000,
      learning: (end - rolloutsEnd) / 1000,
      total: (end - start) / 1000,
    };
    const sums = sumByName(replicas, sumAttempts(groups, faults, seconds));
    return {
      metrics: computeStepMetrics(step, sums, {
        ...totals,
        learningRate,
        count: replicas.count,
        minibatches: grpo.minibatches,
      }),
      groups: groups.flatMap(group => createGroupLines(step, group)),
    };
  }

  return { step, dispose: () => student.dispose() };
}

/** Concurrent attempts at one task. */
const rolloutGroup = (student: Student, catalog: Catalog, task: Task, ids: readonly string[]) =>
  Promise.all(
    ids.map(async id => ({ task, rollout: await rollout(task, student, catalog, { id }) })),
  );

/**
 * Returns a function that scores an attempt and encodes its tokens for training. The result is
 * undefined for an attempt that failed for reasons outside the policy, which is not scored.
 */
export function createAttemptScorer({
  catalog,
  profile,
  tokenizer,
}: Pick<GrpoContext, "catalog" | "profile" | "tokenizer">): (
  task: Task,
  rollout: Pick<Rollout, "trajectory" | "finalState">,
) => ScoredAttempt | undefined {
  const createAttempt = createAttemptFactory(catalog);
  return (task, { trajectory, finalState }) => {
    const attempt: Attempt = createAttempt(task, trajectory, finalState);
    const breakdown: Breakdown | Unscorable = scoreAttempt(attempt, profile);
    if (!isScored(breakdown)) return undefined;
    const paperBreakdown =
      profile.name === paperProfile.name
        ? breakdown
        : (scoreAttempt(attempt, paperProfile) as Breakdown);
    const chat = encodeChat(tokenizer, createConversation(catalog, task, trajectory));
    const end = chat.mask.lastIndexOf(1) + 1;
    const branch = {
      ids: chat.ids.slice(chat.opening, end),
      mask: chat.mask.slice(chat.opening, end),
    };
    const logprobs = chat.logprobs.filter((_, i) => chat.mask[i] === 1);
    const opening = chat.ids.slice(0, chat.opening);
    return {
      task,
      trajectory,
      breakdown,
      paper: paperBreakdown.total,
      success: getSuccess(attempt).achieved,
      opening,
      branch,
      logprobs,
      advantage: 0,
      clipped: [],
    };
  };
}

/** Equation (1). All zero if the rewards are all equal. */
export function computeAdvantages(rewards: readonly number[]): number[] {
  const mean = rewards.reduce((sum, it) => sum + it, 0) / rewards.length;
  const deviation = Math.sqrt(
    rewards.reduce((sum, it) => sum + (it - mean) ** 2, 0) / rewards.length,
  );
  return rewards.map(it => (deviation < 1e-6 ? 0 : (it - mean) / (deviation + 1e-6)));
}

/** The control experiment: the same advantages, assigned to attempts at random. */
function shuffleAdvantages(attempts: readonly ScoredAttempt[], ...keys: readonly number[]): void {
  const advantages = attempts.map(it => it.advantage);
  for (const [i, from] of shuffleIndices(attempts.length, ...keys).entries())
    attempts[i]!.advantage = advantages[from]!;
}

/** Takes one optimizer step on groups of all replicas. The result is the same in every replica. */
function trainOnGroups(
  { group: replicas, model, reference, optimizer }: GrpoContext,
  groups: readonly (readonly ScoredAttempt[])[],
  grpo: GrpoConfig["grpo"],
  learningRate: number,
  measured: ReadonlySet<readonly ScoredAttempt[]>,
) {
  const { tokens } = sumByName(replicas, {
    tokens: groups.flat().reduce((sum, it) => sum + it.logprobs.length, 0),
  });
  if (tokens === 0) return { loss: 0, norm: 0, tokens: 0, kl: 0, measured: 0, clipped: 0 };

  const own = { loss: 0, kl: 0, measured: 0, clipped: 0 };
  let ownGradients: Gradients | undefined;
  for (const batch of splitIntoBatches(groups)) {
    const result = backward(model, reference, batch, { grpo, tokens, measured });
    for (const key of ["loss", "kl", "measured", "clipped"] as const) own[key] += result[key];
    ownGradients = ownGradients ? addGradients(ownGradients, result.gradients) : result.gradients;
  }
  const gradients = replicas.sumGradients(ownGradients ?? zeroGradients(model));
  const { norm } = optimizer.step(gradients, learningRate);
  disposeGradients(gradients);
  return { norm, tokens, ...sumByName(replicas, own) };
}

/**
 * The KL term is measured on one group of this many, another one at each step, and weighted as much
 * more: its mean is that of all groups, and the reference model computes only a part of them.
 */
const measuredEvery = 4;

/**
 * Tokens in one backward pass: its memory grows with them, and WebAssembly memory never shrinks.
 */
const tokensPerBatch = 3_000;

/** Batches of about `tokensPerBatch` tokens. Groups without a sampled token are left out. */
function splitIntoBatches(
  groups: readonly (readonly ScoredAttempt[])[],
): (readonly ScoredAttempt[])[][] {
  const batches: (readonly ScoredAttempt[])[][] = [];
  let room = 0;
  for (const group of groups) {
    if (group.every(it => it.logprobs.length === 0)) continue;
    const size = group.reduce((sum, it) => sum + it.branch.ids.length, group[0]!.opening.length);
    if (size > room) {
      batches.push([]);
      room = tokensPerBatch;
    }
    batches.at(-1)!.push(group);
    room -= size;
  }
  return batches;
}

function addGradients(sum: Gradients, more: Gradients): Gradients {
  const added = new Map([...sum].map(([name, it]) => [name, tf.add(it, more.get(name)!)]));
  disposeGradients(sum);
  disposeGradients(more);
  return added;
}

interface BackwardOptions {
  readonly grpo: GrpoConfig["grpo"];
  /** The tokens of the minibatch, over all replicas. */
  readonly tokens: number;
  /** The groups on which the KL term is measured. */
  readonly measured: ReadonlySet<readonly ScoredAttempt[]>;
}

function backward(
  model: Model,
  reference: Model | undefined,
  groups: readonly (readonly ScoredAttempt[])[],
  { grpo, tokens, measured }: BackwardOptions,
) {
  const { low, high } = grpo.clip;
  const attempts = groups.flat();
  const packed = packAttempts(groups);
  const advantages = Float32Array.from(
    attempts.flatMap(it => it.logprobs.map(() => it.advantage)), // (M)
  );
  const oldLogprobs = Float32Array.from(attempts.flatMap(it => it.logprobs)); // (M)
  // the indices of the measured tokens, and the reference's log-probabilities of them
  const measuredTokens = listMeasuredTokens(groups, measured); // (K)
  const refLogprobs =
    reference && grpo.kl > 0 && measuredTokens.length > 0
      ? computeLogProbabilities(reference, packAttempts(groups.filter(it => measured.has(it)))) // (K)
      : undefined;

  const { loss, logprobs, gradients } = computeGradients(model, packed, lp => {
    const a = tf.tensor1d(advantages);
    const ratio = tf.exp(tf.sub(lp, tf.tensor1d(oldLogprobs))); // equation (2)
    const clipped = tf.minimum(
      tf.mul(ratio, a),
      tf.mul(tf.clipByValue(ratio, 1 - low, 1 + high), a),
    );
    const gain = tf.sum(clipped);
    if (!refLogprobs) return tf.div(tf.neg(gain), tokens);
    const difference = tf.sub(
      tf.tensor1d(refLogprobs),
      tf.gather(lp, tf.tensor1d(measuredTokens, "int32")),
    );
    const k3 = tf.sub(tf.sub(tf.exp(difference), difference), 1); // equation (4)
    const kl = tf.mul(tf.sum(k3), grpo.kl * measuredEvery);
    return tf.div(tf.sub(kl, gain), tokens); // equation (3)
  });

  let kl = 0;
  refLogprobs?.forEach((it, i) => {
    const difference = it - logprobs[measuredTokens[i]!]!;
    kl += Math.exp(difference) - difference - 1;
  });
  let clipped = 0;
  let at = 0;
  for (const it of attempts)
    for (let i = 0; i < it.logprobs.length; i++, at++) {
      const ratio = Math.exp(logprobs[at]! - oldLogprobs[at]!);
      if (!(it.advantage > 0 ? ratio > 1 + high : ratio < 1 - low)) continue;
      clipped++;
      it.clipped.push(i);
    }
  return { loss, kl, measured: refLogprobs?.length ?? 0, clipped, gradients };
}

/** The prompt of a group is computed once, and its attempts branch off it. */
const packAttempts = (groups: readonly (readonly ScoredAttempt[])[]): PackedBatch =>
  packGroups(
    groups.map(group => ({
      prefix: group[0]!.opening,
      branches: group.filter(it => it.logprobs.length > 0).map(it => it.branch),
    })),
  );

/** The indices of the sampled tokens of measured groups among those of all groups. */
function listMeasuredTokens(
  groups: readonly (readonly ScoredAttempt[])[],
  measured: ReadonlySet<readonly ScoredAttempt[]>,
): number[] {
  const indices: number[] = [];
  let at = 0;
  for (const group of groups)
    for (const { logprobs } of group)
      for (let i = 0; i < logprobs.length; i++, at++) if (measured.has(group)) indices.push(at);
  return indices;
}

/** The gradients of a replica that has no informative group. */
const zeroGradients = (model: Model): Gradients =>
  new Map([...model.parameters].map(([name, it]) => [name, tf.zeros(it.shape)]));

const createGroupLines = (step: number, group: readonly ScoredAttempt[]): GroupLine[] =>
  group.map((it, attempt) => ({
    format: groupFormat,
    step,
    task: it.task.id,
    attempt,
    advantage: it.advantage,
    success: it.success,
    paper: it.paper,
    breakdown: it.breakdown,
    clipped: it.clipped,
    trajectory: stripTrajectory(it.trajectory),
  }));

/** Without patches, which a replay restores, and with log-probabilities to six digits. */
function stripTrajectory({ header, events }: Trajectory): GroupLine["trajectory"] {
  return {
    header,
    events: events.map(it => {
      if (it.kind === "assistant" && it.logprobs)
        return { ...it, logprobs: it.logprobs.map(lp => Number(lp.toPrecision(6))) };
      if (it.kind !== "call") return it;
      const { patches: _, ...rest } = it;
      return rest;
    }),
  };
}
