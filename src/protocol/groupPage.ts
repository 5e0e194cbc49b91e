/** What the page of a group shows, and its requests. Types only. */
import type { OutcomeKind } from "../environment/outcome.ts";
import type { AttemptView } from "./attemptsPage.ts";
import type { PageContract } from "./pageChannel.ts";

/** The sampled tokens of a message of the student. */
export interface SampledTokens {
  readonly count: number;
  /** The positions of the tokens whose ratio was clipped. */
  readonly clipped: readonly number[];
  /** The advantage of the message's tokens; 0 for a message without a gradient. */
  readonly advantage: number;
}

/** A call of an attempt, or a message without a call. */
export interface GroupCell {
  /** Canonical text of the call's arguments, or the text of the message. */
  readonly text: string;
  /** Of a call: the names of its arguments with the canonical texts of their values. */
  readonly arguments?: readonly (readonly [name: string, value: string])[];
  /** The position of the call in the transcript; absent for a message without a call. */
  readonly call?: number;
  readonly outcome?: OutcomeKind;
  /** Why the call was not accepted. */
  readonly message?: string;
  /** The index of the goal that the call serves. */
  readonly goal?: number;
  /** The teacher's call, before the turn that was attempted. */
  readonly isGiven?: true;
  /** What was to be told by the end of the turn; absent for all but the last cell of a turn. */
  readonly answers?: readonly { readonly isTold: boolean; readonly text: string }[];
  /** Of the cell's message; absent for all but the first call of a message. */
  readonly tokens?: SampledTokens;
}

/** What the attempts did at the same place. */
export interface GroupRow {
  /** The name of the tool; empty for a message without a call. */
  readonly tool: string;
  /** One per attempt; null for an attempt that has no call here. */
  readonly cells: readonly (GroupCell | null)[];
}

/** What the attempts did in one turn of the user. */
interface GroupTurn {
  /** What the user said. */
  readonly user: string;
  readonly rows: readonly GroupRow[];
}

export interface GroupColumn {
  /** The number of the attempt in its group, from 0. */
  readonly attempt: number;
  /** As recorded, under the profile of the run. */
  readonly total: number;
  readonly advantage: number;
  readonly success: boolean;
  readonly calls: number;
  readonly budget: number;
  /** Sampled tokens, and how many of them carried a gradient of the reward. */
  readonly tokens: number;
  readonly withGradient: number;
}

export interface GroupView {
  /** The page finds the group by it after a reload. */
  readonly subject: string;
  readonly task: string;
  readonly run: string;
  readonly step: number;
  readonly profile: string;
  /** The attempt with the highest reward first. */
  readonly columns: readonly GroupColumn[];
  readonly turns: readonly GroupTurn[];
}

export interface GroupPage extends PageContract {
  readonly requests: {
    load: { params: null; result: GroupView };
    /** Opens an attempt by its column. */
    open: { params: { column: number; view: AttemptView }; result: null };
    /** Compares an attempt with the teacher's. */
    compare: { params: { column: number }; result: null };
  };
  readonly events: object & Record<string, never>;
}
