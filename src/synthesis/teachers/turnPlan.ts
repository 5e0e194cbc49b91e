/** What is known of a user turn before a chat model words it. */
import type { Tool } from "../../environment/server.ts";
import type { Event } from "../../trajectory/trajectory.ts";
import type { Persona } from "../text/personas.ts";
import type { EntitySample } from "../user/entityInstance.ts";
import type { Intent } from "../user/intent.ts";
import type { TurnKind, UserTurn } from "../user/userPlan.ts";

export interface TurnPlan {
  /** The turn as the templates word it. */
  readonly plain: string;
  /** Undefined where no tool should be called. */
  readonly turn: UserTurn | undefined;
  readonly kind: TurnKind;
  readonly persona: Persona;
  readonly now: string;
  readonly isMinimal: boolean;
  /** The entities that the conversation can be about. */
  readonly sample: EntitySample | undefined;
  /** The offered tools. */
  readonly tools: readonly Tool[];
  readonly events: readonly Event[];
}

/** Lists the intents of a turn, each followed by its fallback. */
export const listIntents = ({ turn }: Pick<TurnPlan, "turn">): Intent[] =>
  (turn?.intents ?? []).flatMap(it => (it.fallback ? [it, it.fallback] : [it]));

/**
 * Whether the model gets no names beyond the plain wording, because they would reveal what the
 * assistant has to ask or look up.
 */
export const isReticent = ({ turn, isMinimal }: Pick<TurnPlan, "turn" | "isMinimal">): boolean =>
  isMinimal || turn?.question !== undefined;
