/** The interface of the simulated user, which produces turns and receives their results. */
import type { CallEvent } from "../../trajectory/trajectory.ts";
import type { TurnKind } from "../user/userPlan.ts";

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
