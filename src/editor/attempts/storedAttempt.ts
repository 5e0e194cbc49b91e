/** Reads attempts from tasks files, groups of runs, rejected attempts and trajectory files. */
import type { Uri } from "vscode";
import type { RecordedAttempt } from "../../trajectory/attempt.ts";
import { getGroupsFile, readRun } from "../../run/folder.ts";
import { findFormat } from "../../rollouts/formats.ts";
import { readRolloutAt } from "../../rollouts/readRollouts.ts";
import { showRollout } from "../../rollouts/rollout.ts";
import { readJsonAt } from "../../storage/lineIndex.ts";
import { checkRegularFile } from "../../storage/textFiles.ts";
import { parseRejected, type RejectedAttempt } from "../../synthesis/pipeline/report/report.ts";
import { readTrajectories } from "../../trajectory/file.ts";
import { type Task, parseTaskLine, taskLineSchema } from "../../trajectory/task.ts";
import {
  trajectoryFormat,
  type Trajectory,
  trajectorySchema,
} from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";
import { indexTasks, readTask } from "./taskIndex.ts";
import {
  getTranscriptTitle,
  readLocation,
  toTitle,
  type AttemptLocation,
} from "./storedLocation.ts";

export interface StoredAttempt extends RecordedAttempt {
  /** Present for an attempt that synthesis rejected; it cannot be replayed or scored. */
  readonly rejected?: RejectedAttempt;
}

/** Finds a task of the workspace by its id. */
export type FindTask = (id: string) => Promise<Task | undefined>;

/** Reads the attempt of a transcript. Throws a `UserError` if it is missing or invalid. */
export async function readAttempt(uri: Uri, findTask: FindTask): Promise<StoredAttempt> {
  const location = readLocation(uri);
  switch (location.kind) {
    case "task": {
      const task = await readTitledTask(location, getTranscriptTitle(uri));
      return { task, trajectory: task.trajectory };
    }
    case "group":
      return readGroupAttempt(location);
    case "rejected":
      return readRejectedAttempt(location);
    case "file":
      return readTrajectoryFile(location, findTask);
    case "rollout": {
      await checkRegularFile(location.file);
      const format = findFormat(location.format);
      const rollout = await readRolloutAt(location.file, format, location.place);
      return { trajectory: showRollout(rollout, format) };
    }
    default:
      throw new Error(`unknown attempt location ${JSON.stringify(location satisfies never)}`);
  }
}

/** The task of a transcript, which has moved if its file was written again. */
async function readTitledTask(
  { file, line }: Extract<AttemptLocation, { kind: "task" }>,
  title: string,
): Promise<Task> {
  const isTitled = ({ id }: Pick<Task, "id">) => toTitle(id) === title;
  const task = await readTask(file, line).catch(ignoreUserError);
  if (task && isTitled(task)) return task;
  const entry = (await indexTasks(file)).entries.find(isTitled);
  if (!entry)
    throw new UserError(`${file} no longer contains the task ${title}`, "restore the file");
  return readTask(file, entry);
}

interface GroupJson {
  readonly trajectory?: unknown;
  readonly variant?: unknown;
}

async function readGroupAttempt({
  run,
  step,
  line,
  isTeacher,
}: Extract<AttemptLocation, { kind: "group" }>): Promise<StoredAttempt> {
  const file = getGroupsFile(run, step);
  const json = (await readJsonAt(file, line)) as GroupJson | null;
  const { success, data } = trajectorySchema.safeParse(json?.trajectory);
  if (!success)
    throw new UserError(
      `${file}:${line.number} is not an attempt`,
      "open it with the version of PROVE that wrote it",
    );
  const variant = taskLineSchema.safeParse(json?.variant);
  const task = variant.success
    ? parseTaskLine(variant.data)
    : await findTaskInFile(readRun(run).tasks, data.header.task);
  if (!isTeacher) return { trajectory: data, ...(task ? { task } : {}) };
  if (!task)
    throw new UserError(
      `the task ${data.header.task} was not found in ${readRun(run).tasks}`,
      "restore the tasks file of the run",
    );
  return { trajectory: task.trajectory, task };
}

/** A rejected attempt has no fixture and no policy, so these fields of its header are empty. */
async function readRejectedAttempt({
  file,
  line,
}: Extract<AttemptLocation, { kind: "rejected" }>): Promise<StoredAttempt> {
  const rejected = parseRejected(await readJsonAt(file, line), {
    file,
    line: line.number,
  });
  const { id, servers, chain, events } = rejected;
  const header: Trajectory["header"] = {
    kind: "header",
    format: trajectoryFormat,
    id,
    task: id,
    servers: servers.map(name => ({ name, fixture: "", digest: "" })),
    catalog: "",
    seed: 0,
    menu: [...chain],
    policy: "",
  };
  return { rejected, trajectory: { header, events } };
}

async function readTrajectoryFile(
  { file, attempt = 0 }: Extract<AttemptLocation, { kind: "file" }>,
  findTask: FindTask,
): Promise<StoredAttempt> {
  await checkRegularFile(file);
  let number = 0;
  for await (const trajectory of readTrajectories(file)) {
    if (number++ < attempt) continue;
    const task = await findTask(trajectory.header.task);
    return { trajectory, ...(task ? { task } : {}) };
  }
  throw new UserError(
    number === 0 ? `${file} contains no trajectory` : `${file} has ${number} attempts`,
    "choose another file",
  );
}

/** Undefined if the tasks of a run no longer exist; its attempts are then shown without goals. */
async function findTaskInFile(file: string, id: string): Promise<Task | undefined> {
  try {
    const entry = (await indexTasks(file)).entries.find(it => it.id === id);
    return entry && (await readTask(file, entry));
  } catch (error) {
    return ignoreUserError(error);
  }
}

function ignoreUserError(error: unknown): undefined {
  if (!(error instanceof UserError)) throw error;
}
