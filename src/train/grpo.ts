/**
 * Multi-turn group-relative policy optimization (Shao et al., 2024): attempts in live sessions,
 * rewards, advantages within each group, and clipped optimizer steps. Tokens that tools and users
 * wrote have no gradient. advantages.ts has equation (1), objective.ts the
 * loss. The mean of the KL term is estimated on a part of the groups, another part at each step.
 */
import * as tf from "@tensorflow/tfjs-core";
import type { Catalog } from "../environment/catalog.ts";
import { packGroups, type PackedBatch } from "../model/packedBatch.ts";
import { openStudent, type Student } from "../model/student.ts";
import type { TokenMask } from "../model/textTokens.ts";
import {
  disposeGradients,
  computeGradients,
  computeLogProbabilities,
  type Gradients,
  type Model,
} from "../model/transformer.ts";
import { rollout } from "../policy/rollout.ts";
import type { Profile } from "../reward/profiles.ts";
import type { GrpoConfig } from "../run/config.ts";
import type { TaskOutcome } from "../run/metrics.ts";
import { groupFormat, type GroupLine } from "../run/group.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { assignAdvantages, givesGradient, listTokenAdvantages } from "./advantages.ts";
import { createTaskSelector, selectTurn } from "./taskSelection.ts";
import { computeLearningRate } from "./learningRate.ts";
import { computeLoss, measureBatch, type LossBatch, type MinibatchSize } from "./objective.ts";
import {
  sumByName,
  type MethodContext,
  type ProcessGroup,
  type TrainingMethod,
} from "./trainingMethod.ts";
import { sumAttempts, computeStepMetrics } from "./stepMetrics.ts";
import { createAttemptScorer, type ScoredAttempt } from "./scoredAttempt.ts";

export interface GrpoContext extends MethodContext {
  readonly catalog: Catalog;
  readonly tasks: readonly Task[];
  /**
   * The weights at the start of the run: the reference of the KL term. Not used if its weight is 0.
   */
  readonly reference: Model | undefined;
  readonly profile: Profile;
  /** The outcomes of the steps before, which a curriculum depends on. */
  readonly outcomes?: readonly StepOutcomes[];
}

/** The outcomes of the groups of a step. */
export interface StepOutcomes {
  readonly step: number;
  readonly outcomes: readonly TaskOutcome[];
}

export function openGrpo(context: GrpoContext, config: GrpoConfig): TrainingMethod {
  const { group: replicas, model, tokenizer, tasks } = context;
  const { grpo, seed } = config;
  /** The masks of the step's attempts, by trajectory; empty if decoding is not constrained. */
  const masks = new Map<string, TokenMask[]>();
  const student = openStudent(model, tokenizer, {
    name: "student",
    temperature: grpo.temperature,
    seed,
    isConstrained: grpo.constrained,
    onMask: (trajectory, mask) =>
      void (masks.get(trajectory)?.push(mask) ?? masks.set(trajectory, [mask])),
  });
  const selector = createTaskSelector({
    tasks: tasks.length,
    prompts: grpo.prompts,
    seed,
    curriculum: grpo.curriculum,
  });
  for (const it of context.outcomes ?? []) selector.record(it.step, it.outcomes);
  const scoreRollout = createAttemptScorer(context);

  /** A group of attempts at each of the tasks with these numbers in the step, all at once. */
  const attemptTasks = async (step: number, chosen: readonly StepTask[]): Promise<StepGroup[]> => {
    const rollouts = await Promise.all(
      chosen.map(({ index, number }) => {
        const task = tasks[index]!;
        const turn = grpo.turns === "one" ? selectTurn(task, seed, step, number) : undefined;
        return rolloutGroup(student, context.catalog, {
          task,
          turn,
          ids: Array.from({ length: grpo.group }, (_, i) => `${task.id}/${step}.${number}.${i}`),
        });
      }),
    );
    return rollouts.map((group, i) => {
      const scored = group.map(it =>
        scoreRollout(it.task, it.rollout, masks.get(it.rollout.trajectory.header.id)),
      );
      const attempts = scored.filter(it => it !== undefined);
      return { ...chosen[i]!, attempts, faults: scored.length - attempts.length };
    });
  };

  /** This replica's share of the step's tasks, and of those that replace tasks without a gradient. */
  const attemptStep = async (step: number): Promise<StepGroup[]> => {
    const isOwn = ({ number }: StepTask) => number % replicas.count === replicas.rank;
    const own = selector
      .select(step)
      .map((index, number) => ({ index, number }))
      .filter(isOwn);
    const extra = Array.from({ length: grpo.resample }, (_, n) => ({
      index: selector.selectExtra(step, n),
      number: grpo.prompts + n,
    })).filter(isOwn);
    const groups = await attemptTasks(step, own);
    for (let latest = groups; extra.length > 0;) {
      const missing = latest.filter(it => !givesGradient(it.attempts, grpo)).length;
      if (missing === 0) break;
      latest = await attemptTasks(step, extra.splice(0, missing));
      groups.push(...latest);
    }
    return groups;
  };

  async function step(
    step: number,
    progress: number,
  ): Promise<{ metrics: ReturnType<typeof computeStepMetrics>; groups: GroupLine[] }> {
    const start = performance.now();
    const sampledBefore = student.usage.seconds;

    const stepGroups = await attemptStep(step);
    masks.clear(); // the attempts have them now
    const groups = stepGroups.map(it => it.attempts);
    const faults = stepGroups.reduce((sum, it) => sum + it.faults, 0);
    const rolloutsEnd = performance.now();

    assignAdvantages(groups, grpo, replicas, { seed, step });
    // a group whose attempts all have the same reward has no gradient
    const informativeGroups = groups.filter(group => group.some(it => it.advantage !== 0));

    const learningRate = computeLearningRate(grpo, step, progress);
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
    const resampled = stepGroups.filter(it => it.number >= grpo.prompts).length;
    const sums = sumByName(replicas, sumAttempts(groups, { faults, resampled }, seconds));
    const outcomes = grpo.curriculum > 0 ? collectOutcomes(replicas, grpo, stepGroups) : undefined;
    selector.record(step, outcomes ?? []);
    return {
      metrics: {
        ...computeStepMetrics(step, sums, {
          ...totals,
          learningRate,
          count: replicas.count,
          minibatches: grpo.minibatches,
          hasGroupCounts: grpo.resample > 0 || grpo.failedGroups < 1,
        }),
        ...(outcomes ? { outcomes } : {}),
      },
      groups: groups.flatMap(group => createGroupLines(step, group)),
    };
  }

  return { step, dispose: () => student.dispose() };
}

