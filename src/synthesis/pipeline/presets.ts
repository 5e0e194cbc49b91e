/**
 * The two mixtures of tasks that are made: the paper's, and what the small student that ships can
 * hold and learn. Only numbers.
 */
import type { Mixture } from "./composition.ts";

export type MenuKind = "chain" | "full";

export interface Preset {
  readonly name: "paper" | "student";
  readonly mixture: Mixture;
  /** Share of tasks with a single user turn; the others have two or three. */
  readonly oneTurn: number;
  /** Calls in one task. */
  readonly mostCalls: Readonly<Record<MenuKind, number>>;
  /** Characters of a result that is asked for. */
  readonly longestResult: number;
  /**
   * Names that people know are half said now and then, and put right by what the server hints at.
   */
  readonly guesses: boolean;
  /** Letters of an answer that are still said, where it has to be short. */
  readonly breath?: number;
  /** Share of tasks with three to eight tools of other servers beside the menu. */
  readonly distractors: number;
  /** Share of tasks with tools of other servers on the menu, within its size. */
  readonly mixed: number;
  /** Share of the normal tasks that need several servers. */
  readonly crossing: number;
}

export const presets: Readonly<Record<Preset["name"], Preset>> = {
  paper: {
    name: "paper",
    mixture: { multi: 10_895, clarify: 1_500, abstain: 1_122, irrelevant: 0.05 },
    oneTurn: 0,
    mostCalls: { chain: 12, full: 12 },
    longestResult: 2400,
    guesses: true,
    distractors: 0.4,
    mixed: 0,
    crossing: 0.12,
  },
  student: {
    name: "student",
    mixture: { multi: 1, clarify: 0, abstain: 0, irrelevant: 0.05 },
    oneTurn: 0.4,
    // more calls do not fit what a small student can say
    mostCalls: { chain: 6, full: 12 },
    longestResult: 800,
    // it does not read hints
    guesses: false,
    breath: 60,
    distractors: 0,
    mixed: 0.5,
    crossing: 0,
  },
};
