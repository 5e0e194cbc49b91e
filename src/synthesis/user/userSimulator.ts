/**
 * The user's side of a talk: turns a chain of tools into wishes that make sense in the live
 * session, and puts them into words. What a question or a refusal asks for comes in the next turn.
 * Never acts on the session itself.
 */
import type { RecordedOutcome } from "../../trajectory/trajectory.ts";
import { CrossServerIntents } from "./crossServerIntents.ts";
import { pointingWords } from "./resultReply.ts";
import type { ToolDeclaration } from "../graph/declarations.ts";
import { substitutePartialNames } from "./partialMention.ts";
import { renderMissingCapability, type MissingCapability } from "../text/missingCapability.ts";
import { isRequest } from "../text/clauses.ts";
import { composeTurn, type TurnPosition } from "../text/composeTurn.ts";
import { fillSlots } from "../text/templateText.ts";
import { getTemplateText, type ClauseTemplate } from "../text/templateSchema.ts";
import {
  isAcceptableChange,
  fallbackLeads,
  reportsNothing,
  canNameTwo,
  isReversal,
  describeProblem,
  type PlannedIntent,
  type UserPlan,
  type UserTurn,
} from "./userPlan.ts";
import {
  isEmptyResult,
  isRefusal,
  FeasibilityChecker,
  type FeasibilityResult,
} from "./feasibility.ts";
import { entityKey } from "./lookUps.ts";
import type { EntityInstance } from "./entitySampling.ts";
import { pickFiller } from "../text/filler.ts";
import type { IntentRequest, ConversationContext, Intent } from "./intent.ts";

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

export class UserSimulator {
  readonly feasibility: FeasibilityChecker;
  /** The turn said last. */
  turn: UserTurn = { text: "", intents: [] };
  /** Why there was no next turn. */
  failure: string | undefined;
  /** Whether a value was withheld in this talk. */
  hasWithheld = false;
  /** What the talk came up against for want of a tool. */
  missingCapability: MissingCapability | undefined;
  readonly #plot: UserPlan;
  #left: readonly string[];
  #withheld: { wish: Intent; key: string } | undefined;
  #refused: Intent | undefined;
  #last: Intent | undefined;
  /** Whether the last look-up found nothing. */
  #foundNothing = false;
  /** Turns said. */
  #turns = 0;
  /** All that the user has said. */
  #heard = "";
  readonly #walk = new CrossServerIntents();

  constructor(plot: UserPlan, scene: ConversationContext) {
    this.#plot = plot;
    this.#left = plot.tools;
    this.feasibility = new FeasibilityChecker(
      plot.session,
      {
        ...scene,
        corrections: plot.styleGuide.corrections,
        maxReplyLength: plot.maxReplyLength,
        usesPartialNames: plot.usesPartialNames,
      },
      {
        prefersLists: plot.prefersLists,
        preferredTools: new Set(plot.tools),
        longestResult: plot.maxResultLength,
        ...(plot.missingTools ? { hiddenTools: plot.missingTools.hidden } : {}),
      },
    );
  }

  /** Whether something has been begun and has to be said before the talk can end. */
  get owesAnswer(): boolean {
    return this.#withheld !== undefined;
  }

  get hasMore(): boolean {
    const { script } = this.#plot;
    return script ? this.#turns < script.length : this.#left.length > 0;
  }

  /** The next user turn, or undefined where there is nothing sensible left to say. */
  nextTurn(kind: "open" | "follow-up" | "clarification"): UserTurn | undefined {
    this.feasibility.reset();
    const turn = this.#next(kind);
    if (!turn) return undefined;
    this.turn = turn;
    this.#turns++;
    this.#heard += `\n${turn.text}`;
    return turn;
  }

  /** Told what became of the calls of the last turn, and what was answered. */
  recordOutcomes(
    outcomes: readonly { wish: Intent; outcome: RecordedOutcome }[],
    reply = "",
  ): void {
    const last = outcomes.at(-1);
    this.#refused = last && last.outcome.kind !== "ok" ? last.wish : undefined;
    this.#foundNothing =
      last?.outcome.kind === "ok" && (isEmptyResult(last.outcome.value) || reportsNothing(reply));
    this.#last = outcomes.findLast(it => it.outcome.kind === "ok")?.wish ?? this.#last;
  }

