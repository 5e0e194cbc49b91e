/**
 * The conversation as an explicit state machine: the user's turns, the teacher's messages, the live
 * calls, and what happens when a call fails. Every transition is logged, so a rejected conversation
 * explains itself. Does not know who writes or who teaches.
 */
import { findTypeMismatch } from "../../environment/typeCheck.ts";
import type { Session } from "../../environment/session.ts";
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import {
  createCallEvent,
  getCallFault,
  type CallEvent,
  type Event,
} from "../../trajectory/trajectory.ts";
import type { Random } from "../../environment/random.ts";
import type { State, Transition } from "./stateLog.ts";
import type { Continuation, SimulatedUser } from "../teachers/simulatedUser.ts";
import type { Recovery, Teacher } from "../teachers/teacher.ts";

export interface ConversationSetup {
  readonly session: Session;
  readonly user: SimulatedUser;
  readonly teacher: Teacher;
  readonly conversation: Conversation & { readonly events: Event[] };
  readonly random: Random;
  /** Turns after which the talk ends; 1 for a talk of one turn. */
  readonly minTurns: number;
  readonly maxTurns: number;
}

export interface ConversationResult {
  readonly log: readonly Transition[];
  /** Why it was rejected, in a word and in full; absent where it finished. */
  readonly rejected?: { readonly reason: string; readonly explanation: string };
}

const limits = { queries: 3, messages: 3, callsInTurn: 10, retriesOfCall: 2, retriesInTurn: 3 };

/** After two turns as the paper's schedule has it; after one, on. */
const odds = { first: { followUp: 0.75 }, second: { end: 0.5, followUp: 0.375 } };

/** Runs a conversation to its end on the live session; its events are appended to the talk. */
export async function runConversation(
  conversation: ConversationSetup,
): Promise<ConversationResult> {
  const run = new ConversationRun(conversation);
  while (run.state !== "finish" && run.state !== "reject") await run.step();
  return { log: run.log, ...(run.rejected ? { rejected: run.rejected } : {}) };
}

class ConversationRun {
  state: State = "query";
  rejected: ConversationResult["rejected"];
  readonly log: Transition[] = [];
  readonly #of: ConversationSetup;
  #turn = 1;
  #attempt = 1;
  #kind: "open" | Continuation = "open";
  #text = "";
  #message = 0;
  #answer: AssistantMessage | undefined;
  #calls: CallEvent[] = [];
  #failed: CallEvent | undefined;
  #recovery: { kind: Recovery; failed: CallEvent } | undefined;
  /** What was wrong with the message before. */
  #complaint: string | undefined;
  #retries = 0;
  #gaveUp = false;
  #ofCall = new Map<string, number>();

  constructor(conversation: ConversationSetup) {
    this.#of = conversation;
  }

