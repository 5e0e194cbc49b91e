/** What the reward page shows, and its requests and events. Types only. */
import type { OutcomeKind } from "../environment/outcome.ts";
import type { Breakdown } from "../reward/breakdown.ts";
import type { PageContract } from "./pageChannel.ts";

export type {
  AnswerEvidence,
  ArgumentEvidence,
  Breakdown,
  CallEvidence,
  GoalEvidence,
  Part,
} from "../reward/breakdown.ts";

/** One call of the attempt as the page lists it. */
export interface CallLine {
  readonly name: string;
  /** Canonical text of the arguments. */
  readonly arguments: string;
  readonly outcome: OutcomeKind;
}

/** One goal of the task as the page lists it. */
export interface GoalLine {
  readonly calls: readonly { readonly name: string; readonly arguments: string }[];
  /** Indices of the goals that must come before it. */
  readonly after: readonly number[];
}

/** A reward profile to choose. */
interface ProfileChoice {
  readonly name: string;
  readonly summary: string;
}

/** Where the debugger stands in the attempt. */
interface ShownPrefix {
  /** An index of `RewardView.totals`. */
  readonly index: number;
  /** Such as "after call 2 of 5". */
  readonly text: string;
}

export interface RewardView {
  /** Address of the transcript; the page finds the attempt by it after a reload. */
  readonly address: string;
  readonly task: string;
  readonly policy: string;
  /** How the attempt ended, as text. */
  readonly ended: string;
  /** The first message of the user. */
  readonly request: string;
  readonly calls: readonly CallLine[];
  readonly goals: readonly GoalLine[];
  /** All profiles, and the name of the one on screen. */
  readonly profiles: readonly ProfileChoice[];
  readonly profile: string;
  /**
   * One per shown profile, that of the one on screen first; empty if the attempt cannot be scored.
   * While the attempt is stepped through, they are those of the calls so far.
   */
  readonly breakdowns: readonly Breakdown[];
  /**
   * The totals under the profile on screen: before the first call, after each call, and at the end.
   */
  readonly totals: readonly number[];
  /** What each of them changed; the first call is compared with a right one. */
  readonly changes: readonly number[];
  /** Present while the attempt is stepped through. */
  readonly prefix?: ShownPrefix;
  /** The call that the page goes to. */
  readonly call?: number;
  readonly unscorable?: string;
  /** A remark on how it was scored. */
  readonly note?: string;
  /** `reasons`: why not, one line per reason. Absent before the end, where it is decided. */
  readonly success?: { readonly value: boolean; readonly reasons: readonly string[] };
}

export interface RewardPage extends PageContract {
  readonly requests: {
    load: { params: null; result: RewardView };
    /** Shows a call, by its position among the calls, in the transcript. */
    reveal: { params: { call: number }; result: null };
    /** Shows the last message of a turn of the task in the transcript. */
    revealTurn: { params: { turn: number }; result: null };
    /** Shows everything under the profile with that name. */
    setProfile: { params: { name: string }; result: null };
    /** The page has gone to the call of `RewardView.call`. */
    arrived: { params: null; result: null };
    /** Starts the debugger on the attempt. */
    step: { params: null; result: null };
  };
  readonly events: {
    changed: RewardView;
    /** The attempt can no longer be read, and why. The page keeps what it shows. */
    outdated: string;
  };
}
