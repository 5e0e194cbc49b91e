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
const joinShare = 0.3;

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

/** Joins some of the turns with the turn before; two thirds of them stay, and at least two. */
function joinTurns(
  turns: readonly (readonly ScenarioStep[])[],
  random: Random,
): (readonly ScenarioStep[])[] {
  const joined: (readonly ScenarioStep[])[] = [];
  let count = turns.length;
  const least = Math.max(2, Math.ceil((turns.length * 2) / 3));
  for (const steps of turns) {
    const before = joined.at(-1);
    const mayJoin =
      before !== undefined &&
      count > least &&
      before.length + steps.length <= maxJoinedSteps &&
      steps.every(it => isIndependent(it, before));
    if (mayJoin && random.boolean(joinShare)) {
      joined[joined.length - 1] = [...before, ...steps];
      count--;
    } else joined.push(steps);
  }
  return joined;
}

/**
 * Whether a step can be said before the user knows the results of the steps before it. What is
 * computed or chosen can: "list my drafts, and void all of those under 300 euros".
 */
function isIndependent(step: ScenarioStep, before: readonly ScenarioStep[]): boolean {
  return (
    step.revises === undefined &&
    !before.some(it => it.if) &&
    Object.values(step.from).every(reference => {
      const { step: name, path } = parseReference(reference);
      const source = before.find(it => it.as === name);
      // what the assistant has yet to choose cannot be named
      return !source || (path !== undefined && source.choose === undefined);
    })
  );
}
