/** What a search for a request that takes a recovery starts from. */
import type { ToolDeclaration } from "../../graph/declarations.ts";
import type { ServerRecoveries } from "../../text/recoveries.ts";
import type { ClauseTemplate } from "../../text/templates.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { EntityInstance } from "../entities/entitySample.ts";
import type {
  CheckOptions,
  FeasibilityChecker,
  FeasibilityResult,
} from "../intents/feasibility.ts";
import type { RecoverySort } from "../intents/intent.ts";
import type { UserPlan } from "../userPlan.ts";

/** The search for intents, as far as recoveries need it. */
export interface RecoverySource {
  readonly plan: UserPlan;
  readonly checker: FeasibilityChecker;
  readonly context: ConversationContext;
  /** What the assistant already has to recover from in this conversation. */
  readonly recovery: RecoverySort | undefined;
  pickTemplate(templates: readonly ClauseTemplate[]): ClauseTemplate;
}

export interface RecoveryRequest {
  readonly search: RecoverySource;
  readonly declaration: ToolDeclaration;
  readonly recoveries: ServerRecoveries;
  /** Draws an intent and checks it; undefined if it makes no sense. */
  readonly check: (options?: DrawOptions) => FeasibilityResult | undefined;
}

export interface DrawOptions extends CheckOptions {
  readonly context?: ConversationContext;
  readonly flow?: Flow;
}

/** Instances that arguments may take, by argument. */
export type Flow = Readonly<Record<string, readonly EntityInstance[]>>;
