/**
 * Long work that the editor hands to the terminal program, which it forks for it: one ask, any number of progress facts,
 * one last fact. Types only; the files that the work writes are its result.
 */

/** The first message to the forked program, or a later one that ends the work. */
export type WorkAsk =
  | {
      readonly kind: "synthesize";
      /** The tasks file to write, absolute. */
      readonly out: string;
      readonly count: number;
      readonly seed: number;
      readonly servers: readonly string[];
      /** Where fixtures are looked for, first match wins. */
      readonly fixtures: readonly string[];
    }
  | { readonly kind: "cancel" };

export type WorkSays =
  | { readonly kind: "progress"; readonly done: number; readonly total: number; readonly doing: string }
  /** Everything asked for lies in its file. `report`: what was done, in lines for a person. */
  | { readonly kind: "done"; readonly report: readonly string[] }
  /** Ended before its time on request; what is in the file is valid. */
  | { readonly kind: "cancelled" }
  | { readonly kind: "failed"; readonly what: string; readonly remedy: string };
