/**
 * Multi-turn group-relative policy optimization (Shao et al., 2024): attempts in live sessions,
 * rewards, advantages within each group, and clipped optimizer steps. Tokens that tools and users
 * wrote have no gradient. advantages.ts has equation (1), groupStep.ts the loss.
 */
import { setImmediate } from "node:timers/promises";
import type { Catalog } from "../../environment/catalog.ts";
import { openStudent, type Student } from "../../model/student.ts";
import type { TokenMask } from "../../model/textTokens.ts";
import { rollout } from "../../policy/rollout.ts";
import type { FinishedAttempt } from "../../trajectory/attempt.ts";
import type { Profile } from "../../reward/profiles.ts";
import type { GrpoConfig, GrpoSettings } from "../../run/config.ts";
import type { GroupLine } from "../../run/group.ts";
import type { TaskOutcome } from "../../run/metrics.ts";
import { createTrainingGroup, divideItems, type TrainingGroup } from "../trainingGroup.ts";
import { sumByName, type ProcessGroup, type TrainingMethod } from "../trainingMethod.ts";
import type { TaskList } from "../trainingSet.ts";
import type { Task } from "../../trajectory/task.ts";
import { getEnd } from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";
import { assignAdvantages, givesGradient, hasVariance } from "./advantages.ts";
import {
  measuredEvery,
  trainOnGroups,
  type ClippedTokens,
  type GroupStepContext,
} from "./groupStep.ts";
import { createGroupLines, createAttemptScorer, type GroupAttempt } from "./scoredAttempt.ts";
import { sumAttempts, computeStepMetrics } from "./stepMetrics.ts";
import {
  createTaskSelector,
  drawVariantSeed,
  selectTurn,
  type SelectedTask,
} from "./taskSelection.ts";

export interface GrpoContext extends GroupStepContext {
  readonly catalog: Catalog;
  readonly tasks: TaskList;
  /** The index of each task in its split, by which outcomes name it; 0, 1, … by default. */
  readonly places?: readonly number[];
  readonly profile: Profile;
  /** The outcomes of the steps before, which a curriculum depends on. */
  readonly outcomes?: readonly StepOutcomes[];
  /** Makes the tasks of `grpo.variants`. */
  readonly makeVariant?: MakeVariant;
}

/** Makes a variant of a task, the same one for the same seed; undefined if none is found. */
export type MakeVariant = (task: Task, seed: number) => Promise<Task | undefined>;

/** The outcomes of the groups of a step. */
export interface StepOutcomes {
  readonly step: number;
  readonly outcomes: readonly TaskOutcome[];
}

