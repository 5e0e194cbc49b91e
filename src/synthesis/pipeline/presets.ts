/**
 * The two presets of a synthesis: `paper` has the paper's mixture of tasks, `student` has tasks
 * that fit the context and the ability of the small model that ships.
 */
import type { Mixture } from "./composition.ts";

/**
 * `chain`: the called tools and a few others; `full`: all tools of the called servers; `realistic`:
 * 20 to 40 tools of several servers, in every kind of task.
 */
export type MenuKind = (typeof menuKinds)[number];

export const menuKinds = ["realistic", "chain", "full"] as const;

export interface Preset {
  readonly name: "paper" | "student";
  readonly mixture: Mixture;
  /** The number of worlds; 0 for the people and days of the fixtures. */
  readonly worlds: number;
  /** The kind of menu where none is chosen. */
  readonly menu: MenuKind;
  /** Share of tasks with a single user turn; the others have two or three. */
  readonly oneTurnShare: number;
  /** Calls in one task. */
  readonly maxCalls: Readonly<Record<MenuKind, number>>;
  /** The longest result that a user asks for, in characters of JSON. */
  readonly maxResultLength: number;
  /**
   * Users sometimes say only a part of a name, which the assistant completes from a server's hint.
   */
  readonly usesPartialNames: boolean;
  /** The longest reply, in characters; unlimited where absent. */
  readonly maxReplyLength?: number;
  /** Share of tasks with three to eight tools of other servers beside the menu. */
  readonly distractorShare: number;
  /** Share of tasks with tools of other servers on the menu, within its size. */
  readonly mixedMenuShare: number;
  /** Share of the first turns that ask as if a value were left out, and then add it. */
  readonly addedValueShare: number;
  /** How often a first turn without a value asks for more before it. */
  readonly moreBeforeQuestion: number;
  /** Share of the refusals and questions that have a contrasting normal task. */
  readonly pairShare: number;
  /** Share of the normal tasks on one server that have rules. */
  readonly policyShare: number;
  /** Share of the tasks with a missing tool in which a later turn brings it. */
  readonly toolArrivalShare: number;
  /** Share of the first turns with a second thought that changes nothing. */
  readonly secondThoughtShare: number;
  /** Share of the normal tasks that need several servers. */
  readonly crossServerShare: number;
  /** Share of the other normal tasks whose users follow a scenario. */
  readonly scenarioShare: number;
  /** Chains are held out as exact sets of tools, and no edges; otherwise as edges and pairs. */
  readonly holdsOutSets: boolean;
  /** Share of the tasks in which the assistant has to recover from something itself. */
  readonly recoveryShare: number;
  /** Users may ask for something that undoes what they asked for before, without saying so. */
  readonly keepsContradictions: boolean;
}

export const presets: Readonly<Record<Preset["name"], Preset>> = {
  paper: {
    name: "paper",
    mixture: { multi: 10_895, clarify: 1_500, abstain: 1_122, irrelevant: 0.05 },
    worlds: 300,
    menu: "realistic",
    oneTurnShare: 0,
    maxCalls: { realistic: 16, chain: 16, full: 16 },
    maxResultLength: 2400,
    usesPartialNames: true,
    distractorShare: 0.4,
    mixedMenuShare: 0,
    addedValueShare: 0.3,
    moreBeforeQuestion: 0.8,
    pairShare: 0.8,
    policyShare: 0.12,
    toolArrivalShare: 0.5,
    secondThoughtShare: 0.05,
    crossServerShare: 0.12,
    scenarioShare: 0.53,
    holdsOutSets: false,
    recoveryShare: 0.1,
    keepsContradictions: false,
  },
  student: {
    name: "student",
    mixture: { multi: 1, clarify: 0, abstain: 0, irrelevant: 0.05 },
    worlds: 0,
    menu: "chain",
    oneTurnShare: 0.4,
    // more calls do not fit the small student's context
    maxCalls: { realistic: 12, chain: 6, full: 12 },
    maxResultLength: 800,
    // the small student does not use hints
    usesPartialNames: false,
    maxReplyLength: 60,
    distractorShare: 0,
    mixedMenuShare: 0.5,
    addedValueShare: 0,
    moreBeforeQuestion: 0,
    pairShare: 0,
    policyShare: 0,
    toolArrivalShare: 0,
    secondThoughtShare: 0,
    crossServerShare: 0,
    scenarioShare: 0,
    holdsOutSets: true,
    recoveryShare: 0,
    keepsContradictions: true,
  },
};

/**
 * The preset of a synthesis. A language model knows nothing of later tools and of rules, and says
 * by itself why it changes its mind.
 */
export const choosePreset = ({
  preset = "paper",
  llmRoles,
}: {
  readonly preset?: Preset["name"];
  readonly llmRoles?: object;
}): Preset =>
  llmRoles
    ? { ...presets[preset], toolArrivalShare: 0, policyShare: 0, keepsContradictions: true }
    : presets[preset];
