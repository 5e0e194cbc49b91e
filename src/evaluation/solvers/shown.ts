/** Decides whether results show what a planned read is for, as the success of an attempt does. */
import { canonicalJson, type JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import { indexResult, showsFact, showsValue } from "../../trajectory/resultIndex.ts";
import type { Fact } from "../../trajectory/task.ts";
import type { ShownResult } from "../../trajectory/knowledge.ts";
import type { PlannedCall } from "./plan.ts";
import { listArguments } from "./toolSchemas.ts";
import { showsAll } from "./values.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";

/**
 * Whether results together show the values that later calls take, the facts that the user asked for
 * or, where the task does not name them, all of the teacher's result.
 */
export function isShown(
  planned: PlannedCall,
  results: readonly ShownResult[],
  tool: Tool | undefined,
): boolean {
  const { result, facts, flows } = planned;
  if (result === undefined) return false;
  if (planned.isLookUp) {
    const scalars = new Set(results.flatMap(it => [...listScalars(it.value)]));
    return [...flows].every(it => scalars.has(it));
  }
  if (!facts) return results.some(it => showsAll(it.value, result));
  return (
    facts.length > 0 && facts.every(fact => results.some(it => shows(it, fact, planned, tool)))
  );
}

/**
 * A fact that is about no entity, such as a travel time, depends on the call: only a result of the
 * planned tool with the same required arguments shows it.
 */
function shows(
  made: ShownResult,
  fact: Fact,
  planned: PlannedCall,
  tool: Tool | undefined,
): boolean {
  const { entity, of = [], field, value } = fact;
  const args = made.arguments;
  if (entity !== undefined) {
    const wanted = { texts: new Set([entity, ...of]), aliases: new Map<string, string>() };
    return showsFact(indexResult(made.value, args, wanted), fact);
  }
  if (made.name !== planned.name || !tool || field === undefined) return false;
  return haveSameRequired(tool, args, planned.arguments) && showsValue(made.value, field, value!);
}

const haveSameRequired = (tool: Tool, a: JsonObject, b: JsonObject): boolean =>
  listArguments(tool).every(
    ({ key, isRequired }) => !isRequired || canonicalJson(a[key]) === canonicalJson(b[key]),
  );

/** What a teacher's call showed, as a result of one's own. */
export const toShownResult = ({ name, arguments: args, result }: PlannedCall): ShownResult[] =>
  result === undefined ? [] : [{ name, arguments: args, value: result }];
