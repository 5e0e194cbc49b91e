/**
 * Derives the plan of an existing task from its trajectory: what each turn asks for, without the
 * look-ups that the user did not ask for, and the links between its servers.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Random } from "../../environment/random.ts";
import type { Task } from "../../trajectory/task.ts";
import {
  getCallValue,
  listCalls,
  type CallEvent,
  startsTurn,
  type Event,
} from "../../trajectory/trajectory.ts";
import { getDeclarations } from "../graph/declarations.ts";
import type { CrossServerLink } from "../text/crossServerLinks.ts";
import { createPlanFromLinks, type CrossServerPlan } from "./crossServerPlan.ts";
import type { ConversationScript } from "./taskSpecification.ts";

const neverRefused = { accept: 0, seek: 0 };
const alwaysRefused = { accept: 1, seek: 1 };

export interface VariantPlan {
  readonly script: ConversationScript;
  readonly crossServerPlan?: CrossServerPlan;
}

/** The plan of a task, which its variants follow with other entities and words. */
export function createVariantPlan(
  task: Task,
  catalog: Catalog,
  links: readonly CrossServerLink[],
  random: Random,
): VariantPlan {
  const hidden = task.hidden.length > 0 ? { hiddenTools: new Set(task.hidden) } : {};
  if (task.kind === "abstain") return { script: { tools: task.chain } };
  if (task.kind === "irrelevant") {
    const tools = task.chain.slice(task.turns.length === 1 ? -1 : -3);
    return { script: { tools, ...hidden } };
  }
  const knownTexts = new Set<string>();
  const turns = splitIntoTurns(task.trajectory.events).map(calls =>
    findRequests(calls, knownTexts, catalog),
  );
  if (task.kind === "clarify") addMissingTool(turns, task, random);
  const withheldAt = task.info === "missing" ? findQuestion(task) : undefined;
  if (withheldAt !== undefined) addWithheldRequest(turns, withheldAt);
  addForbidden(turns, task);
  const crossServerPlan = findCrossServerPlan(task, turns, links, catalog);
  const called = listCalls(task.trajectory).map(it => it.name);
  const tools = [...new Set([...task.chain, ...called])];
  return {
    script: {
      tools: crossServerPlan ? [...crossServerPlan.steps.keys(), ...tools] : tools,
      turns: turns.map((it, i) => ({
        tools: it.tools,
        ...(task.turns[i]?.adds ? { bringsTool: true } : {}),
        ...(i === withheldAt ? { withholdsValue: true } : {}),
        refusalOdds: it.isRefused ? alwaysRefused : neverRefused,
      })),
      ...hidden,
    },
    ...(crossServerPlan ? { crossServerPlan } : {}),
  };
}

/** What a turn asked for. */
interface RequestedTurn {
  /** Full tool names, in order. */
  tools: string[];
  /** The last of them was refused. */
  readonly isRefused: boolean;
}

function splitIntoTurns(events: readonly Event[]): CallEvent[][] {
  const turns: CallEvent[][] = [];
  for (const event of events) {
    if (startsTurn(event)) turns.push([]);
    else if (event.kind === "call") turns.at(-1)?.push(event);
  }
  return turns;
}

/**
 * What a turn asked for: its calls without look-ups, and without failed calls that were corrected
 * in the same turn. Adds the texts of the results to `knownTexts`.
 */
function findRequests(
  calls: readonly CallEvent[],
  knownTexts: Set<string>,
  catalog: Catalog,
): RequestedTurn {
  const requested = calls.filter((it, i) => {
    const later = calls.slice(i + 1);
    const isRequested =
      it.outcome.kind === "ok"
        ? !isLookUp(it, later, knownTexts, catalog)
        : !later.some(other => other.name === it.name && other.outcome.kind === "ok");
    for (const text of listTexts(getCallValue(it) ?? null)) knownTexts.add(text);
    return isRequested;
  });
  const last = requested.at(-1);
  return {
    tools: requested.map(it => it.name),
    isRefused: last !== undefined && last.outcome.kind !== "ok",
  };
}

