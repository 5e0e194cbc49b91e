/**
 * 95% confidence intervals of means by a bootstrap over clusters: observations of one cluster are
 * resampled together, because they are not independent of each other. With several runs, runs are
 * resampled too.
 */
import { createRandom, type Random } from "../environment/random.ts";

export interface Observation {
  /** Observations of one cluster are drawn together, such as tasks that need the same tools. */
  readonly cluster: string;
  readonly value: number;
  /** The training run, if several are measured together. */
  readonly run?: number;
}

export interface Interval {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** The numbers of observations, clusters and runs. */
  readonly n: number;
  readonly clusters: number;
  readonly runs: number;
}

/** How often the clusters are drawn. */
const resamples = 2000;
/** With thousands of clusters, they take some milliseconds. */
const drawsPerStep = 20;

export const computeMean = (values: readonly number[]): number =>
  values.reduce((sum, it) => sum + it, 0) / values.length;

/**
 * The 95% interval of the mean, undefined for fewer than two clusters. The percentiles of the
 * bootstrap are too close to the mean for few clusters or runs: deviations are widened by
 * √(k/(k−1)) · t(k−1)/z, which makes them as wide as those of Student's t.
 */
export function computeInterval(observations: readonly Observation[]): Interval | undefined {
  const steps = computeIntervalInSteps(observations);
  for (;;) {
    const { done, value } = steps.next();
    if (done) return value;
  }
}

/** Computes the interval, and yields often enough for other work to be done meanwhile. */
export function* computeIntervalInSteps(
  observations: readonly Observation[],
): Generator<undefined, Interval | undefined> {
  const clusters = groupSums(observations, it => it.cluster);
  const runs = groupSums(observations, it => String(it.run ?? 0));
  if (clusters.length < 2) return undefined;
  const mean = computeMean(observations.map(it => it.value));
  const runDeviations = runs.map(it => it.sum / it.n - mean);
  const [clusterFactor, runFactor] = [getWidening(clusters.length), getWidening(runs.length)];
  const random = createRandom(1, "bootstrap", clusters.length, runs.length);
  const means = new Float64Array(resamples);
  for (let b = 0; b < resamples; b++) {
    const deviation = drawMean(clusters, random) - mean;
    let runDeviation = 0;
    if (runs.length > 1)
      for (let r = 0; r < runs.length; r++)
        runDeviation += runDeviations[random.integer(runs.length)]! / runs.length;
    if (b % drawsPerStep === 0) yield undefined;
    means[b] = mean + clusterFactor * deviation + runFactor * runDeviation;
  }
  means.sort();
  return {
    mean,
    low: getQuantile(means, 0.025),
    high: getQuantile(means, 0.975),
    n: observations.length,
    clusters: clusters.length,
    runs: runs.length,
  };
}

/** The interval of a share, which is never below 0 or above 1. */
export function computeShareInterval(observations: readonly Observation[]): Interval | undefined {
  const interval = computeInterval(observations);
  return (
    interval && {
      ...interval,
      low: Math.max(0, interval.low),
      high: Math.min(1, interval.high),
    }
  );
}

interface Sum {
  sum: number;
  n: number;
}

function groupSums(
  observations: readonly Observation[],
  getKey: (it: Observation) => string,
): readonly Sum[] {
  const sums = new Map<string, Sum>();
  for (const it of observations) {
    const group = sums.get(getKey(it));
    if (group) {
      group.sum += it.value;
      group.n++;
    } else sums.set(getKey(it), { sum: it.value, n: 1 });
  }
  return [...sums.values()];
}

/** The mean of the observations of as many clusters, drawn with replacement. */
function drawMean(clusters: readonly Sum[], random: Random): number {
  let [sum, n] = [0, 0];
  for (let i = 0; i < clusters.length; i++) {
    const drawn = clusters[random.integer(clusters.length)]!;
    sum += drawn.sum;
    n += drawn.n;
  }
  return sum / n;
}

/** The quantile of sorted values, interpolated. */
function getQuantile(sorted: Float64Array, share: number): number {
  const at = share * (sorted.length - 1);
  const below = sorted[Math.floor(at)]!;
  return below + (at - Math.floor(at)) * (sorted[Math.ceil(at)]! - below);
}

const normalQuantile = 1.959963984540054;

const getWidening = (k: number): number =>
  k < 2 ? 1 : (Math.sqrt(k / (k - 1)) * tQuantile(k - 1)) / normalQuantile;

const firstQuantiles = [12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.306, 2.2622];

/**
 * The 97.5% quantile of Student's t: a table for the first nine degrees of freedom, then the
 * Cornish-Fisher expansion (to 1e-4).
 */
function tQuantile(degreesOfFreedom: number): number {
  const tableValue = firstQuantiles[degreesOfFreedom - 1];
  if (tableValue !== undefined) return tableValue;
  const z = normalQuantile;
  return (
    z +
    (z ** 3 + z) / (4 * degreesOfFreedom) +
    (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * degreesOfFreedom ** 2) +
    (3 * z ** 7 + 19 * z ** 5 + 17 * z ** 3 - 15 * z) / (384 * degreesOfFreedom ** 3)
  );
}
