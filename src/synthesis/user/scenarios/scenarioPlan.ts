/** A scenario with its optional parts decided, for one conversation. */
import type { Random } from "../../../environment/random.ts";
import {
  listReferences,
  parseReference,
  type ScenarioStep,
  type ServerScenario,
} from "../../text/scenarios.ts";

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
const endShare = 0.08;

/** How often two turns are said at once, where nothing has to be known in between. */
const joinShare = 0.25;

/** The most steps of a turn that two turns are joined to. */
const maxJoinedSteps = 4;

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
  return { name, motive, turns: joinTurns(turns, random), servers, tools };
}

/** Joins some of the turns with the turn before; at least two turns stay. */
function joinTurns(
  turns: readonly (readonly ScenarioStep[])[],
  random: Random,
): (readonly ScenarioStep[])[] {
  const joined: (readonly ScenarioStep[])[] = [];
  let count = turns.length;
  for (const steps of turns) {
    const before = joined.at(-1);
    const mayJoin =
      before !== undefined &&
      count > 2 &&
      before.length + steps.length <= maxJoinedSteps &&
      steps.every(it => isIndependent(it, before));
    if (mayJoin && random.boolean(joinShare)) {
      joined[joined.length - 1] = [...before, ...steps];
      count--;
    } else joined.push(steps);
  }
  return joined;
}

/** Whether a step can be said before the user knows the results of the steps before it. */
function isIndependent(step: ScenarioStep, before: readonly ScenarioStep[]): boolean {
  const isBefore = (name: string | undefined) => before.some(it => it.as === name);
  return (
    step.revises === undefined &&
    !before.some(it => it.if) &&
    !(step.choose && isBefore(step.choose.of)) &&
    // what is computed or chosen among rows is said of what the user has been told
    !((step.compute ?? step.rows) && listReferences(step).some(isBefore)) &&
    Object.values(step.from).every(reference => {
      const { step: name, path } = parseReference(reference);
      return path !== undefined || !isBefore(name);
    })
  );
}
