/**
 * A conversation that is ready to run: its input, its result, and the summary of it that its task
 * records.
 */
import type { Task } from "../../../trajectory/task.ts";
import type { ServerTemplates } from "../../text/templates.ts";
import type { UnmetRequest, ConditionalCall, UserTurn } from "../../user/userPlan.ts";
import type { ScenarioTurns } from "../../user/scenarios/scenarioTurns.ts";
import type { UserSimulator } from "../../user/userSimulator.ts";
import type { IntentProof } from "../../user/intents/intent.ts";
import type { PolicyEffect } from "../report/demands.ts";
import type { TaskPolicy } from "../../../trajectory/taskRules.ts";
import type { TaskSpecification } from "../specification/taskSpecification.ts";
import type { Random } from "../../../environment/random.ts";
import type { Session } from "../../../environment/session.ts";
import type { Conversation } from "../../../policy/policy.ts";
import type { Event } from "../../../trajectory/trajectory.ts";
import type { SimulatedUser, Teacher } from "../../teachers/teacher.ts";
import type { Transition } from "./stateLog.ts";

export interface PreparedConversation {
  readonly setup: ConversationSetup;
  /** Full names of tools that must not be on the menu. */
  readonly hiddenTools: ReadonlySet<string>;
  /** Full names of tools that must be on the menu although nothing calls them. */
  readonly requiredTools: readonly string[];
  /** What the user says if asked for a proof, when the conversation has run. */
  readonly proofs?: readonly (IntentProof & { readonly turn: number })[];
  /** Calls that depend on a condition that did not hold, when the conversation has run. */
  readonly conditionalCalls?: readonly (ConditionalCall & { readonly turn: number })[];
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

/** What a scenario conversation has that a list of requests does not have, as knobs. */
function listFeatures({ name, features }: ScenarioTurns): Task["knobs"] {
  const { conditionsMet, conditionsNotMet, limits, computedValues, chosenRows } = features;
  const conditions = [
    ...Array.from({ length: conditionsMet }, () => "met"),
    ...Array.from({ length: conditionsNotMet }, () => "not met"),
  ];
  return {
    scenario: name,
    ...(conditions.length > 0 ? { conditions: conditions.join(", ") } : {}),
    ...(limits > 0 ? { limits } : {}),
    ...(computedValues > 0 ? { computedValues } : {}),
    ...(chosenRows > 0 ? { chosenRows } : {}),
  };
}

/** Summarizes a conversation with the user simulator. */
export function summarizeSimulation(
  simulator: UserSimulator,
  { kind, info, crossServerPlan, policy, scenario: plan }: TaskSpecification,
  hasAsked = false,
): ConversationSummary {
  const { missingCapability, hasWithheld, broughtTool, scenario, recovery } = simulator;
  const changesOfMind =
    simulator.changesOfMind +
    (scenario && kind !== "irrelevant" ? scenario.features.changesOfMind : 0);
  return {
    ...(kind === "clarify" && !missingCapability ? { flaw: "no obstacle" } : {}),
    info: info === "missing" && !hasWithheld ? "complete" : info,
    knobs: {
      ...(recovery === undefined ? {} : { recovery }),
      ...(crossServerPlan
        ? { across: crossServerPlan.servers.length, bridges: crossServerPlan.links.join(", ") }
        : {}),
      ...(scenario
        ? kind === "irrelevant"
          ? { scenario: scenario.name }
          : listFeatures(scenario)
        : {}),
      ...(changesOfMind > 0 ? { changesOfMind } : {}),
      ...(plan && plan.servers.length > 1 ? { across: plan.servers.length } : {}),
      ...(kind === "clarify" && missingCapability ? { obstacle: missingCapability.kind } : {}),
      ...(broughtTool ? { broughtTool } : {}),
      ...(policy
        ? {
            policy: describePolicy(policy, simulator, hasAsked),
            ...(simulator.insists ? { insists: true } : {}),
          }
        : {}),
    },
  };
}

/** How the rules of a task mattered, by what decides most. */
function describePolicy(
  { rules }: TaskPolicy,
  { unmetRequests, proofs, hasAlternative }: UserSimulator,
  hasAsked: boolean,
): PolicyEffect {
  const refused = unmetRequests.flatMap(({ rule }) => rules.filter(it => it.id === rule));
  if (refused.some(it => it.demands === "never")) return "forbids";
  if (refused.length > 0) return "unproven";
  if (hasAlternative) return "alternative";
  if (proofs.length > 0) return "proven";
  return hasAsked ? "confirm" : "kept";
}

/** The tools of the requests that rules have forbidden, which must be on the menu. */
export const listForbiddenTools = ({ unmetRequests }: UserSimulator): string[] =>
  unmetRequests.flatMap(it => (it.rule === undefined ? [] : [it.intent.tool.name]));

// The input and the result of running a conversation.

export interface ConversationSetup {
  readonly session: Session;
  readonly user: SimulatedUser;
  readonly teacher: Teacher;
  readonly conversation: Conversation & { readonly events: Event[] };
  readonly random: Random;
  /** Turns of the user; both are 1 for a conversation of one turn. */
  readonly minTurns: number;
  readonly maxTurns: number;
}

export interface ConversationResult {
  readonly log: readonly Transition[];
  /** Why the conversation was rejected, in a word and in full; absent if it finished. */
  readonly rejected?: { readonly reason: string; readonly explanation: string };
}
