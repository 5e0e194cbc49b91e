/**
 * The graph teacher: a policy that knows what the user wants and finds out the rest. It uses no id
 * that it has not seen in a result or heard from the user: what it lacks it looks up first. Does
 * not choose how to recover, only how well it can.
 */
import { canonical, type Json } from "../../environment/json.ts";
import type { AssistantMessage, Call, Conversation } from "../../policy/policy.ts";
import type { CallEvent } from "../../trajectory/trajectory.ts";
import type { Author } from "../user/userSimulator.ts";
import type { Random } from "../../environment/random.ts";
import { findEntities } from "../graph/declarations.ts";
import { fieldSaid, told, type Told } from "../user/resultReply.ts";
import { capitalize, markVerbatim, type StyleGuide } from "../text/personas.ts";
import { chooseAlternatives, fillSlots } from "../text/templates.ts";
import { sloppyKey } from "../user/feasibility.ts";
import { isFullClause, renderReply, formatRefusal } from "../text/renderReply.ts";
import type { Planned, Turn } from "../user/userPlan.ts";
import { guessOf } from "../user/partialMention.ts";
import { keyOf, routesTo, type Route } from "../user/lookUps.ts";
import type { Thing } from "../user/entitySampling.ts";
import type { Named, Wish } from "../user/intent.ts";
import type { Recovery, Teacher } from "./teacher.ts";

/** A reason that begins with a name keeps it whatever stands before. */
const named = (why: string): string => (/^[A-Z]/.test(why) ? markVerbatim(why) : why);

const calls = (list: readonly Call[]): AssistantMessage => ({ text: "", calls: list });

export class GraphTeacher implements Teacher {
  readonly name = "graph";
  readonly #author: Author;
  readonly #manners: StyleGuide;
  /** Things whose ids a result has shown or the user has said, by `keyOf`. */
  readonly #seen = new Set<string>();
  /** Calls made, so that no look-up is made twice. */
  readonly #tried = new Set<string>();
  /** Names that were half said and have been asked about, by `keyOf`. */
  readonly #putRight = new Set<string>();
  /** What each call was last answered. */
  readonly #answers = new Map<string, string>();
  /** Events taken in. */
  #read = 0;
  #turn: Turn | undefined;
  /** The turn's first wish that has not been granted. */
  #at = 0;
  #done: { wish: Wish; call: CallEvent }[] = [];
  #asked: { wish: Planned; key: string }[] = [];

  /** `author` says what the user wants, and how what is named can be found. */
  constructor(author: Author, manners: StyleGuide) {
    this.#author = author;
    this.#manners = manners;
  }

  /** The wishes of this turn that were called for, with the answers. */
  get answered(): readonly { readonly wish: Wish; readonly call: CallEvent }[] {
    return this.#done;
  }

