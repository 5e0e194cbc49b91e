/** Assigns a conversation's roles to a language model. The user simulator still plans the turns. */
import type { LlmRoles } from "../teachers/llmRoles.ts";
import type { TurnPlan } from "../teachers/turnPlan.ts";
import type { ConversationContext } from "../user/conversationContext.ts";
import type { UserSimulator } from "../user/userSimulator.ts";
import type { ConversationSetup } from "./conversationSetup.ts";
import type { TaskSpecification } from "./taskSpecification.ts";

export interface LlmAssignment {
  readonly llmRoles: LlmRoles;
  readonly specification: TaskSpecification;
  readonly context: ConversationContext;
  readonly hiddenTools: ReadonlySet<string>;
  /** Undefined where nothing is to be called. */
  readonly simulator: UserSimulator | undefined;
  readonly signal: AbortSignal | undefined;
}

/** The setup with the model in both roles. It sees only tools that may be on the menu. */
export function assignLlmRoles(
  setup: ConversationSetup,
  { llmRoles, specification, context, hiddenTools, simulator, signal }: LlmAssignment,
): ConversationSetup {
  const { crossServerPlan, home, onlyOtherServers } = specification;
  const needed = crossServerPlan?.servers ?? [home];
  const tools = setup.conversation.tools.filter(
    it => !hiddenTools.has(it.name) && needed.includes(it.server) !== onlyOtherServers,
  );
  const conversation = { ...setup.conversation, tools };
  const { persona, now, isMinimal, sample } = context;
  const getPlan = (kind: TurnPlan["kind"], plain: string): TurnPlan => ({
    kind,
    plain,
    turn: simulator?.turn,
    persona,
    now,
    isMinimal,
    sample,
    tools,
    events: conversation.events,
  });
  const roles = llmRoles.assign({
    planner: setup.user,
    getPlan,
    onTurnChecked: done =>
      simulator?.recordOutcomes(
        done.map(({ intent, call }) => ({ intent, outcome: call.outcome })),
      ),
    conversation,
    signal,
  });
  return { ...setup, conversation, ...roles };
}
