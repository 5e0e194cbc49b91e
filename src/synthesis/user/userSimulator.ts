/**
 * The user simulator: turns a chain of tools into user turns whose intents make sense in the live
 * session. The answer to a question and the reaction to a refusal come in the next turn. It never
 * changes the session itself.
 */
import type { RecordedOutcome } from "../../trajectory/trajectory.ts";
import type { TurnPosition } from "../text/composeTurn.ts";
import type { MissingCapability, ToolArrivalTexts } from "../text/refusals.ts";
import { renderTurnRefusal, buildTurn, composeUserText, maxIntents } from "./turns/turnBuilder.ts";
import type { ConversationContext } from "./conversationContext.ts";
import { FeasibilityChecker, isEmptyResult } from "./intents/feasibility.ts";
import {
  type Intent,
  type IntentProof,
  reportsNothing,
  type RecoverySort,
  isAcceptableChange,
  spellClause,
} from "./intents/intent.ts";
import { IntentSearch, maxAttempts } from "./intents/intentSearch.ts";
import { ScenarioTurns } from "./scenarios/scenarioTurns.ts";
import type {
  UnmetRequest,
  ConditionalCall,
  PlannedIntent,
  TurnKind,
  UserPlan,
  UserTurn,
} from "./userPlan.ts";
import { answerQuestion, type WithheldValue } from "./turns/withheldValue.ts";
import { findSlots } from "../text/templateText.ts";
import { canonicalJson } from "../../environment/json.ts";
import { capitalize, isRequest } from "../text/grammar.ts";

/** Tools that are drawn for an unrelated turn. */
const maxNewTopics = 4;

/** How often the user asks once more after a rule has forbidden something. */
const insistShare = 0.5;

/** How often the user asks for something else after a refusal. */
const continuesAfterRefusal = 0.6;

export class UserSimulator {
  readonly feasibility: FeasibilityChecker;
  /** The last turn. */
  turn: UserTurn = { text: "", intents: [] };
  firstTurn: UserTurn | undefined;
  /** Whether a value was withheld in this conversation. */
  hasWithheld = false;
  /** The first thing in this conversation that cannot be done. */
  missingCapability: MissingCapability | undefined;
  /** How often the user took away what they had just changed, without a scenario. */
  changesOfMind = 0;
  /** Whether the user brought a tool that was missing. */
  broughtTool = false;
  /** Whether the user asked once more for what a rule forbids. */
  insists = false;
  /** What the user says if asked for a proof, by the index of the turn. */
  readonly proofs: (IntentProof & { readonly turn: number })[] = [];
  /** Whether the user said at once what they want instead of what a rule forbids. */
  hasAlternative = false;
  /** What the assistant has said that it cannot do, and what it has asked for. */
  readonly unmetRequests: UnmetRequest[] = [];
  /** Calls that depend on a condition that did not hold, by the index of their turn. */
  readonly conditionalCalls: (ConditionalCall & { readonly turn: number })[] = [];
  /** The turns of a user who follows a scenario. */
  readonly scenario: ScenarioTurns | undefined;
  /** Whether the next turn follows the scenario. */
  #followsScenario = false;
  readonly #plan: UserPlan;
  readonly #search: IntentSearch;
  /** Full names of the tools that are missing still. */
  readonly #hiddenTools: Set<string>;
  /** The tools that the plan still asks for. */
  #remainingTools: readonly string[];
  #withheld: WithheldValue | undefined;
  #refused: Intent | undefined;
  /** The last intent whose call succeeded. */
  #lastIntent: Intent | undefined;
  #foundNothing = false;
  #turnCount = 0;

