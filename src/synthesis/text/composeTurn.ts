/** Composes a user turn from clauses, in the voice of a persona. */
import type { Random } from "../../environment/random.ts";
import { capitalize, isRequest } from "./clauses.ts";
import type { Persona, StyleGuide } from "./personas.ts";
import { tidyText } from "./templateText.ts";
import { removeMarks } from "./valueMarks.ts";

/**
 * Where in a talk a turn stands; `instead` after a refusal, with the same wish changed, `moving-on`
 * with another, and `bare` after words of its own.
 */
export type TurnPosition =
  "first" | "follow-up" | "clarification" | "answer" | "instead" | "moving-on" | "bare";

/**
 * One user turn out of clauses. A clause that ends in `?` is a sentence of its own; the others run
 * on, the first of them framed.
 */
export function composeTurn(
  clauses: readonly string[],
  position: TurnPosition,
  persona: Persona,
  style: StyleGuide,
  random: Random,
  filler = "",
): string {
  const numbered =
    position === "first" && filler === ""
      ? renderNumbered(clauses, persona, style, random)
      : undefined;
  if (numbered !== undefined)
    return finishTurn(random.pick(persona.open ?? [""]) + numbered, persona);
  const isBare = position === "answer" || position === "clarification" || position === "instead";
  const sentences = joinClauses(clauses, persona, style, random);
  const first = sentences[0]!;
  const start = pickLead(position, first, persona, style, random);
  const isRunOn = isRunOnLead(start) && filler === "";
  const said = isBare ? "" : filler;
  const frame =
    isBare || (isRunOn && /^(now|next|and|also)/i.test(start)) || !isRequest(first)
      ? "{clause}"
      : pickFrame(first, persona, random);
  const framed =
    first.endsWith("?") && !isBare
      ? makeIndirect(first, persona, style, random)
      : frame.replace("{clause}", () => first);
  const opened =
    isRunOn || (persona.casual && position !== "bare" && start === "" && said === "")
      ? framed
      : capitalize(framed);
  const spoken = [opened, ...sentences.slice(1).map(capitalize)].map(endSentence).join(" ");
  const close = position === "first" && !persona.casual ? random.pick(persona.close ?? [""]) : "";
  return finishTurn(
    `${start}${said === "" ? "" : `${isRunOnLead(start) ? said.replace(/^(?!I\b)./, it => it.toLowerCase()) : said} `}${spoken}`,
    persona,
    close,
  );
}

function pickLead(
  position: TurnPosition,
  first: string,
  persona: Persona,
  style: StyleGuide,
  random: Random,
): string {
  const leads = {
    first: persona.open ?? [""],
    "follow-up": persona.followUp && random.boolean(0.7) ? persona.followUp : style.followUp,
    clarification: style.clarification,
    answer: style.answering,
    instead: style.refused,
    "moving-on": style.leaveIt,
    bare: [""],
  }[position];
  const isBare = position === "answer" || position === "clarification" || position === "instead";
  // "Now " and "And " run on into a request, not into "I have …" or a question; nothing runs into
  // "all right, …"
  const suits = (it: string) =>
    it === "" ||
    !isRunOnLead(it) ||
    (isBare
      ? !/^(all right|ok|no|yes|right|oh)\b/i.test(first)
      : position === "first" || isRequest(first));
  const suiting = leads.filter(suits);
  return suiting.length === 0 ? "" : random.pick(suiting);
}

const isRunOnLead = (text: string): boolean => /[a-z,:] $/.test(text);

/** A frame that the clause reads well in. */
function pickFrame(clause: string, { ask }: Persona, random: Random): string {
  const suits = (it: string) =>
    (/\{clause\}\??$/.test(it) || !/[,;:]/.test(clause)) &&
    (!/for (me|us)/.test(it) || !/\b(me|us|my)\b/.test(clause)) &&
    (!/quickly|real quick|maybe/.test(it) ||
      !/^first\b|\b(quickly|right away|at once|maybe)\b/.test(clause)) &&
    (!/I (need|want|would like) to|we need/.test(it) ||
      !/\b(me|tell|remind|let|check|make sure|see to it)\b/.test(clause)) &&
    (!/go ahead/.test(it) || !/^go\b/.test(clause)) &&
    (!it.endsWith("?") || !/[;]/.test(clause)) &&
    (!/pl(ease|s)|kindly/.test(it) || !/please/.test(clause));
  const suiting = ask.filter(suits);
  return suiting.length === 0 ? "{clause}" : random.pick(suiting);
}

