/**
 * Finds the calls that show the id of an entity: a look-up by its label, by the entity that it
 * belongs to, or a whole list.
 */
import type { JsonObject } from "../../environment/json.ts";
import type { Session } from "../../environment/session.ts";
import type { Declarations, ToolDeclaration } from "../graph/declarations.ts";
import { findEntities, type ResultEntity } from "../../trajectory/resultEntities.ts";
import type { EntityInstance, EntitySample } from "./entityInstance.ts";

export interface LookUp {
  readonly declaration: ToolDeclaration;
  readonly arguments: JsonObject;
  /** Instances whose ids are among the arguments. */
  readonly requiredInstances: readonly EntityInstance[];
  /** By label; otherwise the whole list. */
  readonly isFiltered: boolean;
}

export interface LookUpOptions {
  /** Whole lists come before look-ups by label. */
  readonly prefersLists: boolean;
  /** Full names of the tools to prefer where there is a choice. */
  readonly preferredTools: ReadonlySet<string>;
  /** Full names of tools that are not on the menu. */
  readonly hiddenTools?: ReadonlySet<string>;
}

/** Every look-up that can show an instance, the best first. */
export function findLookUps(
  instance: EntityInstance,
  declarations: Declarations,
  sample: Pick<EntitySample, "find">,
  { prefersLists, preferredTools, hiddenTools }: LookUpOptions,
): LookUp[] {
  const rank = (it: LookUp) =>
    8 * it.requiredInstances.length +
    4 * Number(it.isFiltered === prefersLists) +
    2 * Number(!preferredTools.has(it.declaration.tool.name));
  return [...declarations.values()]
    .flatMap(it => (hiddenTools?.has(it.tool.name) ? [] : findLookUpsOfTool(it, instance, sample)))
    .sort((a, b) => rank(a) - rank(b));
}

function findLookUpsOfTool(
  declaration: ToolDeclaration,
  instance: EntityInstance,
  sample: Pick<EntitySample, "find">,
): LookUp[] {
  const { inputs, labels } = declaration;
  if (!isLookUpTool(declaration, instance)) return [];
  const args: Record<string, string> = {};
  const requiredInstances: EntityInstance[] = [];
  for (const { key, entity, isRequired } of inputs) {
    if (!isRequired) continue;
    const parentId = instance.parents[entity];
    const parent = parentId === undefined ? undefined : sample.find(entity, parentId);
    if (!parent) return [];
    args[key] = parent.id;
    requiredInstances.push(parent);
  }
  const own = labels.find(it => it.entity === instance.entity);
  if (labels.some(it => it.isRequired && it !== own)) return [];
  const lists = own?.isRequired
    ? []
    : [{ declaration, arguments: args, requiredInstances, isFiltered: false }];
  if (!own || instance.label === undefined) return lists;
  const byLabel = { ...args, [own.key]: instance.label };
  return [{ declaration, arguments: byLabel, requiredInstances, isFiltered: true }, ...lists];
}

function isLookUpTool(
  { tool, inputs, values, outputs }: ToolDeclaration,
  { entity }: EntityInstance,
): boolean {
  return (
    tool.effect === "read" &&
    outputs.some(it => it.entity === entity) &&
    values.every(it => !it.isRequired) &&
    !inputs.some(it => it.isRequired && (it.entity === entity || it.isList))
  );
}

/** The most rows of a whole list that a person would read. */
const maxRows = 8;

/** The entities of the instance's kind that a look-up shows in this session. */
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

/**
 * The first look-up that shows the instance in this session, under a label of its own and in a list
 * that is not too long.
 */
export function findWorkingLookUp(
  lookUps: readonly LookUp[],
  instance: EntityInstance,
  session: Session,
): LookUp | undefined {
  return lookUps.find(it => {
    const rows = listRows(it, instance, session);
    const alike = rows.filter(row => row.label !== undefined && row.label === instance.label);
    return (
      rows.some(row => row.id === instance.id) &&
      alike.length <= 1 &&
      (it.isFiltered || rows.length <= maxRows)
    );
  });
}
