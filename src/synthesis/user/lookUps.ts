/**
 * How an id that nobody has said is found: look-ups by label, by what the thing hangs on, or in a
 * whole list. Knows no words.
 */
import type { JsonObject } from "../../environment/json.ts";
import type { Session } from "../../environment/session.ts";
import {
  findEntities,
  type Declarations,
  type ToolDeclaration,
  type ResultEntity,
} from "../graph/declarations.ts";
import type { Sample, Thing } from "./entitySampling.ts";

/** One look-up. */
export interface Route {
  readonly declared: ToolDeclaration;
  readonly arguments: JsonObject;
  /** Things whose ids the look-up itself takes. */
  readonly needs: readonly Thing[];
  /** By label; otherwise the whole list. */
  readonly isFiltered: boolean;
}

export interface RouteWishes {
  /** Whole lists before look-ups by label. */
  readonly listsFirst: boolean;
  /** Full names of tools to look up with, where there is a choice. */
  readonly preferred: ReadonlySet<string>;
  /** Full names of tools that are not to be had. */
  readonly hidden?: ReadonlySet<string>;
}

export const keyOf = (thing: Pick<Thing, "entity" | "id">): string => `${thing.entity} ${thing.id}`;

/** Every way to look a thing up, the best first. */
export function routesTo(
  thing: Thing,
  declarations: Declarations,
  sample: Pick<Sample, "find">,
  { listsFirst, preferred, hidden }: RouteWishes,
): Route[] {
  const rank = (it: Route) =>
    8 * it.needs.length +
    4 * Number(it.isFiltered === listsFirst) +
    2 * Number(!preferred.has(it.declared.tool.name));
  return [...declarations.values()]
    .flatMap(it => (hidden?.has(it.tool.name) ? [] : routesBy(it, thing, sample)))
    .sort((a, b) => rank(a) - rank(b));
}

function routesBy(declared: ToolDeclaration, thing: Thing, sample: Pick<Sample, "find">): Route[] {
  const { tool, inputs, labels, values, outputs } = declared;
  const isLookUp =
    tool.effect === "read" &&
    outputs.some(it => it.entity === thing.entity) &&
    values.every(it => !it.isRequired);
  if (!isLookUp || inputs.some(it => it.isRequired && (it.entity === thing.entity || it.isList)))
    return [];
  const given: Record<string, string> = {};
  const needs: Thing[] = [];
  for (const { key, entity, isRequired } of inputs) {
    if (!isRequired) continue;
    const needed =
      thing.context[entity] === undefined ? undefined : sample.find(entity, thing.context[entity]);
    if (!needed) return [];
    given[key] = needed.id;
    needs.push(needed);
  }
  const own = labels.find(it => it.entity === thing.entity);
  if (labels.some(it => it.isRequired && it !== own)) return [];
  const whole = own?.isRequired ? [] : [{ declared, arguments: given, needs, isFiltered: false }];
  return own && thing.label !== undefined
    ? [
        { declared, arguments: { ...given, [own.key]: thing.label }, needs, isFiltered: true },
        ...whole,
      ]
    : whole;
}

/** Rows of a whole list that a reader can still oversee. */
const mostRows = 8;

/** The things of this kind that a look-up shows. */
export function rowsOf(
  { declared, arguments: args }: Route,
  { entity }: Thing,
  session: Session,
): ResultEntity[] {
  const { outcome } = session.call(declared.tool.name, args);
  return outcome.kind === "ok"
    ? findEntities(declared, outcome.value).filter(it => it.entity === entity)
    : [];
}

/** The first route that shows the thing in this session, without a list too long to read. */
export function workingRoute(
  routes: readonly Route[],
  thing: Thing,
  session: Session,
): Route | undefined {
  return routes.find(({ declared, arguments: args, isFiltered }) => {
    const { outcome } = session.call(declared.tool.name, args);
    if (outcome.kind !== "ok") return false;
    const rows = findEntities(declared, outcome.value).filter(it => it.entity === thing.entity);
    const alike = rows.filter(it => it.label !== undefined && it.label === thing.label);
    return (
      rows.some(it => it.id === thing.id) &&
      alike.length <= 1 &&
      (isFiltered || rows.length <= mostRows)
    );
  });
}
