/** Evaluates policies on the held-out tasks of a file. */
import { evaluate as evaluateTasks, type Evaluation } from "../evaluation/evaluate.ts";
import { isNotRecorded } from "../mcp/connected/cassette.ts";
import { defaultProfile, paperProfile } from "../reward/profiles.ts";
import { readTasks } from "../trajectory/file.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import {
  createSeenTasks,
  listGoalTools,
  listTurnSequences,
  type SeenTasks,
} from "../trajectory/seenTasks.ts";
import type { Task } from "../trajectory/task.ts";
import { getEnd, listCalls, type Trajectory } from "../trajectory/trajectory.ts";
import { formatBug, UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";
import type { OpenedPolicy } from "./policies.ts";

interface Selection {
  readonly file: string;
  readonly split: Task["split"] | "heldout";
  /** The most tasks of one split. */
  readonly limit: number;
}

/** Of tasks with the same id, only the first is read: attempts are named by their tasks. */
export async function readSelectedTasks(
  { file, split, limit }: Selection,
  printNote: (remark: string) => void,
): Promise<Task[]> {
  const tasks = new Map<string, Task>();
  const counts = new Map<string, number>();
  let repeated = 0;
  for await (const task of readTasks(file, { onTorn: printNote })) {
    const isSelected = split === "heldout" ? task.split !== "train" : task.split === split;
    const count = counts.get(task.split) ?? 0;
    if (!isSelected || count >= limit) continue;
    if (tasks.has(task.id)) {
      repeated++;
      continue;
    }
    counts.set(task.split, count + 1);
    tasks.set(task.id, task);
  }
  if (repeated > 0)
    printNote(
      repeated === 1
        ? `1 task has the id of an earlier one in ${file}, and is left out`
        : `${repeated} tasks have the id of an earlier one in ${file}, and are left out`,
    );
  if (tasks.size > 0) return [...tasks.values()];
  const what = split === "heldout" ? "held-out tasks" : `tasks of the split ${split}`;
  throw new UserError(`${file} holds no ${what}`, "choose another split, or synthesize more tasks");
}

/** The tasks to train on of a file. */
export async function readSeenTasks(
  file: string,
  onTorn: (remark: string) => void,
): Promise<SeenTasks> {
  const [sets, sequences]: (readonly string[])[][] = [[], []];
  for await (const task of readTasks(file, { onTorn })) {
    if (task.split !== "train") continue;
    sets!.push(listGoalTools(task));
    sequences!.push(...listTurnSequences(task));
  }
  return createSeenTasks(sets!, sequences!);
}

/**
 * Evaluates a policy by the reward that runs train on, and by the paper's. Shows progress, and
 * notes each fault that ended an attempt once, and each bug with its stack.
 */
export async function evaluatePolicy(
  { policy, concurrency, seen }: OpenedPolicy,
  tasks: readonly Task[],
  {
    catalog,
    signal,
    showProgress,
    printNote,
  }: Pick<AppContext, "catalog" | "signal" | "showProgress" | "printNote">,
  {
    label,
    samples = 1,
    onBug,
    onAttempt,
  }: {
    readonly label: string;
    readonly samples?: number;
    readonly onBug?: () => void;
    readonly onAttempt?: ((attempt: Trajectory) => void) | undefined;
  },
): Promise<Evaluation> {
  const faults = new Set<string>();
  let notRecorded = 0;
  const evaluation = await evaluateTasks(tasks, policy, {
    catalog,
    profiles: [defaultProfile, paperProfile],
    concurrency,
    samples,
    ...(seen ? { seen } : {}),
    signal,
    clock: () => performance.now() / 1000,
    onBug(error) {
      onBug?.();
      const text = formatBug(error);
      if (faults.has(text)) return;
      faults.add(text);
      printNote(text);
    },
    onRow(_row, trajectory, done) {
      onAttempt?.(trajectory);
      notRecorded += listCalls(trajectory).filter(it => isNotRecorded(it.outcome)).length;
      const { fault } = getEnd(trajectory);
      if (fault !== undefined && !faults.has(fault)) {
        faults.add(fault);
        printNote(`an attempt was cut off: ${escapeInvisible(fault)}`);
      }
      const all = samples * tasks.length;
      showProgress(`${label}${done}/${all} ${samples > 1 ? "attempts" : "tasks"}`);
    },
  });
  if (notRecorded > 0)
    printNote(
      `${notRecorded} calls were refused because the recording of their server has no answer to them; prove-rl record adds more`,
    );
  return evaluation;
}
