/**
 * A teacher that asks the user before it makes calls that a rule wants confirmed, or before which
 * it wants to know something. It asks for a confirmation once in a turn, about everything in it
 * that has to be confirmed, and the user agrees.
 */
import { canonicalJson } from "../../environment/json.ts";
import type { Random } from "../../environment/random.ts";
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import { appliesTo, type TaskRule } from "../../trajectory/taskRules.ts";
import { startsTurn, type CallEvent } from "../../trajectory/trajectory.ts";
import { renderConfirmation, type ConfirmationTexts } from "../text/refusals.ts";
import { spellClause, type IntentProof } from "../user/intents/intent.ts";
import type { UserSimulator } from "../user/userSimulator.ts";
import type { Recovery, Teacher } from "./teacher.ts";

interface ConfirmingOptions {
  readonly simulator: UserSimulator;
  readonly rules: readonly TaskRule[];
  readonly texts: ConfirmationTexts;
  readonly random: Random;
}

export class ConfirmingTeacher implements Teacher {
  readonly name: string;
  /** Whether it has asked for a confirmation in this conversation. */
  hasAsked = false;
  readonly #inner: Teacher;
  readonly #options: ConfirmingOptions;
  /** The message that follows when the user has answered, and the answer. */
  #pending: { readonly message: AssistantMessage; readonly answer: string } | undefined;
  readonly #proven = new Set<IntentProof>();
  /** The number of the turn in which the user has agreed last. */
  #agreedIn = 0;

  constructor(inner: Teacher, options: ConfirmingOptions) {
    this.name = inner.name;
    this.#inner = inner;
    this.#options = options;
  }

  async next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
    complaint?: string,
  ): Promise<AssistantMessage> {
    const { rules, texts, random } = this.#options;
    const pending = this.#pending?.message;
    this.#pending = undefined;
    const turn = conversation.events.filter(startsTurn).length;
    const message = pending ?? (await this.#inner.next(conversation, recovery, complaint));
    const proof = this.#findUnproven(message);
    if (proof) {
      this.#proven.add(proof);
      this.#pending = { message, answer: proof.say };
      return { text: proof.ask, calls: [] };
    }
    const rule = rules.find(
      it => it.demands === "confirm" && message.calls.some(call => appliesTo(it, call)),
    );
    if (!rule || this.#agreedIn === turn) return message;
    this.hasAsked = true;
    this.#agreedIn = turn;
    this.#pending = { message, answer: random.pick(texts.agree) };
    return { text: this.#renderQuestion(message), calls: [] };
  }

  /** The user's answer to the question that was just asked; undefined if none was. */
  takeAnswer(): string | undefined {
    return this.#pending?.answer;
  }

  /** What a rule wants to know before the calls of a message, or before it refuses a request. */
  #findUnproven({ calls }: AssistantMessage): IntentProof | undefined {
    return this.#options.simulator.turn.intents.find(
      ({ proof, blockedReply, tool, arguments: args }) =>
        proof !== undefined &&
        // the same reason counts for all requests of the turn
        !this.#proven.has(proof) &&
        (blockedReply === undefined
          ? calls.some(
              it => it.name === tool.name && canonicalJson(it.arguments) === canonicalJson(args),
            )
          : calls.length === 0),
    )?.proof;
  }

  getPurpose(call: CallEvent): ReturnType<NonNullable<Teacher["getPurpose"]>> {
    return this.#inner.getPurpose?.(call);
  }

  listRecoveries(failed: CallEvent): readonly Recovery[] {
    return this.#inner.listRecoveries(failed);
  }

  /** The question about everything in the turn that has to be confirmed. */
  #renderQuestion({ calls }: AssistantMessage): string {
    const { simulator, texts, random } = this.#options;
    const rules = this.#options.rules.filter(it => it.demands === "confirm");
    const isConfirmed = (call: Parameters<typeof appliesTo>[1]) =>
      rules.some(it => appliesTo(it, call));
    const intents = simulator.turn.intents.filter(({ tool, arguments: args, fallback }) => {
      const other = fallback && { name: fallback.tool.name, arguments: fallback.arguments };
      const isFallback = other && calls.some(it => it.name === other.name) && isConfirmed(other);
      return isFallback || isConfirmed({ name: tool.name, arguments: args });
    });
    const clauses = intents.map(it => (it.isContinued ? undefined : spellClause(it)));
    const asked = [
      ...calls,
      ...intents.map(it => ({ name: it.tool.name, arguments: it.arguments })),
    ];
    const reasons = rules.filter(it => asked.some(call => appliesTo(it, call)));
    const because = reasons.map(it => it.because).join(", and ");
    return renderConfirmation(because, clauses, texts, random);
  }
}
