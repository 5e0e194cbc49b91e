/**
 * Measures one attempt of an evaluation: scores, success, errors, and signs that the policy games
 * the reward. Metrics are computed from these rows.
 */
import type { Breakdown } from "../reward/breakdown.ts";
import type { ScoredAttempt, UnscoredAttempt } from "../reward/scorer.ts";
import { isAchieved, isReadOnly } from "../reward/success.ts";
import { canonicalJson } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import { getTaskCluster, type SeenTasks } from "../trajectory/seenTasks.ts";
import { getCallValue, listCalls, getEnd, type CallEvent } from "../trajectory/trajectory.ts";
import type { Task } from "../trajectory/task.ts";

export interface EvaluationRow {
  readonly task: string;
  /** The key of the tasks that are resampled together. */
  readonly cluster: string;
  readonly traits: readonly Trait[];
  readonly kind: Attempt["task"]["kind"];
  readonly hasGoals: boolean;
  /** Whether all goal calls are reads. */
  readonly readOnly: boolean;
  /** By profile; empty if the attempt cannot be scored. */
  readonly breakdowns: Readonly<Record<string, Breakdown>>;
  /** Why it cannot be scored. */
  readonly unscorable?: string;
  readonly success: boolean;
  readonly calls: number;
  readonly budget: number;
  /** The number of failed calls, by error. */
  readonly errors: CallErrors;
  /** The number of calls with the same arguments and result as an earlier one. */
  readonly repeated: number;
  /** Whether the policy stopped after the first of several calls that the goals require. */
  readonly isLazy: boolean;
  /** Whether the attempt reached a limit. */
  readonly isCut: boolean;
  readonly messages: number;
  /** Tokens of the policy's messages, if it reports them. */
  readonly tokens?: number;
}

export interface CallErrors {
  /** Calls that could not be parsed. */
  readonly syntax: number;
  /** Calls of tools that are not on the menu. */
  readonly tool: number;
  readonly arguments: number;
  readonly refused: number;
}

/** Measures one attempt that was scored under some profiles. */
export function measureAttempt(
  scored: ScoredAttempt | UnscoredAttempt,
  seen?: SeenTasks,
): EvaluationRow {
  const { attempt } = scored;
  const { task, trajectory } = attempt;
  const calls = listCalls(trajectory);
  const messages = trajectory.events.filter(it => it.kind === "assistant");
  const end = getEnd(trajectory);
  return {
    task: task.id,
    cluster: getTaskCluster(task),
    traits: listTraits(task, seen),
    kind: task.kind,
    hasGoals: task.goals.length > 0,
    readOnly: isReadOnly(attempt),
    ...("unscorable" in scored
      ? { breakdowns: {}, unscorable: scored.unscorable }
      : { breakdowns: Object.fromEntries(scored.breakdowns.map(it => [it.profile, it])) }),
    success: isAchieved(attempt),
    calls: calls.length,
    budget: task.budget.calls,
    errors: countErrors(calls),
    repeated: countRepeated(calls),
    isLazy: calls.length === 1 && end.by === "policy" && hasStoppedEarly(attempt, calls[0]!),
    isCut: end.by === "limit",
    messages: messages.length,
    ...(messages.some(it => it.tokens)
      ? { tokens: messages.reduce((sum, it) => sum + (it.tokens?.length ?? 0), 0) }
      : {}),
  };
}

/** Counts the failed calls, by error. */
export function countErrors(calls: readonly CallEvent[]): CallErrors {
  const count = (passes: (it: CallEvent) => boolean) => calls.filter(passes).length;
  return {
    syntax: count(it => it.name === ""),
    tool: count(it => it.name !== "" && it.outcome.kind === "unknown-tool"),
    arguments: count(it => it.name !== "" && it.outcome.kind === "bad-arguments"),
    refused: count(it => it.outcome.kind === "refused"),
  };
}

function countRepeated(calls: readonly CallEvent[]): number {
  const answers = calls.map(it =>
    canonicalJson([it.name, it.arguments, it.outcome.kind, getCallValue(it)]),
  );
  return answers.length - new Set(answers).size;
}

function hasStoppedEarly({ task }: Attempt, { name }: CallEvent): boolean {
  const goalCalls = task.goals.flatMap(it => it.calls);
  return goalCalls.length > 1 && goalCalls.some(it => it.name === name);
}

/** A property of a task, such as the split, and its value. */
interface Trait {
  readonly by: string;
  readonly is: string;
}

/** Knobs that have a value of their own in almost every task, or that only describe the menu. */
const unlistedKnobs: ReadonlySet<string> = new Set([
  "bridges",
  "pair",
  "heldOut",
  "company",
  "distractors",
  "failedCalls",
]);

/** Chains with more goal calls than this are counted together. */
const longestChain = 6;

/** The traits of a task; `seen` tells its distance from the training tasks. */
function listTraits(task: Task, seen?: SeenTasks): readonly Trait[] {
  const calls = task.goals.reduce((sum, it) => sum + it.calls.length, 0);
  const distance = task.split === "train" ? undefined : seen?.getDistance(task);
  return [
    { by: "split", is: task.split },
    ...(distance === undefined ? [] : [{ by: "distance", is: distance }]),
    { by: "server", is: task.servers[0]?.name ?? "none" },
    { by: "calls", is: calls > longestChain ? `over ${longestChain}` : String(calls) },
    { by: "turns", is: String(task.turns.length) },
    { by: "kind", is: task.kind },
    { by: "info", is: task.info },
    ...Object.entries(task.knobs)
      .filter(([knob]) => !unlistedKnobs.has(knob))
      .map(([knob, value]) => ({
        by: knob,
        is: typeof value === "string" ? value : JSON.stringify(value),
      })),
  ];
}
