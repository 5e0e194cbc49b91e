/** The learning rate of a step of GRPO: it rises over the first steps, and may fall over the run. */
import type { GrpoSettings } from "../run/config.ts";

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
