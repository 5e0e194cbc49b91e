/**
 * An intent: one thing that the user wants, as a call with all its arguments and the clause that
 * asks for it.
 */
import type { Call } from "../../../environment/outcome.ts";
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { Tool } from "../../../environment/server.ts";
import type { ToolDeclaration } from "../../graph/declarations.ts";
import { type EntityInstance, type MentionText, getEntityKey } from "../entities/entitySample.ts";
import type { ClauseTemplate, ReplyTemplate } from "../../text/templates.ts";

export interface Intent {
  readonly tool: Tool;
  readonly arguments: JsonObject;
  /** The instances that the arguments refer to. */
  readonly mentions: readonly EntityMention[];
  readonly clause: string;
  /** The template that the clause was made from, with its alternatives chosen. */
  readonly template: string;
  /** Replies that fit this way of asking; absent where the tool's own replies fit. */
  readonly replies?: readonly ReplyTemplate[];
  /** The clause continues an earlier request and may be a part of a sentence: `to my savings`. */
  readonly isContinued?: boolean;
  /** How each argument was put into words; replies use the same words. */
  readonly argumentTexts: Readonly<Record<string, string>>;
  /** The fields that computed values come from, and the values as the assistant says them. */
  readonly computed?: readonly ValueSource[];
  readonly valueTexts?: Readonly<Record<string, string>>;
  /**
   * A read that the user does not ask for and that has to be made first, because some of the
   * arguments are in its result.
   */
  readonly prerequisite?: { readonly intent: Intent; readonly result: Json };
  /**
   * The arguments of the same read without its limit, which is made first: its result leaves rows
   * out that the user wants.
   */
  readonly firstPage?: JsonObject;
  /** What the assistant has to find out or put right itself first. */
  readonly recovery?: IntentRecovery;
  /** What a rule wants to know from the user first. */
  readonly proof?: IntentProof;
  /** The reason of the rule that forbids what the user would have liked better. */
  readonly insteadOf?: string;
}

/** The clause as the assistant repeats it: with the names of entities as they are spelt. */
export function spellClause({ clause, mentions, argumentTexts, valueTexts }: Intent): string {
  let spelt = clause;
  for (const [key, told] of Object.entries(valueTexts ?? {})) {
    const said = argumentTexts[key];
    const isMisspelt = mentions.some(
      ({ partialName: it }) => it !== undefined && said?.includes(it) && !told.includes(it),
    );
    if (said !== undefined && isMisspelt) spelt = spelt.replace(said, () => told);
  }
  return spelt;
}

/** What the user says about an intent when the assistant asks for it. */
export interface IntentProof {
  /** The id of the rule. */
  readonly rule: string;
  readonly ask: string;
  /** Words of a question for it. */
  readonly about: readonly string[];
  readonly say: string;
  readonly isAccepted: boolean;
  /** What the user says has to be compared with this. */
  readonly source?: ValueSource;
}

/** An instance as a clause refers to it. */
export interface EntityMention extends Omit<MentionText, "text"> {
  readonly instance: EntityInstance;
}

/** The field of an entity that has to be looked at. */
export interface ValueSource {
  readonly mention: EntityMention;
  readonly field: string;
}

/** Values that the result of one call passes on to the arguments of another. */
export interface PassedValues {
  /** By argument. */
  readonly values: Readonly<Record<string, Json>>;
  /** The instances of the other server that are given by their labels, by argument. */
  readonly instances: Readonly<Record<string, EntityInstance>>;
  /** Texts for slots that are not arguments. */
  readonly slotTexts: Readonly<Record<string, string>>;
  readonly prerequisite?: Intent["prerequisite"];
}

/** What an intent is to be created from. */
export interface IntentRequest {
  readonly declaration: ToolDeclaration;
  readonly template: ClauseTemplate;
  /**
   * An earlier intent whose arguments stay, except those that the template has a slot for: they
   * change, unless `isSettled`.
   */
  readonly base?: Intent;
  readonly isSettled?: boolean;
  /** The base intent has been done, and this is another one like it. */
  readonly isRepeated?: boolean;
  /** Instances that the conversation is about, by the argument they may become. */
  readonly flow?: Readonly<Record<string, readonly EntityInstance[]>>;
  /** An argument that is chosen although the template has no slot for it. */
  readonly withheld?: string;
  readonly passed?: PassedValues;
  /** Arguments that are given although the template has no slot for them. */
  readonly determined?: readonly string[];
  /** The user knows what has been done, and may undo it or ask for it again. */
  readonly isDeliberate?: boolean;
}

