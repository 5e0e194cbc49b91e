/**
 * The user's side of a talk: turns a chain of tools into wishes, tries each on a fork of the live session, and puts them into
 * words. What a refusal or a question asks for comes in the next turn. Never acts on the session itself.
 */
import type { JsonObject } from "../environment/json.ts";
import type { Outcome, Patch } from "../environment/outcome.ts";
import type { Session } from "../environment/session.ts";
import { shownBy, type Declared } from "./declared.ts";
import type { Graph } from "./graph.ts";
import { turnOf, type Manners, type Opening } from "./persona.ts";
import { textOf, type Form } from "./phrase.ts";
import { keyOf, routesTo, workingRoute, type Route } from "./routes.ts";
import { contextOf, merged, type Thing } from "./sampler.ts";
import { wishFor, type Asking, type Scene, type Wish } from "./wish.ts";

/** What a user turn asks for, as the teacher is told it. */
export interface Turn {
  readonly text: string;
  readonly wishes: readonly Planned[];
  /** What the assistant has to ask before it can go on. */
  readonly question?: string;
}

export interface Planned extends Wish {
  /** What the user said to do if this one is refused. */
  readonly otherwise?: Wish;
}

export interface Plot {
  readonly graph: Graph;
  readonly session: Session;
  readonly manners: Manners;
  /** Full tool names of what is wanted, in order. */
  readonly tools: readonly string[];
  readonly info: "complete" | "missing" | "minimal";
  /** The user says everything in one turn. */
  readonly isOneTurn: boolean;
  /** Of the wishes that the session would refuse, the share that are said all the same. */
  readonly refusals: number;
  /** Look-ups by a whole list, where it is short. */
  readonly listsFirst: boolean;
}

/** The part of a talk that author and teacher share: what has been met, and by which look-up each thing is found. */
export interface Script {
  scene: Scene & { met: Map<string, Thing>; focus: readonly Thing[] };
  readonly routes: Map<string, Route>;
  turn: Turn;
}

/** Characters of a result that a person would still read. */
const longestResult = 800;

/** Things asked for in one breath. */
const mostWishes = 3;

/** A wish said this often without success is given up. */
const tries = 12;

export class Author {
  readonly script: Script;
  readonly #plot: Plot;
  #left: readonly string[];
  #withheld: { wish: Wish; key: string } | undefined;
  #refused: Wish | undefined;
  #last: Wish | undefined;
  /** What has been done to what, so that nobody asks twice. */
  readonly #done = new Set<string>();
  /** Entities whose ids people say. */
  readonly #spoken: ReadonlySet<string>;
  /** Why there was no next turn. */
  stuck: string | undefined;
  /** Whether a value was withheld in this talk. */
  hasWithheld = false;

  constructor(plot: Plot, scene: Scene) {
    this.#plot = plot;
    this.#left = plot.tools;
    this.#spoken = new Set([...scene.declarations.values()].flatMap(it => it.inputs.flatMap(input => (input.spoken ? [input.entity] : []))));
    this.script = { scene: { ...scene, met: new Map(scene.met) }, routes: new Map(), turn: { text: "", wishes: [] } };
  }

  /** Whether something has been begun and has to be said before the talk can end. */
  get owes(): boolean {
    return this.#withheld !== undefined;
  }

  get hasMore(): boolean {
    return this.#left.length > 0;
  }

  /** The next user turn, or undefined where there is nothing sensible left to say. */
  say(kind: "open" | "follow-up" | "clarification"): Turn | undefined {
    const fork = this.#plot.session.fork();
    const turn =
      kind === "open" ? this.#open(fork) : this.#withheld ? this.#answer(fork) : this.#refused ? this.#instead(fork) : kind === "clarification" ? (this.#again(fork) ?? this.#more(fork)) : this.#more(fork);
    if (turn) this.script.turn = turn;
    return turn;
  }

  /** Told what became of the calls of the last turn. */
  heard(outcomes: readonly { wish: Wish; outcome: Outcome }[]): void {
    const refused = outcomes.findLast(it => it.outcome.kind !== "ok");
    const done = outcomes.findLast(it => it.outcome.kind === "ok");
    this.#refused = refused && outcomes.at(-1) === refused ? refused.wish : undefined;
    if (done) this.#last = done.wish;
  }

