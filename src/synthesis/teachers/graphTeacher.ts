/**
 * The graph teacher: a policy that knows the user's intents and looks up what is missing. It uses
 * only ids that a result or the user has shown. The state machine chooses how it recovers from a
 * failed call.
 */
import type { Tool } from "../../environment/server.ts";
import type { Call } from "../../environment/outcome.ts";
import type { AssistantMessage, Conversation } from "../../policy/policy.ts";
import { getCallFault, type CallEvent } from "../../trajectory/trajectory.ts";
import type { StyleGuide } from "../text/personas.ts";
import { getEntityKey, type EntityInstance } from "../user/entities/entitySample.ts";
import { substitutePartialNames } from "../user/entities/entityMentions.ts";
import type { PlannedIntent, UserTurn } from "../user/userPlan.ts";
import type { UserSimulator } from "../user/userSimulator.ts";
import type { Fact } from "../../trajectory/task.ts";
import type { ReadPurpose, Recovery, Teacher } from "./teacher.ts";
import {
  renderGivingUp,
  renderTurnMessage,
  type IntentResult,
  type TurnOutcome,
} from "./turnMessage.ts";
import { canonicalJson, type Json, type JsonObject } from "../../environment/json.ts";
import type { ShownResult } from "../../trajectory/knowledge.ts";
import { indexResult } from "../../trajectory/resultIndex.ts";
import { listScalars } from "../../trajectory/valueMatching.ts";
import type { FeasibilityChecker } from "../user/intents/feasibility.ts";
import type { EntityMention, Intent, IntentRecovery } from "../user/intents/intent.ts";
import { getPartialNameKey, findLookUps, type LookUp } from "../user/entities/lookUps.ts";

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
  /** The look-ups that are made to compare what the user says, by `getCallKey`. */
  readonly #comparisons = new Map<string, PlannedIntent>();
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
    if (intent?.proof?.source && intent.blockedReply !== undefined) {
      const lookUps = this.#dueCalls.planLookUps(intent);
      for (const it of lookUps) this.#comparisons.set(getCallKey(it.name, it.arguments), intent);
      if (lookUps.length > 0) return makeCalls(lookUps);
    }
    if (intent?.blockedReply !== undefined)
      return { text: renderTurnMessage(outcome, intent.blockedReply), calls: [] };
    if (intent?.fallback && this.#hasFailed(intent)) return this.#pursue([intent.fallback]);
    if (intent) return this.#pursue(this.#listParallelIntents(turn));
    const { random } = this.#simulator.feasibility.context;
    return { text: renderTurnMessage(outcome) || random.pick(this.#style.done), calls: [] };
  }

  /** Look-ups and reads that must come first feed other calls; all others were asked for. */
  getPurpose(call: CallEvent): ReadPurpose {
    const facts = this.#answers.get(call) ?? this.#listCompared(call);
    return facts ? { for: "answers", facts } : { for: "feeds" };
  }

  /** The field of an entity that a look-up is made for, to compare it with what the user says. */
  #listCompared(call: CallEvent): readonly Fact[] | undefined {
    const source = this.#comparisons.get(getCallKey(call.name, call.arguments))?.proof?.source;
    if (!source || call.outcome.kind !== "ok") return undefined;
    const { id, facts } = source.mention.instance;
    const value = facts[source.field];
    const isShown = [...listScalars(call.outcome.value)].includes(id);
    return isShown && (typeof value === "string" || typeof value === "number")
      ? [{ entity: String(id), field: source.field, value }]
      : undefined;
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
      !it.firstPage &&
      !substitutePartialNames(it) &&
      it.tool === first.tool &&
      first.tool.effect === "read" &&
      isReady(it);
    let end = this.#current + 1;
    if (isReady(first) && !first.recovery && !first.firstPage)
      while (end < intents.length && isParallel(intents[end]!)) end++;
    return intents.slice(this.#current, end);
  }

  /** Makes the calls for intents, or first the look-ups and reads that they need. */
  #pursue(intents: readonly PlannedIntent[]): AssistantMessage {
    const [first] = intents;
    const due = this.#dueCalls.findDueIntent(first!);
    const lookUps = this.#dueCalls.planLookUps(due);
    if (lookUps.length > 0) return makeCalls(lookUps);
    const firstPage = this.#dueCalls.findFirstPage(due);
    if (firstPage) return makeCalls([firstPage]);
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

// Decides which look-ups and reads a request needs first, from what the conversation has shown.

/** Look-ups that a look-up may itself need, one after the other. */
const maxDepth = 2;

class DueCalls {
  readonly #feasibility: FeasibilityChecker;
  /** The server of entities whose names do not begin with one. */
  readonly #home: string;
  /** Calls that were made, by `getCallKey`. */
  readonly #made = new Set<string>();

  constructor(feasibility: FeasibilityChecker) {
    this.#feasibility = feasibility;
    const [first] = feasibility.context.declarations.values();
    this.#home = first?.tool.server ?? "";
  }

  /** Learns the ids that the user has said. */
  learnFromTurn({ intents }: UserTurn): void {
    for (const { mentions } of intents)
      for (const { instance, isIdSpoken } of mentions)
        if (isIdSpoken)
          this.#feasibility.knowledge.learnId(...this.#getPlace(instance), instance.id);
  }

  /** Learns what a call has shown. */
  learnFromCall({ name, arguments: args, outcome }: CallEvent): void {
    this.#made.add(getCallKey(name, args));
    const { knowledge, context } = this.#feasibility;
    if (outcome.kind === "ok")
      knowledge.learnResult(
        { name, arguments: args as JsonObject, value: outcome.value },
        context.declarations.get(name),
      );
  }

  #isKnown(instance: EntityInstance): boolean {
    return this.#feasibility.knowledge.knowsId(...this.#getPlace(instance), instance.id);
  }

  /** The server and the entity of an instance. */
  #getPlace({ entity }: EntityInstance): [string, string] {
    const at = entity.indexOf(".");
    return at < 0 ? [this.#home, entity] : [entity.slice(0, at), entity.slice(at + 1)];
  }

  /** Lists the mentioned entities whose ids are not known yet. */
  listUnknown({ mentions }: Intent): EntityMention[] {
    return mentions.filter(it => !it.isIdSpoken && !this.#isKnown(it.instance));
  }

  /** The intent itself, or the read that has to be made before it and has not been made yet. */
  findDueIntent(intent: Intent): Intent {
    const { prerequisite } = intent;
    if (!prerequisite) return intent;
    const { tool, arguments: args } = prerequisite.intent;
    const last = this.#feasibility.knowledge.findLast({ name: tool.name, arguments: args });
    const isDone =
      last !== undefined && canonicalJson(last.value) === canonicalJson(prerequisite.result);
    return isDone || this.#hasShownValues(intent)
      ? intent
      : this.findDueIntent(prerequisite.intent);
  }

  /** The read without a limit that is made before the whole list is read, if it is still due. */
  findFirstPage({ tool: { name }, firstPage }: Intent): Call | undefined {
    if (!firstPage || this.#made.has(getCallKey(name, firstPage))) return undefined;
    return { name, arguments: firstPage };
  }

  /** Whether other results show all that an intent takes from the read before it. */
  #hasShownValues({ arguments: args, prerequisite }: Intent): boolean {
    const { knowledge } = this.#feasibility;
    const { intent, result } = prerequisite!;
    const wanted = {
      texts: new Set(intent.mentions.map(it => String(it.instance.id))),
      aliases: new Map<string, string>(),
    };
    const listFields = (shown: ShownResult) =>
      [
        ...indexResult(shown.value, shown.arguments, wanted, this.#getTool(shown.name)).fields,
      ].flatMap(([id, fields]) =>
        [...fields].flatMap(([key, values]) => values.map(it => JSON.stringify([id, key, it]))),
      );
    const own = listFields({ name: intent.tool.name, arguments: intent.arguments, value: result });
    const shown = new Set(knowledge.listCurrent().flatMap(listFields));
    const results = new Set(listScalars(result));
    const taken = [...listScalars(args)].filter(it => results.has(it));
    return (
      taken.length > 0 &&
      taken.every(value => own.some(it => shown.has(it) && (JSON.parse(it) as Json[])[2] === value))
    );
  }

  #getTool = (name: string): Tool | undefined =>
    this.#feasibility.context.declarations.get(name)?.tool;

  /** The next look-ups for the entities of an intent that are not known yet, each once. */
  planLookUps(intent: Intent): Call[] {
    const calls = this.listUnknown(intent).flatMap(
      it => this.#planLookUp(it.instance, 0, it.partialName) ?? [],
    );
    return [...new Map(calls.map(it => [getCallKey(it.name, it.arguments), it])).values()];
  }

  /** The next calls of a look-up, or undefined where every way has been tried. */
  #planLookUp(instance: EntityInstance, depth: number, partialName?: string): Call[] | undefined {
    for (const lookUp of this.#listLookUps(instance, partialName)) {
      const unknown = lookUp.requiredInstances.filter(it => !this.#isKnown(it));
      if (unknown.length > 0) {
        if (depth > maxDepth) continue;
        return unknown.flatMap(it => this.#planLookUp(it, depth + 1) ?? []);
      }
      const { tool } = lookUp.declaration;
      if (!this.#made.has(getCallKey(tool.name, lookUp.arguments)))
        return [{ name: tool.name, arguments: lookUp.arguments }];
    }
    return undefined;
  }

  /** The look-up that the user simulator has checked first, then all others. */
  #listLookUps(instance: EntityInstance, partialName: string | undefined): readonly LookUp[] {
    const { context, lookUpPlan, hiddenTools } = this.#feasibility;
    const { lookUps, partialNameLookUps, pagedLookUps } = lookUpPlan;
    const paged = pagedLookUps.get(getEntityKey(instance));
    if (paged) return paged;
    // what the user said is all that the assistant can search for
    const byPartialName =
      partialName === undefined
        ? undefined
        : partialNameLookUps.get(getPartialNameKey(instance, partialName));
    const checked = partialName === undefined ? lookUps.get(getEntityKey(instance)) : undefined;
    const others =
      byPartialName ??
      findLookUps(instance, context.declarations, context.sample, {
        prefersLists: true,
        preferredTools: new Set(),
        ...(hiddenTools ? { hiddenTools } : {}),
      });
    return checked ? [checked, ...others] : others;
  }
}

/** Identifies a call by its tool and arguments. */
const getCallKey = (name: string, args: Json): string => `${name} ${JSON.stringify(args)}`;

// The calls with which the graph teacher recovers: first the call that is refused, then those that
// put it right or find out what would work. It does not look ahead, as an agent that does not know
// the state would not.

class RecoverySteps {
  /** How many calls of a recovery have been made. */
  readonly #made = new Map<IntentRecovery, number>();

  /** The next call before the intent's own, which counts as made. */
  findNext({ tool, recovery }: Intent): Call | undefined {
    if (!recovery) return undefined;
    const made = this.#made.get(recovery) ?? 0;
    const next = listCalls(tool.name, recovery)[made];
    if (next) this.#made.set(recovery, made + 1);
    return next;
  }
}

const listCalls = (name: string, { refused, steps }: IntentRecovery): readonly Call[] =>
  refused ? [{ name, arguments: refused }, ...steps] : steps;