export function openGrpo(context: GrpoContext, config: GrpoConfig): TrainingMethod {
  const { group: replicas, model, chat, tasks } = context;
  const places = context.places ?? Array.from({ length: tasks.length }, (_, i) => i);
  const { grpo, seed } = config;
  /** The masks of the step's attempts, by trajectory; empty if decoding is not constrained. */
  const masks = new Map<string, TokenMask[]>();
  const student = openStudent(model, chat, {
    name: "student",
    temperature: grpo.temperature,
    seed,
    isConstrained: grpo.constrained,
    onMask: (trajectory, mask) =>
      void (masks.get(trajectory)?.push(mask) ?? masks.set(trajectory, [mask])),
  });
  const selector = createTaskSelector({
    places,
    prompts: grpo.prompts,
    seed,
    curriculum: grpo.curriculum,
  });
  for (const it of context.outcomes ?? []) selector.record(it.step, it.outcomes);
  const scoreRollout = createAttemptScorer(context);

  /** The attempts of the step, and the tokens that were sampled before them. */
  let sampling = { begun: 0, ended: 0, tokensBefore: 0 };
  const reportAttempts = (): void =>
    context.report?.({
      doing: "attempts",
      done: sampling.ended,
      total: sampling.begun,
      tokens: student.usage.tokens - sampling.tokensBefore,
    });

  /** A group of attempts at each of the tasks with these numbers in the step, all at once. */
  const attemptTasks = async (
    step: number,
    chosen: readonly StepTask[],
    signal: AbortSignal,
  ): Promise<StepGroup[]> => {
    const variants = await makeVariants(step, chosen);
    sampling.begun += chosen.length * grpo.group;
    reportAttempts();
    const rollouts = await Promise.all(
      chosen.map(({ index, number }, i) => {
        // a copy: what is remembered about a task, such as its goal states, goes with the step
        const task = variants[i] ?? { ...tasks.at(index)! };
        const turn = grpo.turns === "one" ? selectTurn(task, seed, step, number) : undefined;
        return rolloutGroup(student, context.catalog, {
          task,
          turn,
          ids: Array.from({ length: grpo.group }, (_, i) => `${task.id}/${step}.${number}.${i}`),
          signal,
          onEnd: () => sampling.ended++,
        });
      }),
    );
    return rollouts.map((group, i) => {
      const attempts = scoreGroup(group);
      const faults = grpo.group - attempts.length;
      return { ...chosen[i]!, attempts, faults, variant: variants[i] };
    });
  };

  let lastFault: string | undefined;
  const reportedFaults = new Set<string>();

  /** Prints a fault, without its stack, for the log of the trainer; the same one only once. */
  const reportFault = (text: string): void => {
    const [line] = text.split("\n");
    lastFault = line;
    if (!reportedFaults.has(line!)) console.error(line);
    reportedFaults.add(line!);
  };

  /** Without attempts that ended by a fault; none if the goals of the task do not run now. */
  const scoreGroup = (group: readonly FinishedAttempt[]): GroupAttempt[] => {
    try {
      return group.flatMap(it => {
        const { by, fault } = getEnd(it.trajectory);
        if (by === "fault") reportFault(`task ${it.task.id}: ${fault}`);
        return scoreRollout(it, masks.get(it.trajectory.header.id)) ?? [];
      });
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      reportFault(error.what);
      return [];
    }
  };

  /** A variant of each undecided task of these, one after the other. */
  const makeVariants = async (
    step: number,
    chosen: readonly StepTask[],
  ): Promise<(Task | undefined)[]> => {
    const variants: (Task | undefined)[] = [];
    for (const { index, number, isUndecided } of chosen) {
      const needed = grpo.variants && isUndecided;
      const variant = needed
        ? await context.makeVariant?.(tasks.at(index)!, drawVariantSeed(seed, step, number))
        : undefined;
      variants.push(variant);
    }
    return variants;
  };

  /** This replica's share of the step's tasks, and of those that replace tasks without a gradient. */
  const attemptStep = async (step: number, signal: AbortSignal): Promise<StepGroup[]> => {
    const chosen = selector.select(step).map((it, number) => ({ ...it, number }));
    const own = divideItems(chosen, replicas.count, it => countSteps(tasks.at(it.index)!))[
      replicas.rank
    ]!;
    const extra = Array.from({ length: grpo.resample }, (_, n) => ({
      index: selector.selectExtra(step, n),
      isUndecided: false,
      number: grpo.prompts + n,
    })).filter(({ number }) => number % replicas.count === replicas.rank);
    const groups = await attemptTasks(step, own, signal);
    for (let latest = groups; extra.length > 0;) {
      const missing = latest.filter(it => !givesGradient(it.attempts, grpo, chat.limits)).length;
      if (missing === 0) break;
      latest = await attemptTasks(step, extra.splice(0, missing), signal);
      groups.push(...latest);
    }
    return groups;
  };

  async function step(
    step: number,
    progress: number,
  ): Promise<{ metrics: ReturnType<typeof computeStepMetrics>; groups: GroupLine[] } | undefined> {
    const start = performance.now();
    const { seconds: secondsBefore, tokens: tokensBefore } = student.usage;
    sampling = { begun: 0, ended: 0, tokensBefore };
    const attempted = await untilInterrupted(
      replicas,
      signal => attemptStep(step, signal),
      reportAttempts,
    );
    masks.clear(); // the attempts have them now
    if (replicas.anyOf(!attempted)) return undefined;
    const stepGroups = attempted!;
    const groups = stepGroups.map(it => it.attempts);
    const faults = stepGroups.reduce((sum, it) => sum + it.faults, 0);
    const rolloutsEnd = performance.now();

    assignAdvantages(groups, grpo, replicas, { seed, step, limits: chat.limits });
    const minibatches = createMinibatches(replicas, grpo, step, stepGroups);
    const learningRate = computeLearningRate(grpo, step, progress);
    const totals = { loss: 0, norm: 0, tokens: 0, kl: 0, measured: 0, clipped: 0 };
    let optimizerSteps = 0;
    const clippedTokens: ClippedTokens[] = [];
    const canUndo = minibatches.length > 1 && context.optimizer.canRemember;
    if (canUndo) context.optimizer.remember();
    for (const minibatch of minibatches) {
      const isFirst = minibatch === minibatches[0];
      const canBeAbandoned = isFirst || canUndo;
      const result = await trainOnGroups(context, minibatch, grpo, learningRate, canBeAbandoned);
      if (!result) {
        if (!isFirst) context.optimizer.undo();
        return undefined;
      }
      for (const key of ["loss", "norm", "tokens", "kl", "measured", "clipped"] as const)
        totals[key] += result[key];
      if (result.tokens > 0) optimizerSteps++;
      clippedTokens.push(...result.clippedTokens);
    }
    recordClippedTokens(stepGroups, replicas.exchange(clippedTokens).flat());

    const end = performance.now();
    const seconds = {
      sampling: student.usage.seconds - secondsBefore,
      rollouts: (rolloutsEnd - start) / 1000,
      learning: (end - rolloutsEnd) / 1000,
      total: (end - start) / 1000,
    };
    const resampled = stepGroups.filter(it => it.number >= grpo.prompts).length;
    const variants = stepGroups.filter(it => it.variant).length;
    const flat = groups.filter(it => !hasVariance(it, grpo, chat.limits)).length;
    const counts = { faults, flat, resampled, variants };
    const sums = sumByName(replicas, sumAttempts(groups, counts, seconds));
    if (sums.attempts === 0)
      throw new UserError(
        `all attempts of step ${step} ended by a fault${lastFault === undefined ? "" : `; the last one: ${lastFault}`}`,
        "fix what fails, and resume the run",
      );
    const outcomes =
      grpo.curriculum > 0 ? collectOutcomes(replicas, grpo, stepGroups, places) : undefined;
    selector.record(step, outcomes ?? []);
    return {
      metrics: {
        ...computeStepMetrics(step, sums, {
          ...totals,
          learningRate,
          count: replicas.count,
          optimizerSteps,
          hasGroupCounts: grpo.resample > 0 || grpo.failedGroups < 1 || grpo.variants,
        }),
        ...(outcomes ? { outcomes } : {}),
      },
      groups: stepGroups.flatMap(it => createGroupLines(step, it)),
    };
  }

  return { step, dispose: () => student.dispose() };
}

