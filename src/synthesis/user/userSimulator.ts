/**
 * The user's side of a talk: turns a chain of tools into wishes that make sense in the live
 * session, and puts them into words. What a question or a refusal asks for comes in the next turn.
 * Never acts on the session itself.
 */
import type { Outcome } from "../../environment/outcome.ts";
import { Walk } from "./crossServerIntents.ts";
import { pointing } from "./resultReply.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { guessOf } from "./partialMention.ts";
import { renderMissingCapability, type MissingCapability } from "../text/missingCapability.ts";
import { isRequest, composeTurn, type TurnPosition } from "../text/personas.ts";
import { fillSlots, getTemplateText, type ClauseTemplate } from "../text/templates.ts";
import {
  givesWay,
  ifNot,
  saysNothing,
  takesTwo,
  turnsAround,
  whyNot,
  type Planned,
  type Plot,
  type Turn,
} from "./userPlan.ts";
import { isEmpty, isRefusal, Rehearsal, type Trial } from "./feasibility.ts";
import { keyOf } from "./lookUps.ts";
import type { Thing } from "./entitySampling.ts";
import { pickFiller } from "../text/filler.ts";
import type { Asking, Scene, Wish } from "./intent.ts";

/** Things asked for in one breath. */
const mostWishes = 3;

/** A wish that makes no sense after as many tries is given up. */
const tries = 12;

/** Tools tried for something else to ask for. */
const others = 4;

/** How often a way out is said beforehand: where it will be needed, and where it will not. */
const otherwise = { needed: 0.6, spare: 0.04, anotherTool: 0.15, onlyTool: 0.4 };

/**
 * How often something is asked for two things at once, and a talk goes on with something else after
 * a refusal.
 */
const odds = { twin: 0.08, movesOn: 0.6 };

export class Author {
  readonly rehearsal: Rehearsal;
  /** The turn said last. */
  turn: Turn = { text: "", wishes: [] };
  /** Why there was no next turn. */
  stuck: string | undefined;
  /** Whether a value was withheld in this talk. */
  hasWithheld = false;
  /** What the talk came up against for want of a tool. */
  obstacle: MissingCapability | undefined;
  readonly #plot: Plot;
  #left: readonly string[];
  #withheld: { wish: Wish; key: string } | undefined;
  #refused: Wish | undefined;
  #last: Wish | undefined;
  /** Whether the last look-up found nothing. */
  #foundNothing = false;
  /** Turns said. */
  #turns = 0;
  /** All that the user has said. */
  #heard = "";
  readonly #walk = new Walk();

  constructor(plot: Plot, scene: Scene) {
    this.#plot = plot;
    this.#left = plot.tools;
    this.rehearsal = new Rehearsal(
      plot.session,
      {
        ...scene,
        corrections: plot.manners.corrections,
        breath: plot.breath,
        guesses: plot.guesses,
      },
      {
        listsFirst: plot.listsFirst,
        preferred: new Set(plot.tools),
        longestResult: plot.longestResult,
        ...(plot.missing ? { hidden: plot.missing.hidden } : {}),
      },
    );
  }

  /** Whether something has been begun and has to be said before the talk can end. */
  get owes(): boolean {
    return this.#withheld !== undefined;
  }

  get hasMore(): boolean {
    const { script } = this.#plot;
    return script ? this.#turns < script.length : this.#left.length > 0;
  }

  /** The next user turn, or undefined where there is nothing sensible left to say. */
  say(kind: "open" | "follow-up" | "clarification"): Turn | undefined {
    this.rehearsal.begin();
    const turn = this.#next(kind);
    if (!turn) return undefined;
    this.turn = turn;
    this.#turns++;
    this.#heard += `\n${turn.text}`;
    return turn;
  }