  constructor(plan: UserPlan, context: ConversationContext) {
    const { missingTools, scenario } = plan;
    this.#plan = plan;
    this.#remainingTools = plan.tools;
    this.#hiddenTools = new Set(missingTools?.hidden);
    this.feasibility = createChecker(plan, context, missingTools && this.#hiddenTools);
    this.#search = new IntentSearch(plan, this.feasibility);
    if (!scenario) return;
    const isRefused = missingTools?.isAll === true;
    // what is refused as a whole is put in words as if it could be done
    const search = isRefused
      ? new IntentSearch(plan, createChecker(plan, context, undefined))
      : this.#search;
    this.scenario = new ScenarioTurns(scenario, search);
    this.#followsScenario = true;
    if (!isRefused) this.#remainingTools = [];
  }

  /** Why there was no next turn. */
  get stuckReason(): string | undefined {
    return this.#search.failure;
  }

  /** What the assistant has had to recover from. */
  get recovery(): RecoverySort | undefined {
    return this.#search.recovery;
  }

  /** Whether the user has left a value out, and has to answer the question for it. */
  get owesAnswer(): boolean {
    return this.#withheld !== undefined;
  }

  get hasMore(): boolean {
    const { script, missingTools } = this.#plan;
    // the tool that was missing comes with the next turn
    if (this.#isBlocked && missingTools!.arrival) return true;
    if (this.#followsScenario) return this.scenario!.hasMore;
    return script ? this.#turnCount < script.length : this.#remainingTools.length > 0;
  }

  /** The next user turn, or undefined if there is nothing sensible left to ask for. */
  nextTurn(kind: TurnKind): UserTurn | undefined {
    this.feasibility.reset();
    const turn = this.#createTurn(kind);
    if (!turn) return undefined;
    this.turn = turn;
    this.firstTurn ??= turn;
    if (turn.isChangeOfMind) this.changesOfMind++;
    for (const { proof, insteadOf } of turn.intents) {
      const isNew = this.proofs.every(it => it.turn !== this.#turnCount || it.rule !== proof?.rule);
      if (proof && isNew) this.proofs.push({ ...proof, turn: this.#turnCount });
      if (insteadOf !== undefined) this.hasAlternative = true;
    }
    for (const it of turn.conditional ?? [])
      this.conditionalCalls.push({ ...it, turn: this.#turnCount });
    this.#turnCount++;
    this.feasibility.knowledge.learnUserText(turn.text);
    return turn;
  }

  /** Takes the outcomes of the last turn's intents, and the assistant's reply. */
  recordOutcomes(
    outcomes: readonly { readonly intent: Intent; readonly outcome: RecordedOutcome }[],
    reply = "",
  ): void {
    this.#recordUnmet(it => it.blockedReply !== undefined);
    this.scenario?.recordOutcomes(outcomes);
    if (reply !== "") this.feasibility.hearReply(reply);
    const last = outcomes.at(-1);
    this.#refused = last && last.outcome.kind !== "ok" ? last.intent : undefined;
    this.#foundNothing =
      last?.outcome.kind === "ok" && (isEmptyResult(last.outcome.value) || reportsNothing(reply));
    const succeeded = outcomes.findLast(it => it.outcome.kind === "ok");
    this.#lastIntent = succeeded?.intent ?? this.#lastIntent;
  }

  /** Takes a reply that refuses all that the last turn asked for. */
  recordRefusal(): void {
    this.#recordUnmet(() => true);
  }

  #recordUnmet(isUnmet: (it: PlannedIntent) => boolean): void {
    const { state } = this.#plan.session;
    const turn = this.#turnCount - 1;
    for (const intent of this.turn.intents.filter(isUnmet))
      this.unmetRequests.push({
        turn,
        intent,
        state,
        ...(intent.rule ? { rule: intent.rule } : {}),
      });
    if (this.turn.question === undefined || !this.#withheld) return;
    const { intent, key } = this.#withheld;
    this.unmetRequests.push({ turn, intent, asks: key, state });
  }

  #createTurn(kind: TurnKind): UserTurn | undefined {
    const { script, linkSteps } = this.#plan;
    if (this.#followsScenario) return this.#createScenarioTurn(this.scenario!);
    if (script) return this.#createScriptedTurn(script[this.#turnCount]?.tools ?? [], kind);
    if (kind === "open") return this.#createOpening();
    if (this.#withheld) return this.#answer(this.#withheld);
    if (this.#refused) return this.#reactToRefusal(this.#refused);
    // the first step of a link is followed by the second, and nobody repeats what cannot be done
    const mayRepeat = kind === "clarification" && !this.#isBlocked && !(linkSteps && this.hasMore);
    return (mayRepeat ? this.#repeat() : undefined) ?? this.#createFollowUp();
  }

  #createScenarioTurn(scenario: ScenarioTurns): UserTurn | undefined {
    if (this.#withheld) {
      const answer = this.#answer(this.#withheld);
      const { last } = this.feasibility;
      if (answer && last) scenario.recordAnswer(last);
      return answer;
    }
    const withholdsValue = this.#plan.info === "missing" && !this.hasWithheld;
    const built = scenario.createTurn(this.#foundNothing, withholdsValue);
    if (!built) return undefined;
    if (this.#plan.missingTools?.isAll) return this.#refuseScenario(built.turn);
    if (built.withheld) {
      this.#withheld = built.withheld;
      this.hasWithheld = true;
    }
    if (built.missingCapability) {
      this.missingCapability ??= built.missingCapability;
      this.#followsScenario = false;
    }
    return built.turn;
  }

  /** The turn with nothing in it that can be done; the other tools are asked for one by one. */
  #refuseScenario({ text, intents }: UserTurn): UserTurn {
    const { templates } = this.#plan.missingTools!;
    const reply = renderTurnRefusal({ text, intents }, templates, this.#context.random);
    const asked = new Set(intents.map(it => it.tool.name));
    this.#remainingTools = this.#plan.tools.filter(it => !asked.has(it));
    this.missingCapability ??= { kind: "tool" };
    this.#followsScenario = false;
    return { text, intents: intents.map(it => ({ ...it, blockedReply: reply })) };
  }

  /** Whether the last turn asked for something that cannot be done. */
  get #isBlocked(): boolean {
    return this.turn.intents.some(it => it.blockedReply !== undefined);
  }

  get #context(): ConversationContext {
    return this.feasibility.context;
  }

  #createScriptedTurn(tools: readonly string[], kind: TurnKind): UserTurn | undefined {
    if (this.#withheld) return this.#answer(this.#withheld);
    const { bringsTool, withholdsValue = false } = this.#plan.script![this.#turnCount] ?? {};
    if (bringsTool) return this.#bringTool();
    if (tools.length === 0) return undefined;
    const [isBlocked, refused] = [this.#isBlocked, this.#refused];
    const repeated =
      refused && refused.tool.name === tools[0]
        ? this.#change(refused)
        : kind === "clarification" && tools.length === 1 && this.#lastIntent?.tool.name === tools[0]
          ? this.#repeat()
          : undefined;
    if (repeated) return repeated;
    if (isBlocked || refused) this.feasibility.clearFocus();
    this.#refused = undefined;
    this.#remainingTools = tools;
    const changesTopic = isBlocked && !this.#plan.missingTools!.isAll;
    const position =
      kind === "open"
        ? "first"
        : changesTopic
          ? "bare"
          : refused || isBlocked
            ? "moving-on"
            : "follow-up";
    const turn = this.#build(tools.length, position, withholdsValue);
    return turn && changesTopic ? this.#addTopicChange(turn) : turn;
  }

  #createOpening(): UserTurn | undefined {
    const { info, isOneTurn, moreBeforeQuestion } = this.#plan;
    if (isOneTurn) this.#remainingTools = this.#remainingTools.slice(-maxIntents);
    const { length } = this.#remainingTools;
    const asksForMore =
      info === "missing" &&
      moreBeforeQuestion !== undefined &&
      this.#context.random.boolean(moreBeforeQuestion);
    const count =
      isOneTurn || asksForMore
        ? Math.min(maxIntents, length)
        : Math.min(maxIntents, Math.ceil(length / 2));
    return this.#build(count, "first", info === "missing");
  }

  #createFollowUp(wanted: TurnPosition = "follow-up"): UserTurn | undefined {
    const { random } = this.#context;
    const isBlocked = this.#isBlocked;
    const position = isBlocked ? "moving-on" : wanted;
    // after a refusal, "it" would refer to what was refused
    if (position === "moving-on") this.feasibility.clearFocus();
    if (isBlocked && !this.#plan.missingTools!.isAll)
      return (
        this.#bringTool() ??
        this.#insist() ??
        this.#changeForbidden() ??
        this.#createUnrelatedTurn()
      );
    if (this.#remainingTools.length === 0) {
      const next = pickNextTool(this.#lastIntent, this.#search);
      if (next === undefined)
        return this.#plan.startsNewTopics ? this.#createUnrelatedTurn(position) : undefined;
      this.#remainingTools = [next];
    }
    const count = random.boolean(0.5) ? Math.min(maxIntents, this.#remainingTools.length) : 1;
    return this.#build(count, position, false);
  }

  /** Brings the tool that was missing in the last turn, and asks for the same again. */
  #bringTool(): UserTurn | undefined {
    const texts = this.#plan.missingTools?.arrival;
    const blocked = this.turn.intents.find(it => it.blockedReply !== undefined);
    if (!texts || !blocked) return undefined;
    const turn = createToolArrival(blocked, this.#hiddenTools, texts, this.#search);
    if (turn) this.#resumeScenario(turn);
    this.broughtTool ||= turn !== undefined;
    return turn;
  }

  /** Continues the scenario where a tool was missing. */
  #resumeScenario({ intents: [intent] }: UserTurn): void {
    const { last } = this.feasibility;
    if (!this.scenario || !intent || !last) return;
    this.scenario.recordAnswer({ intent, result: last.result });
    this.#followsScenario = true;
  }

  /** Asks once more for what a rule has forbidden, and is refused again. */
  #insist(): UserTurn | undefined {
    const { random } = this.#context;
    const forbidden = this.turn.intents.find(it => it.rule !== undefined);
    if (!forbidden || this.insists || !random.boolean(insistShare)) return undefined;
    const { says, replies } = this.#plan.missingTools!.templates.insist;
    const rule = this.#plan.rules?.find(it => it.id === forbidden.rule);
    this.insists = true;
    const { proof: _, ...intent } = forbidden;
    const blockedReply = random
      .pick(replies)
      .replace("{because}", () => rule?.because ?? "")
      .replace("{Because}", () => capitalize(rule?.because ?? ""));
    return { text: random.pick(says), intents: [{ ...intent, blockedReply }] };
  }

  /** Asks again for what a rule has forbidden, with a value that it allows. */
  #changeForbidden(): UserTurn | undefined {
    const forbidden = this.turn.intents.find(it => it.rule !== undefined);
    const rule = this.#plan.rules?.find(it => it.id === forbidden?.rule);
    return forbidden && rule?.demands === "never" ? this.#change(forbidden) : undefined;
  }

  /** A turn that has nothing to do with what was said before. */
  #createUnrelatedTurn(position: TurnPosition = "bare"): UserTurn | undefined {
    const { random, declarations } = this.#context;
    const { missingTools, getToolWeight } = this.#plan;
    const isBlocked = this.#isBlocked;
    const tools = [...declarations.keys()].filter(it => !missingTools?.hidden.has(it));
    for (let attempt = 0; attempt < maxNewTopics; attempt++) {
      this.#remainingTools = [random.pickWeighted(tools, getToolWeight)];
      const turn = this.#build(1, isBlocked ? "bare" : position, false);
      if (!turn || turn.intents.some(it => it.blockedReply !== undefined)) continue;
      return isBlocked ? this.#addTopicChange(turn) : turn;
    }
    return undefined;
  }

  /** The turn with words that leave what could not be done. */
  #addTopicChange(turn: UserTurn): UserTurn {
    const { goOn } = this.#plan.missingTools!.templates;
    return { ...turn, text: this.#context.random.pick(goOn) + turn.text };
  }

  #reactToRefusal(refused: Intent): UserTurn | undefined {
    return (
      this.#change(refused) ??
      (this.#context.random.boolean(continuesAfterRefusal)
        ? this.#createFollowUp("moving-on")
        : undefined)
    );
  }

  /** Builds a turn that asks for the next tools, and records what it leaves open. */
  #build(count: number, position: TurnPosition, withholdsValue: boolean): UserTurn | undefined {
    const tools = this.#remainingTools.slice(0, count);
    this.#remainingTools = this.#remainingTools.slice(count);
    const { script, refusalOdds } = this.#plan;
    const request = {
      tools,
      position,
      withholdsValue,
      addsValue: this.#turnCount === 0 && this.#plan.addsValue === true,
      refusalOdds: script?.[this.#turnCount]?.refusalOdds ?? refusalOdds,
      foundNothing: this.#foundNothing,
      hasMissingCapability: this.missingCapability !== undefined,
      last: this.#lastIntent,
    };
    const built = buildTurn(request, this.#search);
    if (!built) return undefined;
    const { turn, remainingTools, withheld, missingCapability } = built;
    this.#remainingTools = remainingTools ? [...remainingTools, ...this.#remainingTools] : [];
    this.missingCapability ??= missingCapability;
    if (withheld) {
      this.#withheld = withheld;
      this.hasWithheld = true;
    }
    return turn;
  }

  /** Answers the question for the value that was left out. */
  #answer(withheld: WithheldValue): UserTurn | undefined {
    this.#withheld = undefined;
    return this.#createSingleTurn(answerQuestion(withheld, this.#search), "answer");
  }

  /** Asks again for what was refused, with another value. */
  #change(refused: Intent): UserTurn | undefined {
    this.#refused = undefined;
    return this.#createSingleTurn(changeRefusedIntent(refused, this.#search), "instead");
  }

  /** Asks for the same as before once more. */
  #repeat(): UserTurn | undefined {
    return this.#createSingleTurn(repeatIntent(this.#lastIntent, this.#search), "clarification");
  }

  #createSingleTurn(intent: Intent | undefined, position: TurnPosition): UserTurn | undefined {
    if (!intent) return undefined;
    const foundNothing = this.#foundNothing;
    const text = composeUserText([intent.clause], position, this.#search, { foundNothing });
    return { text, intents: [intent] };
  }
}

// Intents that follow from the one before: a changed one after a refusal, or the same again.

/** The refused intent with one value changed so that the session accepts it. */
function changeRefusedIntent(refused: Intent, search: IntentSearch): Intent | undefined {
  const { templates, declarations, random } = search.context;
  const declaration = declarations.get(refused.tool.name)!;
  const changes = Object.entries(templates.tools[refused.tool.name]!.instead ?? {});
  for (const [key, choices] of random.shuffle(changes)) {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const template = random.pick(choices);
      const intent = search.findAccepted({ declaration, base: refused, template }, it =>
        isAcceptableChange(it, refused, key),
      );
      if (intent) return sayWhatStays(intent, refused, search);
    }
  }
  return undefined;
}

/** An intent again, with other values for the slots of the template. */
function repeatIntent(last: Intent | undefined, search: IntentSearch): Intent | undefined {
  const { templates, declarations, random } = search.context;
  const choices = last && templates.tools[last.tool.name]?.again;
  // "and the other one, too" leaves open whether the value or the change is the same
  if (!choices || last.computed) return undefined;
  const declaration = declarations.get(last.tool.name)!;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const template = random.pick(choices);
    const intent = search.findAccepted({
      declaration,
      base: last,
      template,
      isRepeated: true,
    });
    if (intent) return sayWhatStays(intent, last, search);
  }
  return undefined;
}

/** The intent with words for the optional arguments that it takes over without a word of them. */
function sayWhatStays(intent: Intent, base: Intent, { plan, context }: IntentSearch): Intent {
  const { clause, template, tool } = intent;
  const required = (tool.inputSchema["required"] ?? []) as readonly string[];
  const slots = findSlots(template);
  const staysUnsaid = Object.keys(intent.arguments).some(
    it =>
      !required.includes(it) &&
      !slots.includes(it) &&
      JSON.stringify(intent.arguments[it]) === JSON.stringify(base.arguments[it]),
  );
  if (!staysUnsaid || /\b(same|again)\b/.test(template)) return intent;
  const words = context.random.pick(plan.styleGuide.unchanged);
  return { ...intent, clause: clause.replace(/([.?!]?)$/, (mark: string) => `, ${words}${mark}`) };
}

/** A tool, other than the last one, that takes what the conversation is about. */
function pickNextTool(last: Intent | undefined, search: IntentSearch): string | undefined {
  const { random, focus, declarations } = search.context;
  if (!last) return undefined;
  const entities = new Set(focus.map(it => it.entity));
  const choices = [...declarations.values()].filter(
    ({ tool, inputs }) =>
      tool !== last.tool && inputs.some(it => it.isRequired && entities.has(it.entity)),
  );
  return choices.length === 0
    ? undefined
    : random.pickWeighted(choices, it => search.plan.getToolWeight(it.tool.name)).tool.name;
}

// The turn in which the user brings a tool that was missing before, so that the assistant can do
// what it could not.

/** How often the user says the whole request again. */
const repeatsRequest = 0.4;

/**
 * The turn that brings the tool of an intent and asks for it again, or undefined if the session no
 * longer accepts the intent. Takes the tool from `hiddenTools`, on which the search depends.
 */
function createToolArrival(
  blocked: PlannedIntent,
  hiddenTools: Set<string>,
  texts: ToolArrivalTexts,
  search: IntentSearch,
): UserTurn | undefined {
  const { name, effect } = blocked.tool;
  if (!hiddenTools.delete(name)) return undefined;
  const repeated = repeatBlocked(blocked, search);
  if (!repeated) {
    hiddenTools.add(name);
    return undefined;
  }
  const { random } = search.context;
  // a name that was misspelt is said again
  const isMisspelt = spellClause(blocked) !== blocked.clause;
  const mayRepeat = isRequest(repeated.clause) && (isMisspelt || random.boolean(repeatsRequest));
  const clause = mayRepeat ? repeated.clause : random.pick(texts.asks[effect]);
  // "try that again" asks for what was asked for before, and is answered like that
  const { replies: _, ...unanswered } = repeated;
  const intent = mayRepeat
    ? repeated
    : { ...unanswered, ...(blocked.replies ? { replies: blocked.replies } : {}) };
  const filler = random.pick(texts.says);
  const text = composeUserText([clause], "bare", search, { foundNothing: false, filler });
  return { text, intents: [intent], addedTools: [name] };
}

/** The same request in words of its own, if the session accepts it now. */
function repeatBlocked({ tool, ...base }: Intent, search: IntentSearch): Intent | undefined {
  const { declarations, templates, random } = search.context;
  const declaration = declarations.get(tool.name)!;
  const wanted = canonicalJson(base.arguments);
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const template = random.pick(templates.tools[tool.name]!.forms);
    const request = { declaration, template, base: { ...base, tool }, isSettled: true };
    const intent = search.findAccepted(request, it => canonicalJson(it.arguments) === wanted);
    if (intent) return intent;
  }
  return undefined;
}

// Creates the feasibility checker of a conversation from its plan.

/** The checker for a plan in which these tools are not on the menu. */
const createChecker = (
  { session, styleGuide, tools, prefersLists, ...plan }: UserPlan,
  context: ConversationContext,
  hiddenTools: ReadonlySet<string> | undefined,
): FeasibilityChecker => {
  const { maxReplyLength, usesPartialNames, maxResultLength, rules, proofs } = plan;
  return new FeasibilityChecker(
    session,
    { ...context, corrections: styleGuide.corrections, maxReplyLength, usesPartialNames },
    {
      prefersLists,
      preferredTools: new Set(tools),
      maxResultLength,
      rules,
      proofs,
      hasMotive: plan.scenario !== undefined,
      ...(hiddenTools ? { hiddenTools } : {}),
    },
  );
};
