/** Locates stored attempts, and creates the addresses of their transcripts. */
import { basename } from "node:path";
import { Uri } from "vscode";
import type { RolloutPlace } from "../../rollouts/rollout.ts";
import type { LineRange } from "../../storage/lineIndex.ts";
import { toTitle, type AttemptLocation } from "./storedLocation.ts";

/** What a node of a tree that has an attempt says about it. */
export type AttemptNode =
  | {
      readonly kind: "task";
      readonly file: Uri;
      readonly entry: LineRange & { readonly id: string };
    }
  | {
      readonly kind: "attempt";
      /** The run. */
      readonly monitor: { readonly folder: string };
      readonly step: number;
      readonly entry: LineRange & {
        readonly task: string;
        readonly attempt: number;
      };
    };

export function createTranscriptUri(location: AttemptLocation, name: string): Uri {
  const folder =
    location.kind === "group"
      ? `${basename(location.run)}/step ${location.step}`
      : basename(location.file).replace(/\.(tasks|trajectory|rejected)\.jsonl$/, "");
  return Uri.from({
    scheme: "prove",
    path: `/transcripts/${folder}/${toTitle(name)}.transcript`,
    query: JSON.stringify(location),
  });
}

/** Whether a file may have been written by other software, judged by its name. */
export const isRolloutFile = ({ scheme, path }: Uri): boolean =>
  scheme === "file" &&
  /\.(jsonl?|eval|parquet)$/.test(path) &&
  !/\.(tasks|trajectory|rejected)\.jsonl$/.test(path);

/** The address of an attempt in a file that other software wrote. */
export const createRolloutUri = (file: string, format: string, place: RolloutPlace): Uri =>
  createTranscriptUri(
    { kind: "rollout", file, format, place },
    `${basename(file)} attempt ${place.attempt + 1}`,
  );

export const isTranscript = (uri: Uri): boolean =>
  uri.scheme === "prove" && uri.path.startsWith("/transcripts/");

/** The file or run folder that a transcript is read from; undefined for any other address. */
export function getTranscriptPath(uri: Uri): unknown {
  if (!isTranscript(uri)) return undefined;
  const location = JSON.parse(uri.query) as Partial<Record<"file" | "run", unknown>>;
  return location.file ?? location.run;
}

export function getNodeUri(node: AttemptNode): Uri {
  const line = pickLineRange(node.entry);
  if (node.kind === "task")
    return createTranscriptUri({ kind: "task", file: node.file.fsPath, line }, node.entry.id);
  const { monitor, step, entry } = node;
  return createTranscriptUri(
    { kind: "group", run: monitor.folder, step, line },
    `${entry.task} attempt ${entry.attempt + 1}`,
  );
}

/** The line range of an entry without its other fields. */
export const pickLineRange = ({ number, offset, bytes }: LineRange): LineRange => ({
  number,
  offset,
  bytes,
});
