/**
 * The roles of a conversation during synthesis: the simulated user, who produces turns and receives
 * their results, and the teacher, the policy that answers. The simplest teacher, which refuses
 * everything, is here too.
 */
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import type { Fact } from "../../trajectory/task.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import type { TurnKind } from "../user/userPlan.ts";
import type { Random } from "../../environment/random.ts";
import type { StyleGuide } from "../text/personas.ts";

/** How the assistant continues after a failed call. */
export type Recovery = "retry" | "alternative" | "give-up";

/** Why a read was made: for its values, or because the user asked for the facts. */
export type ReadPurpose =
  { readonly for: "feeds" } | { readonly for: "answers"; readonly facts: readonly Fact[] };

/**
 * Answers the user during synthesis. The state machine chooses the recovery; the teacher lists the
 * recoveries that it can carry out.
 */
export interface Teacher {
  readonly name: string;
  /** `complaint`: what was wrong with its previous message, which was not used. */
  next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
    complaint?: string,
  ): Promise<AssistantMessage>;
  listRecoveries(failed: CallEvent): readonly Recovery[];
  /** Why it made a read that succeeded; undefined where nobody knows. */
  getPurpose?(call: CallEvent): ReadPurpose | undefined;
  /**
   * The user's answer to the message just sent, which asked for a confirmation; undefined after any
   * other message.
   */
  takeAnswer?(): string | undefined;
  /** Why a reply may not be used, or undefined. */
  findFlaw?(text: string): string | undefined;
}

// The interface of the simulated user, which produces turns and receives their results.

/** Produces the user's turns. */
export interface SimulatedUser {
  nextTurn(kind: TurnKind): string | undefined | Promise<string | undefined>;
  /** Full names of tools that the latest turn brings. */
  readonly addedTools?: readonly string[] | undefined;
  /** Why `nextTurn` returned no text. */
  readonly stuckReason: string | undefined;
  /** Why a text may not be used, or undefined. */
  findFlaw(text: string): string | undefined;
  /** The conversation cannot end yet: the assistant asked a question that the user must answer. */
  readonly owesAnswer: boolean;
  /** The user has more to ask for. */
  readonly hasMore: boolean;
  /**
   * Takes the calls of the turn and how it ended. Returns why the conversation cannot continue, or
   * undefined.
   */
  receiveResult(calls: readonly CallEvent[], end: "answered" | "given-up"): string | undefined;
}

// A teacher that makes no calls and says that none of its tools can help.

export class RefusingTeacher implements Teacher {
  readonly name = "graph";
  readonly #texts: readonly string[];
  readonly #first: number;

  constructor({ cannot }: StyleGuide, random: Random) {
    this.#texts = cannot;
    this.#first = cannot.indexOf(random.pick(cannot));
  }

  /** Uses another sentence in each turn. */
  async next({ events }: Conversation): Promise<AssistantMessage> {
    const turn = events.filter(it => it.kind === "user").length - 1;
    return { text: this.#texts[(this.#first + turn) % this.#texts.length]!, calls: [] };
  }

  listRecoveries(): readonly Recovery[] {
    return ["give-up"];
  }
}