  async next(
    conversation: Conversation,
    recovery?: { readonly kind: Recovery; readonly failed: CallEvent },
  ): Promise<AssistantMessage> {
    if (this.#turn !== this.#author.turn) {
      this.#turn = this.#author.turn;
      this.#at = 0;
      this.#done = [];
      for (const it of this.#turn.wishes)
        for (const { thing, isSpoken } of it.things) if (isSpoken) this.#seen.add(keyOf(thing));
    }
    this.#take(conversation);
    if (recovery?.kind === "give-up")
      return { text: this.#sorry(recovery.failed, conversation), calls: [] };
    if (recovery) {
      const wish = this.#wishOf(recovery.failed)?.otherwise;
      if (wish) return this.#for([wish]);
    }
    const wish = this.#turn.wishes[this.#at];
    if (wish?.blocked !== undefined)
      return { text: this.#message(conversation, { sorry: wish.blocked }), calls: [] };
    // on the way to the second choice, the first has been refused already
    const second =
      wish?.otherwise && this.#done.some(it => it.wish === wish && it.call.outcome !== "ok")
        ? wish.otherwise
        : undefined;
    if (second) return this.#for([second]);
    return wish ? this.#for(this.#alike()) : { text: this.#reply(conversation), calls: [] };
  }

  /** What the user said to do in that case, or, for a look-up, another way to look. */
  listRecoveries(failed: CallEvent): readonly Recovery[] {
    const wish = this.#wishOf(failed);
    if (wish && failed.type === "not_found" && guessOf(wish)) return ["retry", "give-up"];
    if (wish?.otherwise)
      return [wish.otherwise.tool === wish.tool ? "retry" : "alternative", "give-up"];
    return wish ? ["give-up"] : ["alternative", "give-up"];
  }

  #wishOf(call: CallEvent): Planned | undefined {
    return this.#asked.findLast(it => it.key === callKey(call.name, call.arguments))?.wish;
  }

  /**
   * The wishes that can go out in one message: reads of one tool, side by side, whose things are
   * all known.
   */
  #alike(): Planned[] {
    const wishes = this.#turn!.wishes;
    const first = wishes[this.#at]!;
    let end = this.#at + 1;
    const goesAlong = (it: Planned) =>
      !it.before &&
      it.blocked === undefined &&
      !guessOf(it) &&
      it.tool === first.tool &&
      first.tool.effect === "read" &&
      this.#lacking(it).length === 0;
    if (this.#lacking(first).length === 0)
      while (end < wishes.length && goesAlong(wishes[end]!)) end++;
    return wishes.slice(this.#at, end);
  }

  #for(wishes: readonly Planned[]): AssistantMessage {
    const due = this.#due(wishes[0]!);
    const lookUps = this.#lacking(due).flatMap(it => this.#lookUp(it.thing, 0, it.words) ?? []);
    const unique = [...new Map(lookUps.map(it => [callKey(it.name, it.arguments), it])).values()];
    if (unique.length > 0) return calls(unique);
    if (due !== wishes[0]) return calls([{ name: due.tool.name, arguments: due.arguments }]);
    const guess = this.#guess(wishes[0]);
    if (guess) return calls([guess]);
    for (const it of wishes)
      this.#asked.push({ wish: it, key: callKey(it.tool.name, it.arguments) });
    return calls(wishes.map(it => ({ name: it.tool.name, arguments: it.arguments })));
  }

  /** The call with what was half said, once for each name. */
  #guess(wish: Planned): Call | undefined {
    const guess = guessOf(wish);
    const halves = wish.things
      .filter(it => it.isSpoken && it.words !== undefined)
      .map(it => keyOf(it.thing));
    if (!guess || halves.every(it => this.#putRight.has(it))) return undefined;
    for (const it of halves) this.#putRight.add(it);
    this.#asked.push({ wish, key: callKey(wish.tool.name, guess) });
    return { name: wish.tool.name, arguments: guess };
  }

  /**
   * What has to be read before this wish, where that has not been shown yet; else the wish itself.
   */
  #due(wish: Wish): Wish {
    const { before } = wish;
    const isShown =
      !before ||
      this.#answers.get(callKey(before.wish.tool.name, before.wish.arguments)) ===
        canonical(before.shows);
    return isShown ? wish : this.#due(before.wish);
  }

  #lacking({ things }: Wish): Named[] {
    return things.filter(it => !it.isSpoken && !this.#seen.has(keyOf(it.thing)));
  }

  /** The next call on the way to a thing, or undefined where every way has been tried. */
  #lookUp(thing: Thing, depth: number, words?: string): Call[] | undefined {
    const { declarations, sample } = this.#author.rehearsal.scene;
    const { routes, sloppy, hidden } = this.#author.rehearsal;
    const planned = words === undefined ? routes.get(keyOf(thing)) : undefined;
    // what the user calls it is all that there is to look for
    const known = words === undefined ? undefined : sloppy.get(sloppyKey(thing, words));
    const others =
      known ??
      routesTo(thing, declarations, sample, {
        listsFirst: true,
        preferred: new Set(),
        ...(hidden ? { hidden } : {}),
      });
    for (const route of planned ? [planned, ...others] : others) {
      const lacking = route.needs.filter(it => !this.#seen.has(keyOf(it)));
      if (lacking.length > 0) {
        if (depth > 2) continue;
        return lacking.flatMap(it => this.#lookUp(it, depth + 1) ?? []);
      }
      if (!this.#tried.has(routeKey(route)))
        return [{ name: route.declared.tool.name, arguments: route.arguments }];
    }
    return undefined;
  }

  /** Takes in what has been answered since it was last asked. */
  #take(conversation: Conversation): void {
    for (; this.#read < conversation.events.length; this.#read++) {
      const event = conversation.events[this.#read]!;
      if (event.kind !== "call") continue;
      this.#tried.add(callKey(event.name, event.arguments));
      this.#answers.set(callKey(event.name, event.arguments), canonical(event.value ?? null));
      const declared = this.#author.rehearsal.scene.declarations.get(event.name);
      if (event.outcome === "ok" && declared)
        for (const it of findEntities(declared, event.value ?? null)) this.#seen.add(keyOf(it));
      const wish = this.#wishOf(event);
      if (!wish) continue;
      this.#done.push({ wish, call: event });
      if (event.outcome === "ok")
        this.#at = Math.max(
          this.#at,
          this.#turn!.wishes.findIndex(it => it === wish || it.otherwise === wish) + 1,
        );
    }
  }

  #reply(conversation: Conversation): string {
    return (
      this.#message(conversation, {}) ||
      this.#author.rehearsal.scene.random.pick(this.#manners.done)
    );
  }

  #message(conversation: Conversation, { sorry }: { readonly sorry?: string }): string {
    const { rehearsal } = this.#author;
    const { scene } = rehearsal;
    const fulfilled = this.#done.filter(it => it.call.outcome === "ok");
    const isAlone = fulfilled.length === 1 && sorry === undefined;
    const granted: (Told & { wish: Wish })[] = [];
    for (const { wish, call } of fulfilled)
      granted.push({
        wish,
        ...told(wish, call, scene, this.#manners, { isAlone, before: granted.at(-1)?.text ?? "" }),
      });
    const answers = granted.map(it => ({
      text: this.#afterRefusal(it.wish, it.text, conversation),
      isWrite: it.isWrite,
    }));
    rehearsal.readOut(isAlone ? granted[0]!.listed : []);
    const before = conversation.events.findLast(it => it.kind === "assistant" && it.text !== "");
    const { question } = this.#turn!;
    const message = {
      answers,
      question: sorry === undefined ? question : undefined,
      sorry,
      isThing: (it: string) => rehearsal.isThing(it),
      before: before?.kind === "assistant" ? before.text : "",
      isBrief: scene.breath !== undefined,
    };
    return renderReply(message, this.#manners, scene.random);
  }

  /** What was said to do in that case says why it came to it. */
  #afterRefusal(wish: Wish, text: string, conversation: Conversation): string {
    const first = this.#turn!.wishes.find(it => it.otherwise === wish);
    const failed = first && this.#done.find(it => it.wish === first && it.call.outcome !== "ok");
    if (!failed) return text;
    const { random } = this.#author.rehearsal.scene;
    const why = formatRefusal(failed.call.error ?? "it was refused", conversation.now, random);
    const form = random.pick(
      this.#manners.instead.filter(
        it => it.startsWith("{why}") || (isFullClause(why) && !why.includes(":")),
      ),
    );
    return form
      .replace("{why}", () => (form.startsWith("{why}") ? capitalize(why) : why))
      .replace("{reply}", () => capitalize(text.replace(/^Done[,:.] +/, "")));
  }

  #sorry(failed: CallEvent, conversation: Conversation): string {
    const { scene } = this.#author.rehearsal;
    const { phrases, random } = scene;
    const wish = this.#wishOf(failed);
    const why = formatRefusal(failed.error ?? "it was refused", conversation.now, random);
    const own = (wish && phrases.tools[wish.tool.name]?.refused?.[failed.type ?? ""]) ?? [];
    const slot = (key: string) =>
      key === "why" ? named(why) : wish && fieldSaid(key, wish, failed, undefined, scene);
    // one colon in a sentence is enough
    const colons = (text: string) => Math.max(1, text.split(": ").length - 1);
    const suits = (form: string) =>
      isFullClause(why) || !/(afraid|Unfortunately,|but|because|since|Sorry,) \{why\}/.test(form);
    const texts = [...random.shuffle(own), ...random.shuffle(this.#manners.giveUp)]
      .filter(suits)
      .flatMap(it => fillSlots(chooseAlternatives(it, random), slot) ?? []);
    return this.#message(conversation, {
      sorry: capitalize(texts.toSorted((a, b) => colons(a) - colons(b))[0] ?? `${why}.`),
    });
  }
}

/** Answers that nothing on offer can do it, and calls nothing. */
export class RefusingTeacher implements Teacher {
  readonly name = "graph";
  readonly #texts: readonly string[];
  readonly #first: number;

  constructor({ cannot }: StyleGuide, random: Random) {
    this.#texts = cannot;
    this.#first = cannot.indexOf(random.pick(cannot));
  }

  /** Another sentence in each turn. */
  async next({ events }: Conversation): Promise<AssistantMessage> {
    const turn = events.filter(it => it.kind === "user").length - 1;
    return { text: this.#texts[(this.#first + turn) % this.#texts.length]!, calls: [] };
  }

  listRecoveries(): readonly Recovery[] {
    return ["give-up"];
  }
}

const callKey = (name: string, args: Json): string => `${name} ${JSON.stringify(args)}`;
const routeKey = (route: Route): string => callKey(route.declared.tool.name, route.arguments);
