/**
 * Types of the user simulator: the plan of a conversation, the turns that it produces, and the
 * requests among them that the assistant answers without a call.
 */
import type { JsonObject } from "../../environment/json.ts";
import type { Session } from "../../environment/session.ts";
import type { Abstentions } from "../text/abstentions.ts";
import type { MissingCapabilityTemplates, ToolArrivalTexts } from "../text/refusals.ts";
import type { ProofTexts } from "../text/serverPolicies.ts";
import type { TaskRule } from "../../trajectory/taskRules.ts";
import type { StyleGuide } from "../text/personas.ts";
import type { ServerRecoveries } from "../text/recoveries.ts";
import type { Intent, RecoverySort } from "./intents/intent.ts";
import type { ScenarioPlan } from "./scenarios/scenarioPlan.ts";
import type { CrossServerLink } from "../text/crossServerLinks.ts";
import type { State } from "../../environment/state.ts";

/** How the user continues after an answer. */
export type Continuation = "follow-up" | "clarification";

export type TurnKind = "open" | Continuation;

/** A turn of the user, with what it asks for. */
export interface UserTurn {
  readonly text: string;
  readonly intents: readonly PlannedIntent[];
  /** Calls that the user asks for under a condition that does not hold. */
  readonly conditional?: readonly ConditionalCall[];
  /** What the assistant has to ask before it can continue. */
  readonly question?: string;
  /** Whether it begins by taking away what the turn before has changed. */
  readonly isChangeOfMind?: boolean;
  /** Full names of tools that the user brings with this turn. */
  readonly addedTools?: readonly string[];
  /** The turn without the value that the user adds to its only request. */
  readonly withoutValue?: {
    readonly text: string;
    readonly question: string;
    readonly intent: Intent;
    /** The argument that is left out. */
    readonly key: string;
  };
}

export interface PlannedIntent extends Intent {
  /** What the user wants instead if this is refused, said in the same turn. */
  readonly fallback?: Intent;
  /** The assistant's reply to an intent that the menu has no tool for. */
  readonly blockedReply?: string;
  /** The id of the rule that forbids it. */
  readonly rule?: string;
  /** What a later request of the turn depends on. */
  readonly condition?: {
    /** The field of the result that decides, or `count`. */
    readonly field: string;
    /** What the assistant says if the condition does not hold; absent where it holds. */
    readonly otherwise?: readonly string[];
    /** The user does not ask for what it depends on. */
    readonly isUnasked?: boolean;
  };
}

export interface ConditionalCall {
  /** Full tool name. */
  readonly name: string;
  readonly arguments: JsonObject;
}

/** How often an intent that the session refuses is kept, and how often one is searched for. */
export interface RefusalOdds {
  readonly accept: number;
  readonly seek: number;
}

/** The tools, or names of link steps, that a turn asks for. */
interface ScriptedTurn {
  readonly tools: readonly string[];
  /** The user brings the tool that was missing in the turn before. */
  readonly bringsTool?: boolean;
  /** The user leaves a value out. */
  readonly withholdsValue?: boolean;
  readonly refusalOdds: RefusalOdds;
}

export interface UserPlan {
  readonly session: Session;
  readonly styleGuide: StyleGuide;
  /** Full names of the tools to ask for, in order, or names of link steps. */
  readonly tools: readonly string[];
  /** What each turn asks for; where absent, turns follow from one another. */
  readonly script?: readonly ScriptedTurn[];
  /** What the user has come for; absent where turns follow from a chain of tools. */
  readonly scenario?: ScenarioPlan | undefined;
  /** Steps over links to other servers, by name. */
  readonly linkSteps?: ReadonlyMap<string, LinkStep>;
  readonly info: "complete" | "missing" | "minimal";
  /** How often more is asked for before a request without a value; never where absent. */
  readonly moreBeforeQuestion?: number;
  /** The first turn asks as if a value were left out, and then adds it. */
  readonly addsValue?: boolean | undefined;
  /** The user says everything in one turn. */
  readonly isOneTurn: boolean;
  readonly refusalOdds: RefusalOdds;
  /** The assistant prefers to look things up in whole lists where they are short. */
  readonly prefersLists: boolean;
  /** The longest result that the user asks for, in characters of JSON. */
  readonly maxResultLength?: number;
  /** In characters, where replies have to be short. */
  readonly maxReplyLength?: number | undefined;
  /** The user now and then gives only a part of a name. */
  readonly usesPartialNames?: boolean | undefined;
  /** Sentences before a request that change nothing, and how often there is one. */
  readonly secondThoughts?: {
    readonly texts: Abstentions["secondThoughts"];
    readonly share: number;
  };
  /** The weight with which a tool outside of `tools` is drawn. */
  readonly getToolWeight: (tool: string) => number;
  readonly missingTools?: MissingTools;
  /** The rules that hold in the conversation. */
  readonly rules?: readonly TaskRule[];
  /** What those of them accept that demand a proof, by their ids. */
  readonly proofs?: ReadonlyMap<string, ProofTexts>;
  /** What the assistant has to recover from, where it can: the sorts to try, in this order. */
  readonly recovery?: RecoveryPlan;
  /** If nothing follows from the last turn, the user asks for something unrelated. */
  readonly startsNewTopics?: boolean;
}

interface RecoveryPlan {
  readonly sorts: readonly RecoverySort[];
  readonly recoveries: ServerRecoveries;
}

/** Tools that the user asks for and that are not on the menu. */
interface MissingTools {
  readonly hidden: ReadonlySet<string>;
  readonly templates: MissingCapabilityTemplates;
  /** Nothing that the user asks for can be done. */
  readonly isAll: boolean;
  /** What the user says when the tool is there in a later turn; absent where it stays missing. */
  readonly arrival?: ToolArrivalTexts | undefined;
}

// One step of a conversation across servers, as a plan of the conversation lists it.

/**
 * `from`: the user asks for the first call of the link. `to`: for the call that takes its value.
 */
export interface LinkStep {
  readonly link: CrossServerLink;
  readonly end: "from" | "to";
}

// A request that the assistant has answered without a call.

/**
 * What a user turn asks for and the assistant says that it cannot do or, with `asks`, has to ask
 * about. The intent's call is the one that would fulfil it.
 */
export interface UnmetRequest {
  /** Index of the user turn. */
  readonly turn: number;
  readonly intent: Intent;
  /** The argument that only the user knows. */
  readonly asks?: string;
  /** The id of the rule that forbids it. */
  readonly rule?: string;
  /** The state in which the assistant answers. */
  readonly state: State;
}
