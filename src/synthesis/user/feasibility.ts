/**
 * Wishes tried out before they are said: each on a fork of the live session, so that what people
 * ask for makes sense there. Keeps what the talk has met, what `it` means, and by which look-up
 * each thing is found. Knows no turns.
 */
import type { Outcome, Patch } from "../../environment/outcome.ts";
import type { Session, State } from "../../environment/session.ts";
import type { Json, JsonObject } from "../../environment/json.ts";
import { findEntities, type ToolDeclaration } from "../graph/declarations.ts";
import type { MissingCapability } from "../text/missingCapability.ts";
import { guessOf } from "./partialMention.ts";
import { excludesCreatedEntities } from "../text/templates.ts";
import { keyOf, routesTo, rowsOf, workingRoute, type Route, type RouteWishes } from "./lookUps.ts";
import { contextOf, merged, type Thing } from "./entitySampling.ts";
import { wishFor, type Asking, type Named, type Scene, type Wish } from "./intent.ts";

/** A wish and what came of it. */
export interface Trial {
  readonly wish: Wish;
  readonly declared: ToolDeclaration;
  readonly outcome: Outcome;
  readonly patches: readonly Patch[];
  /** Why the assistant cannot do it although the session would: nothing stays of such a wish. */
  readonly obstacle?: MissingCapability;
  /** The state it leads to. */
  readonly state: State;
}

/**
 * How things are looked up, and the characters of a result that are still read, where they are
 * limited.
 */
export type Ways = RouteWishes & { readonly longestResult?: number | undefined };

export class Rehearsal {
  /** What is known at this point of the talk. */
  scene: Scene;
  /** The look-ups that find what has been named, by `keyOf`. */
  readonly routes = new Map<string, Route>();
  /** What was granted last, with its answer. */
  last: { readonly wish: Wish; readonly value: Json } | undefined;
  /**
   * The look-ups, in order, that find what has been named by other words than its label, by
   * `sloppyKey`.
   */
  readonly sloppy = new Map<string, readonly Route[]>();
  readonly #live: Session;
  readonly #ways: Ways;
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
  #named: readonly Thing[] = [];
  #fork: Session;

