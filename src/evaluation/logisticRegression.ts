/** Logistic regression with an L2 penalty, fitted by gradient descent with momentum. */

/** A vector with most features zero: the indices of the others, and their values. */
export interface SparseVector {
  readonly indices: readonly number[];
  readonly values: readonly number[];
}

export interface TrainingVectors {
  readonly vectors: readonly SparseVector[];
  /** Whether each vector is of the positive class. */
  readonly labels: readonly boolean[];
  /** The number of features. */
  readonly size: number;
}

export interface LogisticModel {
  readonly weights: Float64Array;
  /** The logarithm of the odds of the positive class. */
  score(vector: SparseVector): number;
}

const iterations = 300;
const momentum = 0.9;

/** The penalty on the mean loss. */
const l2 = 1e-3;

/** Fits a model. Both classes weigh the same, whatever their sizes. */
export function fitLogistic({ vectors, labels, size }: TrainingVectors): LogisticModel {
  const weights = new Float64Array(size);
  const velocity = new Float64Array(size);
  const positives = labels.filter(Boolean).length;
  const shares = {
    positive: 0.5 / Math.max(1, positives),
    negative: 0.5 / Math.max(1, labels.length - positives),
  };
  // a step that cannot diverge: the loss bends by at most a quarter of the mean squared length
  const squares = vectors.map(({ values }, n) => {
    const length = values.reduce((sum, it) => sum + it * it, 1);
    return length * (labels[n] ? shares.positive : shares.negative);
  });
  const rate = 4 / (squares.reduce((a, b) => a + b, 0) + 4 * l2);
  let bias = 0;
  let biasVelocity = 0;
  const score = ({ indices, values }: SparseVector): number => {
    let sum = bias;
    for (let i = 0; i < indices.length; i++) sum += weights[indices[i]!]! * values[i]!;
    return sum;
  };
  for (let step = 0; step < iterations; step++) {
    const gradient = weights.map(it => l2 * it);
    let biasGradient = 0;
    for (const [n, vector] of vectors.entries()) {
      const probability = 1 / (1 + Math.exp(-score(vector)));
      const error = labels[n] ? shares.positive * (probability - 1) : shares.negative * probability;
      biasGradient += error;
      const { indices, values } = vector;
      for (let i = 0; i < indices.length; i++) gradient[indices[i]!]! += error * values[i]!;
    }
    biasVelocity = momentum * biasVelocity - rate * biasGradient;
    bias += biasVelocity;
    for (let i = 0; i < size; i++) {
      velocity[i] = momentum * velocity[i]! - rate * gradient[i]!;
      weights[i]! += velocity[i]!;
    }
  }
  return { weights, score };
}
