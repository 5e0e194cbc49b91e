/** Creates the feasibility checker of a conversation from its plan. */
import type { ConversationContext } from "./conversationContext.ts";
import { FeasibilityChecker } from "./feasibilityChecker.ts";
import type { UserPlan } from "./userPlan.ts";

/** The checker for a plan in which these tools are not on the menu. */
export const createChecker = (
  { session, styleGuide, tools, prefersLists, ...plan }: UserPlan,
  context: ConversationContext,
  hiddenTools: ReadonlySet<string> | undefined,
): FeasibilityChecker => {
  const { maxReplyLength, usesPartialNames, maxResultLength, rules } = plan;
  return new FeasibilityChecker(
    session,
    { ...context, corrections: styleGuide.corrections, maxReplyLength, usesPartialNames },
    {
      prefersLists,
      preferredTools: new Set(tools),
      maxResultLength,
      rules,
      ...(hiddenTools ? { hiddenTools } : {}),
    },
  );
};
