/** An entity of a server that a conversation can be about, and what read tools have shown of it. */
import type { JsonObject } from "../../environment/json.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import type { ResultEntity } from "../../trajectory/resultEntities.ts";

/** An entity with what is needed to name it in a sentence and to find it with a call. */
export interface EntityInstance extends ResultEntity {
  /**
   * Ids, by entity, that the look-up which shows this one takes as arguments: the account of a
   * card.
   */
  readonly parents: Readonly<Record<string, string>>;
}

export interface EntitySample {
  /** By entity, in the order of discovery. */
  readonly instances: ReadonlyMap<string, readonly EntityInstance[]>;
  /** Finds an instance by its id, including those beyond the limit of `instances`. */
  find(entity: string, id: string): EntityInstance | undefined;
}

/** A key that is unique among the instances of a conversation. */
export const getEntityKey = ({ entity, id }: Pick<EntityInstance, "entity" | "id">): string =>
  `${entity} ${id}`;

/** The ids, by entity, that a call was given as arguments: the parents of the rows it returns. */
export function getParentIds(
  { inputs }: ToolDeclaration,
  args: JsonObject,
): Record<string, string> {
  const parents: Record<string, string> = {};
  for (const { key, entity, isList } of inputs) {
    const id = args[key];
    if (!isList && typeof id === "string") parents[entity] = id;
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
  parents: Readonly<Record<string, string>>,
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
