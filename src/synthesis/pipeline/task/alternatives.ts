/**
 * Finds other calls that answer the user as well as the teacher's: each candidate is executed on a
 * live session in the state of the teacher's call, and kept if its result shows the same facts. So
 * is the same call without arguments whose defaults give the same result.
 */
import { openSessionByName, type Catalog } from "../../../environment/catalog.ts";
import {
  canonicalJson,
  isJsonObject,
  type Json,
  type JsonObject,
} from "../../../environment/json.ts";
import type { Tool } from "../../../environment/server.ts";
import type { Session } from "../../../environment/session.ts";
import { indexResult, showsFact, showsValue } from "../../../trajectory/resultIndex.ts";
import { isDistinctive, areEqual } from "../../../trajectory/valueMatching.ts";
import type { Fact, GoalCall, Task } from "../../../trajectory/task.ts";
import { listCalls } from "../../../trajectory/trajectory.ts";
import { getDeclarations } from "../../graph/declarations.ts";
import { toEntityId } from "../../../trajectory/entities.ts";

/** How many candidates are executed for a goal call, and how many are kept. */
const limits = { executed: 16, kept: 6 };

type BareCall = Pick<GoalCall, "name" | "arguments">;

/** The task with the alternatives of the goal calls that answer the user. */
export function addAlternatives(task: Task, catalog: Catalog): Task {
  if (!task.goals.some(it => it.calls.some(isAnswer))) return task;
  const session = openSessionByName(catalog, { servers: task.servers, seed: task.seed });
  const tools = task.menu.flatMap(it => session.tools.get(it.name) ?? []);
  // the goal calls are the successful calls, in their order
  const goalCalls = task.goals.flatMap(it => it.calls).values();
  const found = new Map<GoalCall, GoalCall>();
  for (const { name, arguments: args, outcome } of listCalls(task.trajectory)) {
    if (outcome.kind === "ok") {
      const goalCall = goalCalls.next().value!;
      if (isAnswer(goalCall)) {
        const alternatives = findAlternatives(goalCall, outcome.value, { tools, session, catalog });
        if (alternatives.length > 0) found.set(goalCall, { ...goalCall, alternatives });
      }
    }
    session.call(name, args);
  }
  return {
    ...task,
    goals: task.goals.map(goal => ({
      ...goal,
      calls: goal.calls.map(it => found.get(it) ?? it),
    })),
  };
}

const isAnswer = ({ facts }: GoalCall): boolean => facts !== undefined && facts.length > 0;

/** `own` is the result of the goal call itself. */
function findAlternatives(
  goalCall: GoalCall,
  own: Json,
  {
    tools,
    session,
    catalog,
  }: {
    readonly tools: readonly Tool[];
    readonly session: Session;
    readonly catalog: Catalog;
  },
): BareCall[] {
  const isOwn = (it: BareCall, value: Json) =>
    it.name === goalCall.name && canonicalJson(value) === canonicalJson(own);
  const candidates = new Map<string, BareCall>();
  for (const it of listCandidates(goalCall, tools, catalog))
    candidates.set(canonicalJson([it.name, it.arguments]), it);
  candidates.delete(canonicalJson([goalCall.name, goalCall.arguments]));
  const alternatives: BareCall[] = [];
  for (const it of [...candidates.values()].slice(0, limits.executed)) {
    if (alternatives.length === limits.kept) break;
    const { outcome } = session.call(it.name, it.arguments);
    if (outcome.kind !== "ok") continue;
    const { value } = outcome;
    if (isOwn(it, value) || showsFacts(value, it, goalCall, catalog.tools.get(it.name)!))
      alternatives.push(it);
  }
  return alternatives;
}

/** The same call with fewer arguments, then reads of other tools that need no further values. */
function* listCandidates(
  { name, arguments: args, facts = [] }: GoalCall,
  tools: readonly Tool[],
  catalog: Catalog,
): Generator<BareCall> {
  const own = catalog.tools.get(name)!;
  const optional = Object.keys(args).filter(it => !listRequired(own).includes(it));
  for (const key of optional) yield { name, arguments: omitKeys(args, [key]) };
  if (optional.length > 1) yield { name, arguments: omitKeys(args, optional) };
  const declarations = getDeclarations(catalog.getServer(own.server));
  const entities = [...new Set(facts.flatMap(it => it.entity ?? []))];
  for (const tool of tools) {
    if (tool.effect !== "read" || tool.server !== own.server || tool.name === name) continue;
    const required = listRequired(tool);
    if (required.every(it => Object.hasOwn(args, it)))
      yield { name: tool.name, arguments: pickKeys(args, required) };
    const input = declarations.get(tool.name)?.inputs.find(it => it.key === required[0]);
    if (required.length === 1 && entities.length === 1 && input && !input.isList)
      yield { name: tool.name, arguments: { [input.key]: toEntityId(entities[0]!, input.schema) } };
  }
}

/** Whether the result of a call shows the facts of a goal call. */
function showsFacts(result: Json, call: BareCall, goalCall: GoalCall, tool: Tool): boolean {
  const facts = goalCall.facts!;
  const texts = new Set(facts.flatMap(it => [it.entity ?? [], it.of ?? []].flat()));
  const index = indexResult(result, call.arguments, { texts, aliases: new Map() }, tool);
  return facts.every(it =>
    it.entity === undefined ? showsUnboundFact(result, call, goalCall, it) : showsFact(index, it),
  );
}

/**
 * Whether a result shows a value of no entity: in a field of the same name or, for the length of a
 * filtered list, as many rows that the filter would have kept.
 */
function showsUnboundFact(
  result: Json,
  call: BareCall,
  goalCall: GoalCall,
  { field, value }: Fact,
): boolean {
  if (field !== "count")
    return value !== null && isDistinctive(value!) && showsValue(result, field!, value!);
  const omitted = Object.keys(goalCall.arguments).filter(it => !Object.hasOwn(call.arguments, it));
  const rows = isJsonObject(result)
    ? Object.values(result).find((it): it is readonly Json[] => Array.isArray(it))
    : undefined;
  if (call.name !== goalCall.name || !rows) return false;
  const shows = (row: Json): row is JsonObject =>
    isJsonObject(row) && omitted.every(it => Object.hasOwn(row, it));
  return (
    rows.every(shows) &&
    rows.filter(row => omitted.every(it => areEqual(row[it]!, goalCall.arguments[it]!))).length ===
      value
  );
}

const listRequired = ({ inputSchema }: Tool): readonly string[] =>
  (inputSchema["required"] ?? []) as readonly string[];

const omitKeys = (args: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(args).filter(([key]) => !keys.includes(key)));

const pickKeys = (args: JsonObject, keys: readonly string[]): JsonObject =>
  Object.fromEntries(keys.map(it => [it, args[it]!]));
