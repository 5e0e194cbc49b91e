/**
 * Wishes tried out before they are said: each on a fork of the live session, so that what people
 * ask for makes sense there. Keeps what the talk has met, what `it` means, and by which look-up
 * each thing is found. Knows no turns.
 */
import type { Outcome, Patch } from "../../environment/outcome.ts";
import type { Session, State } from "../../environment/session.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { findEntities } from "../graph/resultEntities.ts";
import type { MissingCapability } from "../text/missingCapability.ts";
import { substitutePartialNames } from "./partialMention.ts";
import { excludesCreatedEntities } from "../text/templateSchema.ts";
import {
  entityKey,
  findLookUps,
  listRows,
  findWorkingLookUp,
  type LookUp,
  type LookUpOptions,
} from "./lookUps.ts";
import { getParentIds, mergeShownEntity, type EntityInstance } from "./entitySampling.ts";
import {
  createIntent,
  type IntentRequest,
  type EntityMention,
  type ConversationContext,
  type Intent,
} from "./intent.ts";

/** A wish and what came of it. */
export interface FeasibilityResult {
  readonly intent: Intent;
  readonly declaration: ToolDeclaration;
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  /** Why the assistant cannot do it although the session would: nothing stays of such a wish. */
  readonly missingCapability?: MissingCapability;
  /** The state it leads to. */
  readonly state: State;
}

/**
 * How things are looked up, and the characters of a result that are still read, where they are
 * limited.
 */
export type FeasibilityOptions = LookUpOptions & { readonly longestResult?: number | undefined };

export class FeasibilityChecker {
  /** What is known at this point of the talk. */
  context: ConversationContext;
  /** The look-ups that find what has been named, by `keyOf`. */
  readonly lookUps = new Map<string, LookUp>();
  /** What was granted last, with its answer. */
  last: { readonly wish: Intent; readonly value: Json } | undefined;
  /**
   * The look-ups, in order, that find what has been named by other words than its label, by
   * `sloppyKey`.
   */
  readonly partialNameLookUps = new Map<string, readonly LookUp[]>();
  readonly #live: Session;
  readonly #ways: FeasibilityOptions;
  /** Entities whose ids people say. */
  readonly #spoken: ReadonlySet<string>;
  /** What has been done to what, so that nobody asks twice. */
  readonly #done = new Set<string>();
  /** What has been changed, and what was not there before, by `keyOf`. */
  readonly #touched = new Set<string>();
  readonly #made = new Set<string>();
  /** Things that have been brought together, or apart. */
  readonly #pairs = new Set<string>();
  /** What stood at the places that the last change has changed. */
  #undone = new Map<string, Json | undefined>();
  /** What the wish kept last named. */
  #named: readonly EntityInstance[] = [];
  #fork: Session;

