/** Finds what a step of a scenario takes from the steps before it. */
import type { Json, JsonObject } from "../../../environment/json.ts";
import { isCut } from "../../../environment/listTotals.ts";
import type { Random } from "../../../environment/random.ts";
import { findEntities, isEntityId, type EntityId } from "../../../trajectory/entities.ts";
import type { ToolDeclaration } from "../../graph/declarations.ts";
import { getField } from "../../text/replies.ts";
import { parseReference, type ScenarioStep } from "../../text/scenarios.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { getEntityKey, mergeResultEntity, type EntityInstance } from "../entities/entitySample.ts";
import type { Intent } from "../intents/intent.ts";
import { compute, listResultRows, selectRows } from "./computation.ts";

/** A step that has been said, with the result of its call. */
export interface SaidStep {
  readonly intent: Intent;
  readonly result: Json;
}

/** What is determined of an intent's arguments. */
export interface DeterminedArguments {
  /** Instances to name, by argument. */
  readonly flow: Record<string, readonly EntityInstance[]>;
  /** Plain values, and ids without an instance, by argument. */
  readonly values: Record<string, Json>;
  /** Texts of slots that are no arguments. */
  readonly slots?: Readonly<Record<string, string | number>>;
}

/** What a step takes from the steps before it, or undefined if one of them does not have it. */
export function resolveReferences(
  { from, values, choose, compute: computation }: ScenarioStep,
  declaration: ToolDeclaration,
  said: ReadonlyMap<string, SaidStep>,
  context: ConversationContext,
): DeterminedArguments | undefined {
  const { random } = context;
  const computed = computation && compute(computation, createSource(said), random);
  if (computation && !computed) return undefined;
  const slots = { ...computed?.slots };
  const determined: DeterminedArguments = {
    flow: {},
    values: computed ? { [computation.argument]: computed.value } : {},
    slots,
  };
  for (const [key, choices] of Object.entries(values))
    determined.values[key] = random.pick(choices);
  for (const [key, reference] of Object.entries(from)) {
    const { step, path } = parseReference(reference);
    const source = said.get(step);
    const input = declaration.inputs.find(it => it.key === key);
    if (!source) return undefined;
    if (path === undefined) {
      const instances = input ? listInstances(source, input.entity, context) : [];
      if (instances.length === 0) return undefined;
      determined.flow[key] = random.shuffle(instances);
      continue;
    }
    const value = getSaidValue(source, path);
    if (value === undefined || value === null) return undefined;
    const instance =
      input && !input.isList && typeof value === "string"
        ? findInstance(source, input.entity, value, context)
        : undefined;
    if (instance) determined.flow[key] = [instance];
    else determined.values[key] = value;
  }
  if (!choose) return determined;
  const { argument } = choose;
  const input = declaration.inputs.find(it => it.key === argument);
  const source = said.get(choose.of);
  const chosen = source && findExtremeRow(choose, source, random);
  if (!input || !chosen) return undefined;
  const id = findRowId(chosen.row, source, input.entity, context);
  if (id === undefined) return undefined;
  Object.assign(slots, chosen.slots);
  const instance = findInstance(source, input.entity, id, context);
  if (instance) determined.flow[argument] = [instance];
  else determined.values[argument] = id;
  return determined;
}

/** An argument of a step, or else a field of its result. */
const getSaidValue = ({ intent, result }: SaidStep, path: string): Json | undefined =>
  intent.arguments[path] ?? getField(result, path);

/** What computations take from the steps before; a list that is cut is none. */
const createSource = (said: ReadonlyMap<string, SaidStep>): Parameters<typeof compute>[1] => ({
  listRows: name => {
    const step = said.get(name);
    return step && !isCut(step.intent.tool.outputSchema, step.result)
      ? listResultRows(step.result)
      : undefined;
  },
  getValue: reference => {
    const { step: name, path } = parseReference(reference);
    const step = said.get(name);
    return step && path !== undefined ? getSaidValue(step, path) : undefined;
  },
});

/** The entities of a kind that a step showed, or else named. */
function listInstances(
  { intent, result }: SaidStep,
  entity: string,
  context: ConversationContext,
): EntityInstance[] {
  const declaration = context.declarations.get(intent.tool.name)!;
  const shown = findEntities(declaration, result)
    .filter(it => it.entity === entity)
    .map(it => resolveInstance(it.entity, it.id, context) ?? mergeResultEntity(undefined, it, {}));
  if (shown.length > 0) return [...new Map(shown.map(it => [getEntityKey(it), it])).values()];
  const named = intent.mentions.map(it => it.instance);
  const parents = named.flatMap(({ parents: { [entity]: id } }) =>
    id === undefined ? [] : (resolveInstance(entity, id, context) ?? []),
  );
  return [...named.filter(it => it.entity === entity), ...parents];
}

export function findInstance(
  source: SaidStep,
  entity: string,
  id: EntityId,
  context: ConversationContext,
): EntityInstance | undefined {
  return (
    resolveInstance(entity, id, context) ??
    source.intent.mentions.find(it => it.instance.id === id && it.instance.entity === entity)
      ?.instance ??
    listInstances(source, entity, context).find(it => it.id === id)
  );
}

const resolveInstance = (
  entity: string,
  id: EntityId,
  { known, sample }: ConversationContext,
): EntityInstance | undefined => known.get(getEntityKey({ entity, id })) ?? sample.find(entity, id);

/**
 * The only row with the least or the most of a field, in a list that is not cut, and the texts of
 * slots that say among which.
 */
function findExtremeRow(
  { by, order, where }: NonNullable<ScenarioStep["choose"]>,
  { intent, result }: SaidStep,
  random: Random,
): (Pick<DeterminedArguments, "slots"> & { readonly row: JsonObject }) | undefined {
  if (isCut(intent.tool.outputSchema, result)) return undefined;
  const selected = selectRows(listResultRows(result), where, random);
  const rows = selected?.rows ?? [];
  const values = rows.map(it => getField(it, by));
  if (rows.length < 2 || !values.every(it => typeof it === typeof values[0] && it !== undefined))
    return undefined;
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
  const sorted = (values as (string | number)[]).toSorted(compare);
  const extreme = order === "least" ? sorted[0]! : sorted.at(-1)!;
  const [row, ...others] = rows.filter((_, i) => values[i] === extreme);
  return row && others.length === 0 ? { row, slots: selected!.slots } : undefined;
}

/** The id of a row in a step's result. */
export function findRowId(
  row: JsonObject,
  { intent, result }: SaidStep,
  entity: string,
  { declarations }: ConversationContext,
): EntityId | undefined {
  const ids = findEntities(declarations.get(intent.tool.name)!, result)
    .filter(it => it.entity === entity)
    .map(it => it.id);
  return Object.values(row).find((it): it is EntityId => isEntityId(it) && ids.includes(it));
}
