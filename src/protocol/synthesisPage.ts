/** What the synthesis page shows, and its requests and events. Types only. */
import type { PageContract } from "./pageChannel.ts";

/** How often conversations went from one state to another on an event. */
export interface TransitionCount {
  readonly from: string;
  readonly event: string;
  readonly to: string;
  readonly n: number;
}

/** Names with their counts. */
export type Tally = readonly (readonly [name: string, n: number])[];

export interface SynthesisView {
  /** The tasks file; the page finds it again by this after a reload. */
  readonly file: string;
  readonly name: string;
  /** Without a report beside the tasks, the numbers are counted from the tasks' logs. */
  readonly from: "report" | "tasks";
  /** The options of the synthesis, as name and value. */
  readonly options: readonly (readonly [string, string])[];
  readonly attempts: number;
  readonly accepted: number;
  /** The filter after the last state counts as a step, from `finish` to `accept` or `reject`. */
  readonly transitions: readonly TransitionCount[];
  /** Rejections by reason, the most frequent first. */
  readonly rejected: Tally;
  /** The accepted tasks, counted by each of their properties. */
  readonly composition: readonly { readonly name: string; readonly counts: Tally }[];
  readonly diversity: readonly (readonly [string, string])[];
  /** Turns, calls and menus, as name and value. */
  readonly shape: readonly (readonly [string, string])[];
  /** The distance of each held-out split to training: a heading, and its cells by split. */
  readonly distances: {
    readonly headings: readonly { readonly text: string; readonly description: string }[];
    readonly rows: readonly { readonly split: string; readonly cells: readonly string[] }[];
  };
}

/** Selects rejected attempts by reason, or by the state in which they were rejected. */
export interface RejectedSelection {
  readonly reason?: string;
  readonly from?: string;
}

export interface RejectedItem {
  /** Number of its line in the file, from 1. */
  readonly line: number;
  readonly servers: string;
  readonly reason: string;
  readonly why: string;
  /** The first message of the user; empty if there is none. */
  readonly request: string;
  readonly chain: string;
}

export interface SynthesisPage extends PageContract {
  readonly requests: {
    load: { params: null; result: SynthesisView };
    /** Up to a hundred of the selected attempts, from a position on, and how many there are. */
    rejected: {
      params: { selection: RejectedSelection; start: number };
      result: { total: number; items: readonly RejectedItem[] };
    };
    /** Opens one as a transcript. */
    open: { params: { line: number }; result: null };
  };
  readonly events: { changed: SynthesisView };
}
