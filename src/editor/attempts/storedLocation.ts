/** Where an attempt is stored: what the address of its transcript says. */
import { statSync } from "node:fs";
import type { Uri } from "vscode";
import { getGroupsFile } from "../../run/folder.ts";
import type { RolloutPlace } from "../../rollouts/rollout.ts";
import type { LineRange } from "../../storage/lineIndex.ts";

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
  | {
      readonly kind: "rejected";
      readonly file: string;
      readonly line: LineRange;
    }
  /** `attempt` is its number in the file, from 0; the first one if it is absent. */
  | { readonly kind: "file"; readonly file: string; readonly attempt?: number }
  /** A file that other software wrote, in a format that `import` reads. */
  | {
      readonly kind: "rollout";
      readonly file: string;
      readonly format: string;
      readonly place: RolloutPlace;
    };

/** A name as the path of a transcript has it. */
export const toTitle = (name: string): string => name.replaceAll(/[^\w. -]+/g, "-");

export const getTranscriptTitle = ({ path }: Pick<Uri, "path">): string =>
  path
    .split("/")
    .at(-1)!
    .replace(/\.transcript$/, "");

/** Changes whenever the file of an attempt is written. */
export function readFileVersion(uri: Uri): string {
  const location = readLocation(uri);
  const file =
    location.kind === "group" ? getGroupsFile(location.run, location.step) : location.file;
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat ? `${stat.size} ${stat.mtimeMs}` : "missing";
}

/** The location that a transcript's address was created from. */
export const readLocation = ({ query }: Uri): AttemptLocation =>
  JSON.parse(query) as AttemptLocation;
