/** Imports rollouts of other software as trajectories, those of our tasks executed and scored. */
import { existsSync, rmSync } from "node:fs";
import {
  type RolloutFormat,
  createShownTrajectory,
  type Rollout,
  type RolloutCall,
} from "../rollouts/rollout.ts";
import { defaultProfile } from "../reward/profiles.ts";
import { createScorer } from "../reward/scorer.ts";
import { isAchieved } from "../reward/success.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import { readTasks } from "../trajectory/file.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { formatTrajectory, type Trajectory } from "../trajectory/trajectory.ts";
import { describeFailure, UserError } from "../userError.ts";
import type { AppContext } from "./context.ts";
import { readRollouts, RowRemarks } from "../rollouts/readRollouts.ts";
import { openSessionByName, type Catalog } from "../environment/catalog.ts";
import { isSameResult } from "../environment/listTotals.ts";
import { formatResult, parseJsonOrText } from "../policy/chatMessages.ts";
import { createAttemptHeader, TaskConversation } from "../policy/taskConversation.ts";
import type { FinishedAttempt } from "../trajectory/attempt.ts";
import type { Task } from "../trajectory/task.ts";
import { listOwnCalls } from "../trajectory/oneTurn.ts";

interface RolloutImport {
  readonly format: RolloutFormat;
  /** Absolute path of a file or folder. */
  readonly from: string;
  /** Absolute path of the trajectory file. */
  readonly file: string;
  /** Absolute path of a tasks file. */
  readonly tasks: string | undefined;
  /** The policy's name, for rollouts that name none. */
  readonly policy: string | undefined;
  /** The most rollouts to import. */
  readonly count: number;
}

export interface ImportReport {
  readonly file: string;
  readonly imported: number;
  /** Rows that are not JSON, were cut off, or cannot be shown. */
  readonly skipped: number;
  /** Attempts at which this program failed; they are shown as they are in the file. */
  readonly faults: number;
  readonly attempts: readonly ImportedAttempt[];
}

interface ImportedAttempt {
  readonly id: string;
  /** Null if the attempt was not executed. */
  readonly task: string | null;
  readonly policy: string;
  readonly reward: number | null;
  readonly success: boolean | null;
  /** What the other software gave. */
  readonly reported: number | null;
  readonly notes: readonly string[];
}

/** Throws a `UserError` for a row of another shape, and then leaves no file behind. */
export async function importRollouts(
  request: RolloutImport,
  context: Pick<AppContext, "catalog" | "printNote" | "showProgress" | "signal">,
): Promise<ImportReport> {
  const { format, from, file, count } = request;
  const { printNote, showProgress, signal } = context;
  if (existsSync(file)) throw new UserError(`${file} exists already`, "write to another file");
  const known = await readKnownTasks(request.tasks, context);
  const importOne = createImporter(request, known, context);
  const attempts: ImportedAttempt[] = [];
  let faults = 0;
  const remarks = new RowRemarks(printNote);
  let writer: LineWriter | undefined;
  try {
    for await (const rollout of readRollouts(from, format, remarks)) {
      signal.throwIfAborted();
      const { trajectory, attempt, hasFault = false } = importOne(rollout);
      if (hasFault) faults++;
      writer ??= new LineWriter(file);
      writer.append(formatTrajectory(trajectory).trimEnd());
      attempts.push(attempt);
      showProgress(`${attempts.length} rollouts`);
      if (attempts.length === count) break;
    }
    writer?.close();
  } catch (error) {
    writer?.close();
    if (writer) rmSync(file, { force: true });
    throw error;
  }
  remarks.finish();
  return { file, imported: attempts.length, skipped: remarks.skipped, faults, attempts };
}

async function readKnownTasks(
  file: string | undefined,
  { printNote, signal }: Pick<AppContext, "printNote" | "signal">,
): Promise<KnownTasks> {
  const known = new KnownTasks();
  if (file === undefined) return known;
  for await (const task of readTasks(file, { onTorn: printNote, signal })) known.add(task);
  return known;
}

interface Imported {
  readonly trajectory: Trajectory;
  readonly attempt: ImportedAttempt;
  readonly hasFault?: boolean;
}

function createImporter(
  { format, policy: givenPolicy }: RolloutImport,
  known: KnownTasks,
  { catalog, printNote }: Pick<AppContext, "catalog" | "printNote">,
): (rollout: Rollout) => Imported {
  const score = createScorer(catalog);
  return rollout => {
    const { id } = rollout;
    const policy = givenPolicy ?? rollout.policy ?? format.name;
    const row = { id, policy, reported: rollout.score ?? null };
    const task = known.find(rollout);
    let hasFault = false;
    if (task)
      try {
        const executed = executeRollout(rollout, task, { id, policy, catalog });
        const scored = score(executed, defaultProfile);
        const [reward, success] =
          "unscorable" in scored
            ? [null, null]
            : [scored.breakdowns[0].total, isAchieved(scored.attempt)];
        const { trajectory, notes } = executed;
        return { trajectory, attempt: { ...row, task: task.id, reward, success, notes } };
      } catch (error) {
        // one attempt does not stop the others
        hasFault = !(error instanceof UserError);
        const reason = hasFault
          ? describeFailure(error)
          : `${(error as UserError).what}\n  ${(error as UserError).remedy}`;
        printNote(escapeInvisible(`${id} is not executed: ${reason}`));
      }
    return {
      trajectory: createShownTrajectory(rollout, { id, policy, format: format.name }),
      attempt: { ...row, task: null, reward: null, success: null, notes: [] },
      hasFault,
    };
  };
}

