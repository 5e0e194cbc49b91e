/** The context in which the user simulator puts an intent into words. */
import type { Json } from "../../environment/json.ts";
import type { Random } from "../../environment/random.ts";
import type { Declarations } from "../graph/declarations.ts";
import type { Persona, StyleGuide } from "../text/personas.ts";
import type { ServerTemplates } from "../text/templates.ts";
import type { EntityInstance, EntitySample, MentionText } from "./entities/entitySample.ts";

/**
 * What a conversation can be about: the tools of one or several servers, their texts and entities.
 */
export interface ConversationDomain {
  readonly declarations: Declarations;
  readonly templates: ServerTemplates;
  readonly sample: EntitySample;
}

export interface ConversationContext extends ConversationDomain {
  readonly persona: Persona;
  readonly now: string;
  readonly random: Random;
  /** Instances that results have shown or the user has named, by `getEntityKey`. */
  readonly known: ReadonlyMap<string, EntityInstance>;
  /**
   * Instances, by `getEntityKey`, that calls have made and whose ids the user has not been told.
   * The user does not say these ids.
   */
  readonly untoldIds?: ReadonlySet<string>;
  /** Instances of the last intent: the next one may be about them. */
  readonly focus: readonly EntityInstance[];
  /**
   * Instances that this turn has named or made, or else the turn before with what its reply told:
   * `it` can only refer to the one instance of its entity among them.
   */
  readonly recent: readonly EntityInstance[];
  /** Instances that the last reply listed, in its order: "the second one" refers to one of them. */
  readonly listed?: readonly EntityInstance[];
  /** Templates for a value that the user corrects in the same sentence. */
  readonly corrections?: StyleGuide["corrections"];
  /** In characters, where replies have to be short. */
  readonly maxReplyLength?: number | undefined;
  /** The user now and then gives only a part of a name. */
  readonly usesPartialNames?: boolean | undefined;
  /** Names are given in full, because nothing would search for a part of them. */
  readonly usesFullNames?: boolean;
  /** The only words for some instances, by `getEntityKey`. */
  readonly wordings?: ReadonlyMap<string, MentionText>;
  /** Entities are named in as few words as possible. */
  readonly isMinimal: boolean;
  /** How often a day in a request is said by its distance from today. */
  readonly relativeDateShare?: number;
  /** How often a value is said by what is there now; never where absent. */
  readonly computedShare?: number;
  /** How often a name is misspelt; never where absent. */
  readonly misspeltShare?: number;
  /** How often a change is asked for several things at once; only now and then for two if absent. */
  readonly severalShare?: number;
  /** An example of a schema with the names and dates of the session's world. */
  readonly localize?: (example: Json) => Json;
}
