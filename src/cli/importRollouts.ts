/** Imports rollouts of other software as trajectories, those of our tasks executed and scored. */
import { existsSync, rmSync } from "node:fs";
import { defaultProfile } from "../reward/profiles.ts";
import { createScorer } from "../reward/scorer.ts";
import { isAchieved } from "../reward/success.ts";
import { LineWriter } from "../storage/lineWriter.ts";
import { readTasks } from "../trajectory/file.ts";
import { escapeInvisible } from "../trajectory/invisibleText.ts";
import { formatTrajectory, type Trajectory } from "../trajectory/trajectory.ts";
import { UserError } from "../userError.ts";
import type { CliContext } from "./command.ts";
import { executeRollout, KnownTasks } from "./rollouts/executeRollout.ts";
import { readRollouts } from "./rollouts/readRollouts.ts";
import { createShownTrajectory, type Rollout } from "./rollouts/rollout.ts";
import type { RolloutFormat } from "./rollouts/rolloutFormat.ts";
import { RowRemarks } from "./rollouts/rowRemarks.ts";

export interface RolloutImport {
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
  /** Rows that are not JSON, or were cut off. */
  readonly skipped: number;
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
  context: Pick<CliContext, "catalog" | "printNote" | "showProgress" | "signal">,
): Promise<ImportReport> {
  const { format, from, file, count } = request;
  const { printNote, showProgress, signal } = context;
  if (existsSync(file)) throw new UserError(`${file} exists already`, "write to another file");
  const known = await readKnownTasks(request.tasks, context);
  const importOne = createImporter(request, known, context);
  const attempts: ImportedAttempt[] = [];
  const remarks = new RowRemarks(printNote);
  let writer: LineWriter | undefined;
  try {
    for await (const rollout of readRollouts(from, format, remarks)) {
      signal.throwIfAborted();
      const { trajectory, attempt } = importOne(rollout);
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
  return { file, imported: attempts.length, skipped: remarks.skipped, attempts };
}

async function readKnownTasks(
  file: string | undefined,
  { printNote, signal }: Pick<CliContext, "printNote" | "signal">,
): Promise<KnownTasks> {
  const known = new KnownTasks();
  if (file === undefined) return known;
  for await (const task of readTasks(file, { onTorn: printNote, signal })) known.add(task);
  return known;
}

interface Imported {
  readonly trajectory: Trajectory;
  readonly attempt: ImportedAttempt;
}

function createImporter(
  { format, policy: givenPolicy }: RolloutImport,
  known: KnownTasks,
  { catalog, printNote }: Pick<CliContext, "catalog" | "printNote">,
): (rollout: Rollout) => Imported {
  const score = createScorer(catalog);
  return rollout => {
    const { id } = rollout;
    const policy = givenPolicy ?? rollout.policy ?? format.name;
    const row = { id, policy, reported: rollout.score ?? null };
    const task = known.find(rollout);
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
        // a task that can no longer be opened does not stop the others
        if (!(error instanceof UserError)) throw error;
        printNote(escapeInvisible(`${id} is not executed: ${error.what}\n  ${error.remedy}`));
      }
    return {
      trajectory: createShownTrajectory(rollout, { id, policy, format: format.name }),
      attempt: { ...row, task: null, reward: null, success: null, notes: [] },
    };
  };
}

/** What the terminal says about an import. */
export function formatImport({
  file,
  imported,
  skipped,
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
