/**
 * An intent: one thing that the user wants, as a call with all its arguments and the clause that
 * asks for it.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Tool } from "../../environment/server.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import type { EntityInstance } from "./entityInstance.ts";
import type { ClauseTemplate, ReplyTemplate } from "../text/templateSchema.ts";
import type { IntentRecovery } from "./intentRecovery.ts";

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
  /**
   * A read that the user does not ask for and that has to be made first, because some of the
   * arguments are in its result.
   */
  readonly prerequisite?: { readonly intent: Intent; readonly result: Json };
  /** What the assistant has to find out or put right itself first. */
  readonly recovery?: IntentRecovery;
}

/** An instance as a clause refers to it. */
export interface EntityMention {
  readonly instance: EntityInstance;
  /** The clause contains the id itself, so that no look-up is needed. */
  readonly isIdSpoken: boolean;
  /** The words in place of the instance's label or id, where they are only a part of it. */
  readonly partialName?: string | undefined;
  /** The partial name fits several, which the user tells apart by something else. */
  readonly isAmbiguous?: boolean | undefined;
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
}
