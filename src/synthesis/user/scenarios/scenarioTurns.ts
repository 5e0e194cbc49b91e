/** Builds the turns of a user who follows a scenario, in whose order one step leads to the next. */
import type { Json, JsonObject } from "../../../environment/json.ts";
import type { RecordedOutcome } from "../../../trajectory/trajectory.ts";
import { addSentence, noAside, pickSecondThought, type Aside } from "../../text/composeTurn.ts";
import { applyContractions } from "../../text/grammar.ts";
import type { ScenarioStep } from "../../text/scenarios.ts";
import type { MissingCapability } from "../../text/refusals.ts";
import { chooseAlternatives } from "../../text/templateText.ts";
import { blockIntent, composeUserText } from "../turns/turnBuilder.ts";
import type { Intent } from "../intents/intent.ts";
import type { IntentSearch } from "../intents/intentSearch.ts";
import type { ScenarioPlan } from "./scenarioPlan.ts";
import type { SaidStep } from "./scenarioReferences.ts";
import { ScenarioSteps, type FoundStep } from "./scenarioSteps.ts";
import type { UserTurn } from "../userPlan.ts";
import type { AddedValue, WithheldValue } from "../turns/withheldValue.ts";

/** How often a user of few words says why they come. */
const minimalMotiveShare = 0.4;

/** What has been said so far that a plain list of requests does not have. */
interface ScenarioFeatures {
  conditionsMet: number;
  conditionsNotMet: number;
  /** Conditions that compare with a limit. */
  limits: number;
  changesOfMind: number;
  /** Values that the assistant has to compute. */
  computedValues: number;
  /** Requests for all rows of a list for which something holds. */
  chosenRows: number;
}

/** Where a turn stands, and what is known before it. */
interface ScenarioPosition {
  readonly isFirst: boolean;
  readonly foundNothing: boolean;
  readonly withholdsValue: boolean;
}

/** A turn, and what it leaves open. */
interface BuiltScenarioTurn {
  readonly turn: UserTurn;
  readonly withheld?: WithheldValue;
  readonly missingCapability?: MissingCapability;
}

export class ScenarioTurns {
  readonly name: string;
  readonly features: ScenarioFeatures = {
    conditionsMet: 0,
    conditionsNotMet: 0,
    limits: 0,
    changesOfMind: 0,
    computedValues: 0,
    chosenRows: 0,
  };
  readonly #plan: ScenarioPlan;
  readonly #search: IntentSearch;
  readonly #said = new Map<string, SaidStep>();
  readonly #steps: ScenarioSteps;
  /** Index of the turn to be said next. */
  #next = 0;
  /** The step whose value has been left out, or whose tool is missing. */
  #openStep: ScenarioStep | undefined;

  constructor(plan: ScenarioPlan, search: IntentSearch) {
    this.name = plan.name;
    this.#plan = plan;
    this.#search = search;
    this.#steps = new ScenarioSteps(search, this.#said);
  }

  get hasMore(): boolean {
    return this.#next < this.#plan.turns.length;
  }

  /** The next turn with something feasible to ask for; undefined if nothing is left. */
  createTurn(foundNothing: boolean, withholdsValue: boolean): BuiltScenarioTurn | undefined {
    while (this.hasMore) {
      const isFirst = this.#next === 0;
      const steps = this.#plan.turns[this.#next++]!;
      const built = this.#build(steps, { isFirst, foundNothing, withholdsValue });
      if (built || isFirst) return built;
    }
    return undefined;
  }

