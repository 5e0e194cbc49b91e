/** What the page that compares policies by task shows, and its requests and events. Types only. */
import type { MatrixColumn, MatrixRow } from "../evaluation/policyMatrix.ts";
import type { PageContract } from "./pageChannel.ts";

export type { MatrixCell, MatrixChange, MatrixRow } from "../evaluation/policyMatrix.ts";

/** A policy whose attempts a file, a run or a step of a run has. */
export interface MatrixPolicy extends MatrixColumn {
  readonly name: string;
  /** Why its attempts are not those that are stored now, such as that its run was deleted. */
  readonly problem?: string;
}

export interface MatrixView {
  /** The page finds what it compares by it after a reload. */
  readonly subject: string;
  readonly profile: string;
  /** The others are compared with the first one. */
  readonly policies: readonly MatrixPolicy[];
  readonly rows: readonly MatrixRow[];
  /** Whether the differences are still to be computed. */
  readonly isComparing: boolean;
  /** The files and runs that are still to be scored, and all. */
  readonly progress: { readonly left: number; readonly total: number };
}

export interface MatrixPage extends PageContract {
  readonly requests: {
    load: { params: null; result: MatrixView };
    /** Scores the attempts as the files are now. */
    refresh: { params: null; result: null };
    /** Lists a policy's attempts at a task; the policy is given by its position. */
    open: { params: { policy: number; task: string }; result: null };
    /** Compares the others with this policy. */
    setFirst: { params: { policy: number }; result: null };
  };
  readonly events: {
    changed: MatrixView;
  };
}