/** A task of a step. */
interface StepTask {
  /** Among all tasks. */
  readonly index: number;
  /** Within the step; those from `grpo.prompts` on replace tasks without a gradient. */
  readonly number: number;
}

/** The scored attempts at a task, and how many attempts were not scored. */
interface StepGroup extends StepTask {
  readonly attempts: readonly ScoredAttempt[];
  readonly faults: number;
}

/** The outcomes of the groups of all replicas. */
function collectOutcomes(
  replicas: ProcessGroup,
  { prompts, resample }: GrpoConfig["grpo"],
  groups: readonly StepGroup[],
): TaskOutcome[] {
  // three numbers for each task of the step; no attempts at those that other replicas have
  const values = new Float32Array(3 * (prompts + resample));
  for (const { index, number, attempts } of groups)
    values.set([index, attempts.length, attempts.filter(it => it.success).length], 3 * number);
  replicas.allReduce(values);
  return Array.from({ length: prompts + resample }, (_, i) => {
    const [task, attempts, successes] = values.subarray(3 * i, 3 * i + 3);
    return { task: task!, attempts: attempts!, successes: successes! };
  }).filter(it => it.attempts > 0);
}

/** Concurrent attempts at one task, or at one turn of it. */
const rolloutGroup = (
  student: Student,
  catalog: Catalog,
  { task, turn, ids }: { task: Task; turn: number | undefined; ids: readonly string[] },
) =>
  Promise.all(
    ids.map(async id => ({ task, rollout: await rollout(task, student, catalog, { id, turn }) })),
  );

/** Takes one optimizer step on groups of all replicas. The result is the same in every replica. */
function trainOnGroups(
  { group: replicas, model, reference, optimizer }: GrpoContext,
  groups: readonly (readonly ScoredAttempt[])[],
  grpo: GrpoConfig["grpo"],
  learningRate: number,
  measured: ReadonlySet<readonly ScoredAttempt[]>,
) {
  const attempts = groups.flat().filter(it => it.logprobs.length > 0);
  const size = sumByName(replicas, {
    tokens: attempts.reduce((sum, it) => sum + it.logprobs.length, 0),
    attempts: attempts.length,
  });
  const { tokens } = size;
  if (tokens === 0) return { loss: 0, norm: 0, tokens: 0, kl: 0, measured: 0, clipped: 0 };

  const own = { loss: 0, kl: 0, measured: 0, clipped: 0 };
  let ownGradients: Gradients | undefined;
  for (const batch of splitIntoBatches(groups)) {
    const result = backward(model, reference, batch, { grpo, size, measured });
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
export function splitIntoBatches(
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
  /** The size of the minibatch, over all replicas. */
  readonly size: MinibatchSize;
  /** The groups on which the KL term is measured. */
  readonly measured: ReadonlySet<readonly ScoredAttempt[]>;
}

function backward(
  model: Model,
  reference: Model | undefined,
  groups: readonly (readonly ScoredAttempt[])[],
  { grpo, size, measured }: BackwardOptions,
) {
  const { temperature } = grpo;
  const attempts = groups.flat().filter(it => it.logprobs.length > 0);
  const batch: LossBatch = {
    lengths: attempts.map(it => it.logprobs.length),
    advantages: Float32Array.from(attempts.flatMap(listTokenAdvantages)), // (M)
    oldLogprobs: Float32Array.from(attempts.flatMap(it => it.logprobs)), // (M)
  };
  const measuredGroups = groups.filter(it => measured.has(it));
  if (reference && grpo.kl > 0 && measuredGroups.length > 0)
    batch.reference = {
      tokens: listMeasuredTokens(groups, measured), // (K)
      logprobs: computeLogProbabilities(reference, packAttempts(measuredGroups), temperature), // (K)
      scale: measuredEvery,
    };
  const { loss, logprobs, gradients } = computeGradients(
    model,
    packAttempts(groups),
    lp => computeLoss(lp, batch, grpo, size),
    temperature,
  );
  const { kl, clipped } = measureBatch(logprobs, batch, grpo);
  for (const [i, it] of attempts.entries()) it.clipped.push(...clipped[i]!);
  return {
    loss,
    kl,
    measured: batch.reference?.logprobs.length ?? 0,
    clipped: clipped.flat().length,
    gradients,
  };
}

/** The prompt of a group is computed once, and its attempts branch off it. */
export const packAttempts = (groups: readonly (readonly ScoredAttempt[])[]): PackedBatch =>
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
    ...(it.credits ? { credits: [...it.credits] } : {}),
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
