/**
 * The weights and options of a reward. `paper` has the weights and equations as published; every
 * variant has a name of its own.
 */
import { partNames, type PartName } from "./breakdown.ts";
import type { Formula } from "./formula.ts";

export interface Profile {
  readonly name: string;
  /** What it rewards, in one line, for people who choose one. */
  readonly summary: string;
  /** The weights w of equation (5). */
  readonly weights: Readonly<Record<PartName, number>>;
  /** Weight of the success term; 0 leaves it out. */
  readonly success: number;
  /** Weight of the answer term, the share of facts that were told; 0 leaves it out. */
  readonly answer: number;
  /** Whether success does not ask what was told, for policies that only make calls. */
  readonly ignoresAnswers: boolean;
  /** Slope of the efficiency part, equation (2). */
  readonly alpha: number;
  /** Free extra calls as a share of the goal calls, equation (2). */
  readonly beta: number;
  /** The lowest value of the efficiency part; the paper has no floor. */
  readonly efficiencyFloor: number;
  /** A value flows only from an earlier message: calls of the same message are not in order. */
  readonly strictMessageOrder: boolean;
  /** Whether a failed call serves no goal. The paper matches by name and keys alone. */
  readonly coverageRequiresSuccess: boolean;
  /**
   * Whether what the user asked for must be shown by the end of the turn that asked. The paper has
   * one list of goals for all turns.
   */
  readonly answersInTime: boolean;
  /**
   * Whether it counts what calls did, in tasks of the formats that say when things are due: only
   * calls that serve a goal earn `validity` and `name`, a call serves each goal whose effect it
   * had, what the teacher was refused may be tried, undone writes cost, and without goals a look-up
   * costs little. The paper counts all calls alike.
   */
  readonly judgesConduct: boolean;
  /**
   * What is scored in place of a goal that says what its look-ups are for: `resolved`, the calls
   * with which the attempt learned the same; `literal`, the teacher's calls alone.
   */
  readonly goals: "resolved" | "literal";
  /** Another paper's reward in place of equation (5); its parts are the breakdown's extras. */
  readonly formula?: Formula;
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
  summary: "The paper's five parts, on the goals as the attempt resolved them",
  weights: paperWeights,
  success: 0,
  answer: 0,
  ignoresAnswers: false,
  alpha: 0.5,
  beta: 0.5,
  efficiencyFloor: -Infinity,
  strictMessageOrder: false,
  coverageRequiresSuccess: false,
  answersInTime: false,
  judgesConduct: false,
  goals: "resolved",
});

/** The reward as published: the teacher's calls are the only ones that count. */
export const paperLiteralProfile: Profile = Object.freeze({
  ...paperProfile,
  name: "paper-literal",
  summary: "The paper's five parts, on the teacher's calls alone, as published",
  goals: "literal",
});

/**
 * The paper's five parts, and success with the same weight as all of them together. Under the
 * paper's weights alone, a wrong but valid id costs a tenth at most. A refused call covers no goal.
 */
export const provePlusProfile: Profile = Object.freeze({
  ...paperProfile,
  name: "prove-plus",
  summary: "The five parts, what was told, and success; the default",
  success: 1,
  answer: 0.2,
  strictMessageOrder: true,
  coverageRequiresSuccess: true,
  answersInTime: true,
  judgesConduct: true,
});

/** For a policy that cannot speak: neither the reward nor success asks what was told. */
const callsOnlyProfile: Profile = Object.freeze({
  ...provePlusProfile,
  name: "prove-plus-calls",
  summary: "prove-plus for policies that only make calls: nothing must be told",
  answer: 0,
  ignoresAnswers: true,
});

/** The profile wherever none is chosen, except for calls without a state. */
export const defaultProfile = provePlusProfile;

/** The ablations of the paper's Table 5: each leaves one part out. */
const ablationProfiles: readonly Profile[] = [
  ...partNames.map(it => ({
    ...paperProfile,
    name: `paper-no-${it}`,
    summary: `The paper's reward without the part ${it}`,
    weights: Object.freeze({ ...paperWeights, [it]: 0 }),
  })),
  {
    ...paperProfile,
    name: "paper-flat-budget",
    summary: "The paper's reward without free extra calls",
    beta: 0,
  },
].map(it => Object.freeze(it));

const noWeights = Object.freeze({ validity: 0, coverage: 0, efficiency: 0, name: 0, argument: 0 });

const formulaSummaries: Readonly<Record<Formula, string>> = {
  graduated: "Cheng et al.: each call on its own, and the order of the goals",
  envfactory: "EnvFactory: all calls of the teacher, and the final states",
  tier: "TIER: calls that work, and success; no reference calls",
};

/** The rewards of other papers. */
const otherProfiles: readonly Profile[] = (["graduated", "envfactory", "tier"] as const).map(it =>
  Object.freeze({
    ...paperLiteralProfile,
    name: it,
    summary: formulaSummaries[it],
    weights: noWeights,
    formula: it,
  }),
);

/** The profiles that an attempt is shown with, the paper's first. */
export const shownProfiles: readonly Profile[] = Object.freeze([
  paperProfile,
  provePlusProfile,
  paperLiteralProfile,
]);

/** All profiles that a run or a score can choose. */
export const profiles: readonly Profile[] = Object.freeze([
  ...shownProfiles,
  callsOnlyProfile,
  ...ablationProfiles,
  ...otherProfiles,
]);
