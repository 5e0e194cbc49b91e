/** A conversation that is ready to run, and the summary of it that its task records. */
import type { Task } from "../../trajectory/task.ts";
import type { ServerTemplates } from "../text/templateSchema.ts";
import type { UnmetRequest } from "../user/unmetRequest.ts";
import type { UserTurn } from "../user/userPlan.ts";
import type { UserSimulator } from "../user/userSimulator.ts";
import type { ConversationSetup } from "./conversationSetup.ts";
import type { TaskSpecification } from "./taskSpecification.ts";

export interface PreparedConversation {
  readonly setup: ConversationSetup;
  /** Full names of tools that must not be on the menu. */
  readonly hiddenTools: ReadonlySet<string>;
  /** Full names of tools that must be on the menu although nothing calls them. */
  readonly requiredTools: readonly string[];
  /** What the assistant has said that it cannot do, and what it has asked for. */
  readonly unmetRequests: readonly UnmetRequest[];
  /** Servers with a tool that could do what the assistant says that it cannot do. */
  readonly excludedServers?: readonly string[] | undefined;
  /** The texts of a server that the conversation is about. */
  getTemplates(server: string): ServerTemplates;
  /** The user's first turn, with what it asks for; absent where nothing is asked for. */
  getFirstTurn?(): UserTurn | undefined;
  /** Summarizes the conversation after it has run. */
  summarize(): ConversationSummary;
}

export interface ConversationSummary {
  /** Why the conversation is not of the wanted kind. */
  readonly flaw?: "no obstacle";
  readonly info: Task["info"];
  readonly knobs: Task["knobs"];
}

/** Summarizes a conversation with the user simulator. */
export function summarizeSimulation(
  { missingCapability, hasWithheld, broughtTool }: UserSimulator,
  { kind, info, crossServerPlan }: TaskSpecification,
): ConversationSummary {
  return {
    ...(kind === "clarify" && !missingCapability ? { flaw: "no obstacle" } : {}),
    info: info === "missing" && !hasWithheld ? "complete" : info,
    knobs: {
      ...(crossServerPlan
        ? { across: crossServerPlan.servers.length, bridges: crossServerPlan.links.join(", ") }
        : {}),
      ...(kind === "clarify" && missingCapability ? { obstacle: missingCapability.kind } : {}),
      ...(broughtTool ? { broughtTool } : {}),
    },
  };
}
