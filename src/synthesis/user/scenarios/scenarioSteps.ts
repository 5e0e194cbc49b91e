/** Finds intents for the steps of a scenario that make sense in the live session. */
import type { Json, JsonObject } from "../../../environment/json.ts";
import { isCut } from "../../../environment/listTotals.ts";
import type { Random } from "../../../environment/random.ts";
import type { ToolDeclaration } from "../../graph/declarations.ts";
import { formatValue, isMoney } from "../../text/formatValue.ts";
import {
  parseReference,
  rowReference,
  type ScenarioCondition,
  type ScenarioStep,
} from "../../text/scenarios.ts";
import type { MissingCapability } from "../../text/refusals.ts";
import { selectReplies } from "../../text/replies.ts";
import { getFixedArguments, getTemplateText, type ClauseTemplate } from "../../text/templates.ts";
import { fillSlots, findSlots, joinWithAnd, markVerbatim } from "../../text/templateText.ts";
import { listResultRows, selectRows } from "./computation.ts";
import {
  findInstance,
  findRowId,
  resolveReferences,
  type DeterminedArguments,
  type SaidStep,
} from "./scenarioReferences.ts";
import { getShownValue, settleCondition, type SettledCondition } from "./condition.ts";
import { pointingWords } from "../entities/entityMentions.ts";
import {
  describeProblem,
  isEmptyResult,
  isRefusal,
  type FeasibilityResult,
} from "../intents/feasibility.ts";
import type { Intent, IntentRequest } from "../intents/intent.ts";
import { maxAttempts, type IntentSearch } from "../intents/intentSearch.ts";
import { findRecovery, type RecoveryDraws } from "../recoveries/findRecovery.ts";
import type { PlannedIntent } from "../userPlan.ts";
import {
  addValueToClause,
  withholdValue,
  type AddedValue,
  type WithheldOptions,
  type WithheldValue,
} from "../turns/withheldValue.ts";

/** What a step asks for. */
export interface FoundStep {
  readonly intents: readonly PlannedIntent[];
  readonly clauses: readonly string[];
  /** Whether the step's condition holds; absent without one. */
  readonly isMet?: boolean;
  /** The call that is not made, although the session accepts it, because the condition does not hold. */
  readonly conditional?: Intent;
  /** A look-up of an earlier step, and the same with the condition on it. */
  readonly replaces?: readonly [PlannedIntent, PlannedIntent];
  /** What is missing for it on the menu. */
  readonly missingCapability?: MissingCapability;
}

type RowsOfStep = NonNullable<ScenarioStep["rows"]>;

/** The most rows that the same is asked for. */
const maxRows = 8;

/** A value that stands for the limit until it is known. */
const limitPlaceholder = "\u0002limit\u0002";

export class ScenarioSteps {
  readonly #search: IntentSearch;
  readonly #said: Map<string, SaidStep>;

  constructor(search: IntentSearch, said: Map<string, SaidStep>) {
    this.#search = search;
    this.#said = said;
  }

  /** What a step asks for, committed; undefined if nothing feasible was found. */
  find(step: ScenarioStep): FoundStep | undefined {
    const { if: condition } = step;
    if (step.rows) return this.#findRows(step, step.rows);
    if (condition?.of !== undefined) return this.#findAfterLookUp(step, condition, condition.of);
    if (condition?.look) return this.#findWithLookUp(step, condition, condition.look);
    const result = this.#recover(step) ?? this.#check(step, { mayBeMissing: true });
    if (!result) return undefined;
    const { missingCapability } = result;
    if (missingCapability) {
      const { intent } = result;
      return { intents: [intent], clauses: [intent.clause], missingCapability };
    }
    this.#commit(step, result);
    const others = step.each === undefined ? [] : this.#findOthers(step, step.each, result);
    const { intent } = result;
    if (others.length === 0) return { intents: [intent], clauses: [intent.clause] };
    const key = step.each!;
    const names = [intent, ...others].map(it => it.argumentTexts[key]!);
    const clause = fillSlots(intent.template, slot =>
      slot === key ? joinWithAnd(names) : intent.argumentTexts[slot],
    );
    return { intents: [intent, ...others], clauses: [clause ?? intent.clause] };
  }