  constructor(live: Session, scene: Scene, ways: Ways) {
    this.#live = live;
    this.#fork = live.fork();
    this.#ways = ways;
    this.scene = scene;
    this.#spoken = new Set(
      [...scene.declarations.values()].flatMap(it =>
        it.inputs.flatMap(input => (input.isSpoken ? [input.entity] : [])),
      ),
    );
  }

  /** Full names of tools that are not to be had. */
  get hidden(): ReadonlySet<string> | undefined {
    return this.#ways.hidden;
  }

  /** Starts from the live session as it is now. */
  begin(): void {
    this.#fork = this.#live.fork();
  }

  /** Another rehearsal that starts as this one began, for what does not come to pass. */
  aside(): Rehearsal {
    const aside = new Rehearsal(this.#live, this.scene, this.#ways);
    for (const [key, route] of this.routes) aside.routes.set(key, route);
    return aside;
  }

  /**
   * Makes a wish and tries it; or why there is none that makes sense. Nothing stays of it until it
   * is kept.
   */
  attempt(asking: Asking, scene: Scene = this.scene): Trial | string {
    const { declared } = asking;
    const wish = wishFor(scene, asking);
    if (!wish) return "nothing to speak of";
    if (this.#done.has(doneKey(wish))) return "it has been asked for";
    const obstacle = this.#obstacleTo(wish);
    if (typeof obstacle === "string") return obstacle;
    const guess = guessOf(wish);
    if (guess && !this.#isPutRight(wish, guess)) return "nobody would know who is meant";
    const trial = this.#fork.fork();
    const { outcome, patches } = trial.call(wish.tool.name, wish.arguments);
    if (outcome.kind === "ok" && wish.tool.effect === "write" && isIdle(patches))
      return "it is so already";
    if (outcome.kind === "ok" && this.#undoes(patches))
      return "it would undo what was asked for last";
    if (
      excludesCreatedEntities(asking.form) &&
      wish.things.some(it => this.#made.has(keyOf(it.thing)))
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
      wish,
      declared,
      outcome,
      patches,
      state: trial.state,
      ...(obstacle ? { obstacle } : {}),
    };
  }

  /**
   * Goes on from a trial: what it changed stays, what it named or showed is known, and `it` means
   * what it was about.
   */
  keep({ wish, declared, outcome, patches, state, obstacle }: Trial): void {
    if (obstacle) return;
    const before = this.#fork.state;
    this.#fork.restore(state);
    if (outcome.kind !== "ok") return;
    if (wish.tool.effect === "write") {
      this.#pairs.add(pairKey(wish));
      this.#undone = new Map(patches.map(it => [it.path, valueAt(before, it.path)]));
      const results = findEntities(declared, outcome.value);
      for (const it of [...wish.things.map(named => named.thing), ...results])
        this.#touched.add(keyOf(it));
      for (const it of results)
        if (!this.scene.met.has(keyOf(it)) && !this.scene.sample.find(it.entity, it.id))
          this.#made.add(keyOf(it));
    }
    this.last = { wish, value: outcome.value };
    this.#done.add(doneKey(wish));
    const { met, sample } = this.scene;
    const context = contextOf(declared, wish.arguments);
    // a thing may have just been renamed: what it is called now counts
    const shown = findEntities(declared, outcome.value).map(it => ({
      ...merged(met.get(keyOf(it)) ?? sample.find(it.entity, it.id), it, context),
      ...(it.label === undefined ? {} : { label: it.label }),
    }));
    const named = wish.things.map(
      ({ thing }) => shown.find(it => keyOf(it) === keyOf(thing)) ?? thing,
    );
    const fresh = shown.filter(it => !named.some(other => keyOf(other) === keyOf(it)));
    // what a result shows is in focus only where it can be told apart
    const single = fresh.filter(
      it =>
        fresh.filter(other => other.entity === it.entity).length === 1 ||
        it.label !== undefined ||
        this.#spoken.has(it.entity),
    );
    this.scene = {
      ...this.scene,
      met: new Map([...met, ...byKey([...named, ...shown])]),
      focus: [...byKey([...named, ...single]).values()],
      recent: [...this.#named, ...named],
    };
    this.#named = named;
  }

  /** Nothing is called "it" for a while. */
  forget(): void {
    this.scene = { ...this.scene, focus: [] };
  }

  /**
   * A refusal that the user could have foreseen: of what was done a moment ago, or of a name that
   * the talk has seen taken.
   */
  wasToBeExpected({ wish, outcome }: Trial): boolean {
    if (outcome.kind === "ok") return false;
    const isTouched = wish.things.some(it => this.#touched.has(keyOf(it.thing)));
    if (outcome.type !== "conflict") return isTouched && wish.things.length === 1;
    const known = new Set([...this.scene.met.values()].flatMap(it => [it.id, it.label]));
    return isTouched || declaredWords(wish).some(it => known.has(it));
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
  #isPutRight({ tool, things }: Wish, guess: JsonObject): boolean {
    const { outcome } = this.#fork.fork().call(tool.name, guess);
    if (outcome.kind !== "refused" || outcome.type !== "not_found") return false;
    const { message, hint = "" } = outcome;
    return things.every(
      it =>
        !it.isSpoken ||
        it.words === undefined ||
        (message.includes(it.words) && hint.includes(it.thing.id)),
    );
  }

  #hasOnlyMade({ things }: Wish): boolean {
    const { sample } = this.scene;
    return things.some(
      ({ thing }) =>
        this.#made.has(keyOf(thing)) && (sample.things.get(thing.entity)?.length ?? 0) > 0,
    );
  }

  /** Told what the last reply has read out, in its order. */
  readOut(rows: readonly Pick<Thing, "entity" | "id">[]): void {
    const { met, sample } = this.scene;
    this.scene = {
      ...this.scene,
      listed: rows.flatMap(it => met.get(keyOf(it)) ?? sample.find(it.entity, it.id) ?? []),
    };
  }

  /** Whether these words name one thing that may be called "it". */
  isThing(words: string): boolean {
    const { met, phrases } = this.scene;
    return [...met.values()].some(
      it =>
        (it.label === words || it.id === words) &&
        phrases.entities[it.entity]?.again?.includes("it") === true,
    );
  }

  /** The one thing of that label, found by a look-up that takes labels. */
  named(entity: string, label: string): Thing | undefined {
    for (const declared of this.scene.declarations.values()) {
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
      if (found.length === 1) return merged(undefined, found[0]!, {});
    }
    return undefined;
  }

  /** The user's own words find it, or find nothing, and then a whole list shows it. */
  #isFindableBy(thing: Thing, words: string): boolean {
    const { met, declarations, sample } = this.scene;
    if (met.has(keyOf(thing))) return true;
    const key = sloppyKey(thing, words);
    if (this.sloppy.has(key)) return true;
    const routes = routesTo({ ...thing, label: words }, declarations, sample, this.#ways).filter(
      it => it.needs.length === 0,
    );
    const whole = workingRoute(
      routes.filter(it => !it.isFiltered),
      thing,
      this.#fork,
    );
    const by = routes.find(it => it.isFiltered);
    const shown = by ? rowsOf(by, thing, this.#fork) : [];
    const isFound = shown.length === 1 && shown[0]!.id === thing.id;
    if (shown.length > 0 && !isFound) return false;
    const ways = [...(by ? [by] : []), ...(isFound || !whole ? [] : [whole])];
    if (ways.length === 0 || (!isFound && !whole)) return false;
    this.sloppy.set(key, ways);
    return true;
  }

  /**
   * What stands in the way of a wish where tools are not to be had, or why it makes no sense
   * anyway.
   */
  #obstacleTo(wish: Wish): MissingCapability | string | undefined {
    const isFound = (it: Named) =>
      it.isSpoken ||
      (it.words === undefined
        ? this.#isFindable(it.thing, 0)
        : this.#isFindableBy(it.thing, it.words));
    const { hidden } = this.#ways;
    if (hidden?.has(wish.tool.name)) return { kind: "tool" };
    const lost = wish.things.find(it => !isFound(it));
    if (!lost) return undefined;
    const { declarations, sample, phrases } = this.scene;
    const isHidden =
      hidden &&
      lost.words === undefined &&
      workingRoute(
        routesTo(lost.thing, declarations, sample, { ...this.#ways, hidden: none }),
        lost.thing,
        this.#fork,
      );
    const key = Object.keys(wish.arguments).find(it =>
      [wish.arguments[it]].flat().includes(lost.thing.id),
    );
    const said = key === undefined ? undefined : wish.said[key];
    return isHidden && said !== undefined
      ? { kind: "thing", noun: phrases.entities[lost.thing.entity]!.noun, said }
      : "no look-up";
  }

  /**
   * A thing named without its id has a look-up that shows it, and so has whatever that look-up
   * needs.
   */
  #isFindable(thing: Thing, depth: number): boolean {
    const { met, declarations, sample } = this.scene;
    if (met.has(keyOf(thing)) || this.routes.has(keyOf(thing))) return true;
    if (depth > 2) return false;
    const route = workingRoute(
      routesTo(thing, declarations, sample, this.#ways),
      thing,
      this.#fork,
    );
    if (!route || !route.needs.every(it => this.#isFindable(it, depth + 1))) return false;
    this.routes.set(keyOf(thing), route);
    return true;
  }
}

const none: ReadonlySet<string> = new Set();

export const sloppyKey = (thing: Thing, words: string): string => `${keyOf(thing)} ${words}`;

const byKey = (things: readonly Thing[]): Map<string, Thing> =>
  new Map(things.map(it => [keyOf(it), it]));

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
function pairKey({ tool, things, arguments: args }: Wish): string {
  const isPair = things.length > 1 && !Object.values(args).some(it => typeof it === "number");
  return isPair
    ? things
        .map(it => keyOf(it.thing))
        .toSorted()
        .join(" ")
    : `${tool.name} ${JSON.stringify(args)}`;
}

/** The strings among a wish's arguments that name no thing. */
function declaredWords({ arguments: args, things }: Wish): string[] {
  const ids = new Set(things.map(it => it.thing.id));
  return Object.values(args).filter((it): it is string => typeof it === "string" && !ids.has(it));
}

/** Turned down for how things are, not for how it was asked. */
export const isRefusal = (outcome: Outcome): boolean =>
  outcome.kind === "refused" && outcome.type !== "invalid_params" && outcome.type !== "not_found";

/** A result with nothing in it but empty lists. */
export function isEmpty(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  const fields = Object.values(value) as unknown[];
  const isEmptyList = (it: unknown) => Array.isArray(it) && it.length === 0;
  return fields.some(isEmptyList) && fields.every(it => isEmptyList(it) || it === 0);
}

/**
 * A change is the same on the same things, unless it is by an amount; a question is the same where
 * it asks the same.
 */
function doneKey({ tool, things, arguments: args }: Wish): string {
  const isByThing =
    tool.effect === "write" &&
    things.length > 0 &&
    !Object.values(args).some(it => typeof it === "number");
  return `${tool.name} ${isByThing ? things.map(it => keyOf(it.thing)).join(" ") : JSON.stringify(args)}`;
}
