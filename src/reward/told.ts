/**
 * Judges what the assistant said: whether it told the facts that the user asked for, whether it
 * told anything that the conversation contradicts, and whether it said what could not be done. The
 * judgment compares values, not wording, and needs no model.
 */
import type { Attempt } from "../trajectory/attempt.ts";
import { listTurns } from "../trajectory/oneTurn.ts";
import {
  findDueTurn,
  judgesAnswers,
  listProofs,
  type AnswerKind,
  type Fact,
  type Task,
} from "../trajectory/task.ts";
import { splitSentences } from "../trajectory/sentences.ts";
import { isAgreement } from "../trajectory/taskRules.ts";
import { startsTurn, type Event, type UserEvent } from "../trajectory/trajectory.ts";
import type { Scalar } from "../trajectory/valueMatching.ts";
import type { AnswerEvidence } from "./breakdown.ts";
import { describeField, EntityNames, shorten } from "./entityNames.ts";
import { KnownValues } from "./knownValues.ts";
import {
  foldWords,
  isRounded,
  listSpokenValues,
  toMinutes,
  type SpokenValue,
} from "./spokenValues.ts";
import { listIdAliases } from "./stateText.ts";

export interface ToldJudgment {
  /** One for each fact that was due, and one for each false or missing statement. */
  readonly evidence: readonly AnswerEvidence[];
  /** The share of the evidence that is right; undefined if there is none. */
  readonly score: number | undefined;
}

const judgments = new WeakMap<Attempt, ToldJudgment>();

/** The judgment of an attempt, which is made once. */
export function judgeTold(attempt: Attempt): ToldJudgment {
  let judgment = judgments.get(attempt);
  if (!judgment) judgments.set(attempt, (judgment = judge(attempt)));
  return judgment;
}

/** Whether all that was due was told, and nothing false. */
export const hasToldAll = (attempt: Attempt): boolean => (judgeTold(attempt).score ?? 1) === 1;

/** What was not told, or wrongly, one sentence each. */
export const listUntold = (attempt: Attempt): string[] =>
  judgeTold(attempt).evidence.flatMap(it => (it.isTold ? [] : `${it.subject}: ${it.note!}`));

function judge(attempt: Attempt): ToldJudgment {
  const { task } = attempt;
  if (!judgesAnswers(task)) return { evidence: [], score: undefined };
  const evidence = new Judge(attempt).judge();
  const score =
    evidence.length === 0 ? undefined : evidence.filter(it => it.isTold).length / evidence.length;
  return { evidence, score };
}

/** The most characters and numbers that the assistant may write in a turn, to be read in time. */
const [maxJudgedText, maxJudgedNumbers] = [2 ** 17, 2 ** 12];

/** What is due at the end of a turn. */
interface DueFact {
  readonly goal: number;
  readonly fact: Fact;
  readonly kind: AnswerKind;
  readonly value: Scalar;
}

/** What the assistant said in a turn or, after questions, in several. */
interface Speech {
  readonly text: string;
  readonly sentences: readonly string[];
  readonly values: readonly SpokenValue[];
  /** Each sentence like `words`. */
  readonly sentenceWords: readonly string[];
  /** Its words in lower case without accents, between single spaces. */
  readonly words: string;
}

class Judge {
  readonly #attempt: Attempt;
  readonly #task: Task;
  readonly #now: string;
  /** By turn of the task. */
  readonly #messages: readonly string[][];
  /** The same after the last question that the user agreed to: it is not what came of it. */
  readonly #replies: readonly string[][];
  readonly #events: readonly Event[];
  readonly #turns: readonly number[];
  #names: EntityNames | undefined;

