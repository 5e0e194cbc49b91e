/** Locates stored attempts, and creates the addresses of their transcripts. */
import { basename } from "node:path";
import { Uri } from "vscode";
import { z } from "zod";
import type { RolloutPlace } from "../../rollouts/rollout.ts";
import type { LineRange } from "../../storage/lineIndex.ts";
import { requireWorkspacePath } from "../shared/proveFolder.ts";
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
    }
  | { readonly kind: "trajectoryFile"; readonly file: Uri }
  /** A row of a table; the table's page says so, in the context of the menu of the row. */
  | { readonly kind: "row"; readonly subject: string; readonly row: unknown };

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

/** The address of the first attempt of a trajectory file. */
export const getFileUri = ({ fsPath }: Uri): Uri =>
  createTranscriptUri(
    { kind: "file", file: fsPath },
    basename(fsPath).replace(/(\.trajectory\.jsonl)+$/, ""),
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
  if (node.kind === "row") return getRowUri(parseSubject(node.subject), parseRow(node.row));
  if (node.kind === "trajectoryFile") return getFileUri(node.file);
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

/** What a table of attempts lists. */
const subjectSchema = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("tasks"), path: z.string() }),
  z.object({ kind: z.literal("trajectories"), path: z.string() }),
  z.object({
    kind: z.literal("rollouts"),
    path: z.string(),
    format: z.string(),
  }),
  /** The path is the run's folder; without a step, all recorded steps are listed. */
  z.object({
    kind: z.literal("run"),
    path: z.string(),
    step: z.int().min(1).optional(),
  }),
]);

export type AttemptSubject = z.infer<typeof subjectSchema>;

/** Parses a subject that a page saved. Throws a `UserError` if it is not in the workspace. */
export function parseSubject(text: unknown): AttemptSubject {
  const subject = subjectSchema.parse(JSON.parse(String(text)));
  requireWorkspacePath(subject.path);
  return subject;
}

export function getSubjectTitle(subject: AttemptSubject): string {
  const name = basename(subject.path).replace(/\.(tasks|trajectory)\.jsonl$/, "");
  return subject.kind === "run" && subject.step !== undefined
    ? `${name}, step ${subject.step}`
    : name;
}

const rowSchema = z.object({
  line: z.object({ number: z.int(), offset: z.int(), bytes: z.int() }),
  step: z.int().optional(),
  attempt: z.int().optional(),
  part: z.int().optional(),
  task: z.string(),
});

/** A row of a table, without what it shows. */
export const parseRow = (row: unknown) => rowSchema.parse(row);

/** The address of the transcript of a row's attempt. */
export function getRowUri(subject: AttemptSubject, row: z.infer<typeof rowSchema>): Uri {
  const { path } = subject;
  const { line, step, attempt = 0, part, task } = row;
  switch (subject.kind) {
    case "tasks":
      return createTranscriptUri({ kind: "task", file: path, line }, task);
    case "trajectories":
      return attempt === 0
        ? createTranscriptUri({ kind: "file", file: path }, getSubjectTitle(subject))
        : createTranscriptUri(
            { kind: "file", file: path, attempt },
            `${getSubjectTitle(subject)} attempt ${attempt + 1}`,
          );
    case "rollouts":
      return createRolloutUri(path, subject.format, {
        attempt,
        ...(line.number === 0 ? {} : { line }),
        ...(part === undefined ? {} : { part }),
      });
    case "run":
      return createTranscriptUri(
        { kind: "group", run: path, step: step!, line },
        `${task} attempt ${attempt + 1}`,
      );
    default:
      throw new Error(`unknown subject ${JSON.stringify(subject satisfies never)}`);
  }
}