  /** The same with every row of an earlier list for which something holds. */
  #findRows(step: ScenarioStep, { argument, of, where }: RowsOfStep): FoundStep | undefined {
    const { checker, context } = this.#search;
    const source = this.#said.get(of);
    const input = context.declarations.get(step.tool)!.inputs.find(it => it.key === argument);
    if (!source || !input || isCut(source.intent.tool.outputSchema, source.result))
      return undefined;
    const selected = selectRows(listResultRows(source.result), where, context.random);
    if (!selected || selected.rows.length < 2 || selected.rows.length > maxRows) return undefined;
    const { rows, slots } = selected;
    const limit = slots["limit"];
    // the same part of each
    const computation = step.compute && {
      ...step.compute,
      percent: pickOne(step.compute.percent, context.random),
      parts: pickOne(step.compute.parts, context.random),
    };
    const results: FeasibilityResult[] = [];
    for (const row of rows) {
      const id = findRowId(row, source, input.entity, context);
      const instance =
        id === undefined ? undefined : findInstance(source, input.entity, id, context);
      if (!instance) return undefined;
      // what is not computed for each row is the same for all of them
      const same = Object.entries(results[0]?.intent.arguments ?? {}).filter(
        ([key]) => key !== argument && key !== computation?.argument,
      );
      const result = this.#check(
        {
          ...step,
          compute: computation,
          values: {
            ...step.values,
            ...Object.fromEntries(same.map(([key, it]) => [key, [it]])),
          },
        },
        {
          row: { flow: { [argument]: [instance] }, source, value: row },
          limit: limit === undefined ? undefined : this.#renderSlot(where.field, limit),
        },
      );
      if (!result) return undefined;
      results.push(result);
    }
    const intents: Intent[] = [];
    for (const it of results) {
      const again = checker.checkIntent(it);
      if (again.outcome.kind !== "ok") return undefined;
      // what proves the first call proves the others
      const proof = again.intent.proof && intents[0]?.proof;
      const intent = proof ? { ...again.intent, proof } : again.intent;
      this.#commit(step, { ...again, intent });
      intents.push(intent);
    }
    return { intents, clauses: [intents[0]!.clause] };
  }

  /** The step with a value left out that nothing determines. */
  withhold(step: ScenarioStep, isOnly: boolean): WithheldValue | undefined {
    const options = this.#createWithheldOptions(step);
    return options && withholdValue(step.tool, this.#search, { ...options, isOnly });
  }

  /** The step said as if a value were left out, which is then added; committed. */
  addValue(step: ScenarioStep): AddedValue | undefined {
    const options = this.#createWithheldOptions(step);
    const added = options && addValueToClause(step.tool, this.#search, options);
    const { last } = this.#search.checker;
    if (added && last && step.as !== undefined)
      this.#said.set(step.as, { intent: added.intent, result: last.result });
    return added;
  }

  #createWithheldOptions(step: ScenarioStep): WithheldOptions | undefined {
    const { tool, from, values, choose, each, if: condition, revises } = step;
    const found = step.compute ?? step.rows;
    const { context } = this.#search;
    const declaration = context.declarations.get(tool)!;
    // the words for a value that is left out know nothing of what the step's own words fix
    const isFixed = step.say?.some(it => Object.keys(getFixedArguments(it)).length > 0);
    const hasMore = choose ?? each ?? found ?? condition ?? revises;
    if (isFixed || hasMore !== undefined || !context.templates.tools[tool]?.missing)
      return undefined;
    const determined = resolveReferences(step, declaration, this.#said, context);
    if (!determined) return undefined;
    return {
      settled: Object.keys({ ...from, ...values }),
      said: Object.keys(values),
      createRequest: template => createRequest(declaration, template, determined),
      isAccepted: result => isAccepted(step, determined, result),
    };
  }

  /** A step that depends on what an earlier step of the same turn shows. */
  #findAfterLookUp(
    step: ScenarioStep,
    condition: ScenarioCondition,
    lookUpName: string,
  ): FoundStep | undefined {
    const lookUp = this.#said.get(lookUpName);
    const settled = lookUp && settleCondition(condition, lookUp, this.#search.context.random);
    if (!settled) return undefined;
    const limit = this.#renderLimit(condition, settled);
    const limited = setLimit(step, condition, settled);
    const result = this.#check(limited, { limit, mayBeRefused: !settled.isMet });
    if (!result) return undefined;
    if (settled.isMet) this.#commit(step, result);
    const withCondition = addCondition(lookUp.intent, result.intent, condition, settled, limit);
    this.#said.set(lookUpName, { ...lookUp, intent: withCondition });
    return {
      ...createConditionalStep(result, settled),
      replaces: [lookUp.intent, withCondition],
    };
  }

  /** A step that depends on a look-up which the user does not ask for on its own. */
  #findWithLookUp(
    step: ScenarioStep,
    condition: ScenarioCondition,
    look: NonNullable<ScenarioCondition["look"]>,
  ): FoundStep | undefined {
    const { checker, context } = this.#search;
    for (let attempt = 0; attempt < maxAttempts / 2; attempt++) {
      const result = this.#check(step, { limit: limitPlaceholder });
      const lookUp = result && this.#checkLookUp(look, result.intent);
      if (lookUp?.outcome.kind !== "ok") continue;
      const settled = settleCondition(
        condition,
        { intent: lookUp.intent, result: lookUp.outcome.value },
        context.random,
      );
      if (!settled) continue;
      const limit = this.#renderLimit(condition, settled);
      const intent = replaceLimit(result!.intent, limit);
      const first = addCondition(lookUp.intent, intent, condition, settled, limit);
      const unasked = { ...first, condition: { ...first.condition!, isUnasked: true } };
      checker.commit({ ...lookUp, intent: unasked });
      if (settled.isMet) {
        const again = checker.checkIntent({ ...result!, intent });
        if (again.outcome.kind !== "ok") return undefined;
        this.#commit(step, again);
      }
      const found = createConditionalStep({ ...result!, intent }, settled);
      return { ...found, intents: [unasked, ...found.intents] };
    }
    return undefined;
  }

  /** The look-up of a condition, about what the step is about. */
  #checkLookUp(
    { tool, from, with: fixed }: NonNullable<ScenarioCondition["look"]>,
    { arguments: args, mentions }: Intent,
  ): FeasibilityResult | undefined {
    const { checker, context } = this.#search;
    const declaration = context.declarations.get(tool)!;
    const flow: IntentRequest["flow"] & object = {};
    const values: Record<string, Json> = { ...fixed };
    for (const [key, source] of Object.entries(from)) {
      const value = args[source];
      const mention = mentions.find(it => it.instance.id === value);
      if (value === undefined) return undefined;
      if (mention && declaration.inputs.some(it => it.key === key))
        Object.assign(flow, { [key]: [mention.instance] });
      else values[key] = value;
    }
    const result = checker.check(
      createRequest(declaration, tool, { flow, values }),
      // the words for it are those of the step
      { ...context, focus: [] },
    );
    return typeof result !== "string" && !result.missingCapability ? result : undefined;
  }

  /** An intent for a plain step that takes a recovery. */
  #recover(step: ScenarioStep): FeasibilityResult | undefined {
    const { tool, each, revises, say } = step;
    const { checker, context } = this.#search;
    if (each !== undefined || revises !== undefined || step.compute) return undefined;
    const declaration = context.declarations.get(tool)!;
    let determined: DeterminedArguments = { flow: {}, values: {} };
    const check: RecoveryDraws["check"] = ({ context: own, flow, ...options }) => {
      const resolved = resolveReferences(step, declaration, this.#said, context);
      if (!resolved) return "nothing to take";
      determined = resolved;
      const template = this.#search.pickTemplate(say ?? context.templates.tools[tool]!.forms);
      const request = createRequest(declaration, template, determined);
      return checker.check(
        {
          ...request,
          flow: { ...flow, ...request.flow },
          isDeliberate: isDeliberate(step),
        },
        { ...(own ?? checker.context), computedShare: 0 },
        options,
      );
    };
    const isWanted = (it: FeasibilityResult) =>
      isAccepted(step, determined, it) &&
      Object.entries(determined.values).every(([key, value]) => it.intent.arguments[key] === value);
    return findRecovery({ declaration, check, isWanted }, this.#search);
  }

  #commit({ as: name }: ScenarioStep, result: FeasibilityResult): void {
    if (result.intent.recovery) this.#search.commitRecovery(result);
    else this.#search.checker.commit(result);
    if (name !== undefined && result.outcome.kind === "ok")
      this.#said.set(name, { intent: result.intent, result: result.outcome.value });
  }

  /** An intent for a step that the session accepts, not yet committed. */
  #check(
    step: ScenarioStep,
    {
      limit,
      mayBeRefused = false,
      mayBeMissing = false,
      row,
    }: {
      /** The row of a step's list that the call is about, and the argument that it is. */
      readonly row?: {
        readonly flow: DeterminedArguments["flow"];
        readonly source: SaidStep;
        readonly value: JsonObject;
      };
      readonly limit?: string | undefined;
      readonly mayBeRefused?: boolean;
      readonly mayBeMissing?: boolean;
    } = {},
  ): FeasibilityResult | undefined {
    const { checker, context } = this.#search;
    const { declarations, templates } = context;
    const declaration = declarations.get(step.tool)!;
    let problem = "nothing to take";
    let refused: FeasibilityResult | undefined;
    const said = new Map(this.#said);
    if (row)
      said.set(rowReference, {
        intent: { ...row.source.intent, arguments: {} },
        result: row.value,
      });
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const resolved = resolveReferences(step, declaration, said, context);
      if (!resolved) break;
      const determined = { ...resolved, flow: { ...resolved.flow, ...row?.flow } };
      const template = this.#search.pickTemplate(step.say ?? templates.tools[step.tool]!.forms);
      const request = createRequest(declaration, template, determined, limit);
      const result = checker.check({
        ...request,
        isDeliberate: isDeliberate(step),
      });
      problem = describeProblem(result);
      if (typeof result === "string") continue;
      const { missingCapability: missing } = result;
      // what a scenario is about is not forbidden by a rule
      if (missing && (!mayBeMissing || missing.kind === "rule")) continue;
      if (this.#isRepeated(declaration, determined, result)) continue;
      if (choosesFreely(step) && checker.wasTakenAway(result.intent)) continue;
      if (isAccepted(step, determined, result)) return result;
      if (isRefusal(result.outcome)) refused ??= result;
    }
    if (mayBeRefused && refused) return refused;
    this.#search.recordFailure(step.tool, problem);
    return undefined;
  }

  /** Whether a write is about the same as an earlier one although nothing determines that. */
  #isRepeated(
    { inputs, tool }: ToolDeclaration,
    { flow, values }: DeterminedArguments,
    { intent }: FeasibilityResult,
  ): boolean {
    const free = inputs.filter(
      it => !it.isList && !(it.key in flow) && !(it.key in values) && it.key in intent.arguments,
    );
    if (tool.effect === "read" || free.length === 0) return false;
    return [...this.#said.values()].some(
      ({ intent: other }) =>
        other.tool.name === tool.name &&
        free.every(it => other.arguments[it.key] === intent.arguments[it.key]),
    );
  }

  /** One or two more intents like the first, with another value of one argument. */
  #findOthers(
    { needs }: ScenarioStep,
    key: string,
    { intent, declaration }: FeasibilityResult,
  ): Intent[] {
    const { random } = this.#search.context;
    const others: Intent[] = [];
    if (pointingWords.test(intent.argumentTexts[key] ?? "it")) return others;
    const count = 1 + random.integer(2);
    for (let attempt = 0; attempt < maxAttempts && others.length < count; attempt++) {
      const taken = new Set([intent, ...others].map(it => JSON.stringify(it.arguments[key])));
      const other = this.#search.findAccepted(
        { declaration, template: `{${key}}`, base: intent },
        it => !taken.has(JSON.stringify(it.arguments[key])),
      );
      if (other && !pointingWords.test(other.argumentTexts[key]!))
        others.push(intent.replies ? { ...other, replies: intent.replies } : other);
    }
    return Object.keys(needs).length > 0 ? [] : others;
  }

  #renderLimit({ field }: ScenarioCondition, { limit }: SettledCondition): string | undefined {
    return limit === undefined ? undefined : this.#renderSlot(field, limit);
  }

  #renderSlot(field: string, value: Json): string {
    const { now, persona, random } = this.#search.context;
    const key = field.split(".").at(-1)!;
    return markVerbatim(formatValue(value, { now, persona, random }, isMoney(key, undefined)));
  }
}

