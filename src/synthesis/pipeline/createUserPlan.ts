/** Creates the plan that the user simulator follows in a conversation. */
import type { Abstentions } from "../text/abstentions.ts";
import type { ServerRecoveries } from "../text/recoverySchema.ts";
import type { UserPlan } from "../user/userPlan.ts";
import type { Preset } from "./presets.ts";
import type { TaskSpecification } from "./taskSpecification.ts";

/** How often an intent that the session refuses is kept, and how often one is searched for. */
const refusalOdds = { accept: 0.35, seek: 0.15 };

export interface UserPlanSource extends Pick<
  UserPlan,
  "session" | "tools" | "styleGuide" | "getToolWeight"
> {
  readonly preset: Preset;
  readonly hiddenTools: ReadonlySet<string>;
  /** Texts for requests that cannot be fulfilled, and for second thoughts. */
  /** What the home server declares about recovering. */
  readonly recoveries: ServerRecoveries;
  readonly texts: Pick<Abstentions, "missingCapability" | "secondThoughts">;
}

export function createUserPlan(
  specification: TaskSpecification,
  {
    session,
    tools,
    styleGuide,
    getToolWeight,
    preset,
    hiddenTools,
    texts,
    recoveries,
  }: UserPlanSource,
): UserPlan {
  const { kind, crossServerPlan, script, scenario, info, isOneTurn, prefersLists } = specification;
  const { addsValue, bringsTool, policy, recovery } = specification;
  const {
    name,
    secondThoughtShare,
    moreBeforeQuestion,
    maxResultLength,
    maxReplyLength,
    usesPartialNames,
  } = preset;
  const isAll = kind === "irrelevant";
  return {
    session,
    styleGuide,
    tools,
    ...(crossServerPlan ? { linkSteps: crossServerPlan.steps } : {}),
    scenario,
    ...(script?.turns ? { script: script.turns } : {}),
    info,
    addsValue,
    ...(moreBeforeQuestion > 0 ? { moreBeforeQuestion } : {}),
    isOneTurn,
    refusalOdds: isAll ? { accept: 0, seek: 0 } : refusalOdds,
    prefersLists,
    getToolWeight,
    ...(policy ? { rules: policy.rules } : {}),
    ...(hiddenTools.size > 0 || policy
      ? {
          missingTools: {
            hidden: hiddenTools,
            templates: texts.missingCapability,
            isAll,
            ...(bringsTool ? { arrival: texts.missingCapability.arrival } : {}),
          },
        }
      : {}),
    ...(secondThoughtShare > 0
      ? { secondThoughts: { texts: texts.secondThoughts, share: secondThoughtShare } }
      : {}),
    maxResultLength,
    maxReplyLength,
    usesPartialNames,
    ...(recovery ? { recovery: { sorts: recovery, recoveries } } : {}),
    startsNewTopics: !isOneTurn && !isAll && name === "paper",
  };
}
