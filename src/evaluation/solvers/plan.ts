/**
 * What a solver has to do in a task: its goals as calls, turn by turn, with the results that the
 * teacher saw and the values that flow from one call to another.
 */
import { canonicalJson, type Json, type JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import type { Fact, Task } from "../../trajectory/task.ts";
import { getCallValue, listCalls } from "../../trajectory/trajectory.ts";
import {
  isDistinctive,
  listScalars,
  type Scalar,
  containsToken,
} from "../../trajectory/valueMatching.ts";

export interface PlannedCall {
  readonly goal: number;
  readonly turn: number;
  readonly name: string;
  readonly arguments: JsonObject;
  /** Keys of arguments that are free text. */
  readonly mask: readonly string[];
  readonly isRead: boolean;
  /** The result that the teacher saw; undefined if the task has no trajectory of its teacher. */
  readonly result: Json | undefined;
  /** The values of the result that later calls take and that the user has not said. */
  readonly flows: ReadonlySet<Scalar>;
  /** What the user asked for; undefined if the task does not say, as older ones. */
  readonly facts: readonly Fact[] | undefined;
  /** The values of earlier results that the arguments take and that the user has not said. */
  readonly taken: ReadonlySet<Scalar>;
  /** Goals that must come before. */
  readonly after: ReadonlySet<number>;
  /** The user did not ask for it: its result only supplies arguments of later calls. */
  readonly isLookUp: boolean;
}

export interface PlannedTurn {
  /** What the user says, and what the teacher answered when all was done. */
  readonly user: string;
  readonly reply: string;
  readonly calls: readonly PlannedCall[];
}

const plans = new WeakMap<Task, readonly PlannedTurn[]>();

/** The plan of a task by its goals; `tools` are those that it offers. */
export function getPlan(task: Task, tools: ReadonlyMap<string, Tool>): readonly PlannedTurn[] {
  let plan = plans.get(task);
  if (!plan) plans.set(task, (plan = createPlan(task, tools)));
  return plan;
}

function createPlan(
  { goals, turns, trajectory }: Task,
  tools: ReadonlyMap<string, Tool>,
): readonly PlannedTurn[] {
  const results = collectResults({ goals, trajectory });
  const drafts = goals.flatMap(({ calls, after, turn }, goal) =>
    calls.map((call, part) => {
      const userText = turns
        .slice(0, turn + 1)
        .map(it => it.user)
        .join("\n");
      const unsaid = [...listScalars(call.arguments)].filter(
        it => isDistinctive(it) && !containsToken(userText, String(it)),
      );
      return {
        goal,
        turn,
        name: call.name,
        arguments: call.arguments,
        mask: call.mask ?? [],
        purpose: call.for,
        values: call.values,
        facts: call.facts,
        // a tool that a later turn adds is not among the tools; only reads have a purpose
        isRead: call.for !== undefined || tools.get(call.name)?.effect === "read",
        result: results[goal]![part],
        unsaid,
        after: new Set(after.map(it => it.goal)),
      };
    }),
  );
  const planned = drafts.map(({ unsaid, purpose, values, ...call }): PlannedCall => {
    const own = new Set(call.result === undefined ? [] : listScalars(call.result));
    const users = drafts.filter(it => it.goal > call.goal && it.after.has(call.goal));
    const flows = new Set(users.flatMap(it => it.unsaid.filter(value => own.has(value))));
    const taken = unsaid.filter(it =>
      drafts.some(
        other =>
          call.after.has(other.goal) &&
          other.result !== undefined &&
          [...listScalars(other.result)].includes(it),
      ),
    );
    const feedsOwnTurn = users.some(
      it => it.turn === call.turn && it.unsaid.some(value => flows.has(value)),
    );
    const isLookUp = purpose === undefined ? call.isRead && feedsOwnTurn : purpose === "feeds";
    return {
      ...call,
      flows: new Set([...flows, ...(values ?? [])]),
      taken: new Set(taken),
      isLookUp,
    };
  });
  return turns.map(({ user, reply }, turn) => ({
    user,
    reply,
    calls: planned.filter(it => it.turn === turn),
  }));
}

/** The teacher's result of each goal call: that of its next equal call. */
function collectResults({
  goals,
  trajectory,
}: Pick<Task, "goals" | "trajectory">): readonly (readonly (Json | undefined)[])[] {
  const made = listCalls(trajectory).filter(it => it.outcome.kind === "ok");
  const used = new Set<number>();
  return goals.map(goal =>
    goal.calls.map(call => {
      const wanted = canonicalJson(call.arguments);
      const at = made.findIndex(
        (it, i) => !used.has(i) && it.name === call.name && canonicalJson(it.arguments) === wanted,
      );
      if (at < 0) return undefined;
      used.add(at);
      return getCallValue(made[at]!);
    }),
  );
}