/** A request with what is determined; `template` is the name of a tool for words that nobody says. */
function createRequest(
  declaration: ToolDeclaration,
  template: ClauseTemplate,
  { flow, values, slots: slotValues = {} }: DeterminedArguments,
  limit?: string,
): IntentRequest {
  // what the clause does not name needs no words
  const slots = findSlots(getTemplateText(template));
  const unnamed = Object.entries(flow).filter(([key]) => !slots.includes(key));
  const instances = Object.fromEntries(unnamed.map(([key, [first]]) => [key, first!]));
  const ids = Object.fromEntries(unnamed.map(([key, [first]]) => [key, first!.id]));
  return {
    declaration,
    template,
    flow: Object.fromEntries(Object.entries(flow).filter(([key]) => slots.includes(key))),
    determined: [...Object.keys(flow), ...Object.keys(values)],
    passed: {
      values: { ...values, ...ids },
      instances,
      slotTexts: {
        ...Object.fromEntries(
          Object.entries(slotValues).map(([slot, it]) => [slot, markVerbatim(String(it))]),
        ),
        ...(limit === undefined ? {} : { limit }),
      },
    },
  };
}

const pickOne = (choices: readonly number[] | undefined, random: Random): number[] | undefined =>
  choices && [random.pick(choices)];

