/** Builds one user turn that asks for a list of tools. */
import {
  addSentence,
  noAside,
  pickSecondThought,
  type Aside,
  composeTurn,
  type TurnPosition,
  pickFiller,
} from "../../text/composeTurn.ts";
import {
  type MissingCapability,
  renderMissingCapability,
  type MissingCapabilityTemplates,
  type RefusalPosition,
} from "../../text/refusals.ts";
import { type FeasibilityResult, findsSomething } from "../intents/feasibility.ts";
import {
  isWithdrawal,
  type Intent,
  canNameTwo,
  isAcceptableChange,
  spellClause,
} from "../intents/intent.ts";
import type { Patch } from "../../../environment/outcome.ts";
import { maxAttempts, type IntentSearch } from "../intents/intentSearch.ts";
import type { PlannedIntent, RefusalOdds, UserTurn } from "../userPlan.ts";
import { addValueToClause, withholdValue, type WithheldValue } from "./withheldValue.ts";
import { pointingWords, substitutePartialNames } from "../entities/entityMentions.ts";
import { isRequest } from "../../text/grammar.ts";
import { fillSlots, joinWithAnd } from "../../text/templateText.ts";
import type { ToolDeclaration } from "../../graph/declarations.ts";
import type { Random } from "../../../environment/random.ts";

/** The most intents in one turn. */
export const maxIntents = 3;

interface TurnRequest {
  /** Full tool names, or names of link steps. */
  readonly tools: readonly string[];
  readonly position: TurnPosition;
  /** The user leaves a value out. */
  readonly withholdsValue: boolean;
  /** The user asks as if a value were left out, and then adds it. */
  readonly addsValue: boolean;
  readonly refusalOdds: RefusalOdds;
  /** The last turn's look-up found nothing. */
  readonly foundNothing: boolean;
  /** The conversation has already asked for something that cannot be done. */
  readonly hasMissingCapability: boolean;
  /** What the conversation has asked for last. */
  readonly last: Intent | undefined;
}

interface BuiltTurn {
  readonly turn: UserTurn;
  /** The tools that the turn does not ask for; undefined where nothing more is to be asked for. */
  readonly remainingTools: readonly string[] | undefined;
  readonly withheld?: WithheldValue;
  readonly missingCapability?: MissingCapability;
}

/** The turn, or undefined if a tool has no feasible intent. */
export function buildTurn(request: TurnRequest, search: IntentSearch): BuiltTurn | undefined {
  return new TurnBuilder(request, search).build();
}

class TurnBuilder {
  readonly #request: TurnRequest;
  readonly #search: IntentSearch;
  readonly #intents: PlannedIntent[] = [];
  readonly #clauses: string[] = [];
  /** The value that was added after its request. */
  #withheld: WithheldValue | undefined;

  constructor(request: TurnRequest, search: IntentSearch) {
    this.#request = request;
    this.#search = search;
  }

