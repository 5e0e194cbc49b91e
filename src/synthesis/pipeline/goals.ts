/**
 * What a transcript shows that had to happen: its successful calls as goals, calls of one message
 * together, with the edges that values and preconditions drew between them. Reads the executed
 * transcript only, never the plan.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Goal } from "../../trajectory/task.ts";
import type { CallEvent, Event } from "../../trajectory/trajectory.ts";
import type { DependencyGraph } from "../graph/dependencyGraph.ts";
import { containsToken } from "../text/containsToken.ts";

interface Step {
  readonly turn: number;
  readonly calls: CallEvent[];
  /** Every plain value of the results. */
  readonly shown: Set<string>;
}

/** The goals of an executed transcript, in its order, which is topological. */
export function extractGoals(events: readonly Event[], graph: DependencyGraph): Goal[] {
  const texts: string[] = [];
  const steps: Step[] = [];
  for (const event of events) {
    if (event.kind === "user") texts.push(event.text);
    if (event.kind !== "call" || event.outcome.kind !== "ok") continue;
    const last = steps.at(-1);
    const step =
      last && last.calls[0]!.message === event.message
        ? last
        : { turn: texts.length - 1, calls: [], shown: new Set<string>() };
    if (step !== last) steps.push(step);
    step.calls.push(event);
    for (const it of scalarsOf(event.outcome.value)) step.shown.add(String(it));
  }
  return steps.map((step, i) => ({
    calls: step.calls.map(it => ({ name: it.name, arguments: it.arguments as JsonObject })),
    after: edgesInto(step, steps.slice(0, i), texts.slice(0, step.turn + 1).join("\n"), graph),
    turn: step.turn,
  }));
}

/**
 * The latest earlier step whose result carries an argument that no user said; else the latest that
 * a precondition names.
 */
function edgesInto(
  step: Step,
  before: readonly Step[],
  said: string,
  graph: DependencyGraph,
): Goal["after"] {
  const edges = new Map<number, Goal["after"][number]>();
  for (const call of step.calls) {
    for (const [via, value] of Object.entries(call.arguments as JsonObject)) {
      for (const scalar of scalarsOf(value)) {
        if (!isTelling(scalar) || containsToken(said, String(scalar))) continue;
        const goal = before.findLastIndex(it => it.shown.has(String(scalar)));
        if (goal >= 0 && !edges.has(goal)) edges.set(goal, { goal, kind: "explicit", via });
      }
    }
    const needed = graph.edgesTo(call.name).filter(it => it.kind === "implicit");
    const goal = before.findLastIndex(it =>
      it.calls.some(other => needed.some(edge => edge.a === other.name)),
    );
    if (goal >= 0 && !edges.has(goal)) edges.set(goal, { goal, kind: "implicit" });
  }
  return [...edges.values()].sort((a, b) => a.goal - b.goal);
}

/**
 * Values that do not turn up by chance: no booleans, no small whole numbers, no one- or two-letter
 * words.
 */
function isTelling(value: Json): boolean {
  if (typeof value === "number") return !Number.isInteger(value) || Math.abs(value) >= 10;
  return typeof value === "string" && value.length >= 3;
}

function* scalarsOf(value: Json): Generator<Exclude<Json, readonly Json[] | JsonObject>> {
  if (value === null || typeof value !== "object") yield value;
  else
    for (const it of Array.isArray(value)
      ? (value as readonly Json[])
      : Object.values(value as JsonObject))
      yield* scalarsOf(it);
}
