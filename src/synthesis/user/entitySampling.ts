/**
 * What there is to talk about: the entities of a live session, found by calling read tools only,
 * with what their rows say about them. Knows no chains and no words.
 */
import type { Json, JsonObject } from "../../environment/json.ts";
import type { Server } from "../../environment/server.ts";
import type { Session } from "../../environment/session.ts";
import type { Random } from "../../environment/random.ts";
import { declarationsOf, type ToolDeclaration } from "../graph/declarations.ts";
import { findEntities, type ResultEntity } from "../graph/resultEntities.ts";

/** An entity, as a person can speak of it and as a call can find it. */
export interface EntityInstance {
  readonly entity: string;
  readonly id: string;
  readonly label?: string;
  /** Plain fields of the rows that showed it. */
  readonly facts: JsonObject;
  /**
   * Ids, by entity, that the look-up which shows it needs first: the account on which a card hangs.
   */
  readonly parents: Readonly<Record<string, string>>;
}

export interface EntitySample {
  /** By entity, in the order of discovery. */
  readonly instances: ReadonlyMap<string, readonly EntityInstance[]>;
  /** The one of that id, whatever the entity's cap. */
  find(entity: string, id: string): EntityInstance | undefined;
}

/** Kept of one entity; calls made in all; things descended into by one tool. */
const caps = { things: 30, calls: 150, descents: 8 };

/**
 * Looks around in a session with its read tools: first those that need nothing, then those that
 * need what has been found.
 */
export function sampleEntities(server: Server, session: Session, random: Random): EntitySample {
  const found = new Map<string, Map<string, EntityInstance>>();
  const tools = [...declarationsOf(server).values()].filter(isDiscovery);
  const asked = new Set<string>();
  for (let round = 0; round < 3; round++) {
    for (const declared of tools) {
      for (const args of argumentsFor(declared, found, random)) {
        const key = `${declared.tool.name} ${JSON.stringify(args)}`;
        if (asked.has(key) || asked.size >= caps.calls) continue;
        asked.add(key);
        const { outcome } = session.call(declared.tool.name, args);
        if (outcome.kind === "ok") keep(declared, args, outcome.value, found);
      }
    }
  }
  const things = new Map(
    [...found].map(([entity, all]) => [
      entity,
      random.shuffle([...all.values()]).slice(0, caps.things),
    ]),
  );
  return { instances: things, find: (entity, id) => found.get(entity)?.get(id) };
}

/** A read whose required inputs are entities alone: nothing has to be made up to call it. */
const isDiscovery = ({ tool, labels, values, inputs, outputs }: ToolDeclaration): boolean =>
  tool.effect === "read" &&
  outputs.length > 0 &&
  [...labels, ...values].every(it => !it.isRequired) &&
  inputs.filter(it => it.isRequired).length <= 1;

function argumentsFor(
  { inputs, values }: ToolDeclaration,
  found: ReadonlyMap<string, ReadonlyMap<string, EntityInstance>>,
  random: Random,
): JsonObject[] {
  const input = inputs.find(it => it.isRequired);
  const most = mostRows(values);
  // some show more where nothing narrows them down
  if (!input) return "limit" in most ? [most, {}] : [most];
  const known = [...(found.get(input.entity)?.values() ?? [])];
  return random
    .shuffle(known)
    .slice(0, caps.descents)
    .map(it => ({ [input.key]: input.isList ? [it.id] : it.id, ...most }));
}

/**
 * As many rows as a look-up gives, so that not the first of them are all that is ever talked about.
 */
function mostRows(values: ToolDeclaration["values"]): JsonObject {
  const most = values.find(it => it.key === "limit")?.schema["maximum"];
  return typeof most === "number" ? { limit: most } : {};
}

function keep(
  declared: ToolDeclaration,
  args: JsonObject,
  value: Json,
  found: Map<string, Map<string, EntityInstance>>,
): void {
  const context = getParentIds(declared, args);
  for (const it of findEntities(declared, value)) {
    const all = found.get(it.entity) ?? new Map<string, EntityInstance>();
    found.set(it.entity, all);
    all.set(it.id, mergeShownEntity(all.get(it.id), it, context));
  }
}

/** The entities that a call named, by which its rows hang. */
export function getParentIds(
  { inputs }: ToolDeclaration,
  args: JsonObject,
): Record<string, string> {
  const context: Record<string, string> = {};
  for (const { key, entity, isList } of inputs) {
    const id = args[key];
    if (!isList && typeof id === "string") context[entity] = id;
  }
  return context;
}

/** What is known already stays: the shallowest way to a thing comes first. */
export function mergeShownEntity(
  before: EntityInstance | undefined,
  shown: ResultEntity,
  context: Readonly<Record<string, string>>,
): EntityInstance {
  const { [shown.entity]: _, ...others } = context;
  if (!before) return { ...shown, parents: others };
  const label = before.label ?? shown.label;
  return {
    ...before,
    ...(label === undefined ? {} : { label }),
    facts: { ...shown.facts, ...before.facts },
  };
}