  #open(fork: Session): Turn | undefined {
    const { info, isOneTurn } = this.#plot;
    if (isOneTurn) this.#left = this.#left.slice(-mostWishes);
    const n = isOneTurn ? this.#left.length : Math.ceil(this.#left.length / 2);
    return this.#planned(fork, n, "first", info === "missing");
  }

  #more(fork: Session): Turn | undefined {
    const { chance } = this.script.scene;
    if (this.#left.length === 0) {
      const next = this.#successor();
      if (next === undefined) return undefined;
      this.#left = [next];
    }
    return this.#planned(fork, chance.happens(0.5) ? Math.min(mostWishes, this.#left.length) : 1, "follow-up", false);
  }

  #planned(fork: Session, n: number, opening: Opening, withholds: boolean): Turn | undefined {
    const { chance } = this.script.scene;
    const names = this.#left.slice(0, n);
    this.#left = this.#left.slice(n);
    const planned: Planned[] = [];
    const clauses: string[] = [];
    const holdAt = withholds ? this.#holdable(names) : -1;
    for (const [i, name] of names.entries()) {
      const wish = this.#tried(fork, name, planned.at(-1), i === holdAt);
      if (!wish) return undefined;
      // what turns the wish before around, or undoes it, is said when that is done, or never
      if (this.#withheld === undefined && repeats(planned.at(-1), wish.wish)) {
        this.#left = this.#plot.isOneTurn ? [] : [...names.slice(i), ...this.#left];
        break;
      }
      clauses.push(wish.clause);
      if (i === holdAt) {
        this.#left = [...names.slice(i + 1), ...this.#left];
        const { ask } = this.script.scene.phrases.tools[name]!.missing![this.#withheld!.key]!;
        return { text: this.#text(clauses, opening), wishes: planned, question: chance.pick(ask) };
      }
      const alternative = this.#otherwise(fork, wish.wish, wish.fails);
      if (alternative) clauses.push(`${clauses.pop()!}${alternative.clause.startsWith("or ") ? "," : ";"} ${alternative.clause}`);
      planned.push(alternative ? { ...wish.wish, otherwise: alternative } : wish.wish);
      if (wish.fails && !alternative) {
        this.#left = [];
        break;
      }
    }
    return { text: this.#text(clauses, opening), wishes: planned };
  }

  #text(clauses: readonly string[], opening: Opening): string {
    const { persona, chance } = this.script.scene;
    return turnOf(clauses, opening, persona, this.#plot.manners, chance);
  }

  /** The wish of these whose value can be withheld: the last one that has words for it. */
  #holdable(names: readonly string[]): number {
    return names.findLastIndex(it => this.script.scene.phrases.tools[it]?.missing);
  }

  /** A wish for a tool that the session grants, or, now and then, one that it refuses. Its effects stay on the fork. */
  #tried(fork: Session, name: string, before: Wish | undefined, isWithheld: boolean): { wish: Wish; clause: string; fails: boolean } | undefined {
    const { declarations, phrases, chance } = this.script.scene;
    const declared = declarations.get(name)!;
    const words = phrases.tools[name]!;
    const flow = this.#flow(declared, before);
    const mayFail = declared.tool.effect === "write" && !isWithheld && chance.happens(this.#plot.refusals);
    let why = "nothing to speak of";
    for (let attempt = 0; attempt < tries; attempt++) {
      const key = isWithheld ? chance.pick(Object.keys(words.missing!)) : undefined;
      const form = this.#formOf(key === undefined ? words.forms : words.missing![key]!.forms);
      const wish = wishFor(this.script.scene, { declared, form, ...(attempt < tries - 2 ? { flow } : {}), ...(key === undefined ? {} : { withheld: key }) });
      if (!wish) continue;
      why = "no look-up";
      if (!this.#isFindable(fork, wish)) continue;
      // nobody is asked for what the talk is about anyway
      if (key !== undefined && wish.things.some(it => it.thing.id === wish.arguments[key] && this.script.scene.focus.includes(it.thing))) continue;
      // on a fork of its own: what is thrown away leaves nothing behind, no drawn ids above all
      const trial = fork.fork();
      const { outcome, patches } = trial.call(name, wish.arguments);
      if (outcome.kind === "ok" && declared.tool.effect === "write" && isIdle(patches)) continue;
      why = outcome.kind === "ok" ? "nothing in the result" : outcome.message;
      if (outcome.kind !== "ok" && !(mayFail && isRefusal(outcome))) continue;
      if (outcome.kind === "ok" && isEmpty(outcome.value) && !chance.happens(0.1)) continue;
      if (outcome.kind === "ok" && JSON.stringify(outcome.value).length > longestResult) continue;
      if (this.#done.has(doneKey(wish))) continue;
      if (key !== undefined) {
        this.#withheld = { wish, key };
        this.hasWithheld = true;
      } else if (outcome.kind === "ok") this.#meet(declared, wish, outcome);
      fork.restore(trial.state);
      return { wish, clause: wish.clause, fails: outcome.kind !== "ok" };
    }
    this.stuck = `no sensible ${name} (${why})`;
    return undefined;
  }

  #formOf(forms: readonly Form[]): Form {
    const { isMinimal, chance } = this.script.scene;
    if (!isMinimal) return chance.pick(forms);
    const byLength = forms.toSorted((a, b) => textOf(a).length - textOf(b).length);
    return chance.pick(byLength.slice(0, Math.max(1, Math.ceil(forms.length / 2))));
  }

  /** What the wish before passes on, by argument: the things it names or brings about. */
  #flow({ inputs }: Declared, before: Wish | undefined): Record<string, readonly Thing[]> {
    const { focus } = this.script.scene;
    if (!before && focus.length === 0) return {};
    const first = inputs.filter((it, i) => it.required && inputs.findIndex(other => other.required && other.entity === it.entity) === i);
    return Object.fromEntries(first.map(it => [it.key, focus.filter(thing => thing.entity === it.entity)]));
  }

  /** Every thing named without its id has a look-up that shows it; the look-ups that do are kept for the teacher. */
  #isFindable(session: Session, { things }: Wish): boolean {
    return things.every(({ thing, isSpoken }) => isSpoken || this.#found(session, thing, 0));
  }

  #found(session: Session, thing: Thing, depth: number): boolean {
    const { met, declarations, sample } = this.script.scene;
    if (met.has(keyOf(thing)) || this.script.routes.has(keyOf(thing))) return true;
    if (depth > 2) return false;
    const { listsFirst, tools } = this.#plot;
    const route = workingRoute(routesTo(thing, declarations, sample, { listsFirst, preferred: new Set(tools) }), thing, session);
    if (!route || !route.needs.every(it => this.#found(session, it, depth + 1))) return false;
    this.script.routes.set(keyOf(thing), route);
    return true;
  }

  /** A wish that was granted: its things are known from here on, and `it` means the ones it was about. */
  #meet(declared: Declared, wish: Wish, outcome: Extract<Outcome, { kind: "ok" }>): void {
    const { met, sample } = this.script.scene;
    this.#done.add(doneKey(wish));
    const context = contextOf(declared, wish.arguments);
    // a thing may have just been renamed: what it is called now counts
    const shown = shownBy(declared, outcome.value).map(it => ({
      ...merged(met.get(keyOf(it)) ?? sample.find(it.entity, it.id), it, context),
      ...(it.label === undefined ? {} : { label: it.label }),
    }));
    const named = wish.things.map(({ thing }) => shown.find(it => keyOf(it) === keyOf(thing)) ?? thing);
    for (const it of [...named, ...shown]) met.set(keyOf(it), it);
    const fresh = shown.filter(it => !named.some(other => keyOf(other) === keyOf(it)));
    // what a result shows is in focus only where it can be told apart
    const single = fresh.filter(it => fresh.filter(other => other.entity === it.entity).length === 1 || it.label !== undefined || this.#spoken.has(it.entity));
    this.script.scene = { ...this.script.scene, focus: [...new Map([...named, ...single].map(it => [keyOf(it), it])).values()] };
  }

  /** What to do if it is refused, said in the same breath: always true to the session, whether it comes to it or not. */
  #otherwise(fork: Session, wish: Wish, fails: boolean): Wish | undefined {
    const { phrases, declarations, chance } = this.script.scene;
    const words = phrases.tools[wish.tool.name]!.otherwise;
    if (!words || !chance.happens(fails ? 0.6 : 0.04)) return undefined;
    const [key, forms] = chance.pick(Object.entries(words));
    const { scene } = this.script;
    const met = new Map(scene.met);
    const other = this.#granted(fails ? fork : this.#plot.session.fork(), { declared: declarations.get(wish.tool.name)!, kept: wish, form: chance.pick(forms) });
    if (other && !fails) {
      // it does not come to it: the talk goes on about what was granted
      this.script.scene = { ...scene, met };
      this.#done.delete(doneKey(other));
    }
    return other && other.arguments[key] !== wish.arguments[key] ? other : undefined;
  }

  /** The value that was asked for. */
  #answer(fork: Session): Turn | undefined {
    const { wish, key } = this.#withheld!;
    const { phrases, chance, declarations } = this.script.scene;
    this.#withheld = undefined;
    const declared = declarations.get(wish.tool.name)!;
    const { outcome } = fork.call(wish.tool.name, wish.arguments);
    if (outcome.kind !== "ok") return undefined;
    const answer = chance.pick(phrases.tools[wish.tool.name]!.missing![key]!.answer);
    const text = wishFor(this.script.scene, { declared, form: answer, kept: wish, flow: this.#same(declared, wish, key) });
    const clause = text && text.arguments[key] === wish.arguments[key] ? text.clause : sayAgain(answer, wish);
    this.#meet(declared, wish, outcome);
    return { text: this.#text([clause], "answer"), wishes: [wish] };
  }

  #same(declared: Declared, wish: Wish, key: string): Record<string, readonly Thing[]> {
    const thing = wish.things.find(it => it.thing.id === wish.arguments[key] && declared.inputs.some(input => input.key === key));
    return thing ? { [key]: [thing.thing] } : {};
  }

  /** After a refusal: the same wish with one value changed so that it will be granted. */
  #instead(fork: Session): Turn | undefined {
    const refused = this.#refused!;
    this.#refused = undefined;
    const { phrases, declarations, chance } = this.script.scene;
    const declared = declarations.get(refused.tool.name)!;
    for (const [key, forms] of chance.shuffled(Object.entries(phrases.tools[refused.tool.name]!.instead ?? {}))) {
      for (let attempt = 0; attempt < tries; attempt++) {
        const wish = this.#granted(fork, { declared, kept: refused, form: chance.pick(forms) }, it => isSmaller(it.arguments, refused.arguments, key));
        if (wish) return { text: this.#text([wish.clause], "answer"), wishes: [wish] };
      }
    }
    return undefined;
  }

  /** The last wish once more, with other values where the form has slots. */
  #again(fork: Session): Turn | undefined {
    const last = this.#last;
    const { phrases, declarations, chance } = this.script.scene;
    const forms = last && phrases.tools[last.tool.name]?.again;
    if (!forms) return undefined;
    for (let attempt = 0; attempt < tries; attempt++) {
      const wish = this.#granted(fork, { declared: declarations.get(last.tool.name)!, kept: last, form: chance.pick(forms) });
      if (wish) return { text: this.#text([wish.clause], "clarification"), wishes: [wish] };
    }
    return undefined;
  }

  /** A wish that succeeds on the fork and stays there. */
  #granted(fork: Session, asking: Asking, fits: (it: Wish) => boolean = () => true): Wish | undefined {
    const scene = { ...this.script.scene, focus: [] };
    const wish = wishFor(scene, asking);
    if (!wish || !fits(wish) || !this.#isFindable(fork, wish) || this.#done.has(doneKey(wish))) return undefined;
    const { outcome, patches } = fork.call(wish.tool.name, wish.arguments);
    if (outcome.kind !== "ok" || isEmpty(outcome.value) || (wish.tool.effect === "write" && isIdle(patches))) return undefined;
    this.#meet(asking.declared, wish, outcome);
    return wish;
  }

  /** A tool that takes what the talk is about now. */
  #successor(): string | undefined {
    const { chance, focus, declarations } = this.script.scene;
    if (!this.#last) return undefined;
    const inPlay = new Set(focus.map(it => it.entity));
    const next = [...declarations.values()].filter(({ tool, inputs }) => tool !== this.#last!.tool && inputs.some(it => it.required && inPlay.has(it.entity)));
    return next.length === 0 ? undefined : chance.pick(next).tool.name;
  }
}

/** It changed nothing but the time. */
const isIdle = (patches: readonly Patch[]): boolean => patches.every(it => /^\/[a-z_]+\/(clock|draws)$/.test(it.path));

/** Turned down for how things are, not for how it was asked. */
const isRefusal = (outcome: Outcome): boolean => outcome.kind === "refused" && outcome.type !== "invalid_params" && outcome.type !== "not_found";

/** The same tool on the same things; where it names none, the same call. */
const doneKey = ({ tool, things, arguments: args }: Wish): string => `${tool.name} ${things.length > 0 && tool.effect === "write" && !Object.values(args).some(it => typeof it === "number") ? things.map(it => keyOf(it.thing)).join(" ") : JSON.stringify(args)}`;

/** Two changes in a row to one and the same thing and nothing else. */
const repeats = (before: Wish | undefined, wish: Wish): boolean =>
  before !== undefined && before.tool.effect === "write" && wish.tool.effect === "write" &&
  wish.things.length === 1 && (before.things.length === 1 ? keyOf(before.things[0]!.thing) === keyOf(wish.things[0]!.thing) : before.things.every(it => it.thing.entity !== wish.things[0]!.thing.entity) && wish.tool.destructive);

/** A result with nothing in it but empty lists. */
export const isEmpty = (value: unknown): boolean =>
  value !== null && typeof value === "object" && Object.values(value).some(it => Array.isArray(it) && it.length === 0) && Object.values(value).every(it => Array.isArray(it) ? it.length === 0 : typeof it === "number" && it === 0);

const isSmaller = (now: JsonObject, before: JsonObject, key: string): boolean =>
  typeof now[key] === "number" ? now[key] < (before[key] as number) : now[key] !== before[key];

const sayAgain = (form: string, wish: Wish): string => form.replaceAll(/\{(\w+)\}/g, (_, key: string) => wish.said[key] ?? "");
