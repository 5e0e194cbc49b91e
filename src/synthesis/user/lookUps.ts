/**
 * How an id that nobody has said is found: look-ups by label, by what the thing hangs on, or in a
 * whole list. Knows no words.
 */
import type { JsonObject } from "../../environment/json.ts";
import type { Session } from "../../environment/session.ts";
import type { Declarations, ToolDeclaration } from "../graph/declarations.ts";
import { findEntities, type ResultEntity } from "../graph/resultEntities.ts";
import type { EntitySample, EntityInstance } from "./entitySampling.ts";

/** One look-up. */
export interface LookUp {
  readonly declaration: ToolDeclaration;
  readonly arguments: JsonObject;
  /** Things whose ids the look-up itself takes. */
  readonly requiredInstances: readonly EntityInstance[];
  /** By label; otherwise the whole list. */
  readonly isFiltered: boolean;
}

export interface LookUpOptions {
  /** Whole lists before look-ups by label. */
  readonly prefersLists: boolean;
  /** Full names of tools to look up with, where there is a choice. */
  readonly preferredTools: ReadonlySet<string>;
  /** Full names of tools that are not to be had. */
  readonly hiddenTools?: ReadonlySet<string>;
}

export const entityKey = (thing: Pick<EntityInstance, "entity" | "id">): string =>
  `${thing.entity} ${thing.id}`;

/** Every way to look a thing up, the best first. */
export function findLookUps(
  thing: EntityInstance,
  declarations: Declarations,
  sample: Pick<EntitySample, "find">,
  { prefersLists, preferredTools, hiddenTools }: LookUpOptions,
): LookUp[] {
  const rank = (it: LookUp) =>
    8 * it.requiredInstances.length +
    4 * Number(it.isFiltered === prefersLists) +
    2 * Number(!preferredTools.has(it.declaration.tool.name));
  return [...declarations.values()]
    .flatMap(it => (hiddenTools?.has(it.tool.name) ? [] : listLookUpsByTool(it, thing, sample)))
    .sort((a, b) => rank(a) - rank(b));
}

function listLookUpsByTool(
  declared: ToolDeclaration,
  thing: EntityInstance,
  sample: Pick<EntitySample, "find">,
): LookUp[] {
  const { tool, inputs, labels, values, outputs } = declared;
  const isLookUp =
    tool.effect === "read" &&
    outputs.some(it => it.entity === thing.entity) &&
    values.every(it => !it.isRequired);
  if (!isLookUp || inputs.some(it => it.isRequired && (it.entity === thing.entity || it.isList)))
    return [];
  const given: Record<string, string> = {};
  const needs: EntityInstance[] = [];
  for (const { key, entity, isRequired } of inputs) {
    if (!isRequired) continue;
    const needed =
      thing.parents[entity] === undefined ? undefined : sample.find(entity, thing.parents[entity]);
    if (!needed) return [];
    given[key] = needed.id;
    needs.push(needed);
  }
  const own = labels.find(it => it.entity === thing.entity);
  if (labels.some(it => it.isRequired && it !== own)) return [];
  const whole = own?.isRequired
    ? []
    : [{ declaration: declared, arguments: given, requiredInstances: needs, isFiltered: false }];
  return own && thing.label !== undefined
    ? [
        {
          declaration: declared,
          arguments: { ...given, [own.key]: thing.label },
          requiredInstances: needs,
          isFiltered: true,
        },
        ...whole,
      ]
    : whole;
}

/** Rows of a whole list that a reader can still oversee. */
const mostRows = 8;

/** The things of this kind that a look-up shows. */
export function listRows(
  { declaration, arguments: args }: LookUp,
  { entity }: EntityInstance,
  session: Session,
): ResultEntity[] {
  const { outcome } = session.call(declaration.tool.name, args);
  return outcome.kind === "ok"
    ? findEntities(declaration, outcome.value).filter(it => it.entity === entity)
    : [];
}

/** The first route that shows the thing in this session, without a list too long to read. */
export function findWorkingLookUp(
  routes: readonly LookUp[],
  thing: EntityInstance,
  session: Session,
): LookUp | undefined {
  return routes.find(({ declaration, arguments: args, isFiltered }) => {
    const { outcome } = session.call(declaration.tool.name, args);
    if (outcome.kind !== "ok") return false;
    const rows = findEntities(declaration, outcome.value).filter(it => it.entity === thing.entity);
    const alike = rows.filter(it => it.label !== undefined && it.label === thing.label);
    return (
      rows.some(it => it.id === thing.id) &&
      alike.length <= 1 &&
      (isFiltered || rows.length <= mostRows)
    );
  });
}
