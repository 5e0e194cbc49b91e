/**
 * What a task asks for, read off its trajectory: the wishes of each turn, without the look-ups that
 * nobody asked for, and the bridges between its servers. Knows what was called, not which words
 * were said.
 */
import type { Catalog } from "../../environment/catalog.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Random } from "../../environment/random.ts";
import type { Task } from "../../trajectory/task.ts";
import {
  getCallValue,
  listCalls,
  type CallEvent,
  type Event,
} from "../../trajectory/trajectory.ts";
import type { CrossServerLink } from "../text/crossServerLinks.ts";
import { createPlanFromLinks, type CrossServerPlan } from "./crossServerPlan.ts";
import type { ConversationScript } from "./taskSpecification.ts";
import { declarationsOf } from "../graph/declarations.ts";

const never = { accept: 0, seek: 0 };
const always = { accept: 1, seek: 1 };

/**
 * A task's plan, to be followed with other things and words. What the transcript leaves open is
 * drawn.
 */
export function createVariantPlan(
  task: Task,
  catalog: Catalog,
  bridges: readonly CrossServerLink[],
  random: Random,
): { readonly like: ConversationScript; readonly crossing?: CrossServerPlan } {
  const tools = [...new Set([...task.chain, ...listCalls(task.trajectory).map(it => it.name)])];
  const hidden = task.hidden.length > 0 ? { hiddenTools: new Set(task.hidden) } : {};
  if (task.kind === "abstain") return { like: { tools: task.chain } };
  if (task.kind === "irrelevant")
    return {
      like: {
        tools: task.turns.length === 1 ? task.chain.slice(-1) : task.chain.slice(-3),
        ...hidden,
      },
    };
  const known = new Set<string>();
  const turns = turnsOf(task.trajectory.events).map(calls => wishesIn(calls, known, catalog));
  if (task.kind === "clarify") withObstacle(turns, task, random);
  if (task.info === "missing") withQuestion(turns);
  const crossing = crossingIn(task, turns, bridges, catalog);
  const script = turns.map(({ tools, isRefused }) => ({
    tools,
    refusalOdds: isRefused ? always : never,
  }));
  return {
    like: {
      tools: crossing ? [...crossing.steps.keys(), ...tools] : tools,
      turns: script,
      ...hidden,
    },
    ...(crossing ? { crossing } : {}),
  };
}

interface RequestedTurn {
  /** Full tool names, in order. */
  tools: string[];
  /** The last of them was turned down. */
  isRefused: boolean;
}

function turnsOf(events: readonly Event[]): CallEvent[][] {
  const turns: CallEvent[][] = [];
  for (const event of events) {
    if (event.kind === "user") turns.push([]);
    else if (event.kind === "call") turns.at(-1)?.push(event);
  }
  return turns;
}

/**
 * What was asked for in a turn: every call but the reads that another one needed, and but those
 * that were put right in the same turn. `known` grows by what is shown.
 */
function wishesIn(
  calls: readonly CallEvent[],
  known: Set<string>,
  catalog: Catalog,
): RequestedTurn {
  const asked = calls.filter((it, i) => {
    const later = calls.slice(i + 1);
    const isAsked =
      it.outcome.kind === "ok"
        ? !isLookUp(it, later, known, catalog)
        : !later.some(other => other.name === it.name && other.outcome.kind === "ok");
    for (const text of textsIn(getCallValue(it) ?? null)) known.add(text);
    return isAsked;
  });
  return {
    tools: asked.map(it => it.name),
    isRefused: asked.length > 0 && asked.at(-1)!.outcome.kind !== "ok",
  };
}

/** A read that names no plain value, and that is the first to show what a later call takes. */
function isLookUp(
  call: CallEvent,
  later: readonly CallEvent[],
  known: ReadonlySet<string>,
  catalog: Catalog,
): boolean {
  const tool = catalog.tools.get(call.name)!;
  const { values } = declarationsOf(catalog.getServer(tool.server)).get(call.name)!;
  if (tool.effect === "write" || values.some(it => it.key in (call.arguments as JsonObject)))
    return false;
  const [given, shown] = [
    new Set(textsIn(call.arguments)),
    new Set(textsIn(getCallValue(call) ?? null)),
  ];
  return later.some(it =>
    [...textsIn(it.arguments)].some(
      value => shown.has(value) && !given.has(value) && !known.has(value),
    ),
  );
}

function* textsIn(value: Json): Generator<string> {
  if (typeof value === "string" && value.length > 2) yield value;
  else if (typeof value === "number" && !Number.isInteger(value)) yield String(value);
  else if (value !== null && typeof value === "object")
    for (const it of Object.values(value)) yield* textsIn(it);
}

/** What could not be done is asked for where nothing was called, or at the end of some turn. */
function withObstacle(
  turns: RequestedTurn[],
  { chain, hidden, knobs, info }: Task,
  random: Random,
): void {
  const [missed, others] = [
    chain.filter(it => hidden.includes(it)),
    chain.filter(it => !hidden.includes(it)),
  ];
  const wish = knobs["obstacle"] === "tool" ? missed[0] : (others.at(-1) ?? missed[0]);
  if (wish === undefined) return;
  const idle = turns.findIndex(
    (it, i) => it.tools.length === 0 && !(i === 0 && info === "missing"),
  );
  turns[idle >= 0 ? idle : random.integer(turns.length)]!.tools.push(wish);
}

/** What the first turn left out is called for in the second. */
function withQuestion(turns: readonly RequestedTurn[]): void {
  const [first, second] = turns;
  first?.tools.push(...(second?.tools.slice(0, 1) ?? []));
  // the answer is no wish of its own
  if (second) second.tools = second.tools.slice(0, 1);
}

/** The bridges that were walked, in place of the tools at their ends. */
function crossingIn(
  { knobs, servers }: Task,
  turns: readonly RequestedTurn[],
  bridges: readonly CrossServerLink[],
  catalog: Catalog,
): CrossServerPlan | undefined {
  if (typeof knobs["bridges"] !== "string") return undefined;
  const names = knobs["bridges"].split(", ");
  const [first] = names.map(name => bridges.find(it => it.name === name));
  if (!first) return undefined;
  const isAsked = turns.some(it => it.tools.includes(first.from));
  const crossing = createPlanFromLinks(
    names,
    isAsked,
    bridges,
    servers.map(it => it.name).filter(it => catalog.servers.has(it)),
  );
  if (!crossing) return undefined;
  const left = [...crossing.steps].map(([name, { link, end }]) => ({ name, tool: link[end] }));
  for (const turn of turns)
    turn.tools = turn.tools.map(tool => (left[0]?.tool === tool ? left.shift()!.name : tool));
  return crossing;
}
