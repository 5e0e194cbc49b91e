/** Builds one user turn that asks for a list of tools. */
import { addSentence, noAside, pickSecondThought, type Aside } from "../text/asides.ts";
import { composeTurn, type TurnPosition } from "../text/composeTurn.ts";
import { pickFiller } from "../text/filler.ts";
import type { MissingCapability } from "../text/missingCapability.ts";
import { blockIntent } from "./blockedIntent.ts";
import { createFallback } from "./fallbackIntent.ts";
import type { FeasibilityResult } from "./feasibilityResult.ts";
import { isWithdrawal } from "./intentRules.ts";
import type { IntentSearch } from "./intentSearch.ts";
import { createPairedIntent } from "./pairedIntent.ts";
import type { Intent } from "./intent.ts";
import type { PlannedIntent, RefusalOdds, UserTurn } from "./userPlan.ts";
import { addValueToClause, withholdValue, type WithheldValue } from "./withheldValue.ts";

/** The most intents in one turn. */
export const maxIntents = 3;

export interface TurnRequest {
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

export interface BuiltTurn {
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
      this.#intents.push(intent, pair.intent);
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
    { intent }: FeasibilityResult,
    missingCapability: MissingCapability,
    laterTools: readonly string[],
  ): BuiltTurn {
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