  /** Told what became of the calls of the last turn, and what was answered. */
  heard(outcomes: readonly { wish: Wish; outcome: Outcome }[], reply = ""): void {
    const last = outcomes.at(-1);
    this.#refused = last && last.outcome.kind !== "ok" ? last.wish : undefined;
    this.#foundNothing =
      last?.outcome.kind === "ok" && (isEmpty(last.outcome.value) || saysNothing(reply));
    this.#last = outcomes.findLast(it => it.outcome.kind === "ok")?.wish ?? this.#last;
  }

  #next(kind: "open" | "follow-up" | "clarification"): Turn | undefined {
    if (this.#plot.script) return this.#scripted(this.#plot.script[this.#turns]?.tools ?? [], kind);
    if (kind === "open") return this.#open();
    if (this.#withheld) return this.#answer(this.#withheld);
    if (this.#refused) return this.#afterRefusal(this.#refused);
    const isBlocked = this.turn.wishes.some(it => it.blocked !== undefined);
    // what leads onto a bridge is followed by what goes over it, and nobody asks for more of what
    // came before a "can't"
    return (
      (kind === "clarification" && !isBlocked && !(this.#plot.steps && this.hasMore)
        ? this.#again()
        : undefined) ?? this.#more()
    );
  }

  get #scene(): Scene {
    return this.rehearsal.scene;
  }

  /** The turn that is set down beforehand. */
  #scripted(
    tools: readonly string[],
    kind: "open" | "follow-up" | "clarification",
  ): Turn | undefined {
    if (this.#withheld) return this.#answer(this.#withheld);
    if (tools.length === 0) return undefined;
    const [before, refused] = [
      this.turn.wishes.find(it => it.blocked !== undefined),
      this.#refused,
    ];
    const again =
      refused && refused.tool.name === tools[0]
        ? this.#instead(refused)
        : kind === "clarification" && tools.length === 1 && this.#last?.tool.name === tools[0]
          ? this.#again()
          : undefined;
    if (again) return again;
    if (before || refused) this.rehearsal.forget();
    this.#refused = undefined;
    this.#left = tools;
    const turn = this.#planned(
      tools.length,
      kind === "open"
        ? "first"
        : before && !this.#plot.missing!.isAll
          ? "bare"
          : refused || before
            ? "moving-on"
            : "follow-up",
      kind === "open" && this.#plot.info === "missing",
    );
    return turn && before && !this.#plot.missing!.isAll ? this.#movedOn(turn) : turn;
  }

  #open(): Turn | undefined {
    const { info, isOneTurn } = this.#plot;
    if (isOneTurn) this.#left = this.#left.slice(-mostWishes);
    const n = isOneTurn
      ? this.#left.length
      : Math.min(mostWishes, Math.ceil(this.#left.length / 2));
    return this.#planned(n, "first", info === "missing");
  }

  #more(wanted: TurnPosition = "follow-up"): Turn | undefined {
    const { random } = this.#scene;
    const isBlocked = this.turn.wishes.some(it => it.blocked !== undefined);
    const opening = isBlocked ? "moving-on" : wanted;
    // after a refusal, "it" would be what was refused
    if (opening === "moving-on") this.rehearsal.forget();
    if (isBlocked && !this.#plot.missing!.isAll) return this.#somethingElse();
    if (this.#left.length === 0) {
      const next = this.#successor();
      if (next === undefined) return this.#plot.goesOn ? this.#somethingElse(opening) : undefined;
      this.#left = [next];
    }
    return this.#planned(
      random.boolean(0.5) ? Math.min(mostWishes, this.#left.length) : 1,
      opening,
      false,
    );
  }

  /** Another wish that has nothing to do with what was said before. */
  #somethingElse(opening: TurnPosition = "bare"): Turn | undefined {
    const { random, declarations } = this.#scene;
    const isBlocked = this.turn.wishes.some(it => it.blocked !== undefined);
    for (let attempt = 0; attempt < others; attempt++) {
      const tools = [...declarations.keys()].filter(it => !this.#plot.missing?.hidden.has(it));
      this.#left = [random.pickWeighted(tools, this.#plot.rarity)];
      const turn = this.#planned(1, isBlocked ? "bare" : opening, false);
      if (!turn || turn.wishes.some(it => it.blocked !== undefined)) continue;
      return isBlocked ? this.#movedOn(turn) : turn;
    }
    return undefined;
  }

  /** Something else, after what could not be done. */
  #movedOn(turn: Turn): Turn {
    const { goOn, unknown } = this.#plot.missing!.words;
    return {
      ...turn,
      text: this.#scene.random.pick(this.obstacle!.kind === "thing" ? unknown : goOn) + turn.text,
    };
  }

  /** Another try, or something else. */
  #afterRefusal(refused: Wish): Turn | undefined {
    return (
      this.#instead(refused) ??
      (this.#scene.random.boolean(odds.movesOn) ? this.#more("moving-on") : undefined)
    );
  }

  #planned(n: number, opening: TurnPosition, withholds: boolean): Turn | undefined {
    const { phrases } = this.#scene;
    const names = this.#left.slice(0, n);
    this.#left = this.#left.slice(n);
    const wishes: Planned[] = [];
    const clauses: string[] = [];
    const holdAt = withholds ? names.findLastIndex(it => phrases.tools[it]?.missing) : -1;
    for (const [i, name] of names.entries()) {
      if (i === holdAt) {
        const held = this.#withholding(name);
        if (!held) return undefined;
        this.#left = [...names.slice(i + 1), ...this.#left];
        return {
          text: this.#text([...clauses, held.clause], opening),
          wishes,
          question: held.question,
        };
      }
      const trial = this.#tried(name, wishes.at(-1));
      if (!trial) return undefined;
      // what turns the wish before around is said when that is done, or never
      if (turnsAround(wishes.at(-1), trial.wish)) {
        this.#left = this.#plot.isOneTurn ? [] : [...names.slice(i), ...this.#left];
        break;
      }
      if (trial.obstacle) {
        const { words, isAll } = this.#plot.missing!;
        const standing = clauses.length > 0 ? "rest" : this.obstacle ? "again" : "alone";
        this.obstacle ??= trial.obstacle;
        this.#left = isAll ? [...names.slice(i + 1), ...this.#left] : [];
        const blocked = renderMissingCapability(
          trial.obstacle,
          trial.wish,
          words,
          standing,
          this.#scene.random,
        );
        return {
          text: this.#text(
            [...clauses, trial.wish.clause],
            opening,
            opening === "first" ? pickFiller(names[0]!, this.#scene, this.#plot.manners) : "",
          ),
          wishes: [...wishes, { ...trial.wish, blocked }],
        };
      }
      const twin = names.length < mostWishes ? this.#twin(trial) : undefined;
      if (twin) {
        wishes.push(trial.wish, twin.wish);
        clauses.push(twin.clause);
        continue;
      }
      const alternative = this.#otherwise(trial);
      wishes.push(alternative ? { ...trial.wish, otherwise: alternative } : trial.wish);
      clauses.push(
        alternative
          ? `${trial.wish.clause}${alternative.clause.startsWith("or ") ? "," : ";"} ${alternative.clause}`
          : trial.wish.clause,
      );
      if (trial.outcome.kind !== "ok" && !alternative) {
        this.#left = [];
        break;
      }
    }
    return {
      text: this.#text(
        clauses,
        opening,
        opening === "first" ? pickFiller(names[0]!, this.#scene, this.#plot.manners) : "",
      ),
      wishes,
    };
  }

