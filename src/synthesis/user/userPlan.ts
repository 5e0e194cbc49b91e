/**
 * What the user's side of a talk is told and tells: the plot, the turns that come of it, and what
 * makes a wish unlikely beside the one before it. Values and judgements only.
 */
import type { Session } from "../../environment/session.ts";
import type { LinkStep } from "./crossServerIntents.ts";
import type { MissingCapabilityTemplates } from "../text/missingCapability.ts";
import type { StyleGuide } from "../text/personas.ts";
import type { FeasibilityResult } from "./feasibility.ts";
import { entityKey } from "./lookUps.ts";
import type { Intent } from "./intent.ts";

/** What a user turn asks for, as the teacher is told it. */
export interface UserTurn {
  readonly text: string;
  readonly intents: readonly PlannedIntent[];
  /** What the assistant has to ask before it can go on. */
  readonly question?: string;
}

export interface PlannedIntent extends Intent {
  /** What the user said to do if this one is refused. */
  readonly fallback?: Intent;
  /** Why it cannot be done, and what the assistant says to that. */
  readonly blockedReply?: string;
}

export interface UserPlan {
  readonly session: Session;
  readonly styleGuide: StyleGuide;
  /** Full tool names of what is wanted, in order, or names of steps. */
  readonly tools: readonly string[];
  /**
   * What each turn asks for, tools or steps, and how likely it is refused; where absent, one thing
   * leads to another.
   */
  readonly script?: readonly {
    readonly tools: readonly string[];
    readonly refusals: UserPlan["refusalOdds"];
  }[];
  /** Wishes over bridges to other servers, by name. */
  readonly linkSteps?: ReadonlyMap<string, LinkStep>;
  readonly info: "complete" | "missing" | "minimal";
  /** The user says everything in one turn. */
  readonly isOneTurn: boolean;
  /**
   * Of the wishes that the session would refuse, the share that are said all the same; and of
   * those, the share that are looked for.
   */
  readonly refusalOdds: { readonly met: number; readonly courted: number };
  /** Look-ups by a whole list, where it is short. */
  readonly prefersLists: boolean;
  /** Characters of a result that is asked for. */
  readonly maxResultLength?: number;
  /** Letters of an answer, where it has to be short. */
  readonly maxReplyLength?: number | undefined;
  /** People half say names. */
  readonly usesPartialNames?: boolean | undefined;
  /** The weight by which a tool is chosen that the chain does not name. */
  readonly getToolWeight: (tool: string) => number;
  /**
   * Tools that are not to be had, and what is said to that: of a talk in which nothing can be done,
   * all that is asked for.
   */
  readonly missingTools?: {
    readonly hidden: ReadonlySet<string>;
    readonly words: MissingCapabilityTemplates;
    readonly isAll: boolean;
  };
  /** Where nothing follows from what was said, something else is asked for. */
  readonly startsNewTopics?: boolean;
}

/** Why a trial is of no use. */
export const describeProblem = (trial: FeasibilityResult | string): string =>
  typeof trial === "string"
    ? trial
    : trial.outcome.kind === "ok"
      ? "nothing in the result"
      : trial.outcome.message;

/**
 * Two changes in a row to one and the same thing and nothing else, or the end of what has just been
 * made.
 */
export function isReversal(before: Intent | undefined, wish: Intent): boolean {
  const [thing, ...others] = wish.mentions;
  if (
    !before ||
    !thing ||
    others.length > 0 ||
    before.tool.effect === "read" ||
    wish.tool.effect === "read"
  )
    return false;
  if (before.mentions.length === 1)
    return entityKey(before.mentions[0]!.instance) === entityKey(thing.instance);
  return (
    wish.tool.destructive &&
    before.mentions.every(it => it.instance.entity !== thing.instance.entity)
  );
}

/** An amount comes down; anything else is another. */
export function isAcceptableChange(wish: Intent, refused: Intent, key: string): boolean {
  const [now, before] = [wish.arguments[key], refused.arguments[key]];
  return typeof now === "number" && typeof before === "number" ? now < before : now !== before;
}

/** What leads to the second choice where that is something else. */
export const fallbackLeads = [
  "if that is not possible,",
  "if that does not work,",
  "if it cannot be done,",
  "should that be impossible,",
];

/** Clauses that speak of one thing only. */
const twinless = /\b(it|its|is|has|was|does|ends|who|whose|that|which|whether|how|what|one|and)\b/;

/**
 * Whether a clause still reads well with two things in one place: nothing in it speaks of one, and
 * nothing hangs on the name.
 */
export const canNameTwo = (template: string, key: string): boolean =>
  !twinless.test(template) &&
  new RegExp(
    `^[^{]*(\\{\\w+\\}[^{]*)*\\{${key}\\}(,|$| (from|to|into|in|on|with|for|at|by|out|right|at once|too|off|as|until|now)\\b)`,
  ).test(template);

/** Whether the last sentence of an answer is that there is nothing. */
export const reportsNothing = (answer: string): boolean =>
  /^(No\b|None|Nobody|Nothing|Never|Not yet|There (is|are|was|were) (no|none|nothing)\b|I found (no|none|nothing)\b|I see (no|none)\b)/.test(
    answer.split(/(?<=[.!?]) /).at(-1)!,
  );
