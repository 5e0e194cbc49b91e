/**
 * Finds the calls that show the id of an entity (a look-up by its label, by the entity that it
 * belongs to, or a whole list), and plans those that a request needs.
 */
import type { JsonObject } from "../../../environment/json.ts";
import type { Session } from "../../../environment/session.ts";
import type { Declarations, ToolDeclaration } from "../../graph/declarations.ts";
import { findEntities, type EntityId, type ResultEntity } from "../../../trajectory/entities.ts";
import { type EntityInstance, type EntitySample, getEntityKey } from "./entitySample.ts";
import { containsToken } from "../../../trajectory/valueMatching.ts";
import { isSimilar } from "../../text/misspelling.ts";
import type { Knowledge } from "../../../trajectory/knowledge.ts";
import type { MissingCapability } from "../../text/refusals.ts";
import type { ConversationContext } from "../conversationContext.ts";
import type { EntityMention, Intent } from "../intents/intent.ts";

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
  const args: Record<string, EntityId> = {};
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
 * that is not too long. What only refers to a thing by its id does not say which one it is.
 */
function findWorkingLookUp(
  lookUps: readonly LookUp[],
  instance: EntityInstance,
  session: Session,
): LookUp | undefined {
  return lookUps.find(it => {
    const rows = listRows(it, instance, session);
    const alike = rows.filter(row => row.label !== undefined && row.label === instance.label);
    return (
      rows.some(
        row => row.id === instance.id && (row.label !== undefined || instance.label === undefined),
      ) &&
      alike.length <= 1 &&
      (it.isFiltered || rows.length <= maxRows)
    );
  });
}

// Plans the look-ups with which the assistant finds the entities that the user mentions, and finds
// what is impossible because tools are hidden.

/** How many look-ups in a row may be needed to find one instance. */
const maxDepth = 2;

const noTools: ReadonlySet<string> = new Set();

/** The key of a partial name in `LookUpPlan.partialNameLookUps`. */
export const getPartialNameKey = (instance: EntityInstance, partialName: string): string =>
  `${getEntityKey(instance)} ${partialName}`;

/** Where something is looked up, and what can be looked up first. */
interface SearchPlace {
  readonly context: ConversationContext;
  readonly session: Session;
  /** Whether the conversation names an instance. */
  readonly isNamed: (instance: EntityInstance) => boolean;
}

/**
 * Whether an instance is named: in a request or before, by its label or a word of it. One without a
 * label is described in words of which nothing is known here.
 */
const createNameCheck =
  (knowledge: Knowledge, { clause, mentions }: Pick<Intent, "clause" | "mentions">) =>
  ({ id, label = "" }: EntityInstance): boolean => {
    const words = label.split(/[^\p{L}\p{N}]+/u).filter(it => it.length > 2 || /\d/.test(it));
    return (
      words.length === 0 ||
      mentions.some(it => it.instance.id === id) ||
      knowledge.isMentioned(label) ||
      words.some(it => containsToken(clause.toLowerCase(), it.toLowerCase()))
    );
  };

export class LookUpPlan {
  /** The look-up that finds an instance, by `getEntityKey`. */
  readonly lookUps = new Map<string, LookUp>();
  /** The look-ups, in order, that find an instance by a partial name, by `getPartialNameKey`. */
  readonly partialNameLookUps = new Map<string, readonly LookUp[]>();
  /** The look-ups, in order, that find an instance further down a list, by `getEntityKey`. */
  readonly pagedLookUps = new Map<string, readonly LookUp[]>();
  readonly #options: LookUpOptions;

  constructor(options: LookUpOptions, lookUps: ReadonlyMap<string, LookUp> = new Map()) {
    this.#options = options;
    for (const [key, lookUp] of lookUps) this.lookUps.set(key, lookUp);
  }

