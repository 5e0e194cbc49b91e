/**
 * Checks intents before the user expresses them: each runs on a fork of the live session, so that
 * what the user asks for makes sense there, after what the conversation has shown and changed.
 */
import type { Session } from "../../../environment/session.ts";
import { canonicalJson, type Json } from "../../../environment/json.ts";
import { Knowledge } from "../../../trajectory/knowledge.ts";
import { findEntities, type ResultEntity } from "../../../trajectory/entities.ts";
import { listScalars } from "../../../trajectory/valueMatching.ts";
import { appliesTo, type TaskRule } from "../../../trajectory/taskRules.ts";
import type { MissingCapability } from "../../text/refusals.ts";
import type { ProofTexts } from "../../text/serverPolicies.ts";
import type { ConversationContext } from "../conversationContext.ts";
import { createIntent } from "./createIntent.ts";
import { drawProof, findProofRule, hasSaidReason } from "./proofs.ts";
import {
  getEntityKey,
  getParentIds,
  mergeResultEntity,
  type EntityInstance,
} from "../entities/entitySample.ts";
import { readOn } from "./wholeLists.ts";
import {
  takesAway,
  type Intent,
  type IntentProof,
  type IntentRequest,
  type ValueSource,
} from "./intent.ts";
import { listRows, LookUpPlan, type LookUpOptions } from "../entities/lookUps.ts";
import { substitutePartialNames } from "../entities/entityMentions.ts";
import { Referents } from "../entities/referents.ts";
import { meets } from "../../text/replies.ts";
import { excludesCreatedEntities, type ClauseTemplate } from "../../text/templates.ts";
import type { Call, Outcome, Patch } from "../../../environment/outcome.ts";
import type { State } from "../../../environment/state.ts";
import type { ToolDeclaration } from "../../graph/declarations.ts";

interface FeasibilityOptions extends LookUpOptions {
  /** In characters of JSON; no limit where absent. */
  readonly maxResultLength?: number | undefined;
  /** The rules that hold in the conversation, and what those accept that demand a proof. */
  readonly rules?: readonly TaskRule[] | undefined;
  readonly proofs?: ReadonlyMap<string, ProofTexts> | undefined;
  /** The user says why they come. */
  readonly hasMotive?: boolean | undefined;
}

export interface CheckOptions {
  /** Entities may be looked up further down a list than its first rows. */
  readonly usesPages?: boolean;
}

/** What a checker takes over from another one. */
interface FeasibilityParts {
  readonly lookUpPlan?: LookUpPlan;
  readonly knowledge?: Knowledge;
}

export class FeasibilityChecker {
  /** What the user has said, results have shown and the assistant has told. */
  readonly knowledge: Knowledge;
  readonly lookUpPlan: LookUpPlan;
  /** The last intent whose call succeeded, with the result. */
  last: { readonly intent: Intent; readonly result: Json } | undefined;
  readonly #live: Session;
  readonly #options: FeasibilityOptions;
  readonly #context: ConversationContext;
  readonly #referents: Referents;
  readonly #history = new ChangeHistory();
  /** What the user says of the requests of this turn, by the rules that want to know it. */
  readonly #proofs = new Map<string, IntentProof>();
  #fork: Session;

  constructor(
    live: Session,
    context: ConversationContext,
    options: FeasibilityOptions,
    { lookUpPlan = new LookUpPlan(options), knowledge = new Knowledge() }: FeasibilityParts = {},
  ) {
    this.#live = live;
    this.#fork = live.fork();
    this.#options = options;
    this.#context = context;
    this.lookUpPlan = lookUpPlan;
    this.knowledge = knowledge;
    this.#referents = new Referents(context, knowledge);
  }

