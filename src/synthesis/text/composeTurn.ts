/** Composes a user turn from clauses, in the voice of a persona. */
import type { Random } from "../../environment/random.ts";
import { capitalize, endSentence, isRequest, applyContractions } from "./grammar.ts";
import type { Persona, StyleGuide } from "./personas.ts";
import { tidyText, removeMarks } from "./templateText.ts";
import type { Tool } from "../../environment/server.ts";
import type { Abstentions } from "./abstentions.ts";
import type { ServerTemplates } from "./templates.ts";

/**
 * What a turn follows. `instead`: a refusal, and the same request is changed; `moving-on`: a
 * refusal, and something else is requested; `revision`: something that was done; `bare`: an
 * introduction of its own.
 */
export type TurnPosition =
  | "first"
  | "follow-up"
  | "clarification"
  | "answer"
  | "instead"
  | "revision"
  | "moving-on"
  | "bare";

/** How a user writes. */
interface Voice {
  readonly persona: Persona;
  readonly style: StyleGuide;
  readonly random: Random;
}

/**
 * Composes one user turn from clauses. A clause that ends in `?` is a sentence of its own; the
 * others are joined, and the first of them is framed. `filler` is a sentence before the request.
 */
export function composeTurn(
  clauses: readonly string[],
  position: TurnPosition,
  voice: Voice,
  filler = "",
): string {
  const { persona, random } = voice;
  const numberedList =
    position === "first" && filler === "" ? renderNumberedList(clauses, voice) : undefined;
  if (numberedList !== undefined)
    return finishTurn(random.pick(persona.open ?? [""]) + numberedList, persona);
  const sentences = joinClauses(clauses, voice);
  const first = sentences[0]!;
  const usableFiller = isBarePosition(position) ? "" : filler;
  const lead = pickLead(position, first, usableFiller !== "", voice);
  const request = frameSentence(first, lead, { position, hasFiller: filler !== "" }, voice);
  const isLowerCase =
    (isRunOnLead(lead) && filler === "") ||
    (persona.casual && position !== "bare" && lead === "" && usableFiller === "");
  const opening = isLowerCase ? request : capitalize(request);
  const text = [opening, ...sentences.slice(1).map(capitalize)].map(endSentence).join(" ");
  const close = position === "first" && !persona.casual ? random.pick(persona.close ?? [""]) : "";
  return finishTurn(`${lead}${leadIntoFiller(usableFiller, lead)}${text}`, persona, close);
}

/** In these positions, the turn has neither a frame nor a filler. */
const isBarePosition = (position: TurnPosition): boolean =>
  position === "answer" ||
  position === "clarification" ||
  position === "instead" ||
  position === "revision";

/** The filler after a lead, with a space behind it. */
function leadIntoFiller(filler: string, lead: string): string {
  if (filler === "") return "";
  return `${isRunOnLead(lead) ? filler.replace(/^(?!I\b)./, it => it.toLowerCase()) : filler} `;
}

/** The first sentence in a frame of the persona, or as an indirect question. */
function frameSentence(
  sentence: string,
  lead: string,
  { position, hasFiller }: { readonly position: TurnPosition; readonly hasFiller: boolean },
  voice: Voice,
): string {
  const isBare = isBarePosition(position);
  const isContinued = isRunOnLead(lead) && !hasFiller && /^(now|next|and|also)/i.test(lead);
  const frame =
    isBare || isContinued || !isRequest(sentence) ? "{clause}" : pickFrame(sentence, voice);
  return sentence.endsWith("?") && !isBare
    ? makeIndirect(sentence, voice)
    : frame.replace("{clause}", () => sentence);
}

function pickLead(
  position: TurnPosition,
  first: string,
  hasFiller: boolean,
  { persona, style, random }: Voice,
): string {
  const leads = {
    first: persona.open ?? [""],
    "follow-up": persona.followUp && random.boolean(0.7) ? persona.followUp : style.followUp,
    clarification: style.clarification,
    answer: style.answering,
    instead: style.refused,
    revision: style.revising,
    "moving-on": style.leaveIt,
    bare: [""],
  }[position];
  const isSuitable = (lead: string): boolean => {
    if (lead === "") return true;
    // "Quick: " comes before a request
    if (hasFiller && lead.endsWith(": ")) return false;
    if (!isRunOnLead(lead)) return true;
    // "Now " and "And " continue with a request, not with "I have …" or a question; nothing
    // continues with "all right, …"
    return isBarePosition(position)
      ? !/^(all right|ok|no|yes|right|oh)\b/i.test(first)
      : position === "first" || (isRequest(first) && !/^first\b/.test(first));
  };
  const suitable = leads.filter(isSuitable);
  return suitable.length === 0 ? "" : random.pick(suitable);
}