  #next(kind: "open" | "follow-up" | "clarification"): UserTurn | undefined {
    if (this.#plot.script) return this.#scripted(this.#plot.script[this.#turns]?.tools ?? [], kind);
    if (kind === "open") return this.#open();
    if (this.#withheld) return this.#answer(this.#withheld);
    if (this.#refused) return this.#afterRefusal(this.#refused);
    const isBlocked = this.turn.intents.some(it => it.blockedReply !== undefined);
    // what leads onto a bridge is followed by what goes over it, and nobody asks for more of what
    // came before a "can't"
    return (
      (kind === "clarification" && !isBlocked && !(this.#plot.linkSteps && this.hasMore)
        ? this.#again()
        : undefined) ?? this.#more()
    );
  }

  get #scene(): ConversationContext {
    return this.feasibility.context;
  }

  /** The turn that is set down beforehand. */
  #scripted(
    tools: readonly string[],
    kind: "open" | "follow-up" | "clarification",
  ): UserTurn | undefined {
    if (this.#withheld) return this.#answer(this.#withheld);
    if (tools.length === 0) return undefined;
    const [before, refused] = [
      this.turn.intents.find(it => it.blockedReply !== undefined),
      this.#refused,
    ];
    const again =
      refused && refused.tool.name === tools[0]
        ? this.#instead(refused)
        : kind === "clarification" && tools.length === 1 && this.#last?.tool.name === tools[0]
          ? this.#again()
          : undefined;
    if (again) return again;
    if (before || refused) this.feasibility.clearFocus();
    this.#refused = undefined;
    this.#left = tools;
    const turn = this.#planned(
      tools.length,
      kind === "open"
        ? "first"
        : before && !this.#plot.missingTools!.isAll
          ? "bare"
          : refused || before
            ? "moving-on"
            : "follow-up",
      kind === "open" && this.#plot.info === "missing",
    );
    return turn && before && !this.#plot.missingTools!.isAll ? this.#movedOn(turn) : turn;
  }

  #open(): UserTurn | undefined {
    const { info, isOneTurn } = this.#plot;
    if (isOneTurn) this.#left = this.#left.slice(-mostWishes);
    const n = isOneTurn
      ? this.#left.length
      : Math.min(mostWishes, Math.ceil(this.#left.length / 2));
    return this.#planned(n, "first", info === "missing");
  }

  #more(wanted: TurnPosition = "follow-up"): UserTurn | undefined {
    const { random } = this.#scene;
    const isBlocked = this.turn.intents.some(it => it.blockedReply !== undefined);
    const opening = isBlocked ? "moving-on" : wanted;
    // after a refusal, "it" would be what was refused
    if (opening === "moving-on") this.feasibility.clearFocus();
    if (isBlocked && !this.#plot.missingTools!.isAll) return this.#somethingElse();
    if (this.#left.length === 0) {
      const next = this.#successor();
      if (next === undefined)
        return this.#plot.startsNewTopics ? this.#somethingElse(opening) : undefined;
      this.#left = [next];
    }
    return this.#planned(
      random.boolean(0.5) ? Math.min(mostWishes, this.#left.length) : 1,
      opening,
      false,
    );
  }

  /** Another wish that has nothing to do with what was said before. */
  #somethingElse(opening: TurnPosition = "bare"): UserTurn | undefined {
    const { random, declarations } = this.#scene;
    const isBlocked = this.turn.intents.some(it => it.blockedReply !== undefined);
    for (let attempt = 0; attempt < others; attempt++) {
      const tools = [...declarations.keys()].filter(it => !this.#plot.missingTools?.hidden.has(it));
      this.#left = [random.pickWeighted(tools, this.#plot.getToolWeight)];
      const turn = this.#planned(1, isBlocked ? "bare" : opening, false);
      if (!turn || turn.intents.some(it => it.blockedReply !== undefined)) continue;
      return isBlocked ? this.#movedOn(turn) : turn;
    }
    return undefined;
  }

  /** Something else, after what could not be done. */
  #movedOn(turn: UserTurn): UserTurn {
    const { goOn, unknown } = this.#plot.missingTools!.words;
    return {
      ...turn,
      text:
        this.#scene.random.pick(this.missingCapability!.kind === "thing" ? unknown : goOn) +
        turn.text,
    };
  }

  /** Another try, or something else. */
  #afterRefusal(refused: Intent): UserTurn | undefined {
    return (
      this.#instead(refused) ??
      (this.#scene.random.boolean(odds.movesOn) ? this.#more("moving-on") : undefined)
    );
  }

  #planned(n: number, opening: TurnPosition, withholds: boolean): UserTurn | undefined {
    const { templates } = this.#scene;
    const names = this.#left.slice(0, n);
    this.#left = this.#left.slice(n);
    const wishes: PlannedIntent[] = [];
    const clauses: string[] = [];
    const holdAt = withholds ? names.findLastIndex(it => templates.tools[it]?.missing) : -1;
    for (const [i, name] of names.entries()) {
      if (i === holdAt) {
        const held = this.#withholding(name);
        if (!held) return undefined;
        this.#left = [...names.slice(i + 1), ...this.#left];
        return {
          text: this.#text([...clauses, held.clause], opening),
          intents: wishes,
          question: held.question,
        };
      }
      const trial = this.#tried(name, wishes.at(-1));
      if (!trial) return undefined;
      // what turns the wish before around is said when that is done, or never
      if (isReversal(wishes.at(-1), trial.intent)) {
        this.#left = this.#plot.isOneTurn ? [] : [...names.slice(i), ...this.#left];
        break;
      }
      if (trial.missingCapability) {
        const { words, isAll } = this.#plot.missingTools!;
        const standing = clauses.length > 0 ? "rest" : this.missingCapability ? "again" : "alone";
        this.missingCapability ??= trial.missingCapability;
        this.#left = isAll ? [...names.slice(i + 1), ...this.#left] : [];
        const blocked = renderMissingCapability(trial.missingCapability, trial.intent, {
          templates: words,
          position: standing,
          random: this.#scene.random,
        });
        return {
          text: this.#text(
            [...clauses, trial.intent.clause],
            opening,
            opening === "first" ? pickFiller(names[0]!, this.#scene, this.#plot.styleGuide) : "",
          ),
          intents: [...wishes, { ...trial.intent, blockedReply: blocked }],
        };
      }
      const twin = names.length < mostWishes ? this.#twin(trial) : undefined;
      if (twin) {
        wishes.push(trial.intent, twin.wish);
        clauses.push(twin.clause);
        continue;
      }
      const alternative = this.#otherwise(trial);
      wishes.push(alternative ? { ...trial.intent, fallback: alternative } : trial.intent);
      clauses.push(
        alternative
          ? `${trial.intent.clause}${alternative.clause.startsWith("or ") ? "," : ";"} ${alternative.clause}`
          : trial.intent.clause,
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
        opening === "first" ? pickFiller(names[0]!, this.#scene, this.#plot.styleGuide) : "",
      ),
      intents: wishes,
    };
  }

  #text(clauses: readonly string[], opening: TurnPosition, reason = ""): string {
    const { persona, random } = this.#scene;
    const { styleGuide } = this.#plot;
    if (!this.#foundNothing)
      return composeTurn(clauses, opening, { persona, style: styleGuide, random }, reason);
    // nobody is pleased to hear that there is nothing
    return composeTurn(
      clauses,
      opening,
      {
        persona: { ...persona, followUp: styleGuide.sober },
        style: { ...styleGuide, followUp: styleGuide.sober, clarification: styleGuide.sober },
        random,
      },
      reason,
    );
  }

  /** The same for another thing, in the same clause: `freeze the Travel card and the Gift card`. */
  #twin({
    intent,
    declaration,
    outcome,
  }: FeasibilityResult): { wish: Intent; clause: string } | undefined {
    const { random } = this.#scene;
    const { template } = intent;
    if (
      outcome.kind !== "ok" ||
      intent.prerequisite ||
      substitutePartialNames(intent) ||
      this.#plot.linkSteps ||
      !random.boolean(odds.twin) ||
      !isRequest(template)
    )
      return undefined;
    const isThere = (entity: string, id: unknown) =>
      typeof id === "string" && this.#scene.sample.find(entity, id) !== undefined;
    const open = declaration.inputs.filter(
      it =>
        !it.isList &&
        isThere(it.entity, intent.arguments[it.key]) &&
        canNameTwo(template, it.key) &&
        !pointingWords.test(intent.argumentTexts[it.key] ?? "it"),
    );
    if (
      open.length === 0 ||
      declaration.values.some(it => it.isSensitive && it.key in intent.arguments)
    )
      return undefined;
    const { key } = random.pick(open);
    const other = this.#granted(
      { declaration, template: `{${key}}`, base: intent },
      it => it.arguments[key] !== intent.arguments[key],
    );
    if (!other || pointingWords.test(other.argumentTexts[key]!)) return undefined;
    const both = `${random.boolean(0.3) ? "both " : ""}${intent.argumentTexts[key]!} and ${other.argumentTexts[key]!}`;
    return {
      wish: other,
      clause: fillSlots(template, slot => (slot === key ? both : intent.argumentTexts[slot]))!,
    };
  }

  /** A wish for a tool that the session grants, or, now and then, one that it refuses. */
  #tried(name: string, before: Intent | undefined): FeasibilityResult | undefined {
    const step = this.#plot.linkSteps?.get(name);
    const { declarations, templates, random } = this.#scene;
    if (step) {
      const trial = this.#walk.createIntent(
        step,
        this.#heard,
        () => this.#formOf(templates.tools[step.link.from]!.forms),
        this.feasibility,
      );
      if (typeof trial === "string") this.failure = trial;
      return typeof trial === "string" ? undefined : trial;
    }
    const declared = declarations.get(name)!;
    const { met, courted } = this.#plot.script?.[this.#turns]?.refusals ?? this.#plot.refusalOdds;
    const mayFail = declared.tool.effect === "write" && random.boolean(met);
    const courts = mayFail && random.boolean(courted);
    const flow = this.#flow(declared, before);
    let why = "";
    for (let attempt = 0; attempt < tries; attempt++) {
      const form = this.#formOf(templates.tools[name]!.forms);
      // what flows in may be what stands in the way
      const trial = this.feasibility.check({
        declaration: declared,
        template: form,
        ...(attempt < tries - 2 ? { flow } : {}),
      });
      why = describeProblem(trial);
      if (
        typeof trial === "string" ||
        (trial.outcome.kind !== "ok" && !(mayFail && isRefusal(trial.outcome)))
      )
        continue;
      if (trial.outcome.kind !== "ok" && this.feasibility.isForeseeableRefusal(trial)) {
        why = "the user knows better";
        continue;
      }
      if (
        trial.outcome.kind === "ok" &&
        ((courts && attempt < tries / 2) ||
          (isEmptyResult(trial.outcome.value) && !random.boolean(0.1)))
      )
        continue;
      if (!isReversal(before, trial.intent)) this.feasibility.commit(trial);
      return trial;
    }
    this.failure = `no sensible ${name} (${why})`;
    return undefined;
  }

  /**
   * A wish with a value left out, and the question for it. The value is chosen, and its turn comes
   * with the answer.
   */
  #withholding(name: string): { clause: string; question: string } | undefined {
    const { declarations, templates, random, focus } = this.#scene;
    const missing = templates.tools[name]!.missing!;
    let why = "";
    for (let attempt = 0; attempt < tries; attempt++) {
      const key = random.pick(Object.keys(missing));
      const trial = this.feasibility.check({
        declaration: declarations.get(name)!,
        template: this.#formOf(missing[key]!.forms),
        withheld: key,
      });
      why = describeProblem(trial);
      if (
        typeof trial === "string" ||
        trial.missingCapability ||
        trial.outcome.kind !== "ok" ||
        isEmptyResult(trial.outcome.value)
      )
        continue;
      const { intent } = trial;
      // nobody is asked for what the talk is about anyway
      if (
        intent.mentions.some(
          ({ instance }) =>
            instance.id === intent.arguments[key] &&
            focus.some(it => entityKey(it) === entityKey(instance)),
        )
      )
        continue;
      const question = random
        .shuffle(missing[key]!.ask)
        .flatMap(
          it => fillSlots(it, slot => intent.argumentTexts[slot]?.replace(/^my /, "your ")) ?? [],
        )[0];
      if (question === undefined) continue;
      this.#withheld = { wish: intent, key };
      this.hasWithheld = true;
      return { clause: intent.clause, question };
    }
    this.failure = `no sensible ${name} (${why})`;
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
  #flow(
    { inputs }: ToolDeclaration,
    before: Intent | undefined,
  ): Record<string, readonly EntityInstance[]> {
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
  #otherwise(trial: FeasibilityResult): Intent | undefined {
    // a way out does not hang on a question
    if (substitutePartialNames(trial.intent) || trial.intent.clause.endsWith("?")) return undefined;
    const { intent, outcome } = trial;
    const { templates, declarations, random } = this.#scene;
    const words = templates.tools[intent.tool.name]!.otherwise;
    const isNeeded = outcome.kind !== "ok";
    if (isNeeded && random.boolean(words ? otherwise.anotherTool : otherwise.onlyTool))
      return this.#alternative(trial);
    if (!words || !random.boolean(isNeeded ? otherwise.needed : otherwise.spare)) return undefined;
    const [key, forms] = random.pick(Object.entries(words));
    const stage = isNeeded ? this.feasibility : this.feasibility.fork();
    return this.#granted(
      {
        declaration: declarations.get(intent.tool.name)!,
        base: intent,
        template: random.pick(forms),
      },
      it => isAcceptableChange(it, intent, key),
      stage,
    );
  }

  /**
   * Another tool for the same thing, should the first be refused: `cancel it; if that is not
   * possible, tell me where it is`.
   */
  #alternative({ intent }: FeasibilityResult): Intent | undefined {
    const { declarations, templates, random } = this.#scene;
    const [named] = intent.mentions;
    if (!named || intent.clause.endsWith("?") || this.#plot.linkSteps) return undefined;
    const { instance } = named;
    const fits = (it: ToolDeclaration) =>
      it.tool.effect === "read" &&
      templates.tools[it.tool.name] &&
      it.inputs.some(
        input => input.isRequired && !input.isList && input.entity === instance.entity,
      );
    for (const declared of random
      .shuffle([...declarations.values()].filter(fits))
      .slice(0, others)) {
      const { key } = declared.inputs.find(it => it.isRequired && it.entity === instance.entity)!;
      const form = random.pick(templates.tools[declared.tool.name]!.forms);
      const trial = this.feasibility.check(
        { declaration: declared, template: form, flow: { [key]: [instance] } },
        { ...this.#scene, focus: [instance], recent: [instance] },
      );
      if (
        typeof trial === "string" ||
        trial.missingCapability ||
        trial.outcome.kind !== "ok" ||
        isEmptyResult(trial.outcome.value)
      )
        continue;
      if (
        trial.intent.arguments[key] !== instance.id ||
        trial.intent.mentions.length > 1 ||
        !isRequest(trial.intent.clause)
      )
        continue;
      this.feasibility.commit(trial);
      return { ...trial.intent, clause: `${random.pick(fallbackLeads)} ${trial.intent.clause}` };
    }
    return undefined;
  }

  /** The value that was asked for. */
  #answer({ wish, key }: { wish: Intent; key: string }): UserTurn | undefined {
    this.#withheld = undefined;
    const { templates, random, declarations } = this.#scene;
    const declared = declarations.get(wish.tool.name)!;
    const form = random.pick(templates.tools[wish.tool.name]!.missing![key]!.answer);
    const trial = this.feasibility.check({
      declaration: declared,
      template: form,
      base: wish,
      isSettled: true,
    });
    if (typeof trial === "string" || trial.outcome.kind !== "ok") return undefined;
    this.feasibility.commit(trial);
    // what answers the question that was asked first
    const answered = wish.replies ? { ...trial.intent, replies: wish.replies } : trial.intent;
    return { text: this.#text([trial.intent.clause], "answer"), intents: [answered] };
  }

  /** After a refusal: the same wish with one value changed so that it is granted. */
  #instead(refused: Intent): UserTurn | undefined {
    this.#refused = undefined;
    const { templates, declarations, random } = this.#scene;
    const declared = declarations.get(refused.tool.name)!;
    for (const [key, forms] of random.shuffle(
      Object.entries(templates.tools[refused.tool.name]!.instead ?? {}),
    )) {
      for (let attempt = 0; attempt < tries; attempt++) {
        const wish = this.#granted(
          { declaration: declared, base: refused, template: random.pick(forms) },
          it => isAcceptableChange(it, refused, key),
        );
        if (wish) return { text: this.#text([wish.clause], "instead"), intents: [wish] };
      }
    }
    return undefined;
  }

  /** The last wish once more, with other values where the form has slots. */
  #again(): UserTurn | undefined {
    const last = this.#last;
    const { templates, declarations, random } = this.#scene;
    const forms = last && templates.tools[last.tool.name]?.again;
    if (!forms) return undefined;
    for (let attempt = 0; attempt < tries; attempt++) {
      const wish = this.#granted({
        declaration: declarations.get(last.tool.name)!,
        base: last,
        template: random.pick(forms),
      });
      if (wish) return { text: this.#text([wish.clause], "clarification"), intents: [wish] };
    }
    return undefined;
  }

  /** A wish that is granted, and kept. Nothing in it is called `it`. */
  #granted(
    asking: IntentRequest,
    fits: (it: Intent) => boolean = () => true,
    stage: FeasibilityChecker = this.feasibility,
  ): Intent | undefined {
    const trial = stage.check(asking, { ...this.#scene, focus: [] });
    if (
      typeof trial === "string" ||
      trial.missingCapability ||
      !fits(trial.intent) ||
      trial.outcome.kind !== "ok" ||
      isEmptyResult(trial.outcome.value)
    )
      return undefined;
    stage.commit(trial);
    return trial.intent;
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
      : random.pickWeighted(next, it => this.#plot.getToolWeight(it.tool.name)).tool.name;
  }
}