/** What the terminal says about an import. */
export function formatImport({
  file,
  imported,
  skipped,
  faults,
  attempts,
}: ImportReport): readonly string[] {
  const executed = attempts.filter(it => it.task !== null);
  const scored = executed.filter(it => it.reward !== null);
  const shown = imported - executed.length;
  const noted = executed.filter(it => it.notes.length > 0);
  const lines = [`${imported} rollouts in ${file}`];
  if (executed.length > 0)
    lines.push(
      `${executed.length} executed again: mean reward ${formatMean(scored.map(it => it.reward!))}, ${scored.filter(it => it.success).length} done as asked`,
    );
  if (shown > 0) lines.push(`${shown} shown as they are, because their tasks are not known`);
  const reported = attempts.flatMap(it => it.reported ?? []);
  if (reported.length > 0)
    lines.push(`${reported.length} with a score in the file: mean ${formatMean(reported)}`);
  for (const it of noted.slice(0, maxNotes))
    lines.push(escapeInvisible(`${it.id}: ${it.notes.join("; ")}`));
  if (noted.length > maxNotes)
    lines.push(`${noted.length - maxNotes} more differ from their file (--json lists them)`);
  if (skipped > 0) lines.push(`${skipped} not read`);
  if (faults > 0) lines.push(`${faults} at which PROVE failed`);
  return lines;
}

/** The most attempts whose differences are listed. */
const maxNotes = 5;

const formatMean = (values: readonly number[]): string =>
  values.length === 0 ? "–" : (values.reduce((sum, it) => sum + it, 0) / values.length).toFixed(4);

/** Throws a `UserError` for a name with which the editor does not open a trajectory file. */
export function checkTrajectoryName(out: string): void {
  if (out.endsWith(".trajectory.jsonl")) return;
  throw new UserError(
    `${out} is not the name of a trajectory file`,
    `name it ${out.replace(/(\.\w+)*$/, "")}.trajectory.jsonl, so that the editor opens it`,
  );
}

interface ExecutedRollout extends FinishedAttempt {
  /** Where the execution is not what the file says. */
  readonly notes: readonly string[];
}

/** Tasks by their ids, and by what the user says first. */
class KnownTasks {
  readonly #byId = new Map<string, Task>();
  readonly #byText = new Map<string, Task | "ambiguous">();

  add(task: Task): void {
    this.#byId.set(task.id, task);
    const text = task.turns[0]?.user;
    if (text !== undefined) this.#byText.set(text, this.#byText.has(text) ? "ambiguous" : task);
  }

  get size(): number {
    return this.#byId.size;
  }

  /** The task that a rollout names or, if it names none, the only one whose user begins like it. */
  find({ task, prompt, completion }: Rollout): Task | undefined {
    if (task !== undefined) return this.#byId.get(task);
    const first = [...prompt, ...completion].find(it => it.role === "user");
    const found = first && this.#byText.get(first.text);
    return found === "ambiguous" ? undefined : found;
  }
}

/**
 * Executes the messages of a rollout in a new session, as far as the task goes on. Throws a
 * `UserError` if the task cannot be opened.
 */
function executeRollout(
  { prompt, completion, turn, end }: Rollout,
  task: Task,
  {
    id,
    policy,
    catalog,
  }: { readonly id: string; readonly policy: string; readonly catalog: Catalog },
): ExecutedRollout {
  const header = createAttemptHeader(task, catalog, policy, { id, turn });
  const session = openSessionByName(catalog, header);
  // with a turn, the messages before are the teacher's, which the conversation executes itself
  const messages = (turn === undefined ? [...prompt, ...completion] : completion).filter(
    it => it.role === "assistant",
  );
  const attempt = new TaskConversation(task, header, session, { maxMessages: messages.length });
  let used = 0;
  for (const { text, calls } of messages) {
    if (attempt.end) break;
    attempt.addMessage({
      text,
      calls: calls.map(it => ({ name: it.name, arguments: it.arguments })),
      ...(end?.by === "limit" && used === messages.length - 1 ? { cut: true } : {}),
    });
    used++;
  }
  const trajectory = attempt.createTrajectory();
  const notes = describeDifferences(
    messages.slice(0, used).flatMap(it => it.calls),
    trajectory,
  );
  if (used < messages.length)
    notes.push(`the attempt ends after ${used} of ${messages.length} messages`);
  return { task, trajectory, finalState: session.state, notes };
}

function describeDifferences(calls: readonly RolloutCall[], trajectory: Trajectory): string[] {
  const executed = listOwnCalls(trajectory);
  const differing = calls.filter((it, i) => {
    const now = executed[i] && formatResult(executed[i]);
    return it.result !== undefined && now !== undefined && !isSameText(it.result, now);
  });
  return differing.length === 0
    ? []
    : [`${differing.length} of ${calls.length} calls return something else now`];
}

const isSameText = (before: string, now: string): boolean =>
  before === now || isSameResult(parseJsonOrText(before), parseJsonOrText(now));
