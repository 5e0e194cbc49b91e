/**
 * The user's side of a conversation, worded by a chat model. The intents are planned on the live
 * session as usual; the model's text must say them and nothing else.
 */
import { z } from "zod";
import type { ChatModel } from "../../policy/chatModel.ts";
import { completeStructured } from "../../policy/structuredOutput.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import type { TurnKind } from "../user/userPlan.ts";
import { findGroundingFlaw, type TextFlaw } from "./grounding.ts";
import type { SimulatedUser } from "./simulatedUser.ts";
import { checkTurn, type TurnResult } from "./turnCheck.ts";
import type { TurnPlan } from "./turnPlan.ts";
import { buildTurnPrompt, type RejectedText } from "./turnPrompt.ts";

/** The sampling temperature of the first attempt, and the increase per further attempt. */
const temperature = { first: 0.8, increase: 0.1 };

/** Tokens of a message. */
const maxTokens = 600;

const messageSchema = z.strictObject({ text: z.string() });

export interface ChatModelUserOptions {
  readonly model: ChatModel;
  /** Plans the turns. */
  readonly planner: SimulatedUser;
  /** Returns the plan of the latest turn. `plain`: its text by the templates. */
  readonly getPlan: (kind: TurnKind, plain: string) => TurnPlan;
  /** Called with the calls that were made for the turn's intents. */
  readonly onTurnChecked: (done: TurnResult["done"]) => void;
  readonly signal: AbortSignal | undefined;
}

export class ChatModelUser implements SimulatedUser {
  readonly #options: ChatModelUserOptions;
  #plan: TurnPlan | undefined;
  #rejected: RejectedText | undefined;
  #attempt = 0;
  #flaw: TextFlaw | undefined;

  constructor(options: ChatModelUserOptions) {
    this.#options = options;
  }

  /** The plan of the current turn. */
  get plan(): TurnPlan | undefined {
    return this.#plan;
  }

  get stuckReason(): string | undefined {
    return this.#flaw?.complaint ?? this.#options.planner.stuckReason;
  }

  get owesAnswer(): boolean {
    return this.#options.planner.owesAnswer;
  }

  get hasMore(): boolean {
    return this.#options.planner.hasMore;
  }

  /** A further call within a turn words the same plan again. */
  async nextTurn(kind: TurnKind): Promise<string | undefined> {
    const { model, planner, getPlan, signal } = this.#options;
    if (!this.#plan) {
      const plain = await planner.nextTurn(kind);
      if (plain === undefined) return undefined;
      this.#plan = getPlan(kind, plain);
      this.#attempt = 0;
      this.#rejected = undefined;
    }
    const request = {
      messages: buildTurnPrompt(this.#plan, this.#rejected),
      temperature: temperature.first + temperature.increase * this.#attempt++,
      maxTokens,
    };
    const answer = await completeStructured(model, "user_message", messageSchema, request, signal);
    if ("flaw" in answer) {
      this.#flaw = { event: "unusable", complaint: answer.flaw };
      this.#rejected = undefined;
      return "";
    }
    const text = answer.value.text.trim();
    this.#flaw = this.#checkText(text, this.#plan);
    this.#rejected = this.#flaw && { text, complaint: this.#flaw.complaint };
    return text;
  }

  #checkText(text: string, plan: TurnPlan): TextFlaw | undefined {
    const leak = this.#options.planner.findFlaw(text);
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
    const { done, failure } = checkTurn(plan, calls);
    if (failure === undefined) this.#options.onTurnChecked(done);
    return failure;
  }
}
