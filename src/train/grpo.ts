/**
 * Multi-turn group-relative policy optimisation (Shao et al., 2024), read straight through:
 * attempts at live sessions, rewards, advantages within a group, one clipped step. Tokens that
 * tools and users wrote carry no gradient. Knows no files.
 *
 *   A_i = (R_i − mean R) / (std R + 1e-6), over the group                                                            (1)
 *   ρ = exp(lp − lp_old), for each token the student sampled                                                         (2)
 *   L = −mean min(ρ A, clip(ρ, 1 − low, 1 + high) A) + β mean k3, over all those tokens                              (3)
 *   k3 = exp(lp_ref − lp) − (lp_ref − lp) − 1                                                                        (4)
 */
import * as tf from "@tensorflow/tfjs-core";
import type { Catalog } from "../environment/catalog.ts";
import { encodeChat } from "../model/chatFormat.ts";
import { packGroups, type PackedGroup } from "../model/packedBatch.ts";
import { openStudent, type Student } from "../model/student.ts";
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities as scoreTokens,
  type Gradients,
  type Model,
} from "../model/transformer.ts";
import { rollout, type Rollout } from "../policy/rollout.ts";
import { paperProfile, type Profile } from "../reward/profiles.ts";
import { isScored, scoreAttempt, type Unscorable } from "../reward/reward.ts";
import { judgeSuccess } from "../reward/success.ts";
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
  /** The weights the run began with: what the KL term holds on to. */
  readonly reference: Model;
  readonly profile: Profile;
}

export function openGrpo(ground: GrpoContext, config: GrpoConfig): TrainingMethod {
  const { group, model, tokenizer, tasks } = ground;
  const { grpo, seed } = config;
  const student = openStudent(model, tokenizer, {
    name: "student",
    temperature: grpo.temperature,
    seed,
  });
  const draw = createEpochSampler(tasks.length, seed);
  const judge = createAttemptScorer(ground);

  async function step(
    step: number,
  ): Promise<{ metrics: ReturnType<typeof computeStepMetrics>; groups: GroupLine[] }> {
    const start = performance.now();
    const sampledBefore = student.usage.seconds;

    // a share of the step's tasks, and a group of attempts at each
    const places = Array.from({ length: grpo.prompts }, (_, i) => i).filter(
      it => it % group.count === group.rank,
    );
    const tried = await Promise.all(
      places.map(place => {
        const task = tasks[draw((step - 1) * grpo.prompts + place)]!;
        return rolloutGroup(
          student,
          ground.catalog,
          task,
          Array.from({ length: grpo.group }, (_, i) => `${task.id}/${step}.${place}.${i}`),
        );
      }),
    );
    const judged = tried.map(group => group.map(it => judge(it.task, it.rollout)));
    const groups = judged.map(group => group.filter(it => it !== undefined));
    const faults = judged.flat().length - groups.flat().length;
    const sampled = performance.now();

    // equation (1)
    for (const group of groups)
      for (const [i, advantage] of computeAdvantages(group.map(it => it.breakdown.total)).entries())
        group[i]!.advantage = advantage;
    if (grpo.advantages === "shuffled") shuffleAdvantages(groups.flat(), seed, step, group.rank);
    // a group whose attempts all earned the same says nothing
    const telling = groups.filter(group => group.some(it => it.advantage !== 0));

    const learningRate = grpo.learningRate * Math.min(1, step / 5);
    const learned = { loss: 0, norm: 0, tokens: 0, kl: 0, clipped: 0 };
    for (let part = 0; part < grpo.minibatches; part++) {
      const it = trainOnGroups(
        ground,
        telling.filter((_, i) => i % grpo.minibatches === part),
        grpo,
        learningRate,
      );
      for (const key of ["loss", "norm", "tokens", "kl", "clipped"] as const)
        learned[key] += it[key];
    }

    const end = performance.now();
    const seconds = {
      sampling: student.usage.seconds - sampledBefore,
      rollouts: (sampled - start) / 1000,
      learning: (end - sampled) / 1000,
      total: (end - start) / 1000,
    };
    const sums = sumByName(group, sumAttempts(groups, faults, seconds));
    return {
      metrics: computeStepMetrics(step, sums, {
        ...learned,
        learningRate,
        count: group.count,
        minibatches: grpo.minibatches,
      }),
      groups: groups.flatMap(group => createGroupLines(step, group)),
    };
  }

  return { step, dispose: () => student.dispose() };
}

/** Attempts at one task, side by side. */
const rolloutGroup = (student: Student, catalog: Catalog, task: Task, ids: readonly string[]) =>
  Promise.all(
    ids.map(async id => ({ task, rollout: await rollout(task, student, catalog, { id }) })),
  );

/**
 * Scores attempts and lays out their tokens; undefined where a fault of the world's or ours makes a
 * score unfair.
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
    const published =
      profile.name === paperProfile.name
        ? breakdown
        : (scoreAttempt(attempt, paperProfile) as Breakdown);
    const written = encodeChat(tokenizer, createConversation(catalog, task, trajectory));
    const end = written.mask.lastIndexOf(1) + 1;
    const branch = {
      ids: written.ids.slice(written.opening, end),
      mask: written.mask.slice(written.opening, end),
    };
    const logprobs = written.logprobs.filter((_, i) => written.mask[i] === 1);
    const opening = written.ids.slice(0, written.opening);
    return {
      task,
      trajectory,
      breakdown,
      paper: published.total,
      success: judgeSuccess(attempt).achieved,
      opening,
      branch,
      logprobs,
      advantage: 0,
      clipped: [],
    };
  };
}

/** Equation (1). All zero where the rewards are all equal. */
export function computeAdvantages(rewards: readonly number[]): number[] {
  const mean = rewards.reduce((sum, it) => sum + it, 0) / rewards.length;
  const deviation = Math.sqrt(
    rewards.reduce((sum, it) => sum + (it - mean) ** 2, 0) / rewards.length,
  );
  return rewards.map(it => (deviation < 1e-6 ? 0 : (it - mean) / (deviation + 1e-6)));
}