  constructor(live: Session, scene: ConversationContext, ways: FeasibilityOptions) {
    this.#live = live;
    this.#fork = live.fork();
    this.#ways = ways;
    this.context = scene;
    this.#spoken = new Set(
      [...scene.declarations.values()].flatMap(it =>
        it.inputs.flatMap(input => (input.isSpoken ? [input.entity] : [])),
      ),
    );
  }

  /** Full names of tools that are not to be had. */
  get hiddenTools(): ReadonlySet<string> | undefined {
    return this.#ways.hiddenTools;
  }

  /** Starts from the live session as it is now. */
  reset(): void {
    this.#fork = this.#live.fork();
  }

  /** Another rehearsal that starts as this one began, for what does not come to pass. */
  fork(): FeasibilityChecker {
    const aside = new FeasibilityChecker(this.#live, this.context, this.#ways);
    for (const [key, route] of this.lookUps) aside.lookUps.set(key, route);
    return aside;
  }

  /**
   * Makes a wish and tries it; or why there is none that makes sense. Nothing stays of it until it
   * is kept.
   */
  check(
    asking: IntentRequest,
    scene: ConversationContext = this.context,
  ): FeasibilityResult | string {
    const { declaration } = asking;
    const wish = createIntent(scene, asking);
    if (!wish) return "nothing to speak of";
    if (this.#done.has(doneKey(wish))) return "it has been asked for";
    const obstacle = this.#obstacleTo(wish);
    if (typeof obstacle === "string") return obstacle;
    const guess = substitutePartialNames(wish);
    if (guess && !this.#isPutRight(wish, guess)) return "nobody would know who is meant";
    const trial = this.#fork.fork();
    const { outcome, patches } = trial.call(wish.tool.name, wish.arguments);
    if (outcome.kind === "ok" && wish.tool.effect === "write" && isIdle(patches))
      return "it is so already";
    if (outcome.kind === "ok" && this.#undoes(patches))
      return "it would undo what was asked for last";
    if (
      excludesCreatedEntities(asking.template) &&
      wish.mentions.some(it => this.#made.has(entityKey(it.instance)))
    )
      return "it has only just been done";
    if (wish.tool.effect === "write" && this.#pairs.has(pairKey(wish)))
      return "these two have been dealt with";
    if (wish.tool.destructive && this.#hasOnlyMade(wish)) return "it has only just been made";
    if (
      outcome.kind === "ok" &&
      JSON.stringify(outcome.value).length > (this.#ways.longestResult ?? Infinity)
    )
      return "too long a result";
    return {
      intent: wish,
      declaration,
      outcome,
      patches,
      state: trial.state,
      ...(obstacle ? { missingCapability: obstacle } : {}),
    };
  }

  /**
   * Goes on from a trial: what it changed stays, what it named or showed is known, and `it` means
   * what it was about.
   */
  commit({
    intent,
    declaration,
    outcome,
    patches,
    state,
    missingCapability,
  }: FeasibilityResult): void {
    if (missingCapability) return;
    const before = this.#fork.state;
    this.#fork.restore(state);
    if (outcome.kind !== "ok") return;
    if (intent.tool.effect === "write") {
      this.#pairs.add(pairKey(intent));
      this.#undone = new Map(patches.map(it => [it.path, valueAt(before, it.path)]));
      const results = findEntities(declaration, outcome.value);
      for (const it of [...intent.mentions.map(named => named.instance), ...results])
        this.#touched.add(entityKey(it));
      for (const it of results)
        if (!this.context.known.has(entityKey(it)) && !this.context.sample.find(it.entity, it.id))
          this.#made.add(entityKey(it));
    }
    this.last = { wish: intent, value: outcome.value };
    this.#done.add(doneKey(intent));
    const { known, sample } = this.context;
    const context = getParentIds(declaration, intent.arguments);
    // a thing may have just been renamed: what it is called now counts
    const shown = findEntities(declaration, outcome.value).map(it => ({
      ...mergeShownEntity(known.get(entityKey(it)) ?? sample.find(it.entity, it.id), it, context),
      ...(it.label === undefined ? {} : { label: it.label }),
    }));
    const named = intent.mentions.map(
      ({ instance }) => shown.find(it => entityKey(it) === entityKey(instance)) ?? instance,
    );
    const fresh = shown.filter(it => !named.some(other => entityKey(other) === entityKey(it)));
    // what a result shows is in focus only where it can be told apart
    const single = fresh.filter(
      it =>
        fresh.filter(other => other.entity === it.entity).length === 1 ||
        it.label !== undefined ||
        this.#spoken.has(it.entity),
    );
    this.context = {
      ...this.context,
      known: new Map([...known, ...byKey([...named, ...shown])]),
      focus: [...byKey([...named, ...single]).values()],
      recent: [...this.#named, ...named],
    };
    this.#named = named;
  }

  /** Nothing is called "it" for a while. */
  clearFocus(): void {
    this.context = { ...this.context, focus: [] };
  }

  /**
   * A refusal that the user could have foreseen: of what was done a moment ago, or of a name that
   * the talk has seen taken.
   */
  isForeseeableRefusal({ intent, outcome }: FeasibilityResult): boolean {
    if (outcome.kind === "ok") return false;
    const isTouched = intent.mentions.some(it => this.#touched.has(entityKey(it.instance)));
    if (outcome.type !== "conflict") return isTouched && intent.mentions.length === 1;
    const known = new Set([...this.context.known.values()].flatMap(it => [it.id, it.label]));
    return isTouched || declaredWords(intent).some(it => known.has(it));
  }

  /** Whether it sets all back that the last change has set. */
  #undoes(patches: readonly Patch[]): boolean {
    const telling = patches.filter(it => it.op === "replace" && !isPassing(it));
    return (
      telling.length > 0 &&
      telling.every(it => this.#undone.has(it.path) && this.#undone.get(it.path) === it.value) &&
      !patches.some(it => it.op !== "replace")
    );
  }

  /** The server does not know the half that was said, and says which whole it may have been. */
  #isPutRight({ tool, mentions }: Intent, guess: JsonObject): boolean {
    const { outcome } = this.#fork.fork().call(tool.name, guess);
    if (outcome.kind !== "refused" || outcome.type !== "not_found") return false;
    const { message, hint = "" } = outcome;
    return mentions.every(
      it =>
        !it.isIdSpoken ||
        it.partialName === undefined ||
        (message.includes(it.partialName) && hint.includes(it.instance.id)),
    );
  }

  #hasOnlyMade({ mentions }: Intent): boolean {
    const { sample } = this.context;
    return mentions.some(
      ({ instance }) =>
        this.#made.has(entityKey(instance)) &&
        (sample.instances.get(instance.entity)?.length ?? 0) > 0,
    );
  }

  /** Told what the last reply has read out, in its order. */
  setListedInstances(rows: readonly Pick<EntityInstance, "entity" | "id">[]): void {
    const { known, sample } = this.context;
    this.context = {
      ...this.context,
      listed: rows.flatMap(it => known.get(entityKey(it)) ?? sample.find(it.entity, it.id) ?? []),
    };
  }

  /** Whether these words name one thing that may be called "it". */
  canBeCalledIt(words: string): boolean {
    const { known, templates } = this.context;
    return [...known.values()].some(
      it =>
        (it.label === words || it.id === words) &&
        templates.entities[it.entity]?.again?.includes("it") === true,
    );
  }

  /** The one thing of that label, found by a look-up that takes labels. */
  findByLabel(entity: string, label: string): EntityInstance | undefined {
    for (const declared of this.context.declarations.values()) {
      const key = declared.labels.find(it => it.entity === entity)?.key;
      const takesMore = [...declared.inputs, ...declared.labels, ...declared.values].some(
        it => it.isRequired && it.key !== key,
      );
      if (key === undefined || takesMore || declared.tool.effect === "write") continue;
      const { outcome } = this.#fork.call(declared.tool.name, { [key]: label });
      const found =
        outcome.kind === "ok"
          ? findEntities(declared, outcome.value).filter(
              it => it.entity === entity && it.label === label,
            )
          : [];
      if (found.length === 1) return mergeShownEntity(undefined, found[0]!, {});
    }
    return undefined;
  }

  /** The user's own words find it, or find nothing, and then a whole list shows it. */
  #isFindableBy(thing: EntityInstance, words: string): boolean {
    const { known, declarations, sample } = this.context;
    if (known.has(entityKey(thing))) return true;
    const key = partialNameKey(thing, words);
    if (this.partialNameLookUps.has(key)) return true;
    const routes = findLookUps({ ...thing, label: words }, declarations, sample, this.#ways).filter(
      it => it.requiredInstances.length === 0,
    );
    const whole = findWorkingLookUp(
      routes.filter(it => !it.isFiltered),
      thing,
      this.#fork,
    );
    const by = routes.find(it => it.isFiltered);
    const shown = by ? listRows(by, thing, this.#fork) : [];
    const isFound = shown.length === 1 && shown[0]!.id === thing.id;
    if (shown.length > 0 && !isFound) return false;
    const ways = [...(by ? [by] : []), ...(isFound || !whole ? [] : [whole])];
    if (ways.length === 0 || (!isFound && !whole)) return false;
    this.partialNameLookUps.set(key, ways);
    return true;
  }

  /**
   * What stands in the way of a wish where tools are not to be had, or why it makes no sense
   * anyway.
   */
  #obstacleTo(wish: Intent): MissingCapability | string | undefined {
    const isFound = (it: EntityMention) =>
      it.isIdSpoken ||
      (it.partialName === undefined
        ? this.#isFindable(it.instance, 0)
        : this.#isFindableBy(it.instance, it.partialName));
    const { hiddenTools } = this.#ways;
    if (hiddenTools?.has(wish.tool.name)) return { kind: "tool" };
    const lost = wish.mentions.find(it => !isFound(it));
    if (!lost) return undefined;
    const { declarations, sample, templates } = this.context;
    const isHidden =
      hiddenTools &&
      lost.partialName === undefined &&
      findWorkingLookUp(
        findLookUps(lost.instance, declarations, sample, { ...this.#ways, hiddenTools: none }),
        lost.instance,
        this.#fork,
      );
    const key = Object.keys(wish.arguments).find(it =>
      [wish.arguments[it]].flat().includes(lost.instance.id),
    );
    const said = key === undefined ? undefined : wish.argumentTexts[key];
    return isHidden && said !== undefined
      ? { kind: "thing", noun: templates.entities[lost.instance.entity]!.noun, said }
      : "no look-up";
  }

  /**
   * A thing named without its id has a look-up that shows it, and so has whatever that look-up
   * needs.
   */
  #isFindable(thing: EntityInstance, depth: number): boolean {
    const { known, declarations, sample } = this.context;
    if (known.has(entityKey(thing)) || this.lookUps.has(entityKey(thing))) return true;
    if (depth > 2) return false;
    const route = findWorkingLookUp(
      findLookUps(thing, declarations, sample, this.#ways),
      thing,
      this.#fork,
    );
    if (!route || !route.requiredInstances.every(it => this.#isFindable(it, depth + 1)))
      return false;
    this.lookUps.set(entityKey(thing), route);
    return true;
  }
}

const none: ReadonlySet<string> = new Set();

export const partialNameKey = (thing: EntityInstance, words: string): string =>
  `${entityKey(thing)} ${words}`;

const byKey = (things: readonly EntityInstance[]): Map<string, EntityInstance> =>
  new Map(things.map(it => [entityKey(it), it]));

/** Time and chance go on with every call. */
const isPassing = ({ path }: Patch): boolean => /^\/[a-z_]+\/(clock|draws)$/.test(path);

/** It changed nothing but the time. */
const isIdle = (patches: readonly Patch[]): boolean => patches.every(isPassing);

/**
 * What stands at a path of the state: objects are compared by nobody, so only plain values matter.
 */
function valueAt(state: State, path: string): Json | undefined {
  let at: unknown = state;
  for (const key of path.slice(1).split("/")) {
    if (at === null || typeof at !== "object") return undefined;
    at = (at as Record<string, unknown>)[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return at as Json | undefined;
}

/**
 * Two things or more that a change is about, and nothing that can be said twice, such as an amount;
 * else a key of its own.
 */
function pairKey({ tool, mentions, arguments: args }: Intent): string {
  const isPair = mentions.length > 1 && !Object.values(args).some(it => typeof it === "number");
  return isPair
    ? mentions
        .map(it => entityKey(it.instance))
        .toSorted()
        .join(" ")
    : `${tool.name} ${JSON.stringify(args)}`;
}

/** The strings among a wish's arguments that name no thing. */
function declaredWords({ arguments: args, mentions }: Intent): string[] {
  const ids = new Set(mentions.map(it => it.instance.id));
  return Object.values(args).filter((it): it is string => typeof it === "string" && !ids.has(it));
}

/** Turned down for how things are, not for how it was asked. */
export const isRefusal = (outcome: Outcome): boolean =>
  outcome.kind === "refused" && outcome.type !== "invalid_params" && outcome.type !== "not_found";

/** A result with nothing in it but empty lists. */
export function isEmptyResult(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  const fields = Object.values(value) as unknown[];
  const isEmptyList = (it: unknown) => Array.isArray(it) && it.length === 0;
  return fields.some(isEmptyList) && fields.every(it => isEmptyList(it) || it === 0);
}

/**
 * A change is the same on the same things, unless it is by an amount; a question is the same where
 * it asks the same.
 */
function doneKey({ tool, mentions, arguments: args }: Intent): string {
  const isByThing =
    tool.effect === "write" &&
    mentions.length > 0 &&
    !Object.values(args).some(it => typeof it === "number");
  return `${tool.name} ${isByThing ? mentions.map(it => entityKey(it.instance)).join(" ") : JSON.stringify(args)}`;
}
