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
  readonly oneTurnShare: number;
  /** Calls in one task. */
  readonly maxCalls: Readonly<Record<MenuKind, number>>;
  /** Characters of a result that is asked for. */
  readonly maxResultLength: number;
  /**
   * Names that people know are half said now and then, and put right by what the server hints at.
   */
  readonly usesPartialNames: boolean;
  /** Letters of an answer that are still said, where it has to be short. */
  readonly maxReplyLength?: number;
  /** Share of tasks with three to eight tools of other servers beside the menu. */
  readonly distractorShare: number;
  /** Share of tasks with tools of other servers on the menu, within its size. */
  readonly mixedMenuShare: number;
  /** Share of the normal tasks that need several servers. */
  readonly crossServerShare: number;
}

export const presets: Readonly<Record<Preset["name"], Preset>> = {
  paper: {
    name: "paper",
    mixture: { multi: 10_895, clarify: 1_500, abstain: 1_122, irrelevant: 0.05 },
    oneTurnShare: 0,
    maxCalls: { chain: 12, full: 12 },
    maxResultLength: 2400,
    usesPartialNames: true,
    distractorShare: 0.4,
    mixedMenuShare: 0,
    crossServerShare: 0.12,
  },
  student: {
    name: "student",
    mixture: { multi: 1, clarify: 0, abstain: 0, irrelevant: 0.05 },
    oneTurnShare: 0.4,
    // more calls do not fit what a small student can say
    maxCalls: { chain: 6, full: 12 },
    maxResultLength: 800,
    // it does not read hints
    usesPartialNames: false,
    maxReplyLength: 60,
    distractorShare: 0,
    mixedMenuShare: 0.5,
    crossServerShare: 0,
  },
};
