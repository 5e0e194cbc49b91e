/** Finds what a step of a scenario takes from the steps before it. */
import { isJsonObject, type Json } from "../../environment/json.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { findEntities } from "../../trajectory/resultEntities.ts";
import { getField } from "../text/selectReplies.ts";
import { parseReference, type ScenarioStep } from "../text/scenarioSchema.ts";
import { listRows } from "./condition.ts";
import type { ConversationContext } from "./conversationContext.ts";
import { getEntityKey, mergeResultEntity, type EntityInstance } from "./entityInstance.ts";
import type { Intent } from "./intent.ts";

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
}

/** What a step takes from the steps before it, or undefined if one of them does not have it. */
export function resolveReferences(
  { from, values, choose }: ScenarioStep,
  declaration: ToolDeclaration,
  said: ReadonlyMap<string, SaidStep>,
  context: ConversationContext,
): DeterminedArguments | undefined {
  const { random } = context;
  const determined: DeterminedArguments = { flow: {}, values: {} };
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
    const value = source.intent.arguments[path] ?? getField(source.result, path);
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
  const id = source && findExtremeId(choose, source, input?.entity, context);
  if (id === undefined || !input) return undefined;
  const instance = findInstance(source!, input.entity, id, context);
  if (instance) determined.flow[argument] = [instance];
  else determined.values[argument] = id;
  return determined;
}

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

function findInstance(
  source: SaidStep,
  entity: string,
  id: string,
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
  id: string,
  { known, sample }: ConversationContext,
): EntityInstance | undefined => known.get(getEntityKey({ entity, id })) ?? sample.find(entity, id);

/** The id of the only row with the least or the most of a field. */
function findExtremeId(
  { by, order }: NonNullable<ScenarioStep["choose"]>,
  { intent, result }: SaidStep,
  entity: string | undefined,
  { declarations }: ConversationContext,
): string | undefined {
  const rows = (listRows(result) ?? []).filter(isJsonObject);
  const values = rows.map(it => getField(it, by));
  if (rows.length < 2 || !values.every(it => typeof it === typeof values[0] && it !== undefined))
    return undefined;
  const compare = (a: string | number, b: string | number) => (a < b ? -1 : a > b ? 1 : 0);
  const sorted = (values as (string | number)[]).toSorted(compare);
  const extreme = order === "least" ? sorted[0]! : sorted.at(-1)!;
  const matching = rows.filter((_, i) => values[i] === extreme);
  if (matching.length !== 1 || entity === undefined) return undefined;
  const ids = findEntities(declarations.get(intent.tool.name)!, result)
    .filter(it => it.entity === entity)
    .map(it => it.id);
  return Object.values(matching[0]!).find(
    (it): it is string => typeof it === "string" && ids.includes(it),
  );
}
