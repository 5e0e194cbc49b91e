/** What the page with the table of attempts shows, and its requests and events. Types only. */
import type { ScoredRows, ScoringResult } from "../run/scoreAttempts.ts";
import type { AttemptNotes } from "../run/attemptNotes.ts";
import type { PageContract } from "./pageChannel.ts";

export type { AttemptNote, AttemptNotes } from "../run/attemptNotes.ts";
export type { AttemptRow, PartWeights } from "../run/attemptRow.ts";
export type { ScoredRows } from "../run/scoreAttempts.ts";

/** The attempt that was selected to compare others with. */
export interface SelectedAttempt {
  /** Absent if the table does not list the attempt. */
  readonly row?: SelectedRow | undefined;
}

/** What tells a row from the others of its table. */
export interface SelectedRow {
  /** The number of its line. */
  readonly line?: number;
  readonly step?: number;
  /** Its number in its trajectory file. */
  readonly attempt?: number;
}

export interface AttemptsView {
  /** What the table lists, as text; the page finds it by it after a reload. */
  readonly subject: string;
  /** The name of the tasks file, the run, the step or the trajectory file. */
  readonly title: string;
  readonly profile: string;
  /** Totals are never below 0 under this profile. */
  readonly hasFloor: boolean;
  readonly selected: SelectedAttempt | null;
  readonly noted: NotedAttempts;
  /** The number of attempts, if it is known before they are scored. */
  readonly total?: number;
  /** The filter to begin with; absent if the page keeps its own. */
  readonly filter?: string;
}

/** The notes on the attempts. */
export interface NotedAttempts {
  readonly notes: AttemptNotes;
  /** Why they cannot be read. */
  readonly problem?: string;
}

/** How scoring ended. */
export interface ScoringEnd extends ScoringResult {
  /** Why scoring ended before all attempts were scored. */
  readonly problem?: string;
}

/** What an attempt can be opened in. */
export type AttemptView = "transcript" | "debugger" | "reward";

export interface AttemptsPage extends PageContract {
  readonly requests: {
    /** The rows follow as events. */
    load: { params: null; result: AttemptsView };
    /** Scores the attempts as the files are now. */
    refresh: { params: null; result: null };
    /** Opens the attempt of a row, by its position among all rows. */
    open: { params: { row: number; view: AttemptView }; result: null };
    /** Selects the attempt of a row to compare, or compares it with the selected one. */
    compare: { params: { row: number }; result: null };
    /** Asks what to change in the note on the attempt of a row. */
    note: { params: { row: number }; result: null };
    /** Asks for the name of a new file with the tasks of these rows, and writes it. */
    writeTasks: { params: { rows: number[] }; result: null };
    /** The same for a file with their conversations, for fine-tuning. */
    writeConversations: { params: { rows: number[] }; result: null };
    /** Shows the attempt of a row beside the others at its task, in the same step of its run. */
    openGroup: { params: { row: number }; result: null };
  };
  readonly events: {
    /** Scoring began again: all rows are void. */
    restarted: AttemptsView;
    rows: ScoredRows;
    ended: ScoringEnd;
    /** Another attempt was selected to compare others with, or none. */
    selected: SelectedAttempt | null;
    noted: NotedAttempts;
    /** The number of attempts has become known. */
    counted: number;
    /** Only attempts that match this filter are to be shown. */
    filtered: string;
  };
}
