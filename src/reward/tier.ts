/**
 * The reward of TIER (arXiv 2605.16790), which needs no reference calls: a gated sum of format,
 * names, parameters, types, execution and the answer, which is this program's success.
 */
import { isJsonObject } from "../environment/json.ts";
import type { Attempt } from "../trajectory/attempt.ts";
import type { ScoredCall } from "./align.ts";
import type { FormulaParts } from "./formulaParts.ts";
import { isAchieved } from "./success.ts";

/** What one call with wrong parameters costs of the tenth. */
const mismatchCost = 0.25;

/**
 * 0.1 each for calls that can be parsed, tools that are offered, complete parameters, their types
 * and execution, and 0.5 for the answer. Nothing counts without calls, nothing after the format if
 * a call cannot be parsed, and nothing after the names if a tool is not offered.
 */
export function scoreTier(
  attempt: Attempt,
  calls: readonly ScoredCall[],
  hasEnded: boolean,
): FormulaParts {
  const isParsed = calls.length > 0 && calls.every(it => it.name !== "");
  const isNamed = isParsed && calls.every(it => it.outcome.kind !== "unknown-tool");
  const misfits = calls.filter(it => it.outcome.kind === "bad-arguments");
  const incomplete = misfits.filter(it => lacksKey(attempt, it)).length;
  const score = (count: number) => (isNamed ? Math.max(0, 1 - mismatchCost * count) : 0);
  const isExecuted = isNamed && calls.every(it => it.outcome.kind === "ok");
  return {
    format: { score: Number(isParsed), weight: 0.1 },
    names: { score: Number(isNamed), weight: 0.1 },
    parameters: { score: score(incomplete), weight: 0.1 },
    types: { score: score(misfits.length - incomplete), weight: 0.1 },
    execution: { score: Number(isExecuted), weight: 0.1 },
    answer: {
      score: Number(isNamed && hasEnded && isAchieved(attempt)),
      weight: 0.5,
    },
  };
}

function lacksKey({ tools }: Attempt, { name, arguments: args }: ScoredCall): boolean {
  const required = tools.get(name)?.inputSchema["required"];
  return (
    !isJsonObject(args) ||
    (Array.isArray(required) && required.some(it => !Object.hasOwn(args, String(it))))
  );
}