/** Whether the sentence continues after these words. */
const isRunOnLead = (text: string): boolean => /[a-z,:] $/.test(text);

/** Picks a frame in which the clause reads well. */
function pickFrame(clause: string, { persona, random }: Voice): string {
  const isSuitable = (frame: string) =>
    (/\{clause\}\??$/.test(frame) || !/[,;:]/.test(clause)) &&
    (!/(for (me|us)|possible to)/.test(frame) || !/\b(me|us|my)\b/.test(clause)) &&
    (!/quickly|real quick|maybe/.test(frame) ||
      !/^first\b|\b(quickly|right away|at once|maybe)\b/.test(clause)) &&
    (!/I (need|want|would like) to|we need/.test(frame) ||
      !/\b(me|tell|remind|let|check|make sure|see to it)\b/.test(clause)) &&
    (!/go ahead/.test(frame) || !/^go\b/.test(clause)) &&
    (!frame.endsWith("?") || !/[;]/.test(clause)) &&
    (!/pl(ease|s)|kindly/.test(frame) || !/please/.test(clause));
  const suitable = persona.ask.filter(isSuitable);
  return suitable.length === 0 ? "{clause}" : random.pick(suitable);
}

/** Renders two or three clauses as a numbered list, now and then. */
function renderNumberedList(
  clauses: readonly string[],
  { persona, style, random }: Voice,
): string | undefined {
  const { several } = style.joiners;
  const leads = clauses.length === 2 ? several[2] : clauses.length === 3 ? several[3] : undefined;
  // "from the café" is no request of its own
  const isPart = (it: string) =>
    /^(about|around|at|by|for|from|in|into|near|of|on|to|with)\b/.test(it);
  if (
    !leads ||
    clauses.some(it => /;/.test(it) || isPart(it)) ||
    !random.boolean(persona.numbers ?? 0.02)
  )
    return undefined;
  const items = clauses.map((it, i) => {
    const end = it.endsWith("?") ? "" : i === clauses.length - 1 ? "." : ",";
    return `${i + 1}) ${it}${end}`;
  });
  return `${random.pick(leads)}${items.join(" ")}`;
}

const finishTurn = (text: string, { casual }: Persona, close = ""): string => {
  const turn = tidyText(removeMarks(text)) + close;
  return casual ? turn.replace(/\.$/, "") : turn;
};

/** How often plain requests are put in order: "first …, then …". */
const sequenceShare = 0.12;

/** Joins clauses into sentences. */
function joinClauses(clauses: readonly string[], { persona, style, random }: Voice): string[] {
  const { joiners } = style;
  if (
    clauses.length > 1 &&
    clauses.every(it => isRequest(it) && !/[,;:]/.test(it)) &&
    random.boolean(sequenceShare)
  )
    return [renderSequence(clauses)];
  const sentences: string[] = [];
  for (const [i, clause] of clauses.entries()) {
    const isFurtherRequest = i > 0 && isRequest(clause);
    const isLast = i === clauses.length - 1;
    if (isFurtherRequest && isLast && random.boolean(persona.afterthoughts ?? 0.06)) {
      sentences.push(`${random.pick(joiners.afterthought).slice(2)}${clause}`);
      continue;
    }
    const before = sentences.at(-1) ?? "";
    const isJoined = isFurtherRequest && !before.endsWith("?");
    const and = joiners.and.filter(it => it.startsWith(",") || !before.includes(","));
    const joiner = isJoined
      ? random.pick(mayContinue(before) && random.boolean(0.65) ? and : joiners.sentence)
      : ". ";
    if (isJoined && !joiner.startsWith("."))
      sentences.push(`${sentences.pop()!}${joiner}${clause}`);
    else sentences.push(`${i > 0 ? joiner.slice(2) : ""}${clause}`);
  }
  return sentences;
}