  constructor(attempt: Attempt) {
    this.#attempt = attempt;
    this.#task = attempt.task;
    this.#now = attempt.task.now;
    this.#events = attempt.trajectory.events;
    this.#turns = listTurns(this.#task, this.#events);
    const messages: string[][] = this.#task.turns.map(() => []);
    const replies: string[][] = this.#task.turns.map(() => []);
    for (const [i, event] of this.#events.entries()) {
      const turn = this.#turns[i]!;
      if (event.kind === "user" && this.#isExpected(event, turn)) replies[turn] = [];
      if (event.kind !== "assistant" || event.text === "") continue;
      messages[turn]?.push(event.text);
      replies[turn]?.push(event.text);
    }
    this.#messages = messages;
    this.#replies = replies;
  }

  /** Whether an answer agrees to what was asked, or is the proof that was asked for. */
  #isExpected({ answers, text }: UserEvent, turn: number): boolean {
    const isProof = listProofs(this.#task, turn).some(it => text.includes(it.say));
    return answers === true && (isAgreement(text) || isProof);
  }

  judge(): AnswerEvidence[] {
    const { turn: only } = this.#attempt.trajectory.header;
    const known = new KnownValues(this.#task, this.#now);
    const evidence: AnswerEvidence[] = [];
    let read = 0;
    for (const turn of this.#task.turns.keys()) {
      // what was known before the end of the turn
      const next = this.#turns.findIndex((it, i) => i >= read && it > turn);
      const end = next < 0 ? this.#events.length : next;
      for (; read < end; read++) known.readEvent(this.#events[read]!);
      if (only !== undefined && turn !== only) continue;
      evidence.push(...this.#judgeTurn(turn, known));
    }
    return evidence;
  }

  #judgeTurn(turn: number, known: KnownValues): AnswerEvidence[] {
    const due = this.#listDue(turn);
    const first = Math.min(turn, ...due.map(it => this.#task.goals[it.goal]!.turn));
    const text = this.#messages
      .slice(first, turn + 1)
      .flat()
      .join("\n");
    const excess = findExcess(text);
    if (excess !== undefined) return this.#refuseLongText(turn, due, excess);
    const speech = createSpeech(text, this.#now);
    // questions of earlier turns were judged there
    const own = first === turn ? speech : createSpeech(this.#messages[turn]!.join("\n"), this.#now);
    const wrong = listWrongValues(own, due, known);
    const evidence = due.map((it): AnswerEvidence => {
      const problem = this.#findProblem(it, speech, due, known, wrong);
      return {
        turn,
        goal: it.goal,
        subject: this.#describe(it),
        wanted: formatWanted(it),
        isTold: problem === undefined,
        ...(problem === undefined ? {} : { note: problem }),
      };
    });
    for (const it of wrong)
      if (!it.isNoted)
        evidence.push({
          turn,
          subject: `"${shorten(it.text)}"`,
          wanted: "what the conversation shows",
          isTold: false,
          note: `told ${shorten(it.text)}, ${it.why}`,
        });
    const unmet = this.#judgeUnmet(turn);
    return unmet ? [...evidence, unmet] : evidence;
  }

  /** The evidence where the assistant wrote more than anybody reads: nothing of it is told. */
  #refuseLongText(turn: number, due: readonly DueFact[], note: string): AnswerEvidence[] {
    const refused = { turn, isTold: false, note };
    if (due.length === 0)
      return [{ ...refused, subject: "the answer", wanted: "a text that can be read" }];
    return due.map(it => ({
      ...refused,
      goal: it.goal,
      subject: this.#describe(it),
      wanted: formatWanted(it),
    }));
  }

  #listDue(turn: number): DueFact[] {
    return this.#task.goals.flatMap(({ calls, turn: asked }, goal) =>
      findDueTurn(this.#task, asked) !== turn
        ? []
        : calls.flatMap(call =>
            (call.facts ?? []).flatMap((fact): DueFact[] =>
              fact.tell
                ? [
                    {
                      goal,
                      fact,
                      kind: fact.tell.kind,
                      value: fact.tell.value ?? fact.value ?? fact.entity ?? "",
                    },
                  ]
                : [],
            ),
          ),
    );
  }

  /** What is wrong with how a fact was told; undefined if it was told. */
  #findProblem(
    due: DueFact,
    speech: Speech,
    all: readonly DueFact[],
    known: KnownValues,
    wrong: readonly WrongValue[],
  ): string | undefined {
    const wanted = formatWanted(due);
    if (speech.text === "") return `not told, is ${wanted}`;
    if (due.kind === "yes" || due.kind === "no") return findPolarityProblem(due, speech);
    if (due.kind === "none")
      return isNegated(speech.text) || noProblems.test(speech.text)
        ? findCrowd(speech, all, known)
        : `not told that there is none`;
    if (due.kind === "name" || due.kind === "text") {
      const names = [String(due.value), ...this.#listAliases(String(due.value))];
      if (!names.some(it => tellsName(speech, it))) return `not told, is ${wanted}`;
      const other = all.length === 1 ? findAlternative(speech, due, known) : undefined;
      return other === undefined ? undefined : `told as ${wanted} or ${other}, is ${wanted}`;
    }
    const told = speech.values.filter(it => means(it, due));
    const isToldNegated = told.some(it => isDenied(speech.text, it));
    if (told.length > 0 && !isToldNegated) {
      return findCrowd(speech, all, known);
    }
    if (isToldNegated) return `told that it is not ${wanted}`;
    // what the attempt itself has made of it, or else a value that is wrong anyway
    const own = speech.values.find(it => known.isShownFor(it, due.fact));
    const instead = own
      ? undefined
      : wrong.find(it => !it.isNoted && it.value !== undefined && isOfKind(it.value, due.kind));
    if (instead) instead.isNoted = true;
    const value =
      own ?? instead?.value ?? speech.values.find(it => !it.isVague && isOfKind(it, due.kind));
    return value ? `told ${value.text}, is ${wanted}` : `not told, is ${wanted}`;
  }

  /** What the attempt's own session calls a value that the goals' session generated. */
  #listAliases(value: string): string[] {
    return [...listIdAliases(this.#attempt)].flatMap(([own, theirs]) =>
      theirs === value ? [own] : [],
    );
  }

  #describe({ goal, fact: { entity, of = [], field } }: DueFact): string {
    this.#names ??= new EntityNames(this.#attempt);
    const names = this.#names;
    const nameOf = (id: string) => names.name(id) ?? id;
    const noun = field === undefined ? undefined : describeField(field);
    if (entity === undefined)
      return `${noun ?? "the answer"} (${this.#task.goals[goal]!.calls[0]!.name})`;
    if (noun !== undefined) return `${noun} of ${nameOf(entity)}`;
    return `${nameOf(entity)}${of.length > 0 ? ` of ${of.map(nameOf).join(" and ")}` : ""}`;
  }

  /** Whether the assistant said that something could not be done, if that is so. */
  #judgeUnmet(turn: number): AnswerEvidence | undefined {
    const name = this.#findUnmet(turn);
    if (name === undefined) return undefined;
    const speech = createSpeech(this.#replies[turn]!.join("\n"), this.#now);
    const hasGoals = this.#task.goals.some(it => it.turn === turn);
    const admits = speech.sentences.some(isAdmission);
    const claim = speech.sentences.find(it => isClaim(it) && !isAdmission(it));
    const note = !admits
      ? claim === undefined
        ? "did not say that it was not done"
        : `said "${shorten(claim.trim())}"`
      : !hasGoals && claim !== undefined
        ? `said "${shorten(claim.trim())}"`
        : undefined;
    return {
      turn,
      subject: `what could not be done (${name})`,
      wanted: "a refusal or a question",
      isTold: note === undefined,
      ...(note === undefined ? {} : { note }),
    };
  }

  /**
   * The tool of what a turn asks for in vain: it is not possible, or the server refuses it and
   * nothing is done in its place. A wish that no tool of any server meets has none.
   */
  #findUnmet(turn: number): string | undefined {
    const { turns, goals, knobs, trajectory } = this.#task;
    const [unmet] = turns[turn]!.unmet ?? [];
    if (unmet) return unmet.name;
    if (goals.length === 0 && knobs["abstention"] === "cannot") return "there is no tool for it";
    const isWrite = (name: string) => this.#attempt.tools.get(name)?.effect === "write";
    let current = -1;
    let refused: string | undefined;
    for (const event of trajectory.events) {
      if (startsTurn(event)) current++;
      if (event.kind !== "call" || current !== turn) continue;
      const { name, outcome } = event;
      if (outcome.kind === "refused") refused = name;
      else if (refused !== undefined && (isWrite(name) || !isWrite(refused))) refused = undefined;
    }
    return refused;
  }
}

/** How a text is too long to be read; undefined if it is not. */
function findExcess(text: string): string | undefined {
  if (text.length > maxJudgedText)
    return `told in ${text.length} characters, and ${maxJudgedText} are the most`;
  const numbers = text.match(/\d+/g)?.length ?? 0;
  return numbers > maxJudgedNumbers
    ? `told among ${numbers} numbers, and ${maxJudgedNumbers} are the most`
    : undefined;
}

const createSpeech = (text: string, now: string): Speech => {
  // marks of Markdown, but not the underscores in names
  const plain = text
    .replaceAll(/[*`|]+/g, " ")
    .replaceAll(/^[ \t]*(?:\d{1,2}[.)]|[-•])[ \t]/gm, "\n");
  const sentences = splitSentences(plain).filter(it => it.trim() !== "");
  const folded = sentences.map(foldWords);
  return {
    text: plain,
    sentences,
    values: listSpokenValues(plain, now),
    sentenceWords: folded.map(it => ` ${it} `),
    words: ` ${folded.filter(it => it !== "").join(" ")} `,
  };
};

const groupThousands = (digits: string): string =>
  digits.replaceAll(/\B(?<!\.\d*)(?=(?:\d{3})+(?!\d))/g, ",");

const formatWanted = ({ kind, value }: DueFact): string =>
  kind === "yes" || kind === "no" || kind === "none"
    ? kind
    : kind === "money" && typeof value === "number"
      ? groupThousands(Number.isInteger(value) ? String(value) : value.toFixed(2))
      : typeof value === "string" && kind === "time"
        ? value.replace("T", " ")
        : String(value);

const isNumeric = (kind: AnswerKind): boolean =>
  kind === "count" || kind === "number" || kind === "money" || kind === "duration";

function isOfKind(value: SpokenValue, kind: AnswerKind): boolean {
  if (isNumeric(kind)) return value.numbers.length > 0 || value.durations.length > 0;
  if (kind === "date") return value.days.length > 0;
  return kind === "time" && (value.times.length > 0 || value.days.length > 0);
}

/** Whether a value in a text means what is due. */
function means(spoken: SpokenValue, { kind, value, fact }: DueFact): boolean {
  if (typeof value === "number") {
    if (spoken.numbers.some(it => isRounded(it, Math.abs(value)))) return true;
    const minutes = toMinutes(value, fact.field);
    return minutes !== undefined && spoken.durations.some(it => Math.abs(it - minutes) < 0.51);
  }
  const text = String(value);
  if (kind === "date") return spoken.days.some(it => text.startsWith(it));
  if (kind !== "time") return false;
  // of a day with a time of day, either says when
  const time = /(\d{2}):(\d{2})/.exec(text);
  const minute = time && Number(time[1]) * 60 + Number(time[2]);
  if (minute !== null && spoken.times.includes(minute))
    return spoken.days.length === 0 || !text.includes("T") || isOn(spoken, text);
  return spoken.times.length === 0 && text.includes("T") && isOn(spoken, text);
}

const isOn = ({ days }: SpokenValue, text: string): boolean => days.some(it => text.startsWith(it));

/** Whether the words before a value deny it: "it is not 450". */
const isDenied = (text: string, { start }: SpokenValue): boolean =>
  /\b(?:not|never|n['’]t)\s(?:\p{L}+\s){0,2}[€$£]?$/iu.test(
    text.slice(Math.max(0, start - 40), start),
  );

/** A value that the assistant told and that is wrong. */
interface WrongValue {
  readonly text: string;
  /** Absent for an id or another word with digits. */
  readonly value?: SpokenValue;
  readonly why: string;
  /** Whether it is part of the evidence of a fact. */
  isNoted: boolean;
}

/** The values in statements that nothing shows, or that belong to something else. */
function listWrongValues(
  speech: Speech,
  due: readonly DueFact[],
  known: KnownValues,
): WrongValue[] {
  const wrong: WrongValue[] = [];
  const add = ({ text }: Pick<SpokenValue, "text">, why: string, value?: SpokenValue) =>
    wrong.push({ text, why, isNoted: false, ...(value ? { value } : {}) });
  const stated = [...listStatedValues(speech)];
  for (const value of stated.slice(0, maxJudgedValues)) {
    if (wrong.length === maxWrongValues) break;
    if (due.some(it => means(value, it)) || known.isSaid(value)) continue;
    if (!known.supports(value)) {
      add(value, "which nothing shows", value);
      continue;
    }
    const owner = due
      .filter(it => isOfKind(value, it.kind) && it.fact.field !== undefined)
      .map(it => known.findOtherOwner(value, it.fact, speech.words))
      .find(it => it !== undefined);
    if (owner !== undefined) add(value, `which belongs to ${owner}`, value);
  }
  for (const it of listCodes(speech))
    if (wrong.length < maxWrongValues && !known.hasCode(it))
      add({ text: it }, "which nothing shows");
  return wrong;
}

/** A message with more values is wrong in so many places, or judged by so many, at most. */
const [maxWrongValues, maxJudgedValues] = [20, 500];

/** The values that a text states: not those in questions. */
function* listStatedValues({ text, values }: Speech): Generator<SpokenValue> {
  const questions = listQuestionRanges(text);
  let next = 0;
  for (const it of values) {
    while (next < questions.length && questions[next]!.end <= it.start) next++;
    const question = questions[next];
    const isAsked = question !== undefined && it.start >= question.start;
    if (!it.isVague && !isAsked && !isScale(text, it)) yield it;
  }
}

/** Whether a value is the end of a scale or a range, as in "8.1 out of 10" and "24/7". */
const isScale = (text: string, { start }: SpokenValue): boolean =>
  /(?:\bout of\s|\d\s?[/–]\s?|\d\s?to\s)$/i.test(text.slice(Math.max(0, start - 10), start));

/** The words of a text with letters and digits, such as ids, that are no values. */
function listCodes({ text, values }: Speech): string[] {
  const codes: string[] = [];
  let next = 0;
  for (const { index, 0: code } of text.matchAll(/[\p{L}\p{N}]+(?:[-_./@:#][\p{L}\p{N}]+)*/gu)) {
    while (next < values.length && values[next]!.end <= index) next++;
    const value = values[next];
    const isValue = value !== undefined && value.start < index + code.length;
    if (!isValue && /\p{L}/u.test(code) && /\p{N}/u.test(code)) codes.push(code);
    if (codes.length === maxJudgedValues) break;
  }
  return codes;
}

/** Where the questions in a text are, which state nothing. */
function listQuestionRanges(text: string): { start: number; end: number }[] {
  const ranges: { start: number; end: number }[] = [];
  // what is quoted does not end a sentence
  const plain = text.replaceAll(/["“][^"“”\n]*["”]/g, it => it.replaceAll(/[.!?]/g, " "));
  for (const { index, 0: sentence } of plain.matchAll(/[^.!?\n]*(?:[.](?=\d)[^.!?\n]*)*[.!?\n]?/g))
    if (sentence.endsWith("?")) ranges.push({ start: index, end: index + sentence.length });
  return ranges;
}

/**
 * Whether a text gives many more values than are due, which is no answer: numbers, days, times and
 * ids that are neither due nor said by the user.
 */
function findCrowd(
  { text, values }: Speech,
  due: readonly DueFact[],
  known: KnownValues,
): string | undefined {
  const others = new Set<string>();
  for (const it of values)
    if (!it.isVague && !known.isSaid(it) && !due.some(of => means(it, of))) others.add(it.text);
  for (const [id] of text.matchAll(/\b[a-z]+_\d+\b/g)) if (!known.isSaidCode(id)) others.add(id);
  return others.size > Math.max(4, 3 * due.length)
    ? `told among ${others.size} values that were not asked for`
    : undefined;
}

// Names and texts.

const smallWords = new Set(
  "a an the of in on at for to and or with by from as is my your its x".split(" "),
);

/** Whether a text contains a name: whole, its words in another order, or a part that stands for it. */
function tellsName({ text, words, sentenceWords }: Speech, name: string): boolean {
  const whole = foldWords(name);
  // a name of signs alone, such as the folder ~
  if (whole === "") return text.includes(name);
  if (words.includes(` ${whole} `)) return true;
  // a file by the last part of its path
  const base = /[/\\]/.test(name)
    ? foldWords(name.split(/[/\\]/).findLast(it => it !== "") ?? "")
    : "";
  if (base !== "" && words.includes(` ${base} `)) return true;
  const parts = whole.split(" ").filter(it => !smallWords.has(it));
  if (parts.length < 2) return false;
  const isPerson = /^\p{Lu}\p{L}+(?:[ -]\p{Lu}\p{L}+){1,2}$/u.test(name);
  if (isPerson && [parts[0]!, parts.at(-1)!].some(it => words.includes(` ${it} `))) return true;
  // of longer texts, two thirds of the words
  const needed = parts.length > 5 ? Math.ceil((parts.length * 2) / 3) : parts.length;
  if (parts.filter(it => words.includes(` ${it} `)).length < needed) return false;
  return sentenceWords.some(
    own => parts.filter(part => own.includes(` ${part} `)).length >= needed,
  );
}

/** Another value of the same field that a text offers beside the right one: "A or B". */
function findAlternative(
  { sentenceWords }: Speech,
  { value, fact }: DueFact,
  known: KnownValues,
): string | undefined {
  const own = foldWords(String(value));
  for (const folded of sentenceWords) {
    if (!folded.includes(" or ") || !folded.includes(` ${own} `)) continue;
    const other = known
      .listTexts(fact.field)
      .find(it => foldWords(it) !== own && folded.includes(` ${foldWords(it)} `));
    if (other !== undefined) return other;
  }
  return undefined;
}

// Yes, no, and what was not done.

const yesStart =
  /^\W*(?:yes|yep|yeah|correct|right|indeed|that['’]s right|certainly|definitely)\b/i;
const noStart = /^\W*(?:no|nope|not|unfortunately not|i['’]m afraid not)\b/i;
/** Phrases with a word of negation that negate nothing. */
const idioms =
  /\bno (?:problem|worries|doubt|trouble|wonder)\b|\bnot (?:at all|only)\b|\bwhy not\b|\bwithout (?:a |any )?(?:problems?|issues?|trouble|errors?)\b|\bno (?:issues?|errors?|problems?)\b|\bnothing else\b/gi;
const negation =
  /\b(?:not|no|none|nothing|nobody|neither|nor|never|cannot|without|empty|zero|0)\b|n['’]t\b/i;

/** An idiom that can also be the answer, for example where issues are what was asked for. */
const noProblems = /\bno (?:issues|errors|problems)\b/i;

const isNegated = (text: string): boolean => negation.test(text.replaceAll(idioms, ""));

function findPolarityProblem(
  { kind, value, fact }: DueFact,
  { sentences, sentenceWords, words }: Speech,
): string | undefined {
  const starts = sentences.flatMap((it): ("yes" | "no")[] =>
    yesStart.test(it) ? ["yes"] : noStart.test(it) ? ["no"] : [],
  );
  if (starts.includes("yes") && starts.includes("no")) return `told yes and no, is ${kind}`;
  if (starts.length > 0) return starts[0] === kind ? undefined : `told ${starts[0]}, is ${kind}`;
  // without a yes or no, the first sentence that speaks of the matter
  const matter = [fact.field, fact.value, value]
    .flatMap(it => (typeof it === "string" ? foldWords(it).split(" ") : []))
    .filter(it => it.length > 2);
  const at = sentenceWords.findIndex(it => matter.some(word => it.includes(` ${word} `)));
  const about = sentences[at];
  if (about === undefined) {
    // "It is frozen." speaks of the matter by its predicate alone
    const only =
      sentences.length === 1 && words.trim().split(" ").length > 2 ? sentences[0] : undefined;
    if (only === undefined) return `not told, is ${kind}`;
    return isNegated(only) === (kind === "no") ? undefined : `not told, is ${kind}`;
  }
  // the word for the value itself answers, whatever the question was
  const says =
    typeof fact.value === "string" && sentenceWords[at]!.includes(` ${foldWords(fact.value)} `);
  if (says) return isNegated(about) ? `told the opposite of ${kind}` : undefined;
  return isNegated(about) === (kind === "no") ? undefined : `told the opposite of ${kind}`;
}

/** Whether a sentence says that something is not possible or not done, or asks. */
const isAdmission = (sentence: string): boolean =>
  sentence.includes("?") ||
  /\b(?:sorry|apolog\w+|unfortunately|afraid|unable|impossible|refused?|rejected|declined|denied|failed|fails|missing|lacks?|beyond|outside|only|instead|however|already|unless|needs?|requires?|must|please|have to leave)\b/i.test(
    sentence,
  ) ||
  /\btoo (?:many|much|few|little|late|early|long|short|high|low|far|big|large|small)\b/i.test(
    sentence,
  ) ||
  // a number of none is no refusal
  isNegated(sentence.replaceAll(/\b(?:0|zero|empty)\b/gi, ""));

/** Whether a sentence says that something was done. */
const isClaim = (sentence: string): boolean =>
  /\b(?:done|all set|completed|successful(?:ly)?|taken care of|it['’]s (?:set|ready|booked|sent|paid))\b/i.test(
    sentence,
  ) ||
  /\b(?:i have|i['’]ve|i just|we have|we['’]ve) (?:now |just |already )?(?!checked|looked|searched|found|seen|read|reviewed|tried|gone|noted|understood|had|been)\p{L}+(?:ed|t|n|de|id|ut|ft)\b/iu.test(
    sentence,
  ) ||
  /\b(?:has|have|was|were|is|are) (?:now |been |successfully |all )*(?:transferred|sent|paid|booked|cancelled|canceled|deleted|created|added|removed|updated|moved|changed|frozen|scheduled|placed|ordered|refunded|posted|saved|closed|opened|locked|unlocked|started|stopped)\b/i.test(
    sentence,
  );
