/** AdamW (Loshchilov and Hutter, 2019) with the gradient clipped by its global norm. Knows parameters by name, not what they are for. */
import type { Gradients, Model } from "../model/transformer.ts";

export interface AdamWOptions {
  readonly beta1: number;
  readonly beta2: number;
  readonly epsilon: number;
  /** Drawn from matrices other than the embedding, each step, times the learning rate. */
  readonly weightDecay: number;
  /** A gradient longer than this is scaled down to it. */
  readonly clipNorm: number;
}

/** Everything an optimizer remembers, as plain numbers: `first` and `second` moments by parameter name. */
export interface OptimizerState {
  readonly step: number;
  readonly first: ReadonlyMap<string, Float32Array>;
  readonly second: ReadonlyMap<string, Float32Array>;
}

export interface Optimizer {
  /** Changes the model's parameters in place; the gradients stay the caller's. Gives the gradient's norm before clipping. */
  step(gradients: Gradients, learningRate: number): { norm: number };
  state(): OptimizerState;
  restore(state: OptimizerState): void;
  dispose(): void;
}

export declare function adamW(model: Model, options?: Partial<AdamWOptions>): Optimizer;
