/**
 * Chooses the tasks of each step: in the order of an epoch, or partly by how undecided they are
 * (RODS, arXiv 2606.19047), which depends on the outcomes of earlier steps only.
 */
import { createKeyedStream } from "../../environment/random.ts";
import type { TaskOutcome } from "../../run/metrics.ts";
import { createEpochSampler } from "../trainingMethod.ts";
import { listSingleTurns } from "../../trajectory/oneTurn.ts";
import type { Task } from "../../trajectory/task.ts";

/** A task of a step. */
export interface SelectedTask {
  /** Its index among all tasks. */
  readonly index: number;
  /** Whether it was chosen again because its outcome is undecided. */
  readonly isUndecided: boolean;
}

export interface TaskSelector {
  /** A step's tasks. */
  select(step: number): SelectedTask[];
  /** The index of the n-th task of a step that replaces one without a gradient. */
  selectExtra(step: number, n: number): number;
  /**
   * Adds the outcomes of a step, which later choices depend on. They name tasks by their places;
   * those of tasks that are not there any more are ignored.
   */
  record(step: number, outcomes: readonly TaskOutcome[]): void;
}

interface TaskSelectionOptions {
  /** The index of each task in its split, and how many tasks a step takes. */
  readonly places: readonly number[];
  readonly prompts: number;
  readonly seed: number;
  /** The share of a step's tasks that are chosen again because they are undecided. */
  readonly curriculum: number;
}

/** A task is mastered if at least this share of its last attempts, of at least so many, succeed. */
const mastery = { share: 0.95, attempts: 8 };

/** Steps before a task is chosen again. */
const pause = 5;

interface History {
  /** The last two groups. */
  readonly groups: readonly TaskOutcome[];
  readonly step: number;
}

export function createTaskSelector(options: TaskSelectionOptions): TaskSelector {
  const { places, prompts, seed, curriculum } = options;
  const tasks = places.length;
  const indices = new Map(places.map((place, index) => [place, index]));
  const sampleIndex = createEpochSampler(tasks, seed);
  const histories = new Map<number, History>();
  const isMastered = (task: number) => {
    const history = histories.get(task);
    return history !== undefined && isHistoryMastered(history);
  };

  /** Undecided tasks, the most undecided ones first, then those attempted longest ago. */
  const listUndecided = (step: number): number[] =>
    [...histories]
      .filter(([, it]) => it.step < step - pause && computeIndecision(it) > 0)
      .toSorted(
        ([a, x], [b, y]) => computeIndecision(y) - computeIndecision(x) || x.step - y.step || a - b,
      )
      .map(([task]) => task);

  return {
    select(step) {
      const order = Array.from({ length: prompts }, (_, i) =>
        sampleIndex((step - 1) * prompts + i),
      );
      const take = (index: number): SelectedTask => ({ index, isUndecided: false });
      if (curriculum === 0) return order.map(take);
      const undecided = listUndecided(step).filter(it => !order.includes(it));
      const fresh = prompts - Math.round(curriculum * prompts);
      return order.map((task, i) => {
        const index = i >= fresh || isMastered(task) ? undecided.shift() : undefined;
        return index === undefined ? take(task) : { index, isUndecided: true };
      });
    },
    selectExtra(step, n) {
      const next = createKeyedStream(seed, step, n);
      const draw = () => Math.floor(next() * tasks);
      let task = draw();
      for (let i = 0; i < 8 && isMastered(task); i++) task = draw();
      return task;
    },
    record(step, outcomes) {
      for (const it of outcomes) {
        const task = indices.get(it.task);
        if (task === undefined || it.attempts === 0) continue;
        const before = histories.get(task)?.groups.slice(-1) ?? [];
        histories.set(task, { step, groups: [...before, it] });
      }
    },
  };
}

/** Keeps the draws of turns apart from other draws of the same step. */
const turnKey = 7;

/**
 * The turn of a task that a group attempts, drawn from those that can be attempted on their own.
 * Undefined, for the whole task, if there is none.
 */
export function selectTurn(
  task: Task,
  seed: number,
  step: number,
  number: number,
): number | undefined {
  const turns = listSingleTurns(task);
  return turns[Math.floor(createKeyedStream(seed, step, number, turnKey)() * turns.length)];
}

/** Keeps the seeds of variants apart from other draws of the same step. */
const variantKey = 8;

/** The seed of the variant that replaces a task of a step. */
export const drawVariantSeed = (seed: number, step: number, number: number): number =>
  1 + Math.floor(createKeyedStream(seed, step, number, variantKey)() * 1e9);

function countHistory({ groups }: History) {
  const attempts = groups.reduce((sum, it) => sum + it.attempts, 0);
  return { attempts, share: groups.reduce((sum, it) => sum + it.successes, 0) / attempts };
}

/** φ = 4 p (1 − p): 1 if half of the attempts succeed, 0 if all or none do. */
function computeIndecision(history: History): number {
  const { share } = countHistory(history);
  return 4 * share * (1 - share);
}

function isHistoryMastered(history: History): boolean {
  const { attempts, share } = countHistory(history);
  return attempts >= mastery.attempts && share >= mastery.share;
}
