/**
 * The user's side of a talk in the words of a chat model: what is wanted is planned on the live
 * session as ever, the model says it, and what it says must hold. Does not know which calls will
 * come of it.
 */
import { z } from "zod";
import type { ChatModel } from "../../policy/chatModel.ts";
import { completeAs } from "../../policy/structured.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import { buildTurnPrompt, type TurnPlan } from "./turnPrompt.ts";
import { findGroundingFlaw, type TextFlaw } from "./grounding.ts";
import { checkTurn, type TurnResult } from "./turnCheck.ts";
import type { TurnKind } from "../user/userPlan.ts";
import type { SimulatedUser } from "./simulatedUser.ts";

/**
 * How freely the model writes at first, and how much more freely after each message that could not
 * be used.
 */
const temperature = { first: 0.8, more: 0.1 };

/** Tokens of a message at most. */
const longestMessage = 600;

const shape = z.strictObject({ text: z.string() });

export interface ChatModelUserOptions {
  readonly model: ChatModel;
  /** Who plans the turns. */
  readonly planner: SimulatedUser;
  /** The plan of the turn that was planned last. */
  readonly plan: (kind: TurnKind, plain: string) => TurnPlan;
  /** Told which wishes were called for, with the answers. */
  readonly onTurnChecked: (done: TurnResult["done"]) => void;
  readonly signal: AbortSignal | undefined;
}

export class ChatModelUser implements SimulatedUser {
  readonly #of: ChatModelUserOptions;
  #plan: TurnPlan | undefined;
  #before: { text: string; complaint: string } | undefined;
  #attempt = 0;
  #flaw: TextFlaw | undefined;

  constructor(speaking: ChatModelUserOptions) {
    this.#of = speaking;
  }

  /** Of the turn that is being said. */
  get plan(): TurnPlan | undefined {
    return this.#plan;
  }

  get stuckReason(): string | undefined {
    return this.#flaw?.complaint ?? this.#of.planner.stuckReason;
  }

  get owesAnswer(): boolean {
    return this.#of.planner.owesAnswer;
  }

  get hasMore(): boolean {
    return this.#of.planner.hasMore;
  }

  /** Asked again within a turn, it says the same thing otherwise. */
  async nextTurn(kind: TurnKind): Promise<string | undefined> {
    const { model, planner, signal } = this.#of;
    if (!this.#plan) {
      const plain = await planner.nextTurn(kind);
      if (plain === undefined) return undefined;
      this.#plan = this.#of.plan(kind, plain);
      this.#attempt = 0;
      this.#before = undefined;
    }
    const heat = temperature.first + temperature.more * this.#attempt++;
    const request = {
      messages: buildTurnPrompt(this.#plan, this.#before),
      temperature: heat,
      maxTokens: longestMessage,
    };
    const answer = await completeAs(model, "user_message", shape, request, signal);
    const text = "value" in answer ? answer.value.text.trim() : "";
    this.#flaw =
      "flaw" in answer
        ? { event: "unusable", complaint: answer.flaw }
        : this.#flawOf(text, this.#plan);
    this.#before =
      this.#flaw && "value" in answer ? { text, complaint: this.#flaw.complaint } : undefined;
    return text;
  }

  #flawOf(text: string, plan: TurnPlan): TextFlaw | undefined {
    const leak = this.#of.planner.findFlaw(text);
    return leak === undefined
      ? findGroundingFlaw(text, plan)
      : { event: leak, complaint: `it ${leak}` };
  }

  findFlaw(): string | undefined {
    return this.#flaw?.event;
  }

  receiveResult(calls: readonly CallEvent[]): string | undefined {
    const plan = this.#plan!;
    this.#plan = undefined;
    const { done, failure: letDown } = checkTurn(plan, calls);
    if (letDown === undefined) this.#of.onTurnChecked(done);
    return letDown;
  }
}