  async step(): Promise<void> {
    switch (this.state) {
      case "query":
        return this.#query();
      case "check-query":
        return this.#checkQuery();
      case "turn":
        return this.#begin();
      case "ask":
        return this.#ask();
      case "check-calls":
        return this.#checkCalls();
      case "regenerate":
        return this.#regenerate();
      case "execute":
        return this.#execute();
      case "success":
        return this.#calls.length >= limits.callsInTurn
          ? this.#reject("too many calls", "length")
          : this.#go("on", "ask");
      case "partial":
      case "failure":
        return this.#weigh();
      case "recover":
        return this.#go(
          this.#recovery!.kind,
          this.#recovery!.kind === "give-up" ? "respond" : "ask",
        );
      case "respond":
        return this.#respond();
      case "continue":
        return this.#continue();
      case "finish":
      case "reject":
        return;
      default:
        return this.state satisfies never;
    }
  }

  #go(event: string, to: State): void {
    this.log.push({ t: this.#turn, from: this.state, event, to, attempt: this.#attempt });
    this.state = to;
  }

  #reject(event: string, reason: string, why = event): void {
    this.rejected = { reason, explanation: why };
    this.#go(event, "reject");
  }

  async #query(): Promise<void> {
    const text = await this.#of.user.nextTurn(this.#kind);
    if (text === undefined) {
      const { owesAnswer, stuckReason } = this.#of.user;
      return this.#turn > 1 && !owesAnswer
        ? this.#go("nothing more to say", "finish")
        : this.#reject("nothing to say", "query", stuckReason);
    }
    this.#text = text;
    this.#go("text", "check-query");
  }

  #checkQuery(): void {
    const flaw = this.#of.user.findFlaw(this.#text);
    if (flaw === undefined) return this.#go("sound", "turn");
    if (this.#attempt >= limits.queries)
      return this.#reject(flaw, "query", this.#of.user.stuckReason);
    this.#go(flaw, "query");
    this.#attempt++;
  }

  #begin(): void {
    this.#of.conversation.events.push({ kind: "user", text: this.#text });
    this.#attempt = 1;
    this.#calls = [];
    this.#retries = 0;
    this.#gaveUp = false;
    this.#recovery = undefined;
    this.#go("said", "ask");
  }

  async #ask(): Promise<void> {
    const recovery = this.#recovery;
    this.#recovery = undefined;
    this.#answer = await this.#of.teacher.next(this.#of.conversation, recovery, this.#complaint);
    this.#complaint = undefined;
    const { calls, text, cut } = this.#answer;
    if (cut || (calls.length === 0 && text.trim() === ""))
      return this.#again(cut ? "cut" : "empty");
    this.#go(calls.length > 0 ? "calls" : "text", calls.length > 0 ? "check-calls" : "respond");
  }

  /** Names and types only: what the server thinks of a call is for the live session to say. */
  #checkCalls(): void {
    const { tools } = this.#of.conversation;
    for (const { name, arguments: args } of this.#answer!.calls) {
      const tool = tools.find(it => it.name === name);
      if (!tool) return this.#again("no such tool", `there is no tool ${name}`);
      const why = findTypeMismatch(tool.inputSchema, args);
      if (why !== undefined) return this.#again("bad arguments", `${name}: ${why}`);
    }
    this.#go("well formed", "execute");
  }

  /** Another message, because of what was wrong with this one. */
  #again(event: string, complaint = event): void {
    this.#complaint = complaint;
    this.#go(event, "regenerate");
  }

  #regenerate(): void {
    if (this.#attempt >= limits.messages) return this.#reject("no usable message", "teacher");
    this.#go("again", "ask");
    this.#attempt++;
  }

  #execute(): void {
    const { session, conversation } = this.#of;
    const message = this.#message++;
    conversation.events.push({ kind: "assistant", message, text: this.#answer!.text });
    this.#attempt = 1;
    const events = this.#answer!.calls.map(it =>
      createCallEvent(message, it.name, it.arguments, session.call(it.name, it.arguments)),
    );
    conversation.events.push(...events);
    this.#calls.push(...events);
    const failed = events.filter(it => it.outcome.kind !== "ok");
    if (events.some(it => it.outcome.kind === "broken"))
      return this.#reject(
        "broke",
        "broken",
        `${failed[0]!.name} broke (${getCallFault(failed[0]!)?.message})`,
      );
    this.#failed = failed[0];
    if (failed.length === 0) this.#go("all ok", "success");
    else if (failed.length < events.length) this.#go("some ok", "partial");
    else this.#go("none ok", "failure");
  }

  /**
   * The machine chooses the recovery: by what the refusal was, and by what the teacher could do
   * about it.
   */
  #weigh(): void {
    const failed = this.#failed!;
    const fault = getCallFault(failed)!;
    const key = `${failed.name} ${JSON.stringify(failed.arguments)}`;
    const times = (this.#ofCall.get(key) ?? 0) + 1;
    this.#ofCall.set(key, times);
    const mayRetry = times <= limits.retriesOfCall && this.#retries < limits.retriesInTurn;
    const means = this.#of.teacher.listRecoveries(failed);
    const wished: Recovery[] =
      fault.type === "invalid_params" || fault.type === "not_found"
        ? ["retry", "alternative"]
        : ["alternative", "retry"];
    const kind = (mayRetry && wished.find(it => means.includes(it))) || "give-up";
    this.#retries++;
    this.#recovery = { kind, failed };
    this.#go(fault.type ?? fault.kind, "recover");
    this.#attempt = this.#retries;
  }

  async #respond(): Promise<void> {
    if (this.#recovery?.kind === "give-up") {
      this.#gaveUp = true;
      this.#answer = await this.#of.teacher.next(this.#of.conversation, this.#recovery);
    }
    const text = this.#answer!.text.trim();
    const flaw = text === "" ? "empty" : this.#of.teacher.findFlaw?.(text);
    if (flaw !== undefined) return this.#again(text === "" ? flaw : "leaks", flaw);
    this.#of.conversation.events.push({ kind: "assistant", message: this.#message++, text });
    const letDown = this.#of.user.receiveResult(
      this.#calls,
      this.#gaveUp ? "given-up" : "answered",
    );
    if (letDown !== undefined) return this.#reject("not done", "teacher", letDown);
    this.#attempt = 1;
    this.#go(this.#gaveUp ? "gave up" : "answered", "continue");
  }

  #continue(): void {
    const { random, minTurns, maxTurns, user } = this.#of;
    const next = this.#drawn(random);
    const isOver =
      this.#turn >= maxTurns || (this.#turn >= minTurns && next === "end" && !user.hasMore);
    if (isOver && !user.owesAnswer) return this.#go("end", "finish");
    this.#kind = next === "end" ? "follow-up" : next;
    this.#go(this.#kind, "query");
    this.#turn++;
  }

  #drawn(random: Random): Continuation | "end" {
    const x = random.next();
    if (this.#turn < 2) return x < odds.first.followUp ? "follow-up" : "clarification";
    if (x < odds.second.end) return "end";
    return x < odds.second.end + odds.second.followUp ? "follow-up" : "clarification";
  }
}