/** About how many messages an attempt at a task takes, and so how long. */
const countSteps = ({ goals, turns }: Task) => goals.flatMap(it => it.calls).length + turns.length;

/** A task of a step. */
interface StepTask extends SelectedTask {
  /** Within the step; those from `grpo.prompts` on replace tasks without a gradient. */
  readonly number: number;
}

/** The scored attempts at a task, and how many attempts were not scored. */
interface StepGroup extends StepTask {
  readonly attempts: readonly GroupAttempt[];
  readonly faults: number;
  /** What was attempted instead of the task itself. */
  readonly variant: Task | undefined;
}

/**
 * The groups of all replicas, divided among the step's minibatches. A group whose attempts all have
 * the same reward has no gradient, and is left out.
 */
function createMinibatches(
  replicas: ProcessGroup,
  { minibatches }: GrpoConfig["grpo"],
  step: number,
  groups: readonly StepGroup[],
): TrainingGroup[][] {
  const own = groups
    .filter(({ attempts }) => attempts.some(it => it.advantage !== 0))
    .map(({ attempts, number }) =>
      createTrainingGroup(attempts, { number, isMeasured: (number + step) % measuredEvery === 0 }),
    )
    // shuffled advantages can go to attempts without a sampled token
    .filter(it => it.attempts.length > 0);
  const all = replicas
    .exchange(own)
    .flat()
    .toSorted((a, b) => a.number - b.number);
  return Array.from({ length: minibatches }, (_, minibatch) =>
    all.filter((_, i) => i % minibatches === minibatch),
  );
}