  #text(clauses: readonly string[], opening: TurnPosition, reason = ""): string {
    const { persona, random } = this.#scene;
    const { manners } = this.#plot;
    if (!this.#foundNothing) return composeTurn(clauses, opening, persona, manners, random, reason);
    // nobody is pleased to hear that there is nothing
    return composeTurn(
      clauses,
      opening,
      { ...persona, followUp: manners.sober },
      { ...manners, followUp: manners.sober, clarification: manners.sober },
      random,
      reason,
    );
  }

  /** The same for another thing, in the same clause: `freeze the Travel card and the Gift card`. */
  #twin({ wish, declared, outcome }: Trial): { wish: Wish; clause: string } | undefined {
    const { random } = this.#scene;
    const { template } = wish;
    if (
      outcome.kind !== "ok" ||
      wish.before ||
      guessOf(wish) ||
      this.#plot.steps ||
      !random.boolean(odds.twin) ||
      !isRequest(template)
    )
      return undefined;
    const isThere = (entity: string, id: unknown) =>
      typeof id === "string" && this.#scene.sample.find(entity, id) !== undefined;
    const open = declared.inputs.filter(
      it =>
        !it.isList &&
        isThere(it.entity, wish.arguments[it.key]) &&
        takesTwo(template, it.key) &&
        !pointing.test(wish.said[it.key] ?? "it"),
    );
    if (open.length === 0 || declared.values.some(it => it.isSensitive && it.key in wish.arguments))
      return undefined;
    const { key } = random.pick(open);
    const other = this.#granted(
      { declared, form: `{${key}}`, kept: wish },
      it => it.arguments[key] !== wish.arguments[key],
    );
    if (!other || pointing.test(other.said[key]!)) return undefined;
    const both = `${random.boolean(0.3) ? "both " : ""}${wish.said[key]!} and ${other.said[key]!}`;
    return {
      wish: other,
      clause: fillSlots(template, slot => (slot === key ? both : wish.said[slot]))!,
    };
  }

  /** A wish for a tool that the session grants, or, now and then, one that it refuses. */
  #tried(name: string, before: Wish | undefined): Trial | undefined {
    const step = this.#plot.steps?.get(name);
    const { declarations, phrases, random } = this.#scene;
    if (step) {
      const trial = this.#walk.step(
        step,
        this.#heard,
        () => this.#formOf(phrases.tools[step.bridge.from]!.forms),
        this.rehearsal,
      );
      if (typeof trial === "string") this.stuck = trial;
      return typeof trial === "string" ? undefined : trial;
    }
    const declared = declarations.get(name)!;
    const { met, courted } = this.#plot.script?.[this.#turns]?.refusals ?? this.#plot.refusals;
    const mayFail = declared.tool.effect === "write" && random.boolean(met);
    const courts = mayFail && random.boolean(courted);
    const flow = this.#flow(declared, before);
    let why = "";
    for (let attempt = 0; attempt < tries; attempt++) {
      const form = this.#formOf(phrases.tools[name]!.forms);
      // what flows in may be what stands in the way
      const trial = this.rehearsal.attempt({
        declared,
        form,
        ...(attempt < tries - 2 ? { flow } : {}),
      });
      why = whyNot(trial);
      if (
        typeof trial === "string" ||
        (trial.outcome.kind !== "ok" && !(mayFail && isRefusal(trial.outcome)))
      )
        continue;
      if (trial.outcome.kind !== "ok" && this.rehearsal.wasToBeExpected(trial)) {
        why = "the user knows better";
        continue;
      }
      if (
        trial.outcome.kind === "ok" &&
        ((courts && attempt < tries / 2) || (isEmpty(trial.outcome.value) && !random.boolean(0.1)))
      )
        continue;
      if (!turnsAround(before, trial.wish)) this.rehearsal.keep(trial);
      return trial;
    }
    this.stuck = `no sensible ${name} (${why})`;
    return undefined;
  }

  /**
   * A wish with a value left out, and the question for it. The value is chosen, and its turn comes
   * with the answer.
   */
  #withholding(name: string): { clause: string; question: string } | undefined {
    const { declarations, phrases, random, focus } = this.#scene;
    const missing = phrases.tools[name]!.missing!;
    let why = "";
    for (let attempt = 0; attempt < tries; attempt++) {
      const key = random.pick(Object.keys(missing));
      const trial = this.rehearsal.attempt({
        declared: declarations.get(name)!,
        form: this.#formOf(missing[key]!.forms),
        withheld: key,
      });
      why = whyNot(trial);
      if (
        typeof trial === "string" ||
        trial.obstacle ||
        trial.outcome.kind !== "ok" ||
        isEmpty(trial.outcome.value)
      )
        continue;
      const { wish } = trial;
      // nobody is asked for what the talk is about anyway
      if (
        wish.things.some(
          ({ thing }) =>
            thing.id === wish.arguments[key] && focus.some(it => keyOf(it) === keyOf(thing)),
        )
      )
        continue;
      const question = random
        .shuffle(missing[key]!.ask)
        .flatMap(it => fillSlots(it, slot => wish.said[slot]?.replace(/^my /, "your ")) ?? [])[0];
      if (question === undefined) continue;
      this.#withheld = { wish, key };
      this.hasWithheld = true;
      return { clause: wish.clause, question };
    }
    this.stuck = `no sensible ${name} (${why})`;
    return undefined;
  }

  #formOf(forms: readonly ClauseTemplate[]): ClauseTemplate {
    const { isMinimal, random } = this.#scene;
    if (!isMinimal) return random.pick(forms);
    const byLength = forms.toSorted(
      (a, b) => getTemplateText(a).length - getTemplateText(b).length,
    );
    return random.pick(byLength.slice(0, Math.max(1, Math.ceil(forms.length / 2))));
  }

  /** What the wish before passes on, by argument: the things it names or brings about. */
  #flow({ inputs }: ToolDeclaration, before: Wish | undefined): Record<string, readonly Thing[]> {
    const { focus } = this.#scene;
    if (!before && focus.length === 0) return {};
    const first = inputs.filter(
      (it, i) =>
        it.isRequired &&
        inputs.findIndex(other => other.isRequired && other.entity === it.entity) === i,
    );
    return Object.fromEntries(
      first.map(it => [it.key, focus.filter(thing => thing.entity === it.entity)]),
    );
  }

  /**
   * What to do if it is refused, said in the same breath: it would be granted, whether it comes to
   * it or not.
   */
  #otherwise(trial: Trial): Wish | undefined {
    // a way out does not hang on a question
    if (guessOf(trial.wish) || trial.wish.clause.endsWith("?")) return undefined;
    const { wish, outcome } = trial;
    const { phrases, declarations, random } = this.#scene;
    const words = phrases.tools[wish.tool.name]!.otherwise;
    const isNeeded = outcome.kind !== "ok";
    if (isNeeded && random.boolean(words ? otherwise.anotherTool : otherwise.onlyTool))
      return this.#alternative(trial);
    if (!words || !random.boolean(isNeeded ? otherwise.needed : otherwise.spare)) return undefined;
    const [key, forms] = random.pick(Object.entries(words));
    const stage = isNeeded ? this.rehearsal : this.rehearsal.aside();
    return this.#granted(
      { declared: declarations.get(wish.tool.name)!, kept: wish, form: random.pick(forms) },
      it => givesWay(it, wish, key),
      stage,
    );
  }

  /**
   * Another tool for the same thing, should the first be refused: `cancel it; if that is not
   * possible, tell me where it is`.
   */
  #alternative({ wish }: Trial): Wish | undefined {
    const { declarations, phrases, random } = this.#scene;
    const [named] = wish.things;
    if (!named || wish.clause.endsWith("?") || this.#plot.steps) return undefined;
    const { thing } = named;
    const fits = (it: ToolDeclaration) =>
      it.tool.effect === "read" &&
      phrases.tools[it.tool.name] &&
      it.inputs.some(input => input.isRequired && !input.isList && input.entity === thing.entity);
    for (const declared of random
      .shuffle([...declarations.values()].filter(fits))
      .slice(0, others)) {
      const { key } = declared.inputs.find(it => it.isRequired && it.entity === thing.entity)!;
      const form = random.pick(phrases.tools[declared.tool.name]!.forms);
      const trial = this.rehearsal.attempt(
        { declared, form, flow: { [key]: [thing] } },
        { ...this.#scene, focus: [thing], recent: [thing] },
      );
      if (
        typeof trial === "string" ||
        trial.obstacle ||
        trial.outcome.kind !== "ok" ||
        isEmpty(trial.outcome.value)
      )
        continue;
      if (
        trial.wish.arguments[key] !== thing.id ||
        trial.wish.things.length > 1 ||
        !isRequest(trial.wish.clause)
      )
        continue;
      this.rehearsal.keep(trial);
      return { ...trial.wish, clause: `${random.pick(ifNot)} ${trial.wish.clause}` };
    }
    return undefined;
  }

  /** The value that was asked for. */
  #answer({ wish, key }: { wish: Wish; key: string }): Turn | undefined {
    this.#withheld = undefined;
    const { phrases, random, declarations } = this.#scene;
    const declared = declarations.get(wish.tool.name)!;
    const form = random.pick(phrases.tools[wish.tool.name]!.missing![key]!.answer);
    const trial = this.rehearsal.attempt({ declared, form, kept: wish, isSettled: true });
    if (typeof trial === "string" || trial.outcome.kind !== "ok") return undefined;
    this.rehearsal.keep(trial);
    // what answers the question that was asked first
    const answered = wish.replies ? { ...trial.wish, replies: wish.replies } : trial.wish;
    return { text: this.#text([trial.wish.clause], "answer"), wishes: [answered] };
  }

  /** After a refusal: the same wish with one value changed so that it is granted. */
  #instead(refused: Wish): Turn | undefined {
    this.#refused = undefined;
    const { phrases, declarations, random } = this.#scene;
    const declared = declarations.get(refused.tool.name)!;
    for (const [key, forms] of random.shuffle(
      Object.entries(phrases.tools[refused.tool.name]!.instead ?? {}),
    )) {
      for (let attempt = 0; attempt < tries; attempt++) {
        const wish = this.#granted({ declared, kept: refused, form: random.pick(forms) }, it =>
          givesWay(it, refused, key),
        );
        if (wish) return { text: this.#text([wish.clause], "instead"), wishes: [wish] };
      }
    }
    return undefined;
  }

  /** The last wish once more, with other values where the form has slots. */
  #again(): Turn | undefined {
    const last = this.#last;
    const { phrases, declarations, random } = this.#scene;
    const forms = last && phrases.tools[last.tool.name]?.again;
    if (!forms) return undefined;
    for (let attempt = 0; attempt < tries; attempt++) {
      const wish = this.#granted({
        declared: declarations.get(last.tool.name)!,
        kept: last,
        form: random.pick(forms),
      });
      if (wish) return { text: this.#text([wish.clause], "clarification"), wishes: [wish] };
    }
    return undefined;
  }

  /** A wish that is granted, and kept. Nothing in it is called `it`. */
  #granted(
    asking: Asking,
    fits: (it: Wish) => boolean = () => true,
    stage: Rehearsal = this.rehearsal,
  ): Wish | undefined {
    const trial = stage.attempt(asking, { ...this.#scene, focus: [] });
    if (
      typeof trial === "string" ||
      trial.obstacle ||
      !fits(trial.wish) ||
      trial.outcome.kind !== "ok" ||
      isEmpty(trial.outcome.value)
    )
      return undefined;
    stage.keep(trial);
    return trial.wish;
  }

  /** A tool that takes what the talk is about now. */
  #successor(): string | undefined {
    const { random, focus, declarations } = this.#scene;
    const last = this.#last;
    if (!last) return undefined;
    const inPlay = new Set(focus.map(it => it.entity));
    const next = [...declarations.values()].filter(
      ({ tool, inputs }) =>
        tool !== last.tool && inputs.some(it => it.isRequired && inPlay.has(it.entity)),
    );
    return next.length === 0
      ? undefined
      : random.pickWeighted(next, it => this.#plot.rarity(it.tool.name)).tool.name;
  }
}
