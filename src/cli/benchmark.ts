/** A benchmark of the bench command. */

export interface Benchmark {
  readonly name: string;
  readonly unit: string;
  readonly work: Work;
  /** The figure, from seconds for one unit. */
  readonly value: (secondsEach: number) => number;
}

/** Does `n` units of work and returns the seconds they took. */
export type Work = (n: number) => number;
