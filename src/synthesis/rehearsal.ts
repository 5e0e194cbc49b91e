/**
 * Wishes tried out before they are said: each on a fork of the live session, so that what people ask for makes sense there. Keeps
 * what the talk has met, what `it` means, and by which look-up each thing is found. Knows no turns.
 */
import type { Outcome, Patch } from "../environment/outcome.ts";
import type { Session, State } from "../environment/session.ts";
import type { Json } from "../environment/json.ts";
import { shownBy, type Declared } from "./declared.ts";
import { keyOf, routesTo, workingRoute, type Route, type RouteWishes } from "./routes.ts";
import { contextOf, merged, type Thing } from "./sampler.ts";
import { wishFor, type Asking, type Scene, type Wish } from "./wish.ts";

/** A wish and what came of it. */
export interface Trial {
  readonly wish: Wish;
  readonly declared: Declared;
  readonly outcome: Outcome;
  /** The state it leads to. */
  readonly state: State;
}

/** Characters of a result that a person would still read. */
const longestResult = 800;

export class Rehearsal {
  /** What is known at this point of the talk. */
  scene: Scene;
  /** The look-ups that find what has been named, by `keyOf`. */
  readonly routes = new Map<string, Route>();
  /** What was granted last, with its answer. */
  last: { readonly wish: Wish; readonly value: Json } | undefined;
  readonly #live: Session;
  readonly #ways: RouteWishes;
  /** Entities whose ids people say. */
  readonly #spoken: ReadonlySet<string>;
  /** What has been done to what, so that nobody asks twice. */
  readonly #done = new Set<string>();
  /** What the wish kept last named. */
  #named: readonly Thing[] = [];
  #fork: Session;

  constructor(live: Session, scene: Scene, ways: RouteWishes) {
    this.#live = live;
    this.#fork = live.fork();
    this.#ways = ways;
    this.scene = scene;
    this.#spoken = new Set([...scene.declarations.values()].flatMap(it => it.inputs.flatMap(input => (input.spoken ? [input.entity] : []))));
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

  /** Makes a wish and tries it; or why there is none that makes sense. Nothing stays of it until it is kept. */
  attempt(asking: Asking, scene: Scene = this.scene): Trial | string {
    const { declared } = asking;
    const wish = wishFor(scene, asking);
    if (!wish) return "nothing to speak of";
    if (this.#done.has(doneKey(wish))) return "it has been asked for";
    if (!wish.things.every(({ thing, isSpoken }) => isSpoken || this.#isFindable(thing, 0))) return "no look-up";
    const trial = this.#fork.fork();
    const { outcome, patches } = trial.call(wish.tool.name, wish.arguments);
    if (outcome.kind === "ok" && wish.tool.effect === "write" && isIdle(patches)) return "it is so already";
    if (outcome.kind === "ok" && JSON.stringify(outcome.value).length > longestResult) return "too long a result";
    return { wish, declared, outcome, state: trial.state };
  }

  /** Goes on from a trial: what it changed stays, what it named or showed is known, and `it` means what it was about. */
  keep({ wish, declared, outcome, state }: Trial): void {
    this.#fork.restore(state);
    if (outcome.kind !== "ok") return;
    this.last = { wish, value: outcome.value };
    this.#done.add(doneKey(wish));
    const { met, sample } = this.scene;
    const context = contextOf(declared, wish.arguments);
    // a thing may have just been renamed: what it is called now counts
    const shown = shownBy(declared, outcome.value).map(it => ({
      ...merged(met.get(keyOf(it)) ?? sample.find(it.entity, it.id), it, context),
      ...(it.label === undefined ? {} : { label: it.label }),
    }));
    const named = wish.things.map(({ thing }) => shown.find(it => keyOf(it) === keyOf(thing)) ?? thing);
    const fresh = shown.filter(it => !named.some(other => keyOf(other) === keyOf(it)));
    // what a result shows is in focus only where it can be told apart
    const single = fresh.filter(it => fresh.filter(other => other.entity === it.entity).length === 1 || it.label !== undefined || this.#spoken.has(it.entity));
    this.scene = {
      ...this.scene,
      met: new Map([...met, ...byKey([...named, ...shown])]),
      focus: [...byKey([...named, ...single]).values()],
      recent: [...this.#named, ...named],
    };
    this.#named = named;
  }

  /** The one thing of that label, found by a look-up that takes labels. */
  named(entity: string, label: string): Thing | undefined {
    for (const declared of this.scene.declarations.values()) {
      const key = declared.labels.find(it => it.entity === entity)?.key;
      const takesMore = [...declared.inputs, ...declared.labels, ...declared.values].some(it => it.required && it.key !== key);
      if (key === undefined || takesMore || declared.tool.effect === "write") continue;
      const { outcome } = this.#fork.call(declared.tool.name, { [key]: label });
      const found = outcome.kind === "ok" ? shownBy(declared, outcome.value).filter(it => it.entity === entity && it.label === label) : [];
      if (found.length === 1) return merged(undefined, found[0]!, {});
    }
    return undefined;
  }

  /** A thing named without its id has a look-up that shows it, and so has whatever that look-up needs. */
  #isFindable(thing: Thing, depth: number): boolean {
    const { met, declarations, sample } = this.scene;
    if (met.has(keyOf(thing)) || this.routes.has(keyOf(thing))) return true;
    if (depth > 2) return false;
    const route = workingRoute(routesTo(thing, declarations, sample, this.#ways), thing, this.#fork);
    if (!route || !route.needs.every(it => this.#isFindable(it, depth + 1))) return false;
    this.routes.set(keyOf(thing), route);
    return true;
  }
}

const byKey = (things: readonly Thing[]): Map<string, Thing> => new Map(things.map(it => [keyOf(it), it]));

/** It changed nothing but the time. */
const isIdle = (patches: readonly Patch[]): boolean => patches.every(it => /^\/[a-z_]+\/(clock|draws)$/.test(it.path));

/** Turned down for how things are, not for how it was asked. */
export const isRefusal = (outcome: Outcome): boolean => outcome.kind === "refused" && outcome.type !== "invalid_params" && outcome.type !== "not_found";

/** A result with nothing in it but empty lists. */
export function isEmpty(value: unknown): boolean {
  if (value === null || typeof value !== "object") return false;
  const fields = Object.values(value) as unknown[];
  const isEmptyList = (it: unknown) => Array.isArray(it) && it.length === 0;
  return fields.some(isEmptyList) && fields.every(it => isEmptyList(it) || it === 0);
}

/** A change is the same on the same things, unless it is by an amount; a question is the same where it asks the same. */
function doneKey({ tool, things, arguments: args }: Wish): string {
  const isByThing = tool.effect === "write" && things.length > 0 && !Object.values(args).some(it => typeof it === "number");
  return `${tool.name} ${isByThing ? things.map(it => keyOf(it.thing)).join(" ") : JSON.stringify(args)}`;
}