  build(): BuiltTurn | undefined {
    const { tools, withholdsValue, addsValue, refusalOdds } = this.#request;
    const { plan, context } = this.#search;
    const withheldIndex =
      withholdsValue || addsValue
        ? tools.findLastIndex(it => context.templates.tools[it]?.missing)
        : -1;
    for (const [i, name] of tools.entries()) {
      const laterTools = tools.slice(i + 1);
      if (i === withheldIndex && withholdsValue) return this.#endWithQuestion(name, laterTools);
      const before = this.#intents.at(-1);
      if (i === withheldIndex && this.#addWithValue(name, before)) continue;
      const result = this.#search.findIntent(name, before, refusalOdds);
      if (!result) return undefined;
      // an intent that reverses the one before comes in a later turn or not at all
      if (this.#search.reverses(before, result.intent))
        return this.#end(plan.isOneTurn ? undefined : tools.slice(i));
      if (result.missingCapability)
        return this.#endWithMissingCapability(result, result.missingCapability, laterTools);
      const isRefused = this.#add(result);
      if (isRefused) return this.#end(undefined);
    }
    return this.#end([]);
  }

  /** Adds an intent, with a second one or a fallback. Returns whether it ends in a refusal. */
  #add(result: FeasibilityResult): boolean {
    const { intent, outcome } = result;
    const pair =
      this.#request.tools.length < maxIntents
        ? createPairedIntent(result, this.#search)
        : undefined;
    if (pair) {
      this.#intents.push(intent, ...pair.intents);
      this.#clauses.push(pair.clause);
      return false;
    }
    const fallback = createFallback(result, this.#search);
    if (!fallback) {
      this.#intents.push(intent);
      this.#clauses.push(intent.clause);
      return outcome.kind !== "ok";
    }
    const separator = fallback.clause.startsWith("or ") ? "," : ";";
    this.#intents.push({ ...intent, fallback });
    this.#clauses.push(`${intent.clause}${separator} ${fallback.clause}`);
    return false;
  }

  /** Adds an intent whose value is named after the request. Returns whether there is one. */
  #addWithValue(name: string, before: Intent | undefined): boolean {
    if (this.#search.plan.linkSteps?.has(name)) return false;
    const added = addValueToClause(name, this.#search);
    if (!added || this.#search.reverses(before, added.intent)) return false;
    this.#intents.push(added.intent);
    this.#clauses.push(...added.clauses);
    this.#withheld = added.withheld;
    return true;
  }

  #end(remainingTools: readonly string[] | undefined): BuiltTurn {
    const aside = this.#pickAside(this.#intents);
    const text = this.#composeText(this.#clauses, aside);
    const withoutValue =
      this.#withheld && this.#intents.length === 1
        ? {
            text: this.#composeText([this.#withheld.intent.clause], aside),
            ...this.#withheld,
          }
        : undefined;
    const turn = {
      text,
      intents: this.#intents,
      ...(this.#isChangeOfMind() ? { isChangeOfMind: true } : {}),
      ...(withoutValue ? { withoutValue } : {}),
    };
    return { turn, remainingTools };
  }

  #endWithQuestion(name: string, laterTools: readonly string[]): BuiltTurn | undefined {
    const withheld = withholdValue(name, this.#search, {
      isOnly: this.#clauses.length === 0,
    });
    if (!withheld) return undefined;
    const { intent, question } = withheld;
    const aside = this.#pickAside([...this.#intents, intent]);
    const text = this.#composeText([...this.#clauses, intent.clause], aside);
    return {
      turn: { text, intents: this.#intents, question },
      remainingTools: laterTools,
      withheld,
    };
  }

  #endWithMissingCapability(
    result: FeasibilityResult,
    missingCapability: MissingCapability,
    laterTools: readonly string[],
  ): BuiltTurn {
    const { intent } = result;
    const alternative = createAllowedFallback(result, missingCapability, this.#search);
    if (alternative) {
      this.#intents.push(alternative);
      const separator = alternative.clause.startsWith("or ") ? "," : ";";
      this.#clauses.push(`${intent.clause}${separator} ${alternative.clause}`);
      const { turn, remainingTools } = this.#end(laterTools);
      const conditional = [{ name: intent.tool.name, arguments: intent.arguments }];
      return { turn: { ...turn, conditional }, remainingTools };
    }
    const { isAll } = this.#search.plan.missingTools!;
    const position =
      this.#clauses.length > 0 ? "rest" : this.#request.hasMissingCapability ? "again" : "alone";
    const aside = this.#pickAside([...this.#intents, intent]);
    const text = this.#composeText([...this.#clauses, intent.clause], aside);
    return {
      turn: {
        text,
        intents: [...this.#intents, blockIntent(intent, missingCapability, position, this.#search)],
      },
      remainingTools: isAll ? laterTools : undefined,
      missingCapability,
    };
  }

  /** Words around the first requests of a conversation that ask for nothing. */
  #pickAside(intents: readonly Intent[]): Aside {
    const { tools, position } = this.#request;
    const { plan, context } = this.#search;
    if (position !== "first") return noAside;
    const { secondThoughts, styleGuide } = plan;
    if (!secondThoughts || !context.random.boolean(secondThoughts.share))
      return { before: pickFiller(tools[0]!, context, styleGuide), after: "" };
    const effects = intents.map(it => it.tool.effect);
    return pickSecondThought(secondThoughts.texts, effects, context.random);
  }

  /** Users who have second thoughts say so when they take away what they have just changed. */
  #isChangeOfMind(): boolean {
    const { position, last } = this.#request;
    const [first] = this.#intents;
    const mayChangeMind =
      position === "follow-up" && this.#search.plan.secondThoughts !== undefined;
    return mayChangeMind && first !== undefined && isWithdrawal(last, first);
  }

  #composeText(clauses: readonly string[], { before, after }: Aside): string {
    const { foundNothing } = this.#request;
    const position = this.#isChangeOfMind() ? "revision" : this.#request.position;
    const text = composeUserText(clauses, position, this.#search, {
      foundNothing,
      filler: before,
    });
    return addSentence(text, after, this.#search.context.persona);
  }
}

/** The text of a turn. After a look-up that found nothing, the user does not sound pleased. */
export function composeUserText(
  clauses: readonly string[],
  position: TurnPosition,
  { plan: { styleGuide }, context: { persona, random } }: IntentSearch,
  { foundNothing, filler = "" }: { readonly foundNothing: boolean; readonly filler?: string },
): string {
  const { sober } = styleGuide;
  const voice = foundNothing
    ? {
        persona: { ...persona, followUp: sober },
        style: { ...styleGuide, followUp: sober, clarification: sober },
        random,
      }
    : { persona, style: styleGuide, random };
  return composeTurn(clauses, position, voice, filler);
}

// Combines intents in one clause: `freeze the Travel card and the Gift card`.

/** How often the same is asked for two instances, and how often with the word "both". */
const pairShares = { pair: 0.08, both: 0.3 };

/** How many more the same write is asked for, where it is asked for several. */
const others = { least: 2, most: 4 };

/** The same intent for other instances, with the clause that asks for all of them. */
function createPairedIntent(
  { intent, declaration, outcome, patches }: FeasibilityResult,
  search: IntentSearch,
): { readonly intents: readonly Intent[]; readonly clause: string } | undefined {
  const { random, sample, severalShare = 0 } = search.context;
  const { template, tool } = intent;
  // nobody puts the same booking on four lists
  const mayBeSeveral =
    severalShare > 0 &&
    tool.effect === "write" &&
    intent.mentions.length === 1 &&
    !patches.some(it => dependsOnOrder(it, intent));
  const wantsSeveral = mayBeSeveral && random.boolean(severalShare);
  if (
    outcome.kind !== "ok" ||
    intent.prerequisite ||
    intent.recovery ||
    intent.computed ||
    intent.proof ||
    substitutePartialNames(intent) ||
    search.plan.linkSteps ||
    !(wantsSeveral || random.boolean(pairShares.pair)) ||
    !isRequest(template)
  )
    return undefined;
  const exists = (entity: string, id: unknown) =>
    typeof id === "string" && sample.find(entity, id) !== undefined;
  const inputs = declaration.inputs.filter(
    it =>
      !it.isList &&
      exists(it.entity, intent.arguments[it.key]) &&
      canNameTwo(template, it.key) &&
      !pointingWords.test(intent.argumentTexts[it.key] ?? "it"),
  );
  const hasSecret = declaration.values.some(it => it.isSensitive && it.key in intent.arguments);
  if (inputs.length === 0 || hasSecret) return undefined;
  const { key } = random.pick(inputs);
  const found: Intent[] = [];
  const count = wantsSeveral ? others.least + random.integer(others.most - others.least + 1) : 1;
  for (let draw = 0; draw < 2 * count && found.length < count; draw++) {
    const other = search.findAccepted(
      { declaration, template: `{${key}}`, base: intent },
      it =>
        [intent, ...found].every(of => of.arguments[key] !== it.arguments[key]) &&
        !pointingWords.test(it.argumentTexts[key]!) &&
        !it.argumentTexts[key]!.includes(" and "),
    );
    if (other) found.push(other);
    else if (count === 1) break;
  }
  if (found.length === 0) return undefined;
  const lead = found.length === 1 && random.boolean(pairShares.both) ? "both " : "";
  const names = lead + joinWithAnd([intent, ...found].map(it => it.argumentTexts[key]!));
  const clause = fillSlots(template, slot => (slot === key ? names : intent.argumentTexts[slot]))!;
  return { intents: found, clause };
}

/**
 * Whether what a call has changed depends on when it was made: the id of something new, or a
 * measured value, such as a temperature.
 */
const dependsOnOrder = ({ op, path, value }: Patch, { arguments: args }: Intent): boolean =>
  (op === "add" && typeof value === "object" && !/\/(\d+|-)$/.test(path)) ||
  (typeof value === "number" && !Number.isInteger(value) && !Object.values(args).includes(value));

// Creates fallbacks: what the user wants instead if an intent is refused, said in the same turn.

/**
 * How often a fallback is said: where it is needed, where it is not, with another tool, with
 * another tool where there is no fallback with the same one, and where a rule forbids the first.
 */
const fallbackShares = { needed: 0.85, spare: 0.04, anotherTool: 0.3, onlyTool: 0.6, allowed: 0.6 };

/** Tools that are tried for a fallback with another tool. */
const maxTools = 4;

const leads = [
  "if that is not possible,",
  "if that does not work,",
  "if it cannot be done,",
  "should that be impossible,",
];

/** An intent that the session accepts in place of another one, or undefined. */
function createFallback(result: FeasibilityResult, search: IntentSearch): Intent | undefined {
  const { intent, declaration, outcome } = result;
  // after a partial name the server's refusal is expected, and a question has no alternative
  if (substitutePartialNames(intent) || intent.clause.endsWith("?")) return undefined;
  if (intent.recovery || intent.computed || intent.proof) return undefined;
  // what is so already leaves nothing to wish for
  if (outcome.kind !== "ok" && /\balready\b/.test(outcome.message)) return undefined;
  const { templates, random } = search.context;
  const ownTemplates = templates.tools[intent.tool.name]!.otherwise;
  const isNeeded = outcome.kind !== "ok";
  if (
    isNeeded &&
    random.boolean(ownTemplates ? fallbackShares.anotherTool : fallbackShares.onlyTool)
  )
    return createFallbackWithOtherTool(intent, search);
  if (!ownTemplates || !random.boolean(isNeeded ? fallbackShares.needed : fallbackShares.spare))
    return undefined;
  const [key, choices] = random.pick(Object.entries(ownTemplates));
  const checker = isNeeded ? search.checker : search.checker.fork();
  return search.findAccepted(
    { declaration, base: intent, template: random.pick(choices) },
    it => isAcceptableChange(it, intent, key),
    checker,
  );
}

/** What the user wants instead of what a rule forbids, said in the same turn. */
function createAllowedFallback(
  { intent, declaration }: FeasibilityResult,
  missing: MissingCapability,
  search: IntentSearch,
): Intent | undefined {
  const { templates, random } = search.context;
  if (missing.kind !== "rule" || missing.rule.demands !== "never") return undefined;
  const isUsable = !intent.clause.endsWith("?") && !intent.computed && !intent.recovery;
  if (!isUsable || !random.boolean(fallbackShares.allowed)) return undefined;
  const insteadOf = missing.rule.because;
  const argument = missing.rule.if?.argument ?? "";
  const { otherwise, instead } = templates.tools[intent.tool.name]!;
  const own = (instead?.[argument] ?? []).filter(
    it => typeof it === "string" && /^(?:then|make|only|use|take|try|put|give|send|set) /.test(it),
  );
  const texts = otherwise?.[argument] ?? leads.flatMap(lead => own.map(it => `${lead} ${it}`));
  if (texts.length === 0) {
    const other = createFallbackWithOtherTool(intent, search);
    return other && { ...other, insteadOf };
  }
  for (let i = 0; i < maxAttempts; i++) {
    const template = random.pick(texts);
    const other = search.findAccepted({ declaration, base: intent, template }, it =>
      isAcceptableChange(it, intent, argument),
    );
    if (other) return { ...other, insteadOf };
  }
  return undefined;
}

/** A read about the same instance: `cancel it; if that is not possible, tell me where it is`. */
function createFallbackWithOtherTool(intent: Intent, search: IntentSearch): Intent | undefined {
  const { declarations, templates, random } = search.context;
  const [mention] = intent.mentions;
  if (!mention || intent.clause.endsWith("?") || search.plan.linkSteps) return undefined;
  const { instance } = mention;
  const isRelatedRead = ({ tool, inputs }: ToolDeclaration) =>
    tool.effect === "read" &&
    templates.tools[tool.name] &&
    inputs.some(it => it.isRequired && !it.isList && it.entity === instance.entity);
  const choices = random.shuffle([...declarations.values()].filter(isRelatedRead));
  for (const declaration of choices.slice(0, maxTools)) {
    const { key } = declaration.inputs.find(it => it.isRequired && it.entity === instance.entity)!;
    const template = random.pick(templates.tools[declaration.tool.name]!.forms);
    const result = search.checker.check(
      { declaration, template, flow: { [key]: [instance] } },
      { ...search.context, focus: [instance], recent: [instance] },
    );
    if (typeof result === "string" || result.missingCapability || !findsSomething(result)) continue;
    const { arguments: args, mentions, clause } = result.intent;
    if (args[key] !== instance.id || mentions.length > 1 || !isRequest(clause)) continue;
    search.checker.commit(result);
    return { ...result.intent, clause: `${random.pick(leads)} ${clause}` };
  }
  return undefined;
}

// Marks requests that cannot be fulfilled with the reply that the assistant gives to them.

/** The intent with the assistant's reply that it is not possible. */
export function blockIntent(
  intent: Intent,
  missing: MissingCapability,
  position: RefusalPosition,
  { plan, context }: IntentSearch,
): PlannedIntent {
  const { templates } = plan.missingTools!;
  const { random } = context;
  const request = { clause: spellClause(intent), tool: intent.tool };
  return {
    ...intent,
    blockedReply: renderMissingCapability(missing, request, { templates, position, random }),
    ...(missing.kind === "rule" ? { rule: missing.rule.id } : {}),
  };
}

/** The reply to a turn in which the tools of all requests are missing. */
export function renderTurnRefusal(
  { intents, withoutValue }: UserTurn,
  templates: MissingCapabilityTemplates,
  random: Random,
): string {
  const last = intents.at(-1)!;
  if (intents.length === 1 && !last.fallback && !withoutValue) {
    const request = { clause: spellClause(last), tool: last.tool };
    const refusal = { templates, position: "alone", random } as const;
    return renderMissingCapability({ kind: "tool" }, request, refusal);
  }
  const asksOnly = intents.every(it => it.tool.effect === "read");
  const { question, deed } = intents.length > 1 ? templates.several : templates;
  return random.pick(asksOnly ? question : deed);
}
