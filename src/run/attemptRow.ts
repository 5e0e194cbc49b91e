/**
 * A row of the table of attempts: what an attempt was at, how it was scored and how it ended. It
 * says where the attempt is stored, and contains no event of it.
 */
import { partNames, type Breakdown } from "../reward/breakdown.ts";
import type { LineRange } from "../storage/lineIndex.ts";
import { getAttemptKey } from "./attemptNotes.ts";
import { getTaskCluster } from "../trajectory/seenTasks.ts";
import type { Task } from "../trajectory/task.ts";
import { listCalls, type Trajectory } from "../trajectory/trajectory.ts";

export interface AttemptRow {
  /** The line of the attempt, or in a trajectory file that of its header. */
  readonly line: LineRange;
  /** The step of its run; absent outside a run. */
  readonly step?: number;
  /** Its number, from 0, in its group or its trajectory file; absent in a tasks file. */
  readonly attempt?: number;
  /** Its number, from 0, in its line of another software's file. */
  readonly part?: number;
  /** What notes on the attempt are kept under. */
  readonly key: string;
  /** The id of its task, or of the attempt itself if it names none. */
  readonly task: string;
  /** The first message of the user, shortened. */
  readonly request: string;
  readonly servers: readonly string[];
  /** Absent, as is the split, if the task was not found. */
  readonly kind?: Task["kind"];
  readonly split?: Task["split"];
  /** The key of the tasks that are resampled together; absent if the task was not found. */
  readonly cluster?: string;
  readonly policy: string;
  readonly calls: number;
  /** Absent, as are the totals and success, if the attempt cannot be scored. */
  readonly budget?: number;
  readonly total?: number;
  /** The total under the paper's profile. */
  readonly paper?: number;
  readonly success?: boolean;
  /** The score that the file of other software gives. */
  readonly score?: number;
  /** The scores of the parts; empty under the abstention rule and for unscored attempts. */
  readonly scores: Readonly<Record<string, number>>;
  /** Only in a run. */
  readonly advantage?: number;
  /** The first call that was not accepted, with its message. */
  readonly error?: string;
  /** Why the attempt failed, the first reason in words. */
  readonly reason?: string;
  /** Why the attempt cannot be scored. */
  readonly unscorable?: string;
  /** That it was recorded with other results than the servers return. */
  readonly note?: string;
}

/** The weights of parts by name. The total of an attempt is the sum of score · weight. */
export type PartWeights = Readonly<Record<string, number>>;

/** What a row needs besides the attempt itself. */
export type RowPlace = Pick<AttemptRow, "line" | "step" | "attempt" | "part" | "advantage">;

export type RowReward =
  | {
      readonly breakdown: Breakdown;
      readonly paper: number;
      readonly success: boolean;
      readonly reason?: string | undefined;
      readonly note?: string | undefined;
    }
  | { readonly unscorable?: string };

const maxText = 160;

export function createAttemptRow(
  place: RowPlace,
  trajectory: Trajectory,
  task: Task | undefined,
  reward: RowReward,
): AttemptRow {
  const { header, events } = trajectory;
  const calls = listCalls(trajectory);
  const failed = calls.find(it => it.outcome.kind !== "ok");
  const error = failed && describeFailedCall(failed);
  return {
    ...place,
    key: getAttemptKey(trajectory),
    task: header.task || header.id,
    request: truncate(events.find(it => it.kind === "user")?.text ?? ""),
    servers: header.servers.map(it => it.name),
    ...(task ? { kind: task.kind, split: task.split, cluster: getTaskCluster(task) } : {}),
    policy: header.policy,
    ...(header.imported?.score === undefined ? {} : { score: header.imported.score }),
    ...("breakdown" in reward
      ? {
          calls: reward.breakdown.n,
          budget: reward.breakdown.budget,
          total: reward.breakdown.total,
          paper: reward.paper,
          success: reward.success,
          scores: listScores(reward.breakdown),
          ...(reward.reason === undefined ? {} : { reason: truncate(reward.reason) }),
          ...(reward.note === undefined ? {} : { note: reward.note }),
        }
      : {
          calls: calls.length,
          scores: {},
          ...(reward.unscorable === undefined ? {} : { unscorable: truncate(reward.unscorable) }),
        }),
    ...(error === undefined ? {} : { error }),
  };
}

function describeFailedCall({
  name,
  outcome,
}: ReturnType<typeof listCalls>[number]): string | undefined {
  if (outcome.kind === "ok") return undefined;
  return truncate(`${name || "unparsed call"}: ${outcome.message ?? outcome.kind}`);
}

/** The parts that add to the total. */
function listParts({ rule, parts, extras }: Breakdown) {
  if (rule === "abstain") return [];
  return [...partNames.map(it => [it, parts[it]] as const), ...Object.entries(extras)].filter(
    ([, it]) => it.weight !== 0,
  );
}

const listScores = (breakdown: Breakdown): AttemptRow["scores"] =>
  Object.fromEntries(listParts(breakdown).map(([name, it]) => [name, round(it.score)]));

export const listWeights = (breakdown: Breakdown): PartWeights =>
  Object.fromEntries(listParts(breakdown).map(([name, it]) => [name, it.weight]));

/** Rows are sent and stored as text; a millionth of a part is not visible. */
const round = (score: number) => Math.round(score * 1e6) / 1e6;

const truncate = (text: string) =>
  text.length <= maxText ? text : `${text.slice(0, maxText - 1).replace(/[\ud800-\udbff]$/, "")}…`;
