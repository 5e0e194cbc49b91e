/**
 * An attempt by where it is kept: a task's own, one of a run's groups, one that became no task, or
 * a file of its own. Gives each a document address and reads it back whole. Knows no views.
 */
import { basename } from "node:path";
import { Uri } from "vscode";
import { UserError } from "../../userError.ts";
import { groupsFile, readRun } from "../../run/folder.ts";
import { parseRejected, type RejectedAttempt } from "../../synthesis/pipeline/report.ts";
import { readTrajectories } from "../../trajectory/file.ts";
import type { Task } from "../../trajectory/task.ts";
import { trajectoryFormat, type Trajectory } from "../../trajectory/trajectory.ts";
import { trajectorySchema } from "../../trajectory/trajectoryLine.ts";
import { readJsonAt, type LineRange } from "../../storage/lineRange.ts";
import type { RunsNode } from "../runs/runsTree.ts";
import { indexTasks, readTask } from "../tasks/taskIndex.ts";
import type { TasksNode } from "../tasks/tasksNode.ts";

/** Where an attempt is kept. A plain value: it stands in the address of its transcript. */
export type AttemptLocation =
  | { readonly kind: "task"; readonly file: string; readonly line: LineRange }
  | {
      readonly kind: "group";
      readonly run: string;
      readonly step: number;
      readonly line: LineRange;
    }
  | { readonly kind: "rejected"; readonly file: string; readonly line: LineRange }
  | { readonly kind: "file"; readonly file: string };

export interface StoredAttempt {
  readonly trajectory: Trajectory;
  /** Absent where the task that it was an attempt at is not at hand. */
  readonly task?: Task;
  /** Present where it became no task, and so can be neither stepped through nor graded. */
  readonly rejected?: RejectedAttempt;
}

export type AttemptNode =
  Extract<TasksNode, { kind: "task" }> | Extract<RunsNode, { kind: "attempt" }>;

/** The address of an attempt's transcript. */
export function createTranscriptUri(place: AttemptLocation, name: string): Uri {
  const folder =
    place.kind === "group"
      ? `${basename(place.run)}/step ${place.step}`
      : basename(place.file).replace(/\.(tasks|trajectory|rejected)\.jsonl$/, "");
  const title = name.replaceAll(/[^\w. -]+/g, "-");
  return Uri.from({
    scheme: "prove",
    path: `/transcripts/${folder}/${title}.transcript`,
    query: JSON.stringify(place),
  });
}

export const isTranscript = (uri: Uri): boolean =>
  uri.scheme === "prove" && uri.path.startsWith("/transcripts/");

export function getNodeUri(node: AttemptNode): Uri {
  if (node.kind === "task")
    return createTranscriptUri(
      { kind: "task", file: node.file.fsPath, line: pickLineRange(node.entry) },
      node.entry.id,
    );
  const { task, attempt } = node.entry;
  return createTranscriptUri(
    { kind: "group", run: node.monitor.folder, step: node.step, line: pickLineRange(node.entry) },
    `${task} attempt ${attempt + 1}`,
  );
}

export const pickLineRange = ({ number, offset, bytes }: LineRange): LineRange => ({
  number,
  offset,
  bytes,
});

/** Finds a task of the workspace by its id. */
export type FindTask = (id: string) => Promise<Task | undefined>;

/**
 * Reads the attempt of a transcript's address. Throws a `Mistake` where it is gone or does not fit.
 */
export async function readAttempt(uri: Uri, find: FindTask): Promise<StoredAttempt> {
  const place = JSON.parse(uri.query) as AttemptLocation;
  switch (place.kind) {
    case "task": {
      const task = await readTask(place.file, place.line);
      return { task, trajectory: task.trajectory };
    }
    case "group":
      return readGroupAttempt(place);
    case "rejected":
      return readRejectedAttempt(place);
    case "file":
      return readTrajectoryFile(place.file, find);
    default:
      throw new Error(`no attempt is kept at ${JSON.stringify(place satisfies never)}`);
  }
}

async function readGroupAttempt({
  run,
  step,
  line,
}: Extract<AttemptLocation, { kind: "group" }>): Promise<StoredAttempt> {
  const file = groupsFile(run, step);
  const json = (await readJsonAt(file, line)) as { trajectory?: unknown } | null;
  const parsed = trajectorySchema.safeParse(json?.trajectory);
  if (!parsed.success)
    throw new UserError(
      `${file}:${line.number} is no attempt`,
      "open it with the version of PROVE that wrote it",
    );
  const task = await findTaskInFile(readRun(run).tasks, parsed.data.header.task);
  return { trajectory: parsed.data, ...(task ? { task } : {}) };
}

/** A rejection pins no world: its header says no more than the line does. */
async function readRejectedAttempt({
  file,
  line,
}: Extract<AttemptLocation, { kind: "rejected" }>): Promise<StoredAttempt> {
  const rejected = parseRejected(await readJsonAt(file, line), { file, line: line.number });
  const { id, servers, chain, events } = rejected;
  const header = {
    kind: "header" as const,
    format: trajectoryFormat,
    id,
    task: id,
    servers: servers.map(name => ({ name, fixture: "", digest: "" })),
    catalog: "",
    seed: 0,
    menu: chain,
    policy: "",
  } as const;
  return {
    rejected,
    trajectory: { header: { ...header, servers: [...header.servers], menu: [...chain] }, events },
  };
}

async function readTrajectoryFile(file: string, find: FindTask): Promise<StoredAttempt> {
  for await (const trajectory of readTrajectories(file)) {
    const task = await find(trajectory.header.task);
    return { trajectory, ...(task ? { task } : {}) };
  }
  throw new UserError(`${file} holds no trajectory`, "choose another file");
}

/** A run may be kept longer than its tasks: then its attempts are shown without their goals. */
async function findTaskInFile(file: string, id: string): Promise<Task | undefined> {
  try {
    const entry = (await indexTasks(file)).entries.find(it => it.id === id);
    return entry && (await readTask(file, entry));
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
}