/** An intent while its arguments are being chosen. */
export interface IntentDraft {
  readonly arguments: Record<string, Json>;
  readonly mentions: EntityMention[];
  readonly argumentTexts: Record<string, string>;
  readonly computed: ValueSource[];
  readonly valueTexts: Record<string, string>;
}

// What an assistant has to find out or put right itself before it can do what the user asked for.
// The user's words allow it; the live session shows that it works.

/**
 * `repair`: the state has to be put right first; `hint`: the refusal says what would work; `page`:
 * a list shows it only with a larger limit; `ambiguous`: a name fits several; `stale`: what the
 * user says no longer holds.
 */
export type RecoverySort = (typeof recoverySorts)[number];

export const recoverySorts = ["repair", "hint", "page", "ambiguous", "stale"] as const;

export interface IntentRecovery {
  readonly sort: RecoverySort;
  /** The arguments of the call that is tried first and refused; absent if nothing is refused. */
  readonly refused?: JsonObject;
  /** The calls between the refusal and the intent's own call. */
  readonly steps: readonly Call[];
  /** Sentences for the reply, one of each list, with the slots of a reply. */
  readonly told: readonly (readonly string[])[];
}

// Rules about which intents and clauses make sense next to each other.

/**
 * Whether an intent changes the only instance that the one before has changed, or removes what it
 * has just created.
 */
export function isReversal(before: Intent | undefined, intent: Intent): boolean {
  const [mention, ...others] = intent.mentions;
  if (!before || !mention || others.length > 0) return false;
  if (before.tool.effect === "read" || intent.tool.effect === "read") return false;
  const { instance } = mention;
  if (before.mentions.length === 1)
    return getEntityKey(before.mentions[0]!.instance) === getEntityKey(instance);
  return (
    intent.tool.destructive && before.mentions.every(it => it.instance.entity !== instance.entity)
  );
}

/** Other destructive tools overwrite something, such as a limit, or go on with it. */
const withdrawalNames =
  /_(cancel|clear|delete|drop|remove|retract|revoke|rm|undo|void|withdraw)(_|$)/;

/** Whether a tool takes something away. */
export const takesAway = ({ name, destructive }: Pick<Tool, "name" | "destructive">): boolean =>
  destructive && withdrawalNames.test(name);

/** Whether an intent takes away what the one before has changed or made part of something. */
export const isWithdrawal = (before: Intent | undefined, intent: Intent): boolean =>
  before?.tool.effect === "write" &&
  takesAway(intent.tool) &&
  intent.mentions.some(({ instance }) =>
    before.mentions.some(it => getEntityKey(it.instance) === getEntityKey(instance)),
  );

/** Whether an argument changes in a way that can follow a refusal: a number becomes smaller. */
export function isAcceptableChange(intent: Intent, refused: Intent, key: string): boolean {
  const [now, before] = [intent.arguments[key], refused.arguments[key]];
  return typeof now === "number" && typeof before === "number" ? now < before : now !== before;
}

const singularWords =
  /\b(it|its|is|has|was|does|ends|who|whose|that|which|whether|how|what|one|and)\b/;

/** Whether a clause reads well with two names in one slot: not "the folder A and B". */
export const canNameTwo = (template: string, key: string): boolean =>
  !singularWords.test(template) &&
  new RegExp(
    `^[^{]*(\\{\\w+\\}[^{]*)*(?<!\\bthe \\w+ )\\{${key}\\}(,|$| (from|to|into|in|on|with|for|at|by|out|right|at once|too|off|as|until|now)\\b)`,
  ).test(template);

/** Whether the last sentence of a reply reports that nothing was found. */
export const reportsNothing = (reply: string): boolean =>
  /^(No\b|None|Nobody|Nothing|Never|Not yet|There (is|are|was|were) (no|none|nothing)\b|I found (no|none|nothing)\b|I see (no|none)\b)/.test(
    reply.split(/(?<=[.!?]) /).at(-1)!,
  );
