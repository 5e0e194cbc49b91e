/** Builds the turns of a user who follows a scenario, in whose order one step leads to the next. */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { RecordedOutcome } from "../../trajectory/trajectory.ts";
import { applyContractions } from "../text/clauses.ts";
import type { ScenarioStep } from "../text/scenarioSchema.ts";
import { chooseAlternatives } from "../text/templateText.ts";
import type { Intent } from "./intent.ts";
import type { IntentSearch } from "./intentSearch.ts";
import type { ScenarioPlan } from "./scenarioPlan.ts";
import type { SaidStep } from "./scenarioReferences.ts";
import { ScenarioSteps, type FoundStep } from "./scenarioSteps.ts";
import { composeUserText } from "./turnBuilder.ts";
import type { UserTurn } from "./userPlan.ts";
import { withholdValue, type WithheldValue } from "./withheldValue.ts";

/** How often a user of few words says why they come. */
const minimalMotiveShare = 0.4;

/** What has been said so far that a plain list of requests does not have. */
export interface ScenarioFeatures {
  conditionsMet: number;
  conditionsNotMet: number;
  /** Conditions that compare with a limit. */
  limits: number;
  changesOfMind: number;
}

/** A turn, and the value that it leaves out. */
export interface BuiltScenarioTurn {
  readonly turn: UserTurn;
  readonly withheld?: WithheldValue;
}

export class ScenarioTurns {
  readonly name: string;
  readonly features: ScenarioFeatures = {
    conditionsMet: 0,
    conditionsNotMet: 0,
    limits: 0,
    changesOfMind: 0,
  };
  readonly #plan: ScenarioPlan;
  readonly #search: IntentSearch;
  readonly #said = new Map<string, SaidStep>();
  readonly #steps: ScenarioSteps;
  /** Index of the turn to be said next. */
  #next = 0;
  /** The step whose value has been left out. */
  #withheldStep: ScenarioStep | undefined;

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

  /** Takes the intent of the step whose value has been left out, when it is complete. */
  recordAnswer(answered: { readonly intent: Intent; readonly result: Json }): void {
    if (this.#withheldStep?.as !== undefined) this.#said.set(this.#withheldStep.as, answered);
    this.#withheldStep = undefined;
  }

  #build(
    steps: readonly ScenarioStep[],
    {
      isFirst,
      foundNothing,
      withholdsValue,
    }: {
      readonly isFirst: boolean;
      readonly foundNothing: boolean;
      readonly withholdsValue: boolean;
    },
  ): BuiltScenarioTurn | undefined {
    const found: FoundStep[] = [];
    const filler = isFirst ? this.#pickMotive() : "";
    let isRevision = false;
    for (const step of steps) {
      if (withholdsValue && step === steps.at(-1) && this.#mayWithhold(step)) {
        const built = this.#withhold(step, found, filler);
        if (built) return built;
      }
      const isPossible = step.after === undefined || this.#said.has(step.after);
      const next = isPossible ? this.#steps.find(step) : undefined;
      if (!next) {
        if (found.length === 0) return undefined;
        continue;
      }
      if (found.length === 0) isRevision = step.revises !== undefined;
      found.push(next);
      this.#count(step, next);
    }
    const clauses = found.flatMap(it => it.clauses);
    const position = isFirst ? "first" : isRevision ? "revision" : "follow-up";
    const text = composeUserText(clauses, position, this.#search, { foundNothing, filler });
    const conditional = found.flatMap(it => (it.conditional ? [it.conditional] : []));
    return {
      turn: {
        text,
        intents: listIntents(found),
        ...(conditional.length > 0 ? { conditional: conditional.map(toCall) } : {}),
      },
    };
  }

  #mayWithhold({ tool, from, values, choose, each, if: condition }: ScenarioStep): boolean {
    const { templates } = this.#search.context;
    const isPlain =
      Object.keys({ ...from, ...values }).length === 0 && !choose && !each && !condition;
    return isPlain && templates.tools[tool]?.missing !== undefined;
  }

  #withhold(
    step: ScenarioStep,
    found: readonly FoundStep[],
    filler: string,
  ): BuiltScenarioTurn | undefined {
    const withheld = withholdValue(step.tool, this.#search);
    if (!withheld) return undefined;
    this.#withheldStep = step;
    const clauses = [...found.flatMap(it => it.clauses), withheld.intent.clause];
    const text = composeUserText(clauses, "first", this.#search, { foundNothing: false, filler });
    const { question } = withheld;
    return { turn: { text, intents: listIntents(found), question }, withheld };
  }

  #pickMotive(): string {
    const { random, isMinimal, persona } = this.#search.context;
    if (isMinimal && !random.boolean(minimalMotiveShare)) return "";
    const motive = chooseAlternatives(random.pick(this.#plan.motive), random);
    return persona.contracts ? applyContractions(motive) : motive;
  }

  #count(step: ScenarioStep, { isMet }: FoundStep): void {
    if (isMet !== undefined) this.features[isMet ? "conditionsMet" : "conditionsNotMet"]++;
    if (step.if?.is) this.features.limits++;
    if (step.revises !== undefined) this.features.changesOfMind++;
  }
}

/** The intents in order; a look-up that a later step has a condition on is replaced by that one. */
function listIntents(found: readonly FoundStep[]): UserTurn["intents"] {
  const replaced = new Map(found.flatMap(it => (it.replaces ? [it.replaces] : [])));
  return found.flatMap(it => it.intents.map(intent => replaced.get(intent) ?? intent));
}

const toCall = ({ tool, arguments: args }: Intent): { name: string; arguments: JsonObject } => ({
  name: tool.name,
  arguments: args,
});