/** Adds the clipped tokens of this replica's attempts, which any replica may have trained on. */
function recordClippedTokens(
  groups: readonly StepGroup[],
  clipped: readonly ClippedTokens[],
): void {
  for (const { group, attempt, tokens } of clipped)
    groups.find(it => it.number === group)?.attempts[attempt]!.clipped.push(...tokens);
}

/** The outcomes of the groups of all replicas; `places` are the tasks' indices in the split. */
function collectOutcomes(
  replicas: ProcessGroup,
  { prompts, resample }: GrpoConfig["grpo"],
  groups: readonly StepGroup[],
  places: readonly number[],
): TaskOutcome[] {
  // three numbers for each task of the step; no attempts at those that other replicas have
  const values = new Float32Array(3 * (prompts + resample));
  for (const { index, number, attempts } of groups)
    values.set(
      [places[index]!, attempts.length, attempts.filter(it => it.success).length],
      3 * number,
    );
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
  {
    task,
    turn,
    ids,
    signal,
    onEnd,
  }: {
    readonly task: Task;
    readonly turn: number | undefined;
    readonly ids: readonly string[];
    readonly signal: AbortSignal;
    readonly onEnd: () => void;
  },
): Promise<FinishedAttempt[]> =>
  Promise.all(
    ids.map(async id => {
      const attempt = await rollout(task, student, catalog, { id, turn, signal });
      onEnd();
      return attempt;
    }),
  );

/** Milliseconds between looks at whether the replicas are interrupted. */
const interruptionPeriod = 50;

/**
 * Runs an action with a signal that aborts if the replicas are interrupted; then undefined.
 * Meanwhile, `report` is called again and again.
 */
async function untilInterrupted<T>(
  replicas: ProcessGroup,
  act: (signal: AbortSignal) => Promise<T>,
  report: () => void,
): Promise<T | undefined> {
  const controller = new AbortController();
  const timer = setInterval(() => {
    report();
    if (replicas.isInterrupted()) controller.abort();
  }, interruptionPeriod);
  try {
    return await act(controller.signal);
  } catch (error) {
    if (!controller.signal.aborted) throw error;
    await setImmediate(); // other attempts end, too
    return undefined;
  } finally {
    clearInterval(timer);
  }
}

/** Steps over which the rate rises. */
const warmUp = 5;

/** The share of the rate that is left at the end of a run in which it falls. */
const floor = 0.05;

/** `progress` is the completed part of the run's steps or seconds, from 0 to 1. */
export function computeLearningRate(
  { learningRate, decay }: Pick<GrpoSettings, "learningRate" | "decay">,
  step: number,
  progress: number,
): number {
  const risen = learningRate * Math.min(1, step / warmUp);
  switch (decay) {
    case "constant":
      return risen;
    case "linear":
      return risen * Math.max(floor, 1 - progress);
    case "cosine":
      return risen * (floor + ((1 - floor) * (1 + Math.cos(Math.PI * progress))) / 2);
  }
}
