/**
 * The weights and choices of a reward, as frozen values. `paper` is the reward as published; what
 * departs from it has another name.
 */
import type { PartName } from "./breakdown.ts";

export interface Profile {
  readonly name: string;
  /** w of equation (5). */
  readonly weights: Readonly<Record<PartName, number>>;
  /** Weight of the success term; 0 leaves it out. */
  readonly success: number;
  /** Slope of the efficiency part, equation (2). */
  readonly alpha: number;
  /** Free extra calls as a share of the goal calls, equation (2). */
  readonly beta: number;
  /** The efficiency part goes no lower; the paper has no floor. */
  readonly efficiencyFloor: number;
  /**
   * A value can flow along an edge only from an earlier message: calls of one message do not
   * satisfy it.
   */
  readonly strictMessageOrder: boolean;
  /** A call that failed serves no goal. The paper matches by name and keys alone. */
  readonly coverageRequiresSuccess: boolean;
}

const paperWeights = Object.freeze({
  validity: 0.5,
  coverage: 0.5,
  efficiency: 0.15,
  name: 0.2,
  argument: 0.1,
});

export const paperProfile: Profile = Object.freeze({
  name: "paper",
  weights: paperWeights,
  success: 0,
  alpha: 0.5,
  beta: 0.5,
  efficiencyFloor: -Infinity,
  strictMessageOrder: false,
  coverageRequiresSuccess: false,
});

/**
 * The paper's five parts and, as much as they can give together, whether the world was left as the
 * goals leave it: under the paper's own weights a wrong but valid id costs a tenth at most.
 */
export const provePlusProfile: Profile = Object.freeze({
  ...paperProfile,
  name: "prove-plus",
  success: 1,
  strictMessageOrder: true,
});

export const profiles: readonly Profile[] = Object.freeze([paperProfile, provePlusProfile]);