/** Requests as a list, where each is plain enough for it. */
function renderNumbered(
  clauses: readonly string[],
  persona: Persona,
  { joiners }: StyleGuide,
  random: Random,
): string | undefined {
  const leads =
    clauses.length === 2
      ? joiners.several[2]
      : clauses.length === 3
        ? joiners.several[3]
        : undefined;
  if (!leads || clauses.some(it => /;/.test(it)) || !random.boolean(persona.numbers ?? 0.02))
    return undefined;
  const items = clauses.map(
    (it, i) =>
      `${i + 1}) ${it}${i === clauses.length - 1 ? (it.endsWith("?") ? "" : ".") : it.endsWith("?") ? "" : ","}`,
  );
  return `${random.pick(leads)}${items.join(" ")}`;
}

const finishTurn = (text: string, { casual }: Persona, close = ""): string => {
  const whole = tidyText(removeMarks(text)) + close;
  return casual ? whole.replace(/\.$/, "") : whole;
};

/** How often plain requests go "first …, then …". */
const sequenceShare = 0.12;

function joinClauses(
  clauses: readonly string[],
  persona: Persona,
  style: StyleGuide,
  random: Random,
): string[] {
  if (
    clauses.length > 1 &&
    clauses.every(it => isRequest(it) && !/[,;:]/.test(it)) &&
    random.boolean(sequenceShare)
  )
    return [renderSequence(clauses)];
  const sentences: string[] = [];
  for (const [i, clause] of clauses.entries()) {
    const follows = i > 0 && isRequest(clause);
    const isLast = i === clauses.length - 1;
    if (follows && isLast && random.boolean(persona.afterthoughts ?? 0.06)) {
      sentences.push(`${random.pick(style.joiners.afterthought).slice(2)}${clause}`);
      continue;
    }
    const runsOn = follows && !sentences.at(-1)!.endsWith("?");
    const before = sentences.at(-1) ?? "";
    const and = style.joiners.and.filter(it => it.startsWith(",") || !before.includes(","));
    const joiner = runsOn
      ? random.pick(
          random.boolean(0.65) && !/[;:]|, .*,/.test(before) ? and : style.joiners.sentence,
        )
      : ". ";
    if (runsOn && !joiner.startsWith(".")) sentences.push(`${sentences.pop()!}${joiner}${clause}`);
    else sentences.push(`${i > 0 ? joiner.slice(2) : ""}${clause}`);
  }
  return sentences;
}

const renderSequence = ([first, second, third]: readonly string[]): string =>
  `first ${first}, then ${second}${third === undefined ? "" : `, and finally ${third}`}`;

/**
 * "What is the balance of X?" as "Could you tell me what the balance of X is?", where that is sure
 * to come out right.
 */
function makeIndirect(
  question: string,
  persona: Persona,
  style: StyleGuide,
  random: Random,
): string {
  if (!random.boolean(persona.indirect ?? 0.03)) return question;
  const asked = question.match(/^(what|who) (?:is|'s) (the [^,?]*)\?$/);
  const turned =
    asked && !/ (like|that|which|who|when|where|if|on my|doing)\b/.test(asked[2]!)
      ? `${asked[1]!} ${asked[2]!} is`
      : undefined;
  const kept =
    /^(how (much|many \w+|much \w+) (is|are) (in|on|left|planned|open)\b|(which|what) \w+ (are|is) (planned|open|free|near|in|on|due|left|booked|running|online|offline|on offer)\b|who (is coming|has|owns|wrote|sent|sells|runs|hosts)\b)[^,]*\?$/.test(
      question,
    )
      ? question.slice(0, -1)
      : undefined;
  const clause = turned ?? kept;
  return clause === undefined
    ? question
    : random.pick(style.indirect).replace("{clause}", () => clause);
}

const endSentence = (text: string) => (/[.?!]["”]?$/.test(text) ? text : `${text}.`);
