/**
 * The graph teacher: a policy that knows the user's intents and looks up what is missing. It uses
 * only ids that a result or the user has shown. The state machine chooses how it recovers from a
 * failed call.
 */
import type { AssistantMessage, Call, Conversation } from "../../policy/policy.ts";
import { getCallFault, type CallEvent } from "../../trajectory/trajectory.ts";
import type { StyleGuide } from "../text/personas.ts";
import { getEntityKey } from "../user/entityInstance.ts";
import { substitutePartialNames } from "../user/partialMention.ts";
import type { PlannedIntent, UserTurn } from "../user/userPlan.ts";
import type { UserSimulator } from "../user/userSimulator.ts";
import { DueCalls, getCallKey } from "./dueCalls.ts";
import type { Fact } from "../../trajectory/task.ts";
import { RecoverySteps } from "./recoverySteps.ts";
import type { ReadPurpose, Recovery, Teacher } from "./teacher.ts";
import {
  renderGivingUp,
  renderTurnMessage,
  type IntentResult,
  type TurnOutcome,
} from "./turnMessage.ts";

const makeCalls = (calls: readonly Call[]): AssistantMessage => ({ text: "", calls });

export class GraphTeacher implements Teacher {
  readonly name = "graph";
  readonly #simulator: UserSimulator;
  readonly #style: StyleGuide;
  readonly #dueCalls: DueCalls;
  /** Entities whose partial names have been tried, by `getEntityKey`. */
  readonly #triedPartialNames = new Set<string>();
  readonly #recoveries = new RecoverySteps();
  #eventsRead = 0;
  #turn: UserTurn | undefined;
  /** Index of the turn's first intent that is not fulfilled. */
  #current = 0;
  #results: IntentResult[] = [];
  /** The calls made for intents, by `getCallKey`. */
  readonly #requests: { readonly intent: PlannedIntent; readonly key: string }[] = [];
  /** The facts that the reply tells, for each read that the user asked for. */
  readonly #answers = new Map<CallEvent, readonly Fact[]>();

  /** `simulator` plans what the user wants and how the entities can be looked up. */
  constructor(simulator: UserSimulator, style: StyleGuide) {
    this.#simulator = simulator;
    this.#style = style;
    this.#dueCalls = new DueCalls(simulator.feasibility);
  }

  /** The calls made for the intents of this turn. */
  get results(): readonly IntentResult[] {
    return this.#results;
  }

