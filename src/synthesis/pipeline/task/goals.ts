/**
 * Extracts the goals of a task from an executed transcript: the successful calls, those of one
 * message together, with what reads were for, and with edges where a call needs a value or a
 * precondition from an earlier one.
 */
import { splitPath } from "../../../environment/argumentPaths.ts";
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { Goal, GoalCall } from "../../../trajectory/task.ts";
import { startsTurn, type CallEvent, type Event } from "../../../trajectory/trajectory.ts";
import type { DependencyGraph } from "../../graph/dependencyGraph.ts";
import type { ReadPurpose } from "../../teachers/teacher.ts";
import {
  isCommonNumber,
  isDistinctive,
  listScalars,
  type Scalar,
  containsToken,
} from "../../../trajectory/valueMatching.ts";

/** A successful call with the plain values of its result. */
interface StepCall {
  readonly event: CallEvent;
  /** Those of them that the call itself was not given. */
  readonly resultValues: ReadonlySet<string>;
  /** The values of the result that later calls take. */
  readonly takenValues: Set<Scalar>;
  /** Those that the last call of the same turn takes, which is refused. */
  readonly refusedValues: Set<string>;
}

/** The successful calls of one message. */
interface Step {
  readonly turn: number;
  /** Earlier steps of the turn without which a call of this one was refused. */
  readonly repairs: number[];
  readonly calls: StepCall[];
}

/** Why a read was made; undefined for a write. `unknown`: the teacher does not say. */
type PurposeReader = (call: CallEvent) => ReadPurpose | "unknown" | undefined;

/** The goals of a transcript, in its order, which is topological. */
export function extractGoals(
  events: readonly Event[],
  graph: DependencyGraph,
  getPurpose: PurposeReader = () => undefined,
): Goal[] {
  const { userTexts, replies, steps } = collectSteps(events);
  const edges = steps.map((step, i) =>
    findEdges(step, steps.slice(0, i), userTexts.slice(0, step.turn + 1).join("\n"), graph),
  );
  return steps.map((step, i) => ({
    calls: step.calls.map(it => {
      const purpose = getPurpose(it.event);
      const reply = replies[step.turn] ?? "";
      return createGoalCall(it, purpose === "unknown" ? derivePurpose(it, reply) : purpose);
    }),
    after: edges[i]!,
    turn: step.turn,
  }));
}

/**
 * The purpose of a read whose teacher does not say it: it feeds later calls if they take values of
 * its result, and if the reply speaks of nothing else in it. Otherwise the call itself must happen.
 */
function derivePurpose(
  { event, resultValues, takenValues }: StepCall,
  reply: string,
): ReadPurpose | undefined {
  if (takenValues.size === 0) return undefined;
  const known = new Set([...listScalars(event.arguments), ...takenValues].map(String));
  const isTold = [...resultValues].some(
    it => it.length >= 3 && !known.has(it) && containsToken(reply, it),
  );
  return isTold ? undefined : { for: "feeds" };
}

/**
 * A goal call with its purpose. A look-up for something that is then refused is an answer: the user
 * learns of the refusal only if the assistant finds what they mean.
 */
function createGoalCall(
  { event, takenValues, refusedValues }: StepCall,
  purpose: ReadPurpose | undefined,
): GoalCall {
  const call = { name: event.name, arguments: event.arguments as JsonObject };
  if (!purpose) return call;
  if (purpose.for === "feeds" && refusedValues.size > 0)
    return { ...call, for: "answers", facts: [...refusedValues].map(entity => ({ entity })) };
  return purpose.for === "feeds"
    ? { ...call, for: "feeds", values: [...takenValues] }
    : { ...call, for: "answers", facts: [...purpose.facts] };
}

interface CollectedSteps {
  readonly userTexts: string[];
  /** The last reply of each turn. */
  readonly replies: string[];
  readonly steps: Step[];
}

function collectSteps(events: readonly Event[]): CollectedSteps {
  const userTexts: string[] = [];
  const replies: string[] = [];
  const steps: Step[] = [];
  /** For each refused call of the turn, how many steps came before it. */
  const refused = new Map<string, number>();
  for (const [i, event] of events.entries()) {
    if (event.kind === "user") {
      if (event.answers) userTexts.push(`${userTexts.pop()!}\n${event.text}`);
      else {
        userTexts.push(event.text);
        refused.clear();
      }
    }
    if (event.kind === "assistant" && event.text !== "") replies[userTexts.length - 1] = event.text;
    if (event.kind !== "call") continue;
    if (event.outcome.kind === "refused" && isLastOfTurn(events, i))
      addRefusedValues(event, steps, userTexts);
    if (event.outcome.kind !== "ok") {
      refused.set(getKey(event), steps.length);
      continue;
    }
    let step = steps.at(-1);
    if (step?.calls[0]!.event.message !== event.message) {
      step = { turn: userTexts.length - 1, repairs: [], calls: [] };
      steps.push(step);
    }
    const repairs = findRepairs(event, refused, steps);
    step.repairs.push(...repairs);
    const given = new Set(listScalars(event.arguments).map(String));
    const shown = listScalars(event.outcome.value).map(String);
    const resultValues = new Set(shown.filter(it => !given.has(it)));
    step.calls.push({ event, resultValues, takenValues: new Set(), refusedValues: new Set() });
  }
  return { userTexts, replies, steps };
}

