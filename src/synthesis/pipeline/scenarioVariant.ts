/** Plans the scenario of an existing task again, so that its variants keep its conditions. */
import type { Random } from "../../environment/random.ts";
import type { Task } from "../../trajectory/task.ts";
import type { ServerScenario } from "../text/scenarios.ts";
import { planScenario, type ScenarioPlan } from "../user/scenarioPlan.ts";

/** Plans that are drawn before one has the tools of the task; optional steps make them differ. */
const maxDraws = 200;

/**
 * A plan of the task's scenario with the same tools, or undefined if the task has none or stops at
 * its first turn.
 */
export function replanScenario(
  { kind, knobs, chain }: Pick<Task, "kind" | "knobs" | "chain">,
  scenarios: readonly ServerScenario[],
  random: Random,
): ScenarioPlan | undefined {
  const scenario = scenarios.find(it => it.name === knobs["scenario"]);
  if (!scenario || (kind !== "normal" && kind !== "clarify")) return undefined;
  const tools = chain.join(" ");
  for (let draw = 0; draw < maxDraws; draw++) {
    const plan = planScenario(scenario, random);
    if (plan?.tools.join(" ") === tools) return plan;
  }
  return undefined;
}