/** The control: the same advantages, dealt out by chance. */
function shuffleAdvantages(tried: readonly ScoredAttempt[], ...keys: readonly number[]): void {
  const advantages = tried.map(it => it.advantage);
  for (const [i, from] of shuffleIndices(tried.length, ...keys).entries())
    tried[i]!.advantage = advantages[from]!;
}

/** One optimizer step on some groups, the same in every replica. */
function trainOnGroups(
  { group, model, reference, optimizer }: GrpoContext,
  groups: readonly (readonly ScoredAttempt[])[],
  grpo: GrpoConfig["grpo"],
  learningRate: number,
) {
  const tried = groups.flat();
  const { tokens } = sumByName(group, {
    tokens: tried.reduce((sum, it) => sum + it.logprobs.length, 0),
  });
  if (tokens === 0) return { loss: 0, norm: 0, tokens: 0, kl: 0, clipped: 0 };

  const own = { loss: 0, kl: 0, clipped: 0, gradients: undefined as Gradients | undefined };
  for (const part of splitIntoBatches(groups)) {
    const it = backward(model, reference, part, { grpo, tokens });
    for (const key of ["loss", "kl", "clipped"] as const) own[key] += it[key];
    own.gradients = own.gradients ? addGradients(own.gradients, it.gradients) : it.gradients;
  }
  const all = group.sumGradients(own.gradients ?? zeroGradients(model));
  const { norm } = optimizer.step(all, learningRate);
  disposeGradients(all);
  const { loss, kl, clipped } = sumByName(group, {
    loss: own.loss,
    kl: own.kl,
    clipped: own.clipped,
  });
  return { loss, norm, tokens, kl, clipped };
}

/**
 * Tokens worked at once: memory grows with them, and what a backward pass of wasm has once taken it
 * keeps.
 */
const tokensPerBatch = 3_000;

/** Groups in parts of about that many tokens. Groups without a sampled token are left out. */
function splitIntoBatches(
  groups: readonly (readonly ScoredAttempt[])[],
): (readonly ScoredAttempt[])[][] {
  const parts: (readonly ScoredAttempt[])[][] = [];
  let room = 0;
  for (const group of groups) {
    if (group.every(it => it.logprobs.length === 0)) continue;
    const size = group.reduce((sum, it) => sum + it.branch.ids.length, group[0]!.opening.length);
    if (size > room) {
      parts.push([]);
      room = tokensPerBatch;
    }
    parts.at(-1)!.push(group);
    room -= size;
  }
  return parts;
}

function addGradients(sum: Gradients, more: Gradients): Gradients {
  const all = new Map([...sum].map(([name, it]) => [name, tf.add(it, more.get(name)!)]));
  disposeGradients(sum);
  disposeGradients(more);
  return all;
}

function backward(
  model: Model,
  reference: Model,
  groups: readonly (readonly ScoredAttempt[])[],
  { grpo, tokens }: { grpo: GrpoConfig["grpo"]; tokens: number },
) {
  const { low, high } = grpo.clip;
  const tried = groups.flat();
  // the group's prompt is worked once, its attempts branch off it
  const sheaves: PackedGroup[] = groups.map(group => ({
    prefix: group[0]!.opening,
    branches: group.filter(it => it.logprobs.length > 0).map(it => it.branch),
  }));
  const packed = packGroups(sheaves);
  const advantages = Float32Array.from(tried.flatMap(it => it.logprobs.map(() => it.advantage))); // (M)
  const before = Float32Array.from(tried.flatMap(it => it.logprobs)); // (M)
  const ref = scoreTokens(reference, packed); // (M)

  const {
    loss,
    logprobs,
    gradients: all,
  } = computeGradients(model, packed, lp => {
    const a = tf.tensor1d(advantages);
    const ratio = tf.exp(tf.sub(lp, tf.tensor1d(before))); // equation (2)
    const clipped = tf.minimum(
      tf.mul(ratio, a),
      tf.mul(tf.clipByValue(ratio, 1 - low, 1 + high), a),
    );
    const away = tf.sub(tf.tensor1d(ref), lp);
    const k3 = tf.sub(tf.sub(tf.exp(away), away), 1); // equation (4)
    return tf.div(tf.sum(tf.sub(tf.mul(k3, grpo.kl), clipped)), tokens); // equation (3)
  });

  let kl = 0;
  let clipped = 0;
  let at = 0;
  for (const it of tried)
    for (let i = 0; i < it.logprobs.length; i++, at++) {
      const away = ref[at]! - logprobs[at]!;
      kl += Math.exp(away) - away - 1;
      const ratio = Math.exp(logprobs[at]! - before[at]!);
      if (!(it.advantage > 0 ? ratio > 1 + high : ratio < 1 - low)) continue;
      clipped++;
      it.clipped.push(i);
    }
  return { loss, kl, clipped, gradients: all };
}

/** What a replica adds whose groups say nothing. */
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

/** Without patches, which come back by replay, and with log-probabilities to six digits. */
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
