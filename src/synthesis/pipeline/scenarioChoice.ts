/** Chooses the scenario of a conversation: one used least so far, of a length that is still rare. */
import type { Random } from "../../environment/random.ts";
import {
  computeLengthWeights,
  computeRarity,
  limitLength,
  type LengthCounts,
  type UseCounts,
} from "../graph/chains.ts";
import type { ServerScenario } from "../text/scenarios.ts";
import { planScenario, type ScenarioPlan } from "../user/scenarioPlan.ts";

/** Scenarios among which one is chosen by its length. */
const candidateCount = 6;

export interface ScenarioSource {
  readonly scenarios: readonly ServerScenario[];
  /** The servers that a task can begin on. */
  readonly homes: readonly string[];
  /** How often each scenario has been used, by name. */
  readonly uses: UseCounts;
  readonly chainCounts: LengthCounts;
}

/** A scenario in which the home server takes part, or undefined if there is none. */
export function drawScenario(
  { scenarios, homes, uses, chainCounts }: ScenarioSource,
  home: string,
  random: Random,
): ScenarioPlan | undefined {
  const own = scenarios.filter(
    ({ servers }) => servers.includes(home) && homes.includes(servers[0]!),
  );
  if (own.length === 0) return undefined;
  const plans = Array.from({ length: candidateCount }).flatMap(
    () =>
      planScenario(
        random.pickWeighted(own, it => computeRarity(it.name, uses)),
        random,
      ) ?? [],
  );
  const weights = new Map(computeLengthWeights(chainCounts).map(it => [it.tools, it.weight]));
  return plans.length === 0
    ? undefined
    : random.pickWeighted(plans, it => weights.get(limitLength(it.tools.length)) ?? 0.01);
}
