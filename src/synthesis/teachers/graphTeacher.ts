/**
 * The graph teacher: a policy that knows what the user wants and finds out the rest. It uses no id
 * that it has not seen in a result or heard from the user: what it lacks it looks up first. Does
 * not choose how to recover, only how well it can.
 */
import { canonicalJson, type Json } from "../../environment/json.ts";
import type { AssistantMessage, Call, Conversation } from "../../policy/policy.ts";
import { getCallFault, getCallValue, type CallEvent } from "../../trajectory/trajectory.ts";
import type { UserSimulator } from "../user/userSimulator.ts";
import type { Random } from "../../environment/random.ts";
import { findEntities } from "../graph/resultEntities.ts";
import { capitalize } from "../text/clauses.ts";
import { markVerbatim } from "../text/valueMarks.ts";
import type { StyleGuide } from "../text/personas.ts";
import { chooseAlternatives, fillSlots } from "../text/templateText.ts";
import { isFullClause, formatRefusal } from "../text/formatRefusal.ts";
import { renderReply } from "../text/renderReply.ts";
import type { PlannedIntent, UserTurn } from "../user/userPlan.ts";
import { substitutePartialNames } from "../user/partialMention.ts";
import { findLookUps, type LookUp } from "../user/lookUps.ts";
import type { EntityMention, Intent } from "../user/intent.ts";
import type { Recovery, Teacher } from "./teacher.ts";
import { renderField } from "./resultFields.ts";
import { renderResultReply, type ResultReply } from "./resultReply.ts";
import { partialNameKey } from "../user/lookUpPlan.ts";
import { entityKey, type EntityInstance } from "../user/entityInstance.ts";

/** A reason that begins with a name keeps it whatever stands before. */
const named = (why: string): string => (/^[A-Z]/.test(why) ? markVerbatim(why) : why);

const calls = (list: readonly Call[]): AssistantMessage => ({ text: "", calls: list });

export class GraphTeacher implements Teacher {
  readonly name = "graph";
  readonly #author: UserSimulator;
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
  #turn: UserTurn | undefined;
  /** The turn's first wish that has not been granted. */
  #at = 0;
  #done: { wish: Intent; call: CallEvent }[] = [];
  #asked: { wish: PlannedIntent; key: string }[] = [];

  /** `author` says what the user wants, and how what is named can be found. */
  constructor(author: UserSimulator, manners: StyleGuide) {
    this.#author = author;
    this.#manners = manners;
  }