/** Whether a step is about any of the entities that an earlier one has shown. */
const choosesFreely = ({ from, revises }: ScenarioStep): boolean =>
  revises === undefined && Object.values(from).every(it => parseReference(it).path === undefined);

/** Whether a step goes on with what was said before, so that it may repeat or undo it. */
const isDeliberate = ({ from, choose, compute: computation, rows }: ScenarioStep): boolean =>
  Object.keys(from).length > 0 || (choose ?? computation ?? rows) !== undefined;

/** Whether a result is what the step means. */
function isAccepted(
  { needs }: ScenarioStep,
  { flow }: DeterminedArguments,
  { intent, outcome }: FeasibilityResult,
): boolean {
  if (outcome.kind !== "ok") return false;
  const { value } = outcome;
  const takesFlow = Object.entries(flow).every(([key, instances]) =>
    [intent.arguments[key] ?? []].flat().some(id => instances.some(it => it.id === id)),
  );
  const getValue = (path: string) => getShownValue(intent.tool, value, path);
  const isNeeded = selectReplies([{ say: "yes", if: needs }], getValue, it => it).length > 0;
  return takesFlow && isNeeded && (!isEmptyResult(value) || "count" in needs);
}

/** The look-up with the condition on it, and with the words that its replies may use. */
function addCondition(
  lookUp: PlannedIntent,
  { argumentTexts }: Intent,
  { field, else: otherwise, reply }: ScenarioCondition,
  { isMet }: SettledCondition,
  limit: string | undefined,
): PlannedIntent {
  // a field of the result may have the same name
  const fillLimit = (text: string) =>
    limit === undefined ? text : text.replaceAll("{limit}", () => limit);
  return {
    ...lookUp,
    ...(reply ? { replies: reply } : {}),
    argumentTexts: {
      ...argumentTexts,
      ...lookUp.argumentTexts,
      ...(limit === undefined ? {} : { limit }),
    },
    condition: { field, ...(isMet ? {} : { otherwise: otherwise.map(fillLimit) }) },
  };
}

const createConditionalStep = (
  { intent, outcome }: FeasibilityResult,
  { isMet }: SettledCondition,
): FoundStep => ({
  intents: isMet ? [intent] : [],
  clauses: [intent.clause],
  isMet,
  ...(isMet || outcome.kind !== "ok" ? {} : { conditional: intent }),
});

/** The step with the limit as the value of the argument that the condition sets. */
const setLimit = (
  step: ScenarioStep,
  { sets }: ScenarioCondition,
  { limit }: SettledCondition,
): ScenarioStep =>
  sets === undefined || limit === undefined
    ? step
    : { ...step, values: { ...step.values, [sets]: [limit] } };

function replaceLimit(intent: Intent, limit = ""): Intent {
  return { ...intent, clause: intent.clause.replaceAll(limitPlaceholder, limit) };
}
