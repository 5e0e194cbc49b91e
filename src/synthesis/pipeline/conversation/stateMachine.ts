/**
 * Runs a conversation as an explicit state machine: the user's turns, the teacher's messages, the
 * live calls, and the recovery from a failed call. Every transition is logged, so that the log of a
 * rejected conversation shows why it was rejected.
 */
import { findTypeMismatch } from "../../../environment/argumentChecks.ts";
import type { Random } from "../../../environment/random.ts";
import type { AssistantMessage } from "../../../policy/policy.ts";
import { createCallEvent, getCallFault, type CallEvent } from "../../../trajectory/trajectory.ts";
import type { Recovery } from "../../teachers/teacher.ts";
import type { Continuation, TurnKind } from "../../user/userPlan.ts";
import type { ConversationResult, ConversationSetup } from "./conversation.ts";
import type { State, Transition } from "./stateLog.ts";

const limits = { queries: 3, messages: 3, callsInTurn: 10, retriesOfCall: 2, retriesInTurn: 3 };

/** How a conversation continues after the first turn and after later turns, as in the paper. */
const odds = { first: { followUp: 0.75 }, second: { end: 0.5, followUp: 0.375 } };

/**
 * Runs a conversation to its end on the live session, and appends its events to the conversation.
 */
export async function runConversation(setup: ConversationSetup): Promise<ConversationResult> {
  const run = new ConversationRun(setup);
  while (run.state !== "finish" && run.state !== "reject") await run.step();
  return { log: run.log, ...(run.rejected ? { rejected: run.rejected } : {}) };
}

class ConversationRun {
  state: State = "query";
  rejected: ConversationResult["rejected"];
  readonly log: Transition[] = [];
  readonly #setup: ConversationSetup;
  #turn = 1;
  #attempt = 1;
  #turnKind: TurnKind = "open";
  #userText = "";
  /** The number of the next message. */
  #messageCount = 0;
  #answer: AssistantMessage | undefined;
  /** The calls of this turn. */
  #calls: CallEvent[] = [];
  #failedCall: CallEvent | undefined;
  #recovery: { kind: Recovery; failed: CallEvent } | undefined;
  /** What was wrong with the previous message. */
  #complaint: string | undefined;
  #retriesInTurn = 0;
  #gaveUp = false;
  readonly #failuresByCall = new Map<string, number>();

  constructor(setup: ConversationSetup) {
    this.#setup = setup;
  }

  async step(): Promise<void> {
    switch (this.state) {
      case "query":
        return this.#query();
      case "check-query":
        return this.#checkQuery();
      case "turn":
        return this.#beginTurn();
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
          : this.#moveTo("ask", "on");
      case "partial":
      case "failure":
        return this.#chooseRecovery();
      case "recover": {
        const { kind } = this.#recovery!;
        return this.#moveTo(kind === "give-up" ? "respond" : "ask", kind);
      }
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

  #moveTo(state: State, event: string): void {
    this.log.push({ t: this.#turn, from: this.state, event, to: state, attempt: this.#attempt });
    this.state = state;
  }

  #reject(event: string, reason: string, explanation = event): void {
    this.rejected = { reason, explanation };
    this.#moveTo("reject", event);
  }

  async #query(): Promise<void> {
    const text = await this.#setup.user.nextTurn(this.#turnKind);
    if (text === undefined) {
      const { owesAnswer, stuckReason } = this.#setup.user;
      return this.#turn > 1 && !owesAnswer
        ? this.#moveTo("finish", "nothing more to say")
        : this.#reject("nothing to say", "query", stuckReason);
    }
    this.#userText = text;
    this.#moveTo("check-query", "text");
  }

  #checkQuery(): void {
    const { user } = this.#setup;
    const flaw = user.findFlaw(this.#userText);
    if (flaw === undefined) return this.#moveTo("turn", "sound");
    if (this.#attempt >= limits.queries) return this.#reject(flaw, "query", user.stuckReason);
    this.#moveTo("query", flaw);
    this.#attempt++;
  }

  #beginTurn(): void {
    const { conversation, user } = this.#setup;
    const { addedTools } = user;
    conversation.events.push({
      kind: "user",
      text: this.#userText,
      ...(addedTools ? { adds: [...addedTools] } : {}),
    });
    this.#attempt = 1;
    this.#calls = [];
    this.#retriesInTurn = 0;
    this.#gaveUp = false;
    this.#recovery = undefined;
    this.#moveTo("ask", "said");
  }

  async #ask(): Promise<void> {
    const { teacher, conversation } = this.#setup;
    const recovery = this.#recovery;
    this.#recovery = undefined;
    this.#answer = await teacher.next(conversation, recovery, this.#complaint);
    this.#complaint = undefined;
    const { calls, text, cut } = this.#answer;
    if (cut) return this.#askAgain("cut");
    if (calls.length > 0) return this.#moveTo("check-calls", "calls");
    return text.trim() === "" ? this.#askAgain("empty") : this.#moveTo("respond", "text");
  }