const getKey = ({ name, arguments: args }: CallEvent) => `${name} ${JSON.stringify(args)}`;

/** The steps since a call was refused, after which it succeeded. */
function findRepairs(
  event: CallEvent,
  refused: ReadonlyMap<string, number>,
  steps: readonly Step[],
): number[] {
  const first = refused.get(getKey(event));
  return first === undefined ? [] : [...steps.keys()].slice(first, -1);
}

/** Whether no call of the same turn follows a call: what it was for is given up. */
function isLastOfTurn(events: readonly Event[], call: number): boolean {
  const next = events.slice(call + 1).find(it => it.kind === "call" || startsTurn(it));
  return next?.kind !== "call";
}

/** Notes where the values of a refused call came from, if that was in the same turn. */
function addRefusedValues(
  { arguments: args }: CallEvent,
  steps: readonly Step[],
  userTexts: readonly string[],
): void {
  const userText = userTexts.join("\n");
  for (const scalar of listScalars(args)) {
    if (!isDistinctive(scalar) || containsToken(userText, String(scalar))) continue;
    const source = steps.findLast(it => it.calls.some(call => showsValue(call, scalar)));
    if (source?.turn !== userTexts.length - 1) continue;
    source.calls.find(it => showsValue(it, scalar))!.refusedValues.add(String(scalar));
  }
}

/** The tools that show the ids which an argument takes. */
const listIdSources = (tool: string, key: string, graph: DependencyGraph): ReadonlySet<string> =>
  new Set(
    graph
      .getEdgesTo(tool)
      .flatMap(it => (it.via && splitPath(it.via.input)[0] === key ? [it.a] : [])),
  );

/** Whether a result has a number in an object with a text that the user has said. */
function showsNamed({ outcome }: CallEvent, number: Scalar, userText: string): boolean {
  const isNamed = (value: Json): boolean => {
    if (value === null || typeof value !== "object") return false;
    const own = Object.values<Json>(value);
    const isSaid = (it: Json) => typeof it === "string" && containsToken(userText, it);
    return (own.includes(number) && own.some(isSaid)) || own.some(isNamed);
  };
  return outcome.kind === "ok" && isNamed(outcome.value);
}

const showsValue = (call: StepCall, value: Scalar): boolean => call.resultValues.has(String(value));

/**
 * The edges into a step: for an argument that the user has not said, from the first step that shows
 * it and was not given it; for a precondition, from the latest step that fulfils it.
 */
function findEdges(
  step: Step,
  before: readonly Step[],
  userText: string,
  graph: DependencyGraph,
): Goal["after"] {
  const edges = new Map<number, Goal["after"][number]>();
  const addEdge = (goal: number, edge: Pick<Goal["after"][number], "kind" | "via">) => {
    if (goal >= 0 && !edges.has(goal)) edges.set(goal, { goal, ...edge });
  };
  for (const { event: call } of step.calls) {
    for (const [via, value] of Object.entries(call.arguments as JsonObject)) {
      for (const scalar of listScalars(value)) {
        if (containsToken(userText, String(scalar))) continue;
        // a small number is one by chance, unless it is an id that the other tool shows
        const sources = isCommonNumber(scalar) ? listIdSources(call.name, via, graph) : undefined;
        if (!isDistinctive(scalar) && !sources) continue;
        const isSource = (other: StepCall) =>
          showsValue(other, scalar) && sources?.has(other.event.name) !== false;
        const isNamed = (other: StepCall) =>
          isSource(other) && showsNamed(other.event, scalar, userText);
        const named = sources ? before.findIndex(it => it.calls.some(isNamed)) : -1;
        const goal = named < 0 ? before.findIndex(it => it.calls.some(isSource)) : named;
        addEdge(goal, { kind: "explicit", via });
        const own = before[goal]?.calls.find(isNamed) ?? before[goal]?.calls.find(isSource);
        own?.takenValues.add(scalar);
      }
    }
    const required = graph.getEdgesTo(call.name).filter(it => it.kind === "implicit");
    const goal = before.findLastIndex(it =>
      it.calls.some(other => required.some(edge => edge.a === other.event.name)),
    );
    addEdge(goal, { kind: "implicit" });
  }
  for (const goal of step.repairs) addEdge(goal, { kind: "implicit" });
  return [...edges.values()].sort((a, b) => a.goal - b.goal);
}