  /**
   * What makes an intent impossible because tools are hidden, undefined if nothing does, or the
   * reason why the intent makes no sense in any case. Adds the look-ups that it needs to the plan.
   */
  findMissingCapability(
    intent: Intent,
    context: ConversationContext,
    session: Session,
    knowledge: Knowledge,
    usesPages = false,
  ): MissingCapability | string | undefined {
    const { hiddenTools } = this.#options;
    if (hiddenTools?.has(intent.tool.name)) return { kind: "tool" };
    const place: SearchPlace = { context, session, isNamed: createNameCheck(knowledge, intent) };
    const unfindable = intent.mentions.find(
      it => !this.#canFind(it, place) && !(usesPages && this.#canFindFurtherDown(it, place)),
    );
    if (!unfindable) return undefined;
    const { instance, partialName } = unfindable;
    const { declarations, sample, templates } = context;
    const allLookUps = () =>
      findLookUps(instance, declarations, sample, { ...this.#options, hiddenTools: noTools });
    const isHidden =
      hiddenTools &&
      partialName === undefined &&
      findWorkingLookUp(allLookUps(), instance, session) !== undefined;
    const key = Object.keys(intent.arguments).find(it =>
      [intent.arguments[it]].flat().includes(instance.id),
    );
    const mention = key === undefined ? undefined : intent.argumentTexts[key];
    return isHidden && mention !== undefined
      ? { kind: "thing", noun: templates.entities[instance.entity]!.noun, mention }
      : "no look-up";
  }

  #canFind(mention: EntityMention, place: SearchPlace): boolean {
    const { instance, isIdSpoken, partialName } = mention;
    return (
      isIdSpoken ||
      this.pagedLookUps.has(getEntityKey(instance)) ||
      (partialName === undefined
        ? this.#canFindInstance(instance, place)
        : this.#canFindByPartialName({ ...mention, partialName }, place.context, place.session))
    );
  }

  /** Whether a whole list shows an instance only if it is read with its largest limit. */
  #canFindFurtherDown(
    { instance, partialName }: EntityMention,
    { context: { declarations, sample }, session }: SearchPlace,
  ): boolean {
    if (partialName !== undefined) return false;
    for (const first of findLookUps(instance, declarations, sample, this.#options)) {
      if (first.isFiltered || first.requiredInstances.length > 0) continue;
      const all = readWithLargestLimit(first);
      const rows = all ? listRows(all, instance, session) : [];
      const isShown = (it: LookUp) =>
        listRows(it, instance, session).some(row => row.id === instance.id);
      const alike = rows.filter(row => row.label !== undefined && row.label === instance.label);
      if (!all || alike.length > 1 || isShown(first) || !isShown(all)) continue;
      this.pagedLookUps.set(getEntityKey(instance), [first, all]);
      return true;
    }
    return false;
  }

  /**
   * Whether there is a look-up that shows an instance, and one for whatever that look-up takes, as
   * far as somebody has named it.
   */
  #canFindInstance(instance: EntityInstance, place: SearchPlace, depth = 0): boolean {
    const { context, session, isNamed } = place;
    const { known, declarations, sample } = context;
    const key = getEntityKey(instance);
    if (known.has(key) || this.lookUps.get(key)?.requiredInstances.every(isNamed)) return true;
    if (depth > maxDepth) return false;
    const lookUps = findLookUps(instance, declarations, sample, this.#options).filter(it =>
      it.requiredInstances.every(isNamed),
    );
    const lookUp = findWorkingLookUp(lookUps, instance, session);
    const isPossible = lookUp?.requiredInstances.every(it =>
      this.#canFindInstance(it, place, depth + 1),
    );
    if (!lookUp || !isPossible) return false;
    this.lookUps.set(key, lookUp);
    return true;
  }

  /** Whether a partial name finds the instance, or finds nothing while a whole list shows it. */
  #canFindByPartialName(
    {
      instance,
      partialName,
      isAmbiguous = false,
    }: EntityMention & { readonly partialName: string },
    { known, declarations, sample }: ConversationContext,
    session: Session,
  ): boolean {
    if (known.has(getEntityKey(instance))) return true;
    const key = getPartialNameKey(instance, partialName);
    if (this.partialNameLookUps.has(key)) return true;
    const renamed = { ...instance, label: partialName };
    const lookUps = findLookUps(renamed, declarations, sample, this.#options).filter(
      it => it.requiredInstances.length === 0,
    );
    const lists = lookUps.filter(it => !it.isFiltered);
    const list = findWorkingLookUp(lists, instance, session);
    const byName = lookUps.find(it => it.isFiltered);
    const rows = byName ? listRows(byName, instance, session) : [];
    if (isAmbiguous) {
      if (!byName || !rows.some(it => it.id === instance.id)) return false;
      this.partialNameLookUps.set(key, [byName]);
      return true;
    }
    const isFound = rows.length === 1 && rows[0]!.id === instance.id;
    const next = isFound
      ? undefined
      : (list ??
        findByWord(instance, partialName, { declarations, sample, session }, this.#options));
    if (!isFound && (rows.length > 0 || !next)) return false;
    this.partialNameLookUps.set(key, [...(byName ? [byName] : []), ...(next ? [next] : [])]);
    return true;
  }
}

/** The look-up by a word that is spelt as in the label, if it shows the instance and few others. */
function findByWord(
  instance: EntityInstance,
  partialName: string,
  {
    declarations,
    sample,
    session,
  }: Pick<ConversationContext, "declarations" | "sample"> & { readonly session: Session },
  options: LookUpOptions,
): LookUp | undefined {
  const getWords = (text: string) => text.match(/[\p{L}\p{N}]{4,}/gu) ?? [];
  const own = new Set(getWords(instance.label ?? ""));
  const words = getWords(partialName).filter(it => own.has(it));
  for (const word of words.toSorted((a, b) => b.length - a.length)) {
    const lookUp = findLookUps({ ...instance, label: word }, declarations, sample, options).find(
      it => it.isFiltered && it.requiredInstances.length === 0,
    );
    const rows = lookUp ? listRows(lookUp, instance, session) : [];
    const alike = rows.filter(it => it.label !== undefined && isSimilar(it.label, partialName));
    if (rows.length <= maxRows && alike.length === 1 && alike[0]!.id === instance.id) return lookUp;
  }
  return undefined;
}

/** The same look-up with its largest limit; undefined if it has no limit. */
export function readWithLargestLimit(lookUp: LookUp): LookUp | undefined {
  const limit = lookUp.declaration.values.find(it => it.key === "limit" && !it.isRequired);
  const maximum = limit?.schema["maximum"];
  return typeof maximum === "number"
    ? { ...lookUp, arguments: { ...lookUp.arguments, limit: maximum } }
    : undefined;
}