/** Whether a request can follow with "and": not "I need a folder and delete the file". */
const mayContinue = (before: string): boolean => isRequest(before) && !/[;:]|, .*,/.test(before);

const renderSequence = ([first, second, third]: readonly string[]): string =>
  `first ${first}, then ${second}${third === undefined ? "" : `, and finally ${third}`}`;

/**
 * Turns "What is the balance of X?" into "Could you tell me what the balance of X is?", now and
 * then, if the result is certain to be grammatical.
 */
function makeIndirect(question: string, { persona, style, random }: Voice): string {
  if (!random.boolean(persona.indirect ?? 0.03)) return question;
  const match = question.match(/^(what|who) (?:is|'s) (the [^,?]*)\?$/);
  const reordered =
    match && !/ (like|that|which|who|when|where|if|on my|doing)\b/.test(match[2]!)
      ? `${match[1]!} ${match[2]!} is`
      : undefined;
  const clause = reordered ?? (keepsOrder.test(question) ? question.slice(0, -1) : undefined);
  return clause === undefined
    ? question
    : random.pick(style.indirect).replace("{clause}", () => clause);
}

/** Questions whose words keep their order in an indirect question. */
const keepsOrder =
  /^(how (much|many \w+|much \w+) (is|are) (in|on|left|planned|open)\b|(which|what) \w+ (are|is) (planned|open|free|near|in|on|due|left|booked|running|online|offline|on offer)\b|who (is coming|has|owns|wrote|sent|sells|runs|hosts)\b)[^,]*\?$/;

// Sentences around the first request that change nothing: fillers and second thoughts.

/** A sentence before the first request and one after the last; either may be empty. */
export interface Aside {
  readonly before: string;
  readonly after: string;
}

export const noAside: Aside = { before: "", after: "" };

/** Picks a second thought that suits requests with tools of these effects. */
export function pickSecondThought(
  texts: Abstentions["secondThoughts"],
  effects: readonly Tool["effect"][],
  random: Random,
): Aside {
  const suitable = texts.filter(({ on }) => on === "any" || effects.every(it => it === on));
  const { before, after } = random.pick(suitable);
  return random.boolean(0.5)
    ? { before: random.pick(before), after: "" }
    : { before: "", after: random.pick(after) };
}

/** The turn with a further sentence, in the writing of the persona. */
export const addSentence = (text: string, sentence: string, { casual }: Persona): string =>
  sentence === ""
    ? text
    : `${endSentence(text)} ${casual ? sentence.replace(/\.$/, "") : sentence}`;

// Picks fillers: sentences before the first request that ask for nothing.

/** The probability of a filler, and how much a tool with fillers of its own adds to it. */
const fillerOdds = { base: 0.03, ownTemplates: 0.08 };

/** What a filler depends on. */
interface FillerContext {
  readonly templates: ServerTemplates;
  readonly persona: Persona;
  readonly random: Random;
  /** Minimal requests have no filler. */
  readonly isMinimal: boolean;
}

/** Picks a filler for a request with a tool; mostly the empty string. */
export function pickFiller(
  tool: string,
  { persona, random, templates, isMinimal }: FillerContext,
  style: StyleGuide,
): string {
  const own = templates.tools[tool]?.reasons;
  const odds = (persona.talks ?? fillerOdds.base) + (own ? fillerOdds.ownTemplates : 0);
  if (isMinimal || !random.boolean(odds)) return "";
  const lists = [own, own, templates.reasons, persona.reasons, style.reasons].filter(
    it => it !== undefined,
  );
  const filler = random.pick(random.pick(lists));
  return persona.contracts ? applyContractions(filler) : filler;
}

// Leaves out a noun that has just been said.

/** A value without the noun of the clause before it: "the size of a folder: the folder ~". */
export function dropRepeatedNoun(clause: string, value: string): string {
  const [, noun] = /\ban? (\w+)$/.exec(clause) ?? [];
  const repeated = `the ${noun} `;
  if (noun === undefined || !value.startsWith(repeated)) return value;
  const name = value.slice(repeated.length);
  // "the payment for invoice 13" needs its noun
  return /^["~/A-Z]/.test(removeMarks(name)) ? name : value;
}