  /** Checks names and types only; the live session checks the rest. */
  #checkCalls(): void {
    const { tools } = this.#setup.conversation;
    for (const { name, arguments: args } of this.#answer!.calls) {
      const tool = tools.find(it => it.name === name);
      if (!tool) return this.#askAgain("no such tool", `there is no tool ${name}`);
      const problem = findTypeMismatch(tool.inputSchema, args);
      if (problem !== undefined) return this.#askAgain("bad arguments", `${name}: ${problem}`);
    }
    this.#moveTo("execute", "well formed");
  }

  #askAgain(event: string, complaint = event): void {
    this.#complaint = complaint;
    this.#moveTo("regenerate", event);
  }

  #regenerate(): void {
    if (this.#attempt >= limits.messages) return this.#reject("no usable message", "teacher");
    this.#moveTo("ask", "again");
    this.#attempt++;
  }

  #execute(): void {
    const { session, conversation } = this.#setup;
    const message = this.#messageCount++;
    conversation.events.push({ kind: "assistant", message, text: this.#answer!.text });
    this.#attempt = 1;
    const events = this.#answer!.calls.map(it =>
      createCallEvent(message, it.name, it.arguments, session.call(it.name, it.arguments)),
    );
    conversation.events.push(...events);
    this.#calls.push(...events);
    const failed = events.filter(it => it.outcome.kind !== "ok");
    this.#failedCall = failed[0];
    if (events.some(it => it.outcome.kind === "broken")) {
      const { name } = failed[0]!;
      const explanation = `${name} broke (${getCallFault(failed[0]!)?.message})`;
      return this.#reject("broke", "broken", explanation);
    }
    if (failed.length === 0) return this.#moveTo("success", "all ok");
    return failed.length < events.length
      ? this.#moveTo("partial", "some ok")
      : this.#moveTo("failure", "none ok");
  }

  /** Chooses a recovery that suits the kind of failure and that the teacher is able to make. */
  #chooseRecovery(): void {
    const failed = this.#failedCall!;
    const { type, kind } = getCallFault(failed)!;
    const key = `${failed.name} ${JSON.stringify(failed.arguments)}`;
    const failures = (this.#failuresByCall.get(key) ?? 0) + 1;
    this.#failuresByCall.set(key, failures);
    const mayRetry = failures <= limits.retriesOfCall && this.#retriesInTurn < limits.retriesInTurn;
    const possible = this.#setup.teacher.listRecoveries(failed);
    const preferred: Recovery[] =
      type === "invalid_params" || type === "not_found"
        ? ["retry", "alternative"]
        : ["alternative", "retry"];
    const recovery = (mayRetry && preferred.find(it => possible.includes(it))) || "give-up";
    this.#retriesInTurn++;
    this.#recovery = { kind: recovery, failed };
    this.#moveTo("recover", type ?? kind);
    this.#attempt = this.#retriesInTurn;
  }

  async #respond(): Promise<void> {
    const { teacher, user, conversation } = this.#setup;
    if (this.#recovery?.kind === "give-up") {
      this.#gaveUp = true;
      this.#answer = await teacher.next(conversation, this.#recovery);
    }
    const text = this.#answer!.text.trim();
    if (text === "") return this.#askAgain("empty");
    const flaw = teacher.findFlaw?.(text);
    if (flaw !== undefined) return this.#askAgain("leaks", flaw);
    conversation.events.push({ kind: "assistant", message: this.#messageCount++, text });
    const answer = teacher.takeAnswer?.();
    if (answer !== undefined) {
      conversation.events.push({ kind: "user", text: answer, answers: true });
      return this.#moveTo("ask", "confirmed");
    }
    const problem = user.receiveResult(this.#calls, this.#gaveUp ? "given-up" : "answered");
    if (problem !== undefined) return this.#reject("not done", "teacher", problem);
    this.#attempt = 1;
    this.#moveTo("continue", this.#gaveUp ? "gave up" : "answered");
  }

  #continue(): void {
    const { random, minTurns, maxTurns, user } = this.#setup;
    const next = this.#drawContinuation(random);
    const isOver =
      this.#turn >= maxTurns || (this.#turn >= minTurns && next === "end" && !user.hasMore);
    if (isOver && !user.owesAnswer) return this.#moveTo("finish", "end");
    this.#turnKind = next === "end" ? "follow-up" : next;
    this.#moveTo("query", this.#turnKind);
    this.#turn++;
  }

  #drawContinuation(random: Random): Continuation | "end" {
    const x = random.next();
    if (this.#turn < 2) return x < odds.first.followUp ? "follow-up" : "clarification";
    if (x < odds.second.end) return "end";
    return x < odds.second.end + odds.second.followUp ? "follow-up" : "clarification";
  }
}
