/** Sums of gradients over the batches of a step, of which a replica may have none. */
import * as tf from "@tensorflow/tfjs-core";
import {
  disposeGradients,
  getTrainable,
  type Gradients,
  type Model,
} from "../model/transformer.ts";

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