  async next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
  ): Promise<AssistantMessage> {
    const turn = this.#startTurn();
    this.#readEvents(conversation, turn);
    const outcome: TurnOutcome = {
      feasibility: this.#simulator.feasibility,
      style: this.#style,
      turn,
      results: this.#results,
      conversation,
      onAnswer: (call, facts) => this.#answers.set(call, facts),
    };
    if (recovery?.kind === "give-up") {
      const intent = this.#findIntent(recovery.failed);
      return { text: renderGivingUp(outcome, recovery.failed, intent), calls: [] };
    }
    if (recovery) {
      const fallback = this.#findIntent(recovery.failed)?.fallback;
      if (fallback) return this.#pursue([fallback]);
    }
    const intent = turn.intents[this.#current];
    if (intent?.blockedReply !== undefined)
      return { text: renderTurnMessage(outcome, intent.blockedReply), calls: [] };
    if (intent?.fallback && this.#hasFailed(intent)) return this.#pursue([intent.fallback]);
    if (intent) return this.#pursue(this.#listParallelIntents(turn));
    const { random } = this.#simulator.feasibility.context;
    return { text: renderTurnMessage(outcome) || random.pick(this.#style.done), calls: [] };
  }

  /** Look-ups and reads that must come first feed other calls; all others were asked for. */
  getPurpose(call: CallEvent): ReadPurpose {
    const facts = this.#answers.get(call);
    return facts ? { for: "answers", facts } : { for: "feeds" };
  }

  /** The intent's fallback, or, for a look-up, another look-up. */
  listRecoveries(failed: CallEvent): readonly Recovery[] {
    const intent = this.#findIntent(failed);
    if (intent && getCallFault(failed)?.type === "not_found" && substitutePartialNames(intent))
      return ["retry", "give-up"];
    const tries = this.#results.filter(it => it.intent === intent).length;
    if (intent?.recovery && tries <= 1) return ["retry", "give-up"];
    if (intent?.fallback)
      return [intent.fallback.tool === intent.tool ? "retry" : "alternative", "give-up"];
    return intent ? ["give-up"] : ["alternative", "give-up"];
  }

  /** The user's current turn; resets the progress when it is new. */
  #startTurn(): UserTurn {
    const { turn } = this.#simulator;
    if (this.#turn !== turn) {
      this.#turn = turn;
      this.#current = 0;
      this.#results = [];
      this.#dueCalls.learnFromTurn(turn);
    }
    return turn;
  }

  /** Reads the events since the last message. */
  #readEvents({ events }: Conversation, turn: UserTurn): void {
    for (; this.#eventsRead < events.length; this.#eventsRead++) {
      const event = events[this.#eventsRead]!;
      if (event.kind !== "call") continue;
      this.#dueCalls.learnFromCall(event);
      const intent = this.#findIntent(event);
      if (!intent) continue;
      this.#results.push({ intent, call: event });
      if (event.outcome.kind !== "ok") continue;
      const index = turn.intents.findIndex(it => it === intent || it.fallback === intent);
      this.#current = Math.max(this.#current, index + 1);
    }
  }

  /** The intent for which a call was made; undefined for a look-up. */
  #findIntent(call: CallEvent): PlannedIntent | undefined {
    const key = getCallKey(call.name, call.arguments);
    return this.#requests.findLast(it => it.key === key)?.intent;
  }

  #hasFailed(intent: PlannedIntent): boolean {
    return this.#results.some(it => it.intent === intent && it.call.outcome.kind !== "ok");
  }

  /**
   * The intents that one message can fulfil: the current one, and the reads of the same tool after
   * it whose entities are all known.
   */
  #listParallelIntents({ intents }: UserTurn): readonly PlannedIntent[] {
    const first = intents[this.#current]!;
    const isReady = (it: PlannedIntent) => this.#dueCalls.listUnknown(it).length === 0;
    const isParallel = (it: PlannedIntent) =>
      !it.prerequisite &&
      it.blockedReply === undefined &&
      !it.recovery &&
      !substitutePartialNames(it) &&
      it.tool === first.tool &&
      first.tool.effect === "read" &&
      isReady(it);
    let end = this.#current + 1;
    if (isReady(first) && !first.recovery)
      while (end < intents.length && isParallel(intents[end]!)) end++;
    return intents.slice(this.#current, end);
  }

  /** Makes the calls for intents, or first the look-ups and reads that they need. */
  #pursue(intents: readonly PlannedIntent[]): AssistantMessage {
    const [first] = intents;
    const due = this.#dueCalls.findDueIntent(first!);
    const lookUps = this.#dueCalls.planLookUps(due);
    if (lookUps.length > 0) return makeCalls(lookUps);
    if (due !== first) return makeCalls([{ name: due.tool.name, arguments: due.arguments }]);
    const partial = this.#tryPartialNames(first) ?? this.#recover(first);
    if (partial) return makeCalls([partial]);
    for (const it of intents)
      this.#requests.push({ intent: it, key: getCallKey(it.tool.name, it.arguments) });
    return makeCalls(intents.map(it => ({ name: it.tool.name, arguments: it.arguments })));
  }

  /** The next call of the intent's recovery; undefined where its own call is next. */
  #recover(intent: PlannedIntent): Call | undefined {
    const call = this.#recoveries.findNext(intent);
    if (call && call.name === intent.tool.name && call.arguments === intent.recovery?.refused)
      this.#requests.push({ intent, key: getCallKey(call.name, call.arguments) });
    return call;
  }

  /** The call with the partial names that the user said, once for each name. */
  #tryPartialNames(intent: PlannedIntent): Call | undefined {
    const args = substitutePartialNames(intent);
    const keys = intent.mentions
      .filter(it => it.isIdSpoken && it.partialName !== undefined)
      .map(it => getEntityKey(it.instance));
    if (!args || keys.every(it => this.#triedPartialNames.has(it))) return undefined;
    for (const it of keys) this.#triedPartialNames.add(it);
    this.#requests.push({ intent, key: getCallKey(intent.tool.name, args) });
    return { name: intent.tool.name, arguments: args };
  }
}
