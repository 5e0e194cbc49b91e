/**
 * The entities of a server that a conversation can be about, with what read tools have shown of
 * them, and how they are sampled from a live session.
 */
import { isJsonObject, type JsonObject, type Json } from "../../../environment/json.ts";
import { type ToolDeclaration, getDeclarations } from "../../graph/declarations.ts";
import {
  type EntityId,
  type ResultEntity,
  findEntities,
  isEntityId,
} from "../../../trajectory/entities.ts";
import { removeNull, toSchema } from "../../../environment/schemaKeywords.ts";
import type { Server } from "../../../environment/server.ts";
import type { Session } from "../../../environment/session.ts";
import type { Random } from "../../../environment/random.ts";

/** An entity with what is needed to name it in a sentence and to find it with a call. */
export interface EntityInstance extends ResultEntity {
  /**
   * Ids, by entity, that the look-up which shows this one takes as arguments: the account of a
   * card.
   */
  readonly parents: Readonly<Record<string, EntityId>>;
}

export interface EntitySample {
  /** By entity, in the order of discovery. */
  readonly instances: ReadonlyMap<string, readonly EntityInstance[]>;
  /** Objects that results have shown, in the order of discovery. */
  readonly rows: readonly JsonObject[];
  /** Finds an instance by its id, including those beyond the limit of `instances`. */
  find(entity: string, id: EntityId): EntityInstance | undefined;
}

/** A key that is unique among the instances of a conversation. */
export const getEntityKey = ({ entity, id }: Pick<EntityInstance, "entity" | "id">): string =>
  `${entity} ${id}`;

/** The ids, by entity, that a call was given as arguments: the parents of the rows it returns. */
export function getParentIds(
  { inputs }: ToolDeclaration,
  args: JsonObject,
): Record<string, EntityId> {
  const parents: Record<string, EntityId> = {};
  for (const { key, entity, isList } of inputs) {
    const id = args[key];
    if (!isList && isEntityId(id)) parents[entity] = id;
  }
  return parents;
}

/**
 * Adds the fields of an entity in a result to a known instance. Known values stay, because the
 * look-up with the fewest arguments comes first.
 */
export function mergeResultEntity(
  known: EntityInstance | undefined,
  entity: ResultEntity,
  parents: Readonly<Record<string, EntityId>>,
): EntityInstance {
  const { [entity.entity]: _, ...others } = parents;
  if (!known) return { ...entity, parents: others };
  const label = known.label ?? entity.label;
  return {
    ...known,
    ...(label === undefined ? {} : { label }),
    facts: { ...entity.facts, ...known.facts },
  };
}

/** The words for an entity in a clause, and what they leave open. */
export interface MentionText {
  readonly text: string;
  /** The words contain the id itself, so that no look-up is needed. */
  readonly isIdSpoken: boolean;
  /** The words in place of the label or id, where they are only a part of it or misspelt. */
  readonly partialName?: string | undefined;
  /** The same text with the name as it is spelt. */
  readonly spelt?: string;
  /** The partial name fits several, which the text tells apart by something else. */
  readonly isAmbiguous?: boolean | undefined;
}

// Samples the entities of a live session by calling its read tools.

/**
 * Instances kept of one entity, calls made in total, instances that one tool is called for in each
 * round, and objects kept.
 */
const limits = { instances: 30, calls: 150, callsPerRound: 8, rows: 200 };

type InstancesById = Map<EntityId, EntityInstance>;

/**
 * Calls the read tools of a session: first those that need no argument, then those that take the
 * entities found so far. Ids that people say may also be examples of an argument.
 */
export function sampleEntities(server: Server, session: Session, random: Random): EntitySample {
  const byEntity = new Map<string, InstancesById>();
  const declarations = [...getDeclarations(server).values()];
  for (const it of declarations) addExamples(it, byEntity);
  const tools = declarations.filter(isDiscoveryTool);
  const called = new Set<string>();
  const rows: JsonObject[] = [];
  for (let round = 0; round < 3; round++) {
    for (const declaration of tools) {
      for (const args of chooseArguments(declaration, byEntity, random)) {
        const key = `${declaration.tool.name} ${JSON.stringify(args)}`;
        if (called.has(key) || called.size >= limits.calls) continue;
        called.add(key);
        const { outcome } = session.call(declaration.tool.name, args);
        if (outcome.kind !== "ok") continue;
        addInstances(declaration, args, outcome.value, byEntity);
        addRows(outcome.value, rows);
      }
    }
  }
  const instances = new Map(
    [...byEntity].map(([entity, all]) => [
      entity,
      random.shuffle([...all.values()]).slice(0, limits.instances),
    ]),
  );
  return { instances, rows, find: (entity, id) => byEntity.get(entity)?.get(id) };
}

function addRows(value: Json, rows: JsonObject[]): void {
  if (rows.length >= limits.rows || value === null || typeof value !== "object") return;
  if (isJsonObject(value)) rows.push(value);
  for (const it of Object.values(value)) addRows(it, rows);
}

function addExamples({ inputs }: ToolDeclaration, byEntity: Map<string, InstancesById>): void {
  for (const { entity, isSpoken, isList, schema } of inputs) {
    const { examples } = isList ? removeNull(toSchema(schema["items"])) : schema;
    if (!isSpoken || !Array.isArray(examples)) continue;
    const all = byEntity.get(entity) ?? new Map<EntityId, EntityInstance>();
    byEntity.set(entity, all);
    for (const id of examples)
      if (isEntityId(id as Json) && !all.has(id as EntityId))
        all.set(id, { entity, id, facts: {}, parents: {} });
  }
}

/** Whether a tool is a read whose only required input, if any, is an entity. */
const isDiscoveryTool = ({ tool, labels, values, inputs, outputs }: ToolDeclaration): boolean =>
  tool.effect === "read" &&
  outputs.length > 0 &&
  [...labels, ...values].every(it => !it.isRequired) &&
  inputs.filter(it => it.isRequired).length <= 1;

function chooseArguments(
  { inputs, values }: ToolDeclaration,
  byEntity: ReadonlyMap<string, InstancesById>,
  random: Random,
): JsonObject[] {
  const input = inputs.find(it => it.isRequired);
  const limit = getMaxLimit(values);
  // some tools return more rows when no argument narrows them down
  if (!input) return "limit" in limit ? [limit, {}] : [limit];
  const known = [...(byEntity.get(input.entity)?.values() ?? [])];
  return random
    .shuffle(known)
    .slice(0, limits.callsPerRound)
    .map(it => ({ [input.key]: input.isList ? [it.id] : it.id, ...limit }));
}

/** The argument for the largest number of rows, so that not only the first rows are sampled. */
function getMaxLimit(values: ToolDeclaration["values"]): JsonObject {
  const maximum = values.find(it => it.key === "limit")?.schema["maximum"];
  return typeof maximum === "number" ? { limit: maximum } : {};
}

function addInstances(
  declaration: ToolDeclaration,
  args: JsonObject,
  value: Json,
  byEntity: Map<string, InstancesById>,
): void {
  const parents = getParentIds(declaration, args);
  for (const it of findEntities(declaration, value)) {
    const all = byEntity.get(it.entity) ?? new Map<EntityId, EntityInstance>();
    byEntity.set(it.entity, all);
    all.set(it.id, mergeResultEntity(all.get(it.id), it, parents));
  }
}
