/** A scenario with its optional parts decided, for one conversation. */
import type { Random } from "../../environment/random.ts";
import { listReferences, type ScenarioStep } from "../text/scenarioSchema.ts";
import type { ServerScenario } from "../text/scenarios.ts";

export interface ScenarioPlan {
  readonly name: string;
  readonly motive: readonly string[];
  /** What each turn asks for. */
  readonly turns: readonly (readonly ScenarioStep[])[];
  /** Names of the servers that take part. */
  readonly servers: readonly string[];
  /** Full names of the tools that the user asks for, each once, in order. */
  readonly tools: readonly string[];
}

/** How often a conversation ends before the scenario does, after two turns at the earliest. */
const endShare = 0.15;

/** Decides which optional steps are said, and after which turn the conversation ends. */
export function planScenario(
  { name, motive, turns: allTurns, servers }: ServerScenario,
  random: Random,
): ScenarioPlan | undefined {
  const turns: ScenarioStep[][] = [];
  const said = new Set<string>();
  for (const steps of allTurns) {
    const kept: ScenarioStep[] = [];
    for (const step of steps) {
      if (!random.boolean(step.chance) || !listReferences(step).every(it => said.has(it))) continue;
      kept.push(step);
      if (step.as !== undefined) said.add(step.as);
    }
    if (kept.length > 0) turns.push(kept);
    if (turns.length >= 2 && random.boolean(endShare)) break;
  }
  if (turns.length < 2) return undefined;
  const tools = [...new Set(turns.flat().map(it => it.tool))];
  return { name, motive, turns, servers, tools };
}
