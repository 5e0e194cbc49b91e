/**
 * The interface that GRPO and supervised training implement, and what both need: the other
 * replicas, sums over them and over batches, and the order in which data is visited.
 */
import * as tf from "@tensorflow/tfjs-core";
import { createKeyedStream, shuffle } from "../environment/random.ts";
import type { ChatFormat } from "../model/chatFormat.ts";
import {
  disposeGradients,
  getTrainable,
  type Gradients,
  type Model,
} from "../model/transformer/transformer.ts";
import type { GroupLine } from "../run/group.ts";
import type { StepMetrics } from "../run/metrics.ts";
import type { Optimizer } from "./optimizer.ts";
import type { StepProgress } from "./stepProgress.ts";

/** The replicas of a training. All of them must call these methods in the same order. */
export interface ProcessGroup {
  readonly rank: number;
  readonly count: number;
  allReduce(values: Float32Array): void;
  /** Whether any replica says so. */
  anyOf(value: boolean): boolean;
  /** Whether a step should be abandoned. Replicas may see it at different times. */
  isInterrupted(): boolean;
  /** Returns the values of all replicas, by rank: copies, except for its own. */
  exchange<T>(value: T): T[];
  /** Takes ownership of the gradients and returns their sum over all replicas. */
  sumGradients(gradients: Gradients): Promise<Gradients>;
}

export interface MethodContext {
  readonly group: ProcessGroup;
  readonly model: Model;
  readonly chat: ChatFormat;
  readonly optimizer: Optimizer;
  /** Is told how far a step is, of this replica. */
  readonly report?: (progress: StepProgress) => void;
}

/** The metrics are the same in every replica; the groups are the replica's own. */
interface StepResult {
  readonly metrics: StepMetrics;
  readonly groups: readonly GroupLine[];
}

export interface TrainingMethod {
  /**
   * Takes one step, counted from 1. `progress` is the completed part of the run, from 0 to 1. If
   * the replicas are interrupted, a long step can be abandoned; the result is then undefined in
   * every replica, and weights and optimizer are as before the step.
   */
  step(step: number, progress: number): Promise<StepResult | undefined>;
  dispose(): void;
}

/** Sums numbers over all replicas, by name. */
export function sumByName<Name extends string>(
  group: ProcessGroup,
  own: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const names = Object.keys(own) as Name[];
  const values = Float32Array.from(names, it => own[it]);
  group.allReduce(values);
  return Object.fromEntries(names.map((name, i) => [name, values[i]!])) as Record<Name, number>;
}

/** Takes ownership of both. */
export function addGradients(sum: Gradients, more: Gradients): Gradients {
  const added = new Map([...sum].map(([name, it]) => [name, tf.add(it, more.get(name)!)]));
  disposeGradients(sum);
  disposeGradients(more);
  return added;
}

/** The gradients of a replica that has no share. */
export const zeroGradients = (model: Model): Gradients =>
  new Map([...getTrainable(model)].map(([name, it]) => [name, tf.zeros(it.shape)]));

/** The indices 0…n-1 in an order that depends only on the keys. */
export const shuffleIndices = (n: number, ...keys: readonly number[]): number[] =>
  shuffle(
    Array.from({ length: n }, (_, i) => i),
    createKeyedStream(...keys),
  );

/**
 * Samples the indices 0…n-1 without replacement, in a different order each epoch. The index at a
 * position does not depend on earlier calls.
 */
export function createEpochSampler(n: number, seed: number): (position: number) => number {
  let currentEpoch = -1;
  let order: readonly number[] = [];
  return position => {
    const epoch = Math.floor(position / n);
    if (epoch !== currentEpoch) order = shuffleIndices(n, seed, (currentEpoch = epoch));
    return order[position % n]!;
  };
}