  /** Why the user comes; empty where a user of few words does not say it. */
  pickMotive(): string {
    const { random, isMinimal, persona } = this.#search.context;
    if (isMinimal && !random.boolean(minimalMotiveShare)) return "";
    const motive = chooseAlternatives(random.pick(this.#plan.motive), random);
    return persona.contracts ? applyContractions(motive) : motive;
  }

  /** Takes the outcomes on the live session, which later steps take values from. */
  recordOutcomes(
    outcomes: readonly { readonly intent: Intent; readonly outcome: RecordedOutcome }[],
  ): void {
    for (const [name, { intent }] of this.#said) {
      const outcome = outcomes.find(it => it.intent === intent)?.outcome;
      if (outcome?.kind === "ok") this.#said.set(name, { intent, result: outcome.value });
      else if (outcome) this.#said.delete(name);
    }
  }

  /** Takes the intent of the step that was left open, when it can be fulfilled. */
  recordAnswer(answered: { readonly intent: Intent; readonly result: Json }): void {
    if (this.#openStep?.as !== undefined) this.#said.set(this.#openStep.as, answered);
    this.#openStep = undefined;
  }

  #build(
    steps: readonly ScenarioStep[],
    position: ScenarioPosition,
  ): BuiltScenarioTurn | undefined {
    const { isFirst, withholdsValue } = position;
    const aside = isFirst ? this.#pickAside() : noAside;
    const found: FoundStep[] = [];
    let isRevision = false;
    let missingCapability: MissingCapability | undefined;
    let added: AddedValue | undefined;
    const compose = (clauses: readonly string[]) => {
      const turnPosition = isFirst ? "first" : isRevision ? "revision" : "follow-up";
      const { foundNothing } = position;
      const voice = { foundNothing, filler: aside.before };
      const text = composeUserText(clauses, turnPosition, this.#search, voice);
      return addSentence(text, aside.after, this.#search.context.persona);
    };
    for (const step of steps) {
      const isPossible = step.after === undefined || this.#said.has(step.after);
      const isLast = step === steps.at(-1);
      const withheld =
        isPossible && isLast && withholdsValue && this.#mayLeaveOut(isFirst, found)
          ? this.#steps.withhold(step, found.length === 0)
          : undefined;
      if (withheld) {
        this.#openStep = step;
        const clauses = [...found.flatMap(it => it.clauses), withheld.intent.clause];
        const { question } = withheld;
        return {
          turn: { text: compose(clauses), intents: listIntents(found), question },
          withheld,
        };
      }
      if (isFirst && isLast && this.#search.plan.addsValue) added = this.#steps.addValue(step);
      const next: FoundStep | undefined = added
        ? { intents: [added.intent], clauses: added.clauses }
        : isPossible
          ? this.#steps.find(step)
          : undefined;
      if (!next) {
        if (found.length === 0) return undefined;
        continue;
      }
      if (found.length === 0) isRevision = step.revises !== undefined;
      if (next.missingCapability) {
        this.#openStep = step;
        found.push(block(next, next.missingCapability, found.length > 0, this.#search));
        missingCapability = next.missingCapability;
        break;
      }
      found.push(next);
      this.#count(step, next);
    }
    const conditional = found.flatMap(it => (it.conditional ? [it.conditional] : []));
    const withoutValue =
      added && found.length === 1
        ? { text: compose([added.withheld.intent.clause]), ...added.withheld }
        : undefined;
    return {
      turn: {
        text: compose(found.flatMap(it => it.clauses)),
        intents: listIntents(found),
        ...(conditional.length > 0 ? { conditional: conditional.map(toCall) } : {}),
        ...(withoutValue ? { withoutValue } : {}),
      },
      ...(missingCapability ? { missingCapability } : {}),
    };
  }

  /** Whether a value may be left out now: in a first turn mostly if it asks for more. */
  #mayLeaveOut(isFirst: boolean, found: readonly FoundStep[]): boolean {
    const { context, plan } = this.#search;
    if (!isFirst || found.length > 0) return true;
    return !context.random.boolean(plan.moreBeforeQuestion ?? 0);
  }

  /** Words around the first requests that ask for nothing: the motive, or a second thought too. */
  #pickAside(): Aside {
    const { plan, context } = this.#search;
    const { secondThoughts } = plan;
    const motive = this.pickMotive();
    if (!secondThoughts || !context.random.boolean(secondThoughts.share))
      return { before: motive, after: "" };
    const tools = this.#plan.turns[0]!.map(it => context.declarations.get(it.tool)!.tool);
    const { before, after } = pickSecondThought(
      secondThoughts.texts,
      tools.map(it => it.effect),
      context.random,
    );
    return before === "" ? { before: motive, after } : { before, after };
  }

  #count(step: ScenarioStep, { isMet }: FoundStep): void {
    if (isMet !== undefined) this.features[isMet ? "conditionsMet" : "conditionsNotMet"]++;
    if (step.if?.is) this.features.limits++;
    if (step.revises !== undefined) this.features.changesOfMind++;
    if (step.compute) this.features.computedValues++;
    if (step.rows) this.features.chosenRows++;
  }
}

/** The intents in order; a look-up that a later step has a condition on is replaced by that one. */
function listIntents(found: readonly FoundStep[]): UserTurn["intents"] {
  const replaced = new Map(found.flatMap(it => (it.replaces ? [it.replaces] : [])));
  return found.flatMap(it => it.intents.map(intent => replaced.get(intent) ?? intent));
}

/** The step with the assistant's reply that it is not possible. */
const block = (
  found: FoundStep,
  missing: MissingCapability,
  isLater: boolean,
  search: IntentSearch,
): FoundStep => ({
  ...found,
  intents: found.intents.map(it => blockIntent(it, missing, isLater ? "rest" : "alone", search)),
});

const toCall = ({ tool, arguments: args }: Intent): { name: string; arguments: JsonObject } => ({
  name: tool.name,
  arguments: args,
});
