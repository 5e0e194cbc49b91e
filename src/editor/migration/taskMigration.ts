/** Carries tasks over to fixtures that have been edited, where their conversation stays true. */
import type { Catalog } from "../../environment/catalog.ts";
import { createScorer } from "../../reward/scorer.ts";
import { getSuccess } from "../../reward/success.ts";
import {
  containsToken,
  isDistinctive,
  listScalars,
  type Scalar,
} from "../../trajectory/valueMatching.ts";
import { findChange, type ReplayedStep, rerecord } from "../../trajectory/replay.ts";
import type { Task } from "../../trajectory/task.ts";
import { asFinished, getCallFault, getCallValue } from "../../trajectory/trajectory.ts";
import { UserError } from "../../userError.ts";

type Migration =
  /** No fixture of the task has changed. */
  | { readonly kind: "unchanged" }
  /** The task with the results of its calls on the edited fixtures. */
  | { readonly kind: "migrated"; readonly task: Task }
  /** The task does not fit the edited fixtures. */
  | { readonly kind: "unfit"; readonly why: string };

/**
 * Makes the teacher's calls again on the fixtures as they are now. The task is kept if each call
 * has the same kind of outcome, the conversation mentions no value that is gone, and the goals are
 * met.
 */
export function migrateTask(catalog: Catalog, task: Task): Migration {
  try {
    if (findChange(catalog, task).verdict !== "fixture changed") return { kind: "unchanged" };
    const { trajectory, differing } = rerecord(catalog, task.trajectory);
    const migrated = { ...task, servers: trajectory.header.servers, trajectory };
    const why =
      findPremise(catalog, task) ??
      differing.map(it => findContradiction(task, it)).find(it => it !== undefined) ??
      findUnmetGoal(catalog, migrated);
    return why === undefined ? { kind: "migrated", task: migrated } : { kind: "unfit", why };
  } catch (error) {
    if (error instanceof UserError) return { kind: "unfit", why: error.what };
    throw error;
  }
}

/** What the task relies on beyond its calls, and what an edit could change unnoticed. */
function findPremise(catalog: Catalog, { kind, turns, servers, now }: Task): string | undefined {
  if (kind !== "normal" || turns.some(it => it.unmet))
    return "it has a request that could not be met, and after the edit it may be possible";
  if (turns.some(it => it.conditional))
    return "it has a request under a condition that did not hold, and after the edit it may";
  if (servers.some(it => catalog.getFixture(it.name, it.fixture).now !== now))
    return "its fixture begins at another time";
  return undefined;
}

function findContradiction(task: Task, step: ReplayedStep): string | undefined {
  const { call, recorded, replayed } = step;
  const name = `call ${call + 1}, ${recorded.name},`;
  if (recorded.outcome.kind !== replayed.outcome.kind) {
    const message = getCallFault(replayed)?.message;
    return `${name} is now ${replayed.outcome.kind}${message ? ` (${message})` : ""}`;
  }
  const remaining = new Set(listScalars(getCallValue(replayed) ?? null));
  const texts = [
    ...task.turns.map(it => it.reply),
    ...task.trajectory.events.flatMap(it => ("text" in it ? [it.text] : [])),
  ].map(it => it.toLowerCase());
  const gone = listScalars(getCallValue(recorded) ?? null).find(
    it => !remaining.has(it) && isDistinctive(it) && texts.some(text => isMentioned(text, it)),
  );
  return gone === undefined
    ? undefined
    : `${name} no longer gives ${gone}, which the conversation mentions`;
}

/** Whether a text in lower case contains a value, also with commas between thousands. */
const isMentioned = (text: string, value: Scalar) =>
  [String(value), value.toLocaleString("en-US")].some(it => containsToken(text, it.toLowerCase()));

function findUnmetGoal(catalog: Catalog, task: Task): string | undefined {
  const finished = asFinished(task.trajectory);
  if (!finished) return "its teacher did not finish";
  const { attempt } = createScorer(catalog)({ task, trajectory: finished });
  const { achieved, reasons } = getSuccess(attempt);
  return achieved ? undefined : reasons.join("; ");
}