/** Whether a call is a read without plain values that first shows what a later call takes. */
function isLookUp(
  call: CallEvent,
  later: readonly CallEvent[],
  knownTexts: ReadonlySet<string>,
  catalog: Catalog,
): boolean {
  const tool = catalog.tools.get(call.name)!;
  const { values } = getDeclarations(catalog.getServer(tool.server)).get(call.name)!;
  if (tool.effect === "write" || values.some(it => it.key in (call.arguments as JsonObject)))
    return false;
  const argumentTexts = new Set(listTexts(call.arguments));
  const resultTexts = new Set(listTexts(getCallValue(call) ?? null));
  const isFirstShown = (text: string) =>
    resultTexts.has(text) && !argumentTexts.has(text) && !knownTexts.has(text);
  return later.some(it => [...listTexts(it.arguments)].some(isFirstShown));
}

/** The texts, and the numbers that are not whole, of a value. */
function* listTexts(value: Json): Generator<string> {
  if (typeof value === "string" && value.length > 2) yield value;
  else if (typeof value === "number" && !Number.isInteger(value)) yield String(value);
  else if (value !== null && typeof value === "object")
    for (const it of Object.values(value)) yield* listTexts(it);
}

/** Adds the request for what cannot be done to a turn that called nothing, or to any turn. */
function addMissingTool(
  turns: readonly RequestedTurn[],
  { chain, hidden, knobs, info, turns: taskTurns }: Task,
  random: Random,
): void {
  const hiddenTools = chain.filter(it => hidden.includes(it));
  const others = chain.filter(it => !hidden.includes(it));
  const tool = knobs["obstacle"] === "tool" ? hiddenTools[0] : (others.at(-1) ?? hiddenTools[0]);
  if (tool === undefined) return;
  const isQuestion = (i: number) => i === 0 && info === "missing";
  const arrival = taskTurns.findIndex(it => it.adds !== undefined);
  if (arrival > 0) {
    turns[arrival - 1]!.tools.push(taskTurns[arrival]!.adds![0]!);
    return;
  }
  const idle = turns.findIndex((it, i) => it.tools.length === 0 && !isQuestion(i));
  turns[idle >= 0 ? idle : random.integer(turns.length)]!.tools.push(tool);
}

/** Adds the requests that a rule forbids. */
function addForbidden(turns: readonly RequestedTurn[], task: Task): void {
  for (const [i, { unmet = [] }] of task.turns.entries())
    for (const { name, rule } of unmet) if (rule !== undefined) turns[i]!.tools.push(name);
}

/** The turn in which the assistant asks for a value; the first where the task does not say. */
const findQuestion = ({ turns }: Task): number =>
  Math.max(
    0,
    turns.findIndex(({ unmet = [] }) => unmet.some(it => it.asks !== undefined)),
  );

/** The turn of a question asks for what is called after the answer in the next one. */
function addWithheldRequest(turns: readonly RequestedTurn[], index: number): void {
  const answer = turns[index + 1];
  if (!answer) return;
  // the answer itself asks for nothing more
  answer.tools = answer.tools.slice(0, 1);
  turns[index]!.tools.push(...answer.tools);
}

/** The plan over the task's links. Replaces the tools of the turns by the steps of the plan. */
function findCrossServerPlan(
  { knobs, servers }: Task,
  turns: readonly RequestedTurn[],
  links: readonly CrossServerLink[],
  catalog: Catalog,
): CrossServerPlan | undefined {
  if (typeof knobs["bridges"] !== "string") return undefined;
  const names = knobs["bridges"].split(", ");
  const first = links.find(it => it.name === names[0]);
  if (!first) return undefined;
  const isRequested = turns.some(it => it.tools.includes(first.from));
  const ownServers = servers.map(it => it.name).filter(it => catalog.servers.has(it));
  const plan = createPlanFromLinks(names, isRequested, links, ownServers);
  if (!plan) return undefined;
  const steps = [...plan.steps].map(([name, { link, end }]) => ({ name, tool: link[end] }));
  for (const turn of turns)
    turn.tools = turn.tools.map(tool => (steps[0]?.tool === tool ? steps.shift()!.name : tool));
  return plan;
}