  /** The wishes of this turn that were called for, with the answers. */
  get answered(): readonly { readonly wish: Intent; readonly call: CallEvent }[] {
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
      for (const it of this.#turn.intents)
        for (const { instance, isIdSpoken } of it.mentions)
          if (isIdSpoken) this.#seen.add(entityKey(instance));
    }
    this.#take(conversation);
    if (recovery?.kind === "give-up")
      return { text: this.#sorry(recovery.failed, conversation), calls: [] };
    if (recovery) {
      const wish = this.#wishOf(recovery.failed)?.fallback;
      if (wish) return this.#for([wish]);
    }
    const wish = this.#turn.intents[this.#at];
    if (wish?.blockedReply !== undefined)
      return { text: this.#message(conversation, { sorry: wish.blockedReply }), calls: [] };
    // on the way to the second choice, the first has been refused already
    const second =
      wish?.fallback && this.#done.some(it => it.wish === wish && it.call.outcome.kind !== "ok")
        ? wish.fallback
        : undefined;
    if (second) return this.#for([second]);
    return wish ? this.#for(this.#alike()) : { text: this.#reply(conversation), calls: [] };
  }

  /** What the user said to do in that case, or, for a look-up, another way to look. */
  listRecoveries(failed: CallEvent): readonly Recovery[] {
    const wish = this.#wishOf(failed);
    if (wish && getCallFault(failed)?.type === "not_found" && substitutePartialNames(wish))
      return ["retry", "give-up"];
    if (wish?.fallback)
      return [wish.fallback.tool === wish.tool ? "retry" : "alternative", "give-up"];
    return wish ? ["give-up"] : ["alternative", "give-up"];
  }

  #wishOf(call: CallEvent): PlannedIntent | undefined {
    return this.#asked.findLast(it => it.key === callKey(call.name, call.arguments))?.wish;
  }

  /**
   * The wishes that can go out in one message: reads of one tool, side by side, whose things are
   * all known.
   */
  #alike(): PlannedIntent[] {
    const wishes = this.#turn!.intents;
    const first = wishes[this.#at]!;
    let end = this.#at + 1;
    const goesAlong = (it: PlannedIntent) =>
      !it.prerequisite &&
      it.blockedReply === undefined &&
      !substitutePartialNames(it) &&
      it.tool === first.tool &&
      first.tool.effect === "read" &&
      this.#lacking(it).length === 0;
    if (this.#lacking(first).length === 0)
      while (end < wishes.length && goesAlong(wishes[end]!)) end++;
    return wishes.slice(this.#at, end);
  }

  #for(wishes: readonly PlannedIntent[]): AssistantMessage {
    const due = this.#due(wishes[0]!);
    const lookUps = this.#lacking(due).flatMap(
      it => this.#lookUp(it.instance, 0, it.partialName) ?? [],
    );
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
  #guess(wish: PlannedIntent): Call | undefined {
    const guess = substitutePartialNames(wish);
    const halves = wish.mentions
      .filter(it => it.isIdSpoken && it.partialName !== undefined)
      .map(it => entityKey(it.instance));
    if (!guess || halves.every(it => this.#putRight.has(it))) return undefined;
    for (const it of halves) this.#putRight.add(it);
    this.#asked.push({ wish, key: callKey(wish.tool.name, guess) });
    return { name: wish.tool.name, arguments: guess };
  }

  /**
   * What has to be read before this wish, where that has not been shown yet; else the wish itself.
   */
  #due(wish: Intent): Intent {
    const { prerequisite } = wish;
    const isShown =
      !prerequisite ||
      this.#answers.get(callKey(prerequisite.intent.tool.name, prerequisite.intent.arguments)) ===
        canonicalJson(prerequisite.result);
    return isShown ? wish : this.#due(prerequisite.intent);
  }

  #lacking({ mentions }: Intent): EntityMention[] {
    return mentions.filter(it => !it.isIdSpoken && !this.#seen.has(entityKey(it.instance)));
  }

  /** The next call on the way to a thing, or undefined where every way has been tried. */
  #lookUp(thing: EntityInstance, depth: number, words?: string): Call[] | undefined {
    const { declarations, sample } = this.#author.feasibility.context;
    const { lookUpPlan, hiddenTools } = this.#author.feasibility;
    const { lookUps, partialNameLookUps } = lookUpPlan;
    const planned = words === undefined ? lookUps.get(entityKey(thing)) : undefined;
    // what the user calls it is all that there is to look for
    const known =
      words === undefined ? undefined : partialNameLookUps.get(partialNameKey(thing, words));
    const others =
      known ??
      findLookUps(thing, declarations, sample, {
        prefersLists: true,
        preferredTools: new Set(),
        ...(hiddenTools ? { hiddenTools } : {}),
      });
    for (const route of planned ? [planned, ...others] : others) {
      const lacking = route.requiredInstances.filter(it => !this.#seen.has(entityKey(it)));
      if (lacking.length > 0) {
        if (depth > 2) continue;
        return lacking.flatMap(it => this.#lookUp(it, depth + 1) ?? []);
      }
      if (!this.#tried.has(routeKey(route)))
        return [{ name: route.declaration.tool.name, arguments: route.arguments }];
    }
    return undefined;
  }

  /** Takes in what has been answered since it was last asked. */
  #take(conversation: Conversation): void {
    for (; this.#read < conversation.events.length; this.#read++) {
      const event = conversation.events[this.#read]!;
      if (event.kind !== "call") continue;
      this.#tried.add(callKey(event.name, event.arguments));
      this.#answers.set(
        callKey(event.name, event.arguments),
        canonicalJson(getCallValue(event) ?? null),
      );
      const declared = this.#author.feasibility.context.declarations.get(event.name);
      if (event.outcome.kind === "ok" && declared)
        for (const it of findEntities(declared, event.outcome.value)) this.#seen.add(entityKey(it));
      const wish = this.#wishOf(event);
      if (!wish) continue;
      this.#done.push({ wish, call: event });
      if (event.outcome.kind === "ok")
        this.#at = Math.max(
          this.#at,
          this.#turn!.intents.findIndex(it => it === wish || it.fallback === wish) + 1,
        );
    }
  }

  #reply(conversation: Conversation): string {
    return (
      this.#message(conversation, {}) ||
      this.#author.feasibility.context.random.pick(this.#manners.done)
    );
  }

  #message(conversation: Conversation, { sorry }: { readonly sorry?: string }): string {
    const { feasibility } = this.#author;
    const { context } = feasibility;
    const fulfilled = this.#done.filter(it => it.call.outcome.kind === "ok");
    const isAlone = fulfilled.length === 1 && sorry === undefined;
    const granted: (ResultReply & { wish: Intent })[] = [];
    for (const { wish, call } of fulfilled)
      granted.push({
        wish,
        ...renderResultReply(wish, call, context, this.#manners, {
          isAlone,
          before: granted.at(-1)?.text ?? "",
        }),
      });
    const answers = granted.map(it => ({
      text: this.#afterRefusal(it.wish, it.text, conversation),
      isWrite: it.isWrite,
    }));
    feasibility.setListedInstances(isAlone ? granted[0]!.listedRows : []);
    const before = conversation.events.findLast(it => it.kind === "assistant" && it.text !== "");
    const { question } = this.#turn!;
    const message = {
      replies: answers,
      question: sorry === undefined ? question : undefined,
      refusal: sorry,
      isEntity: (it: string) => feasibility.canBeCalledIt(it),
      before: before?.kind === "assistant" ? before.text : "",
      isBrief: context.maxReplyLength !== undefined,
    };
    return renderReply(message, this.#manners, context.random);
  }

  /** What was said to do in that case says why it came to it. */
  #afterRefusal(wish: Intent, text: string, conversation: Conversation): string {
    const first = this.#turn!.intents.find(it => it.fallback === wish);
    const failed =
      first && this.#done.find(it => it.wish === first && it.call.outcome.kind !== "ok");
    if (!failed) return text;
    const { random } = this.#author.feasibility.context;
    const why = formatRefusal(
      getCallFault(failed.call)?.message ?? "it was refused",
      conversation.now,
      random,
    );
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
    const { context } = this.#author.feasibility;
    const { templates, random } = context;
    const wish = this.#wishOf(failed);
    const why = formatRefusal(
      getCallFault(failed)?.message ?? "it was refused",
      conversation.now,
      random,
    );
    const own =
      (wish && templates.tools[wish.tool.name]?.refused?.[getCallFault(failed)?.type ?? ""]) ?? [];
    const slot = (key: string) =>
      key === "why" ? named(why) : wish && renderField(key, wish, failed, undefined, context);
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
const routeKey = (route: LookUp): string => callKey(route.declaration.tool.name, route.arguments);
