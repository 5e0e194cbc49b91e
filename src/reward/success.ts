/**
 * Whether an attempt did what was asked, by what it left behind: the world as the goals leave it,
 * and every look-up that the goals make. Reported beside the reward; the paper's reward does not
 * contain it.
 */
import { computeDigest } from "../environment/digest.ts";
import { isJsonObject, type Json } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import type { GoalCall, Task } from "../trajectory/task.ts";
import { listCalls, type CallEvent } from "../trajectory/trajectory.ts";
import { areEqual, propertySchema } from "./valueEquality.ts";
import { nameGeneratedIds, replaceIds, formatWorld, type IdNames } from "./stateText.ts";

export interface Success {
  readonly achieved: boolean;
  /** The final world is the goals' world. */
  readonly isGoalState: boolean;
  /** Every goal that reads has its call. */
  readonly hasAllReads: boolean;
  /** What is missing, a line each. */
  readonly reasons: readonly string[];
}

const known = new WeakMap<Attempt, Success>();

/**
 * Whether an attempt succeeded, by its states and its reads; on a task without goals, by making no
 * call. Computed once per attempt.
 */
export function judgeSuccess(attempt: Attempt): Success {
  let success = known.get(attempt);
  if (!success) known.set(attempt, (success = computeSuccess(attempt)));
  return success;
}

function computeSuccess(attempt: Attempt): Success {
  const { task, trajectory, states } = attempt;
  const calls = listCalls(trajectory);
  if (task.goals.length === 0) {
    const reasons = calls.length === 0 ? [] : [`${calls.length} calls where none was wanted`];
    return { achieved: calls.length === 0, isGoalState: true, hasAllReads: true, reasons };
  }
  const same = computeDigest(states.goal) === computeDigest(states.final);
  const said = same ? new Set<string>() : listMentionedWords(task);
  const names = same
    ? noNames
    : {
        goal: nameGeneratedIds(states.start, states.goal, said),
        reached: nameGeneratedIds(states.start, states.final, said),
      };
  const differing = same ? [] : describeDifferences(attempt, names, said);
  const missing = findMissingReads(attempt, calls, names);
  return {
    achieved: differing.length === 0 && missing.length === 0,
    isGoalState: differing.length === 0,
    hasAllReads: missing.length === 0,
    reasons: [...differing, ...missing],
  };
}

/** Whether a task's goals only look things up. */
export const isReadOnly = ({ task, tools }: Attempt): boolean =>
  task.goals.length > 0 &&
  task.goals.every(goal => goal.calls.every(it => tools.get(it.name)?.effect === "read"));

interface BothNames {
  readonly goal: IdNames;
  readonly reached: IdNames;
}
const noNames: BothNames = { goal: new Map(), reached: new Map() };

/**
 * Words that the user or a goal says are not generated, even where they look so. Ids in goals'
 * arguments may be.
 */
function listMentionedWords(task: Task): ReadonlySet<string> {
  const words = task.turns.flatMap(it => it.user.match(/[\w:-]+/g) ?? []);
  const times: string[] = [];
  const collect = (value: Json): void => {
    if (typeof value === "string") {
      if (/^\d{4}-\d\d-\d\dT\d\d:\d\d$/.test(value)) times.push(value);
    } else if (value !== null && typeof value === "object") Object.values(value).forEach(collect);
  };
  for (const goal of task.goals) for (const call of goal.calls) collect(call.arguments);
  return new Set([...words, ...times]);
}

function describeDifferences(
  { states: { start, goal, final } }: Attempt,
  names: BothNames,
  said: ReadonlySet<string>,
): string[] {
  return Object.keys(goal)
    .filter(
      it =>
        formatWorld(goal[it]!, start[it]!, names.goal, said) !==
        formatWorld(final[it]!, start[it]!, names.reached, said),
    )
    .map(it => {
      const place = findFirstDifference(goal[it]!.world, final[it]!.world, `/${it}/world`);
      return place ?? `the world of ${it} is not the one the goals leave`;
    });
}

/** The first place where two values differ as they stand, with both sides. */
function findFirstDifference(goal: Json, reached: Json, at: string): string | undefined {
  if (isJsonObject(goal) && isJsonObject(reached)) {
    for (const key of Object.keys({ ...goal, ...reached })) {
      const path = `${at}/${key}`;
      if (!Object.hasOwn(reached, key)) return `${path} is missing`;
      if (!Object.hasOwn(goal, key)) return `${path} should not be there`;
      const inner = findFirstDifference(goal[key]!, reached[key]!, path);
      if (inner) return inner;
    }
    return undefined;
  }
  return areEqual(goal, reached)
    ? undefined
    : `${at} is ${shortenJson(reached)}, not ${shortenJson(goal)}`;
}

const shortenJson = (value: Json) => {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

/**
 * Goal calls that read and have no `ok` call of their own with equal unmasked arguments, after the
 * calls of the goals they follow. Goals that write are judged by the world: here they only say from
 * where on a read counts. Where the goals undo each other the world says nothing, and their writes
 * are asked for too: doing nothing is no success.
 */
function findMissingReads(
  { task, tools, states }: Attempt,
  calls: readonly CallEvent[],
  names: BothNames,
): string[] {
  const undone = Object.entries(states.goal).every(
    ([server, { world }]) => computeDigest(world) === computeDigest(states.start[server]!.world),
  );
  const isAsked = (name: string) => undone || tools.get(name)?.effect === "read";
  const taken = new Set<number>();
  const last: number[] = [];
  const missing: string[] = [];
  for (const [g, goal] of task.goals.entries()) {
    const from = Math.max(-1, ...goal.after.map(it => last[it.goal]!));
    const found = goal.calls.map(wanted => {
      const at = calls.findIndex(
        (it, i) => i > from && !taken.has(i) && it.outcome.kind === "ok" && answers(wanted, it),
      );
      if (at >= 0) taken.add(at);
      else if (isAsked(wanted.name))
        missing.push(
          `no ${wanted.name} ${shortenJson(wanted.arguments)}${from < 0 ? "" : " in its place"}`,
        );
      return at;
    });
    last[g] = Math.max(from, ...found);
  }
  return missing;

  function answers(wanted: GoalCall, call: CallEvent): boolean {
    if (call.name !== wanted.name || !isJsonObject(call.arguments)) return false;
    const given = call.arguments;
    const schema = tools.get(wanted.name)?.inputSchema;
    if (Object.keys(given).length !== Object.keys(wanted.arguments).length) return false;
    return Object.entries(wanted.arguments).every(
      ([key, value]) =>
        Object.hasOwn(given, key) &&
        (wanted.mask?.includes(key) ||
          areEqual(
            replaceIdsIn(value, names.goal),
            replaceIdsIn(given[key]!, names.reached),
            propertySchema(schema, key),
          )),
    );
  }
}

function replaceIdsIn(value: Json, names: IdNames): Json {
  if (names.size === 0) return value;
  if (typeof value === "string") return replaceIds(value, names);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(it => replaceIdsIn(it, names));
  return Object.fromEntries(
    Object.entries<Json>(value).map(([key, it]) => [key, replaceIdsIn(it, names)]),
  );
}
