/**
 * What GRPO and supervised training share: the ground a replica stands on, and the step it takes.
 * Types only.
 */
import type { Gradients, Model } from "../model/transformer.ts";
import type { Tokenizer } from "../model/tokenizer.ts";
import type { GroupLine } from "../run/group.ts";
import type { StepMetrics } from "../run/metrics.ts";
import type { Optimizer } from "./optimizer.ts";

/** The part of a replica that a method needs: all must call these in the same order. */
export interface ProcessGroup {
  readonly rank: number;
  readonly count: number;
  allReduce(values: Float32Array): void;
  /** Takes over the gradients and gives their sum. */
  sumGradients(gradients: Gradients): Gradients;
}

export interface MethodContext {
  readonly group: ProcessGroup;
  readonly model: Model;
  readonly tokenizer: Tokenizer;
  readonly optimizer: Optimizer;
}

/** What a step gave. The metrics are the same in every replica; the groups are its own. */
export interface StepResult {
  readonly metrics: StepMetrics;
  readonly groups: readonly GroupLine[];
}

export interface TrainingMethod {
  /**
   * Takes one step, counted from 1. `progress` is how much of the run is behind it, from 0 to 1.
   */
  step(step: number, progress: number): Promise<StepResult>;
  dispose(): void;
}

/** Sums numbers over all replicas, by name. */
export function sumByName<Name extends string>(
  company: ProcessGroup,
  own: Readonly<Record<Name, number>>,
): Record<Name, number> {
  const names = Object.keys(own) as Name[];
  const values = Float32Array.from(names, it => own[it]);
  company.allReduce(values);
  return Object.fromEntries(names.map((name, i) => [name, values[i]!])) as Record<Name, number>;
}