  /** What the user can speak of at this point of the conversation. */
  get context(): ConversationContext {
    return { ...this.#context, ...this.#referents.context };
  }

  /** Full names of tools that are not on the menu. */
  get hiddenTools(): ReadonlySet<string> | undefined {
    return this.#options.hiddenTools;
  }

  /** Starts again from the live session as it is now. */
  reset(): void {
    this.#proofs.clear();
    this.#fork = this.#live.fork();
  }

  /** A checker for hypothetical intents; it starts from the live session with the same look-ups. */
  fork(): FeasibilityChecker {
    const lookUpPlan = new LookUpPlan(this.#options, this.lookUpPlan.lookUps);
    const { knowledge } = this;
    return new FeasibilityChecker(this.#live, this.context, this.#options, {
      lookUpPlan,
      knowledge,
    });
  }

  /**
   * Creates an intent and calls its tool on a fork, or returns the reason why no intent makes
   * sense. Changes nothing until the result is committed.
   */
  check(
    request: IntentRequest,
    context: ConversationContext = this.context,
    options: CheckOptions = {},
  ): FeasibilityResult | string {
    const { declaration, template } = request;
    const intent = createIntent(context, request);
    if (!intent) return "nothing to speak of";
    if (!request.isDeliberate && this.#history.isRequested(intent)) return "it has been asked for";
    const missingCapability = this.lookUpPlan.findMissingCapability(
      intent,
      this.context,
      this.#fork,
      this.knowledge,
      options.usesPages,
    );
    if (typeof missingCapability === "string") return missingCapability;
    if (!this.#canResolvePartialNames(intent)) return "nobody would know who is meant";
    if (!(intent.computed ?? []).every(it => this.#isShown(it)))
      return "nobody would see what it is now";
    const result = this.#readOn(this.checkIntent({ intent, declaration }));
    const objection =
      this.#findMisfit(result) ??
      (request.isDeliberate ? findPlainObjection(result) : this.#findObjection(result, template));
    const missing = missingCapability ?? this.#findForbidding(result);
    // a change of mind is one about what can be taken back
    const takesBack =
      missing &&
      !request.isDeliberate &&
      intent.tool.destructive &&
      intent.mentions.some(it => this.#history.wasCreated(it.instance));
    const flaw =
      (takesBack ? "it has only just been made" : objection) ?? this.#findLengthObjection(result);
    if (flaw !== undefined) return flaw;
    return missing
      ? { ...result, missingCapability: missing }
      : this.#addProof(result, request.isSettled === true);
  }

  /** Whether the assistant sees the field that a value is computed from, as it is now. */
  #isShown({ mention: { instance, partialName }, field }: ValueSource): boolean {
    const { declarations } = this.#context;
    const has = (it: ResultEntity) =>
      it.entity === instance.entity &&
      it.id === instance.id &&
      it.facts[field] === instance.facts[field];
    if (this.context.known.has(getEntityKey(instance)))
      return this.knowledge.listCurrent().some(({ name, value }) => {
        const declaration = declarations.get(name);
        return declaration !== undefined && findEntities(declaration, value).some(has);
      });
    const lookUp = partialName === undefined && this.lookUpPlan.lookUps.get(getEntityKey(instance));
    return lookUp ? listRows(lookUp, instance, this.#fork).some(has) : false;
  }

  /** The result of the whole list, if the user wants it and the first page is cut. */
  #readOn(result: FeasibilityResult): FeasibilityResult {
    const { intent, declaration, outcome } = result;
    const whole = outcome.kind === "ok" ? readOn(intent, outcome.value) : undefined;
    return whole ? this.checkIntent({ intent: whole, declaration }) : result;
  }

  /** The session as the conversation so far leaves it, for trying calls. */
  forkSession(): Session {
    return this.#fork.fork();
  }

  /** The result of an intent after other calls, or the reason why it makes no sense then. */
  checkAfter(
    calls: readonly Call[],
    { intent, declaration }: Pick<FeasibilityResult, "intent" | "declaration">,
  ): FeasibilityResult | string {
    const fork = this.#fork.fork();
    for (const it of calls) {
      const { outcome } = fork.call(it.name, it.arguments);
      if (outcome.kind !== "ok") return outcome.message;
    }
    const { outcome, patches } = fork.call(intent.tool.name, intent.arguments);
    const result = { intent, declaration, outcome, patches, state: fork.state };
    return this.#findObjection(result) ?? result;
  }

  /** Calls the tool of an intent on a fork. */
  checkIntent({
    intent,
    declaration,
  }: Pick<FeasibilityResult, "intent" | "declaration">): FeasibilityResult {
    const fork = this.#fork.fork();
    const { outcome, patches } = fork.call(intent.tool.name, intent.arguments);
    return { intent, declaration, outcome, patches, state: fork.state };
  }

  /** The rule that forbids a call, whether the session accepts it or not. */
  #findForbidding({ intent }: FeasibilityResult): MissingCapability | undefined {
    const call = { name: intent.tool.name, arguments: intent.arguments };
    const rule = this.#options.rules?.find(it => it.demands === "never" && appliesTo(it, call));
    return rule && { kind: "rule", rule };
  }

  /** The result with what a rule wants to know first, which may be nothing that it accepts. */
  #addProof(result: FeasibilityResult, isSettled: boolean): FeasibilityResult | string {
    const { rules = [], proofs } = this.#options;
    const rule = findProofRule(rules, result.intent);
    if (!rule) return result;
    const texts = proofs?.get(rule.id);
    if (texts && !isSettled && hasSaidReason(texts, result.intent, this.#options.hasMotive))
      return "the user has said why";
    const said = this.#proofs.get(rule.id);
    const proof =
      said ??
      (texts && result.outcome.kind === "ok"
        ? drawProof({ rule, texts, isSettled }, result.intent, this.context, it =>
            this.#isShown(it),
          )
        : undefined);
    // a reason is given once in a turn, and holds for all that it asks for
    if (!proof || said?.source) return "the user could not prove it";
    return {
      ...result,
      intent: { ...result.intent, proof },
      ...(proof.isAccepted ? {} : { missingCapability: { kind: "rule" as const, rule } }),
    };
  }

  /** Why nobody would ask for this at this point. */
  #findObjection(result: FeasibilityResult, template: ClauseTemplate = ""): string | undefined {
    const { intent, outcome, patches } = result;
    const { tool, mentions } = intent;
    const history = this.#history;
    const [isOk, isWrite] = [outcome.kind === "ok", tool.effect === "write"];
    if (isOk && this.#hasShown(result)) return "a result has shown it";
    if (isOk && history.undoesLastChange(patches)) return "it would undo what was asked for last";
    const { undoes } = this.context.templates.tools[tool.name] ?? {};
    if (undoes !== undefined && history.wasDone(undoes, intent))
      return "it would undo what was asked for";
    if (
      excludesCreatedEntities(template) &&
      mentions.some(({ instance }) => history.wasCreated(instance))
    )
      return "it has only just been done";
    if (!isWrite && this.wasTakenAway(intent)) return "it has just been taken away";
    if (isWrite && history.hasCombined(intent)) return "these two have been dealt with";
    if (tool.destructive && this.#namesCreatedAmongOthers(intent))
      return "it has only just been made";
    return findPlainObjection(result);
  }

  /** Whether something that an intent is about has been cancelled or removed. */
  wasTakenAway({ mentions }: Pick<Intent, "mentions">): boolean {
    return mentions.some(({ instance }) => this.#history.wasTakenAway(instance));
  }

  /** Why nobody would ask for this with these entities, such as for a like of their own post. */
  #findMisfit({ intent: { tool, mentions }, outcome }: FeasibilityResult): string | undefined {
    const { self, tools } = this.context.templates;
    const { others, needs } = tools[tool.name] ?? {};
    if (others !== undefined && mentions.some(({ instance }) => instance.facts[others] === self))
      return "it is their own";
    if (needs && outcome.kind === "ok" && !meets(outcome.value, needs))
      return "it does not belong there";
    return undefined;
  }

  /** Whether the assistant has made a read before, and would see the same again. */
  #hasShown({ intent: { tool, arguments: args }, outcome }: FeasibilityResult): boolean {
    const shown = this.knowledge.findCurrent({ name: tool.name, arguments: args });
    return (
      shown !== undefined &&
      outcome.kind === "ok" &&
      canonicalJson(shown.value) === canonicalJson(outcome.value)
    );
  }

  #findLengthObjection({ outcome }: FeasibilityResult): string | undefined {
    if (
      outcome.kind === "ok" &&
      JSON.stringify(outcome.value).length > (this.#options.maxResultLength ?? Infinity)
    )
      return "too long a result";
    return undefined;
  }

  /** Continues from a result: its changes stay, and what it named or showed is known. */
  commit({ intent, declaration, outcome, patches, state, missingCapability }: FeasibilityResult) {
    if (missingCapability) return;
    if (intent.proof) this.#proofs.set(intent.proof.rule, intent.proof);
    const before = this.#fork.state;
    this.#fork.restore(state);
    if (outcome.kind !== "ok") return;
    const { known, sample } = this.context;
    const entities = findEntities(declaration, outcome.value);
    const isWrite = intent.tool.effect === "write";
    const isNew = (it: ResultEntity) =>
      isWrite && !known.has(getEntityKey(it)) && !sample.find(it.entity, it.id);
    if (isWrite) this.#history.recordWrite(intent, patches, before, entities);
    for (const it of entities.filter(isNew)) this.#history.recordCreated(it);
    this.last = { intent, result: outcome.value };
    this.#history.recordRequest(intent);
    const parents = getParentIds(declaration, intent.arguments);
    const shown = entities.map(it => this.#getResultInstance(it, parents));
    const named = intent.mentions.map(
      ({ instance }) => shown.find(it => getEntityKey(it) === getEntityKey(instance)) ?? instance,
    );
    const made = shown.filter(isNew);
    const given = [...listScalars(intent.arguments)].map(String);
    // a new path may end with a name, or with the file name of a path, that the request gave
    const unknown = made.filter(
      ({ id }) =>
        !given.some(it => String(id) === it || String(id).endsWith(`/${it.split("/").at(-1)!}`)),
    );
    this.#referents.addRequest({ named, made, unknown, shown });
  }

  /** The instance of an entity in a result; a new label replaces the known one. */
  #getResultInstance(entity: ResultEntity, parents: EntityInstance["parents"]): EntityInstance {
    const { known, sample } = this.context;
    const instance = known.get(getEntityKey(entity)) ?? sample.find(entity.entity, entity.id);
    return {
      ...mergeResultEntity(instance, entity, parents),
      ...(entity.label === undefined ? {} : { label: entity.label }),
    };
  }

  /** Makes sure that the next intent refers to nothing as `it`. */
  clearFocus(): void {
    this.#referents.clearFocus();
  }

  /** Continues from the assistant's reply. */
  hearReply(reply: string): void {
    this.knowledge.learnReply(reply);
    this.#referents.addReply();
  }

  /**
   * Whether the user could have expected the refusal: because of a change made before, or because
   * of a name that the conversation has shown to be taken.
   */
  isForeseeableRefusal({ intent, outcome }: FeasibilityResult): boolean {
    if (outcome.kind === "ok") return false;
    const isChanged = intent.mentions.some(it => this.#history.wasChanged(it.instance));
    if (outcome.type !== "conflict") return isChanged && intent.mentions.length === 1;
    const names = new Set([...this.context.known.values()].flatMap(it => [it.id, it.label]));
    return isChanged || listPlainTexts(intent).some(it => names.has(it));
  }

  /** Whether the server does not know the partial names and hints at the full ones. */
  #canResolvePartialNames(intent: Intent): boolean {
    const args = substitutePartialNames(intent);
    if (!args) return true;
    const { outcome } = this.#fork.fork().call(intent.tool.name, args);
    if (outcome.kind !== "refused" || outcome.type !== "not_found") return false;
    const { message, hint = "" } = outcome;
    return intent.mentions.every(
      it =>
        !it.isIdSpoken ||
        it.partialName === undefined ||
        (message.includes(it.partialName) && hint.includes(String(it.instance.id))),
    );
  }

  #namesCreatedAmongOthers({ mentions }: Intent): boolean {
    const { instances } = this.context.sample;
    return mentions.some(
      ({ instance }) =>
        this.#history.wasCreated(instance) && (instances.get(instance.entity)?.length ?? 0) > 0,
    );
  }

  /** Takes the rows that the last reply listed, in its order. */
  setListedInstances(rows: readonly Pick<EntityInstance, "entity" | "id">[]): void {
    this.#referents.setListed(rows, this.#context);
  }

  /** Whether these words name a known instance that can be called `it`. */
  canBeCalledIt(words: string): boolean {
    const { known, templates } = this.context;
    return [...known.values()].some(
      it =>
        (it.label === words || it.id === words) &&
        templates.entities[it.entity]?.again?.includes("it") === true,
    );
  }

  /** The only instance with a label, found by a look-up that takes labels. */
  findByLabel(entity: string, label: string): EntityInstance | undefined {
    for (const declaration of this.context.declarations.values()) {
      const { tool, inputs, labels, values } = declaration;
      const key = labels.find(it => it.entity === entity)?.key;
      const requiresMore = [...inputs, ...labels, ...values].some(
        it => it.isRequired && it.key !== key,
      );
      if (key === undefined || requiresMore || tool.effect === "write") continue;
      const { outcome } = this.#fork.call(tool.name, { [key]: label });
      const rows = outcome.kind === "ok" ? findEntities(declaration, outcome.value) : [];
      const matches = rows.filter(it => it.entity === entity && it.label === label);
      if (matches.length === 1) return mergeResultEntity(undefined, matches[0]!, {});
    }
    return undefined;
  }
}

/** Why a call makes no sense whatever was said before. */
const findPlainObjection = ({ intent, outcome, patches }: FeasibilityResult): string | undefined =>
  outcome.kind === "ok" && intent.tool.effect === "write" && changesNothing(patches)
    ? "it is so already"
    : undefined;

/** The texts among an intent's arguments that are not ids. */
function listPlainTexts({ arguments: args, mentions }: Intent): string[] {
  const ids = new Set(mentions.map(it => it.instance.id));
  return Object.values(args).filter((it): it is string => typeof it === "string" && !ids.has(it));
}

// The result of checking an intent on a fork of the live session.

export interface FeasibilityResult {
  readonly intent: Intent;
  readonly declaration: ToolDeclaration;
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  /** Why the assistant cannot do it although the session accepts the call. */
  readonly missingCapability?: MissingCapability;
  /** The state after the call. */
  readonly state: State;
}

/** Why a result cannot be used. A string is the reason why there is no result. */
export const describeProblem = (result: FeasibilityResult | string): string =>
  typeof result === "string"
    ? result
    : result.outcome.kind === "ok"
      ? "nothing in the result"
      : result.outcome.message;

/** Whether a call was refused because of the server's state, not because of its arguments. */
export const isRefusal = (outcome: Outcome): boolean =>
  outcome.kind === "refused" && outcome.type !== "invalid_params" && outcome.type !== "not_found";

/** Whether a result consists of empty lists. */
export function isEmptyResult(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  const fields = Object.values(value) as unknown[];
  const isEmptyList = (it: unknown) => Array.isArray(it) && it.length === 0;
  return fields.some(isEmptyList) && fields.every(it => isEmptyList(it) || it === 0);
}

/** Whether the call of a result succeeds and finds something. */
export const findsSomething = ({ outcome }: Pick<FeasibilityResult, "outcome">): boolean =>
  outcome.kind === "ok" && !isEmptyResult(outcome.value);

// Records what a conversation has requested and changed, so that no intent repeats or undoes it.

class ChangeHistory {
  readonly #requests = new Set<string>();
  /** Instances that writes have named or returned, by `getEntityKey`. */
  readonly #changed = new Set<string>();
  /** Instances that were cancelled or removed, by `getEntityKey`. */
  readonly #takenAway = new Set<string>();
  /** Instances that did not exist before the conversation, by `getEntityKey`. */
  readonly #created = new Set<string>();
  /** Instances that a write has had in one call. */
  readonly #combinations = new Set<string>();
  /** Tools of writes, each with an instance that it was about. */
  readonly #writes = new Set<string>();
  /** The values that the last write replaced, by path. */
  #replacedValues = new Map<string, Json | undefined>();

  isRequested(intent: Intent): boolean {
    return this.#requests.has(getRequestKey(intent));
  }

  wasChanged(instance: EntityInstance): boolean {
    return this.#changed.has(getEntityKey(instance));
  }

  wasCreated(instance: EntityInstance): boolean {
    return this.#created.has(getEntityKey(instance));
  }

  wasTakenAway(instance: EntityInstance): boolean {
    return this.#takenAway.has(getEntityKey(instance));
  }

  /** Whether a write has had the same instances in one call. */
  hasCombined(intent: Intent): boolean {
    return this.#combinations.has(getCombinationKey(intent));
  }

  /** Whether a write with a tool was about one of the intent's instances. */
  wasDone(tool: string, { mentions }: Intent): boolean {
    return mentions.some(it => this.#writes.has(getWriteKey(tool, it.instance)));
  }

  /** Whether the patches restore every value that the last write replaced. */
  undoesLastChange(patches: readonly Patch[]): boolean {
    const replacements = patches.filter(it => it.op === "replace" && !isClockOrDraws(it));
    const replaced = this.#replacedValues;
    return (
      replacements.length > 0 &&
      replacements.every(it => replaced.has(it.path) && replaced.get(it.path) === it.value) &&
      !patches.some(it => it.op !== "replace")
    );
  }

  recordRequest(intent: Intent): void {
    this.#requests.add(getRequestKey(intent));
  }

  /** Takes a write with its patches, the state before it, and the entities of its result. */
  recordWrite(
    intent: Intent,
    patches: readonly Patch[],
    before: State,
    results: readonly ResultEntity[],
  ): void {
    this.#combinations.add(getCombinationKey(intent));
    this.#replacedValues = new Map(patches.map(it => [it.path, getValueAt(before, it.path)]));
    for (const it of intent.mentions) this.#writes.add(getWriteKey(intent.tool.name, it.instance));
    // of several, only one is taken away, such as a guest from an event
    const [only, ...others] = intent.mentions;
    if (takesAway(intent.tool) && only && others.length === 0)
      this.#takenAway.add(getEntityKey(only.instance));
    for (const it of [...intent.mentions.map(mention => mention.instance), ...results])
      this.#changed.add(getEntityKey(it));
  }

  recordCreated(entity: ResultEntity): void {
    this.#created.add(getEntityKey(entity));
  }
}

/** Whether a write changed nothing but the clock and the random draws. */
export const changesNothing = (patches: readonly Patch[]): boolean => patches.every(isClockOrDraws);

/** The clock, the number of random draws and the history change with every call. */
export const isClockOrDraws = ({ path }: Patch): boolean =>
  /^\/[a-z_]+\/(clock|draws|history\/calls\/\d+)$/.test(path);

/** The value at a JSON Pointer in the state, undefined if there is none. */
export function getValueAt(state: State, path: string): Json | undefined {
  let value: unknown = state;
  for (const key of path.slice(1).split("/")) {
    if (value === null || typeof value !== "object") return undefined;
    value = (value as Record<string, unknown>)[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return value as Json | undefined;
}

const getWriteKey = (tool: string, instance: EntityInstance): string =>
  `${tool} ${getEntityKey(instance)}`;

/** Equal for writes on the same two or more instances, unless they are by an amount. */
function getCombinationKey({ tool, mentions, arguments: args }: Intent): string {
  if (mentions.length < 2 || hasAmount(args)) return `${tool.name} ${JSON.stringify(args)}`;
  return mentions
    .map(it => getEntityKey(it.instance))
    .toSorted()
    .join(" ");
}

/** Equal for writes on the same instances, unless by an amount; for reads, by their arguments. */
function getRequestKey({ tool, mentions, firstPage, arguments: whole }: Intent): string {
  const args = firstPage ?? whole;
  const isByInstance = tool.effect === "write" && mentions.length > 0 && !hasAmount(args);
  return `${tool.name} ${isByInstance ? mentions.map(it => getEntityKey(it.instance)).join(" ") : JSON.stringify(args)}`;
}

const hasAmount = (args: Intent["arguments"]): boolean =>
  Object.values(args).some(it => typeof it === "number");
