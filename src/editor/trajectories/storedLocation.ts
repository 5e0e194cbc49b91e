/** Where an attempt is stored: what the address of its transcript says. */
import type { Uri } from "vscode";
import type { LineRange } from "../../storage/lineRange.ts";

/** The query of a transcript's address, as JSON. */
export type AttemptLocation =
  | { readonly kind: "task"; readonly file: string; readonly line: LineRange }
  | {
      readonly kind: "group";
      readonly run: string;
      readonly step: number;
      readonly line: LineRange;
      /** The teacher's attempt at the same task. */
      readonly isTeacher?: true;
    }
  | { readonly kind: "rejected"; readonly file: string; readonly line: LineRange }
  /** `attempt` is its number in the file, from 0; the first one if it is absent. */
  | { readonly kind: "file"; readonly file: string; readonly attempt?: number };

/** The location that a transcript's address was created from. */
export const readLocation = ({ query }: Uri): AttemptLocation =>
  JSON.parse(query) as AttemptLocation;
