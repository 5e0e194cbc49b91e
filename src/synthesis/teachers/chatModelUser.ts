/**
 * The user's side of a talk in the words of a chat model: what is wanted is planned on the live
 * session as ever, the model says it, and what it says must hold. Does not know which calls will
 * come of it.
 */
import { z } from "zod";
import type { ChatModel } from "../../policy/chatModel.ts";
import { completeAs } from "../../policy/structured.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import { askedFor, type Plan } from "./turnPrompt.ts";
import { ungrounded, type Flaw } from "./grounding.ts";
import { judged, type Heard } from "./turnCheck.ts";
import type { Continuation, Speaker } from "../pipeline/stateMachine.ts";

/**
 * How freely the model writes at first, and how much more freely after each message that could not
 * be used.
 */
const temperature = { first: 0.8, more: 0.1 };

/** Tokens of a message at most. */
const longestMessage = 600;

const shape = z.strictObject({ text: z.string() });

export interface Speaking {
  readonly model: ChatModel;
  /** Who plans the turns. */
  readonly planner: Speaker;
  /** The plan of the turn that was planned last. */
  readonly plan: (kind: "open" | Continuation, plain: string) => Plan;
  /** Told which wishes were called for, with the answers. */
  readonly heard: (done: Heard["done"]) => void;
  readonly signal: AbortSignal | undefined;
}

export class EndpointSpeaker implements Speaker {
  readonly #of: Speaking;
  #plan: Plan | undefined;
  #before: { text: string; complaint: string } | undefined;
  #attempt = 0;
  #flaw: Flaw | undefined;

  constructor(speaking: Speaking) {
    this.#of = speaking;
  }

  /** Of the turn that is being said. */
  get plan(): Plan | undefined {
    return this.#plan;
  }

  get stuck(): string | undefined {
    return this.#flaw?.complaint ?? this.#of.planner.stuck;
  }

  get owes(): boolean {
    return this.#of.planner.owes;
  }

  get hasMore(): boolean {
    return this.#of.planner.hasMore;
  }

  /** Asked again within a turn, it says the same thing otherwise. */
  async say(kind: "open" | Continuation): Promise<string | undefined> {
    const { model, planner, signal } = this.#of;
    if (!this.#plan) {
      const plain = await planner.say(kind);
      if (plain === undefined) return undefined;
      this.#plan = this.#of.plan(kind, plain);
      this.#attempt = 0;
      this.#before = undefined;
    }
    const heat = temperature.first + temperature.more * this.#attempt++;
    const request = {
      messages: askedFor(this.#plan, this.#before),
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

  #flawOf(text: string, plan: Plan): Flaw | undefined {
    const leak = this.#of.planner.flaw(text);
    return leak === undefined ? ungrounded(text, plan) : { event: leak, complaint: `it ${leak}` };
  }

  flaw(): string | undefined {
    return this.#flaw?.event;
  }

  heard(calls: readonly CallEvent[]): string | undefined {
    const plan = this.#plan!;
    this.#plan = undefined;
    const { done, letDown } = judged(plan, calls);
    if (letDown === undefined) this.#of.heard(done);
    return letDown;
  }
}
