/**
 * The rules of a task's policy: what the system message says, and a condition on calls that can be
 * checked. A rule forbids such calls, or demands that the user confirms them first: the question
 * that the user agreed to has to name what the call does or what it is about, and must neither be
 * negated nor name something else.
 */
import { z } from "zod";
import { getWeekdayName, weekdays, months } from "../environment/time.ts";
import { isJsonObject, type Json, type JsonObject } from "../environment/json.ts";
import type { Tool } from "../environment/server.ts";
import type { ShownResult } from "./knowledge.ts";
import { startsTurn, type CallEvent, type Event, type Trajectory } from "./trajectory.ts";
import { splitSentences } from "./sentences.ts";
import { getKeyword, getProperties } from "../environment/schemaKeywords.ts";
import { containsToken, listScalars } from "./valueMatching.ts";
import { findEntityValues } from "./entities.ts";

const timeOfDaySchema = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/);

/** A condition on one argument. A call without the argument does not meet it. */
const conditionSchema = z.union([
  /** A number above it, or a list with more items. */
  z.strictObject({ argument: z.string(), above: z.number() }),
  /** A time whose hour and minute are before the first or after the second. */
  z.strictObject({
    argument: z.string(),
    outsideHours: z.tuple([timeOfDaySchema, timeOfDaySchema]),
  }),
  /** A time or date on one of these days of the week. */
  z.strictObject({ argument: z.string(), onDays: z.array(z.enum(weekdays)).min(1) }),
  z.strictObject({
    argument: z.string(),
    is: z.array(z.union([z.string(), z.number(), z.boolean()])).min(1),
  }),
]);

const taskRuleSchema = z.strictObject({
  id: z.string(),
  /** As the system message says it. */
  text: z.string(),
  /** The reason that the assistant gives, as a clause. */
  because: z.string(),
  /** Full names of the tools that it is about. */
  tools: z.array(z.string()).min(1),
  /** Which calls of these tools; all if absent. */
  if: conditionSchema.optional(),
  /**
   * `confirm`: the user has to agree before the call; `never`: the call must not be made; `proof`:
   * the user has to say something first that the rule accepts, as the task's turns know it.
   */
  demands: z.enum(["confirm", "never", "proof"]),
});

/** The rules that hold in a task. */
export const taskPolicySchema = z.strictObject({
  rules: z.array(taskRuleSchema).min(1),
  /** A page that says the rules and more, in Markdown; without it, the rules are a list. */
  page: z.string().startsWith("# ").optional(),
});

export type RuleCondition = z.infer<typeof conditionSchema>;
export type TaskRule = z.infer<typeof taskRuleSchema>;
export type TaskPolicy = z.infer<typeof taskPolicySchema>;

/** A call as rules see it. */
interface RuledCall {
  readonly name: string;
  readonly arguments: Json;
}

/** Whether a rule is about a call. */
export const appliesTo = (rule: TaskRule, { name, arguments: args }: RuledCall): boolean =>
  rule.tools.includes(name) && (rule.if === undefined || meets(rule.if, args));

function meets(condition: RuleCondition, args: Json): boolean {
  const { argument } = condition;
  if (!isJsonObject(args) || !Object.hasOwn(args, argument)) return false;
  const value = args[argument]!;
  if ("above" in condition)
    return (Array.isArray(value) ? value.length : Number(value)) > condition.above;
  if ("is" in condition) return condition.is.some(it => it === value);
  if (typeof value !== "string") return false;
  if ("onDays" in condition)
    return /^\d{4}-\d\d-\d\d/.test(value) && condition.onDays.includes(getWeekdayName(value));
  const time = /T(\d\d:\d\d)/.exec(value)?.[1] ?? /^(\d\d:\d\d)/.exec(value)?.[1];
  const [from, to] = condition.outsideHours;
  return time !== undefined && (time < from || time > to);
}

/** Whether a user's answer agrees. */
export const isAgreement = (text: string): boolean =>
  /^(yes|yeah|yep|sure|ok|okay|go ahead|please do|do it|that's right)\b/i.test(text.trim());

/** A call that breaks a rule, by its position among the calls. */
interface BrokenRule {
  readonly rule: TaskRule;
  readonly call: CallEvent;
  readonly index: number;
}

/**
 * The calls of an attempt that break a rule, refused ones too. A confirmed call is one before which
 * the user, in the same turn, has agreed to a question about it. What the teacher itself asked for
 * a confirmation is such a question, whatever it names.
 */
export function findBrokenRules(
  {
    policy,
    trajectory: taught,
    turns,
  }: {
    readonly policy?: TaskPolicy | undefined;
    readonly turns: readonly ProvenTurn[];
    readonly trajectory: Pick<Trajectory, "events">;
  },
  events: readonly Event[],
  tools: ReadonlyMap<string, Tool>,
): readonly BrokenRule[] {
  if (!policy) return [];
  const broken: BrokenRule[] = [];
  const taughtQuestions = new Set(listAgreedQuestions(taught.events).map(it => it.text));
  const questions = listAgreedQuestions(events);
  let start = 0;
  let index = -1;
  let turn = -1;
  for (const [at, event] of events.entries()) {
    if (startsTurn(event)) {
      start = at;
      turn++;
    }
    if (event.kind !== "call") continue;
    index++;
    const isConfirmed = ({ text, because }: TaskRule): boolean =>
      questions.some(
        it =>
          it.answer > start &&
          it.answer < at &&
          (taughtQuestions.has(it.text) ||
            isAbout(
              it,
              {
                name: event.name,
                arguments: event.arguments,
                rule: `${text} ${because}`,
              },
              tools,
            )),
      );
    const isKept = (rule: TaskRule): boolean => {
      if (rule.demands === "never") return false;
      return rule.demands === "confirm"
        ? isConfirmed(rule)
        : isProven(rule, turns.slice(0, turn + 1), events.slice(0, at));
    };
    const rule = policy.rules.find(it => appliesTo(it, event) && !isKept(it));
    if (rule) broken.push({ rule, call: event, index });
  }
  return broken;
}

/** What the user of a turn says if asked for a proof. */
interface ProvenTurn {
  readonly proofs?:
    | readonly {
        readonly rule: string;
        readonly say: string;
        readonly isAccepted?: true | undefined;
      }[]
    | undefined;
}

/**
 * Whether the user has said what a rule wants to know, in the last of these turns that a proof is
 * about.
 */
function isProven(
  { id }: TaskRule,
  turns: readonly ProvenTurn[],
  events: readonly Event[],
): boolean {
  const proofs = turns.flatMap(it => it.proofs?.filter(proof => proof.rule === id) ?? []);
  const last = proofs.at(-1);
  return (
    last?.isAccepted === true && events.some(it => it.kind === "user" && it.text.includes(last.say))
  );
}

/** The messages to which the user agreed; `answer` is the position of the event that says so. */
function listAgreedQuestions(
  events: readonly Event[],
): readonly (AgreedQuestion & { readonly answer: number })[] {
  const questions: (AgreedQuestion & { readonly answer: number })[] = [];
  const shown: ShownResult[] = [];
  let request = "";
  let message = "";
  for (const [answer, event] of events.entries()) {
    if (event.kind === "assistant") message = event.text;
    if (event.kind === "call" && event.outcome.kind === "ok")
      shown.push({
        name: event.name,
        arguments: event.arguments as JsonObject,
        value: event.outcome.value,
      });
    if (event.kind !== "user") continue;
    if (event.answers && isAgreement(event.text))
      questions.push({ text: message, request, shown: shown.slice(), answer });
    request = event.answers ? `${request}\n${event.text}` : event.text;
  }
  return questions;
}

/** Why a call breaks a rule, in one line. */
export const describeBrokenRule = ({ rule, call, index }: BrokenRule): string =>
  `call ${index + 1}, ${call.name}, breaks the rule "${rule.id}": ${
    {
      never: "it is forbidden",
      confirm: "the user did not confirm it",
      proof: "the user has not said what the rule accepts",
    }[rule.demands]
  } (${rule.text})`;

/** A question that the user agreed to, and what was known when it was asked. */
interface AgreedQuestion {
  /** The whole message of the assistant. */
  readonly text: string;
  /** What the user has said in the turn. */
  readonly request: string;
  /** The calls before it that succeeded. */
  readonly shown: readonly ShownResult[];
}

/** A call that needs a confirmation. */
interface ConfirmedCall {
  readonly name: string;
  readonly arguments: Json;
  /** The texts of the rule that demands the confirmation. */
  readonly rule: string;
}

type Tools = ReadonlyMap<string, Tool>;

/**
 * Whether a question is about a call. An action is named by a word of the tool's name or of the
 * rule, by a word of the same meaning, or by two words of the user's request. An object is named by
 * a value of the call, or by a value of what has one of the call's values in a result.
 */
function isAbout(
  { text, request, shown }: AgreedQuestion,
  call: ConfirmedCall,
  tools: Tools,
): boolean {
  const tool = tools.get(call.name);
  const kinds = listKinds(tool);
  const own = listOwnWords(call.arguments, shown, kinds);
  const actions = listActionWords(call, tool, kinds);
  const requestWords = new Set(listWords(request));
  /** Whether a word that can negate does so here: it is not one of the call's or the user's. */
  const isFree = (word: string): boolean =>
    !own.has(word) && !actions.has(stem(word)) && !requestWords.has(word);
  const names = (clause: string): boolean => {
    const words = listWords(clause);
    return (
      words.some(it => own.has(it) || actions.has(stem(it))) ||
      new Set(words.filter(it => requestWords.has(it) && !isFunctionWord(it))).size > 1
    );
  };
  const end = text.slice(-maxQuestionLength);
  const sentences = splitSentences(markValues(end.toLowerCase(), call.arguments));
  const asked = Math.max(
    0,
    sentences.findLastIndex(it => it.includes("?")),
  );
  const clauses = sentences.map(it => listClauses(it, isFree));
  const question = clauses[asked] ?? [];
  const isNegated = question.some(it => it.isNegated);
  if (
    isNegated &&
    (offersChoice.test(sentences[asked]!) || !question.some(it => names(it.affirmed)))
  )
    return false;
  if (!clauses.flat().some(it => names(it.affirmed))) return false;
  if (listWords(end).some(it => own.has(it))) return true;
  const others = [...listProperNames(end), ...listNames(end, shown, tools)];
  return others.length === 0 || others.some(words => words.some(it => requestWords.has(it)));
}

/**
 * Whether a question for permission asks to leave something undone, or lets the user choose whether
 * to. `request` is what the user has asked for.
 */
export function asksToRefrain(question: string, request: string): boolean {
  const requestWords = new Set(listWords(request));
  const end = question.slice(-maxQuestionLength).toLowerCase();
  const text = markValues(end, []).replaceAll(/\bor not?\b/g, " ");
  const clauses = listClauses(text, it => !requestWords.has(it));
  const asksToAct = clauses.some(it => listWords(it.affirmed).some(word => !isFunctionWord(word)));
  return clauses.some(it => it.isNegated) && (!asksToAct || offersChoice.test(text));
}

/** The end of a message that is read. */
const maxQuestionLength = 4000;
/** The parts of sentences. A dot inside a value, such as `report.txt`, ends none. */
const clauseEnd =
  /[,;:()–—]|\b(?:and|but|or|so|because|since|although|though|which|if|while|unless|then)\b/;
/** Alternatives, one of which is not to act; "or not" only asks for yes or no. */
const offersChoice = /\bor\b(?! (?:not|no)\b)/;

/** What negates the words after it. */
const negators = /^(?:not|never|without|cannot|\p{L}+n['’]t)$/u;
/** Verbs that negate the words after them, unless the call or the user says them, too. */
const omissions = /^(?:keep|leave|ignore|skip|avoid|refrain|stop|refuse)$/;
const unchanged = /\b(?:as (?:it|is|they|things)|unchanged|untouched|alone|everything)\b/;
/** What negates its whole clause. */
const quantifiers = /^(?:nothing|none|nobody|neither|nor|no)$/;

interface Clause {
  /** The part that nothing negates. */
  readonly affirmed: string;
  readonly isNegated: boolean;
}

/** A text with the values of a call, and what is quoted, without the signs that end parts of it. */
function markValues(text: string, args: Json): string {
  let marked = text.replaceAll(quoted, it => `"${listWords(it).join(" ")}"`);
  for (const it of listScalars(args)) {
    const value = String(it).toLowerCase();
    if (/[^\p{L}\p{N}]/u.test(value))
      marked = marked.replaceAll(value, () => listWords(value).join(" "));
  }
  return marked;
}

/** The clauses of a sentence in lower case. */
function listClauses(sentence: string, isFree: (word: string) => boolean): Clause[] {
  return sentence.split(clauseEnd).map(clause => {
    const words = clause.split(/\s+/);
    const plain = words.map(it => it.replaceAll(/^[^\p{L}]+|[^\p{L}]+$/gu, ""));
    if (plain.some(it => quantifiers.test(it))) return { affirmed: "", isNegated: true };
    const at = plain.findIndex(
      it => negators.test(it) || (omissions.test(it) && (isFree(it) || unchanged.test(clause))),
    );
    return at < 0
      ? { affirmed: clause, isNegated: false }
      : { affirmed: words.slice(0, at).join(" "), isNegated: true };
  });
}

const quoted = /["“][^"“”]*["”]/g;

/** The words of a text in lower case: runs of letters and digits, and ids and names of files. */
function listWords(text: string): readonly string[] {
  const tokens = text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_]*(?:[-./@:][\p{L}\p{N}_]+)*/gu);
  return (tokens ?? []).flatMap(it => {
    const parts = it.split(/[-./@:]/);
    return parts.length === 1 ? [it] : [it, ...parts.filter(part => /^\p{L}{3,}$/u.test(part))];
  });
}

/** The words that name the call's values, and those of what has such a value in a result. */
function listOwnWords(
  args: Json,
  shown: readonly ShownResult[],
  kinds: ReadonlySet<string>,
): ReadonlySet<string> {
  const words = new Set<string>();
  const add = (scalar: string | number | boolean): void => {
    if (typeof scalar === "boolean") return;
    for (const it of typeof scalar === "number" ? listNumberWords(scalar) : listValueWords(scalar))
      if (!isFunctionWord(it) && !kinds.has(stem(it))) words.add(it);
  };
  const values = listScalars(args);
  for (const it of values) add(it);
  const ids = new Set(values.filter(it => typeof it === "string" && it.length > 2));
  const visit = (value: Json): void => {
    if (value === null || typeof value !== "object") return;
    const plain = Object.values<Json>(value).filter(it => it === null || typeof it !== "object");
    if (isJsonObject(value) && plain.some(it => ids.has(it as string)))
      for (const it of plain) if (typeof it === "string" && it.length <= maxNameLength) add(it);
    for (const it of Object.values<Json>(value)) visit(it);
  };
  for (const it of shown) visit(it.value);
  return words;
}

/** Longer texts in results are not names. */
const maxNameLength = 60;

const listNumberWords = (value: number): readonly string[] =>
  Math.abs(value) < 2 ? [] : [String(value), value.toFixed(2)];

/** The words of a text; of a date also its day of the week and its month, of a time its hour. */
function listValueWords(value: string): readonly string[] {
  const [, date, hour, minute] = dateAndTime.exec(value) ?? [];
  const [, month, day] = date?.split("-").map(Number) ?? [];
  const isDate = month !== undefined && month >= 1 && month <= 12;
  return [
    ...listWords(value),
    ...(isDate
      ? [getWeekdayName(date!), months[month - 1]!, months[month - 1]!.slice(0, 3), `${day}`]
      : []),
    ...(hour === undefined
      ? []
      : [`${hour}:${minute}`, `${Number(hour)}`, `${Number(hour) % 12 || 12}`]),
  ].map(it => it.toLowerCase());
}

const dateAndTime = /^(\d{4}-\d\d-\d\d)?T?(?:(\d\d):(\d\d))?$/;

/** The stems of the words for the kinds of things that a tool takes, such as `account`. */
const listKinds = (tool: Tool | undefined): ReadonlySet<string> =>
  new Set(
    Object.values(getProperties(tool?.inputSchema ?? {})).flatMap(it =>
      listWords((getKeyword(it, "x-entity") ?? "").replaceAll("_", " ")).map(stem),
    ),
  );

/** The stems of the words that say what a call does. */
function listActionWords(
  { name, rule }: ConfirmedCall,
  tool: Tool | undefined,
  kinds: ReadonlySet<string>,
): ReadonlySet<string> {
  const own = tool ? name.slice(tool.server.length + 1) : name;
  const words = [...listWords(own.replaceAll("_", " ")), ...listWords(rule)]
    .filter(it => !isFunctionWord(it))
    .map(stem)
    .filter(it => it.length > 1 && !kinds.has(it));
  const meanings = synonyms.filter(group => group.some(it => words.includes(it)));
  return new Set([...words, ...meanings.flat()]);
}

/** Verbs with one meaning for users, as stems. */
const synonyms: readonly (readonly string[])[] = [
  "delete remove erase discard rid rm unlink",
  "cancel abort withdraw retract revoke",
  "create make add enter open",
  "send post publish share submit mail",
  "move reschedule shift postpone mv",
  "change update modify edit set adjust",
  "pay settle transfer wire",
  "buy purchase order place book reserve",
  "end finish close stop terminate",
  "start begin launch run",
  "overwrite replace truncate",
].map(it => it.split(" ").map(word => stem(word)));

/** The part of a word that its forms share: `delet` of delete, deleted, deleting and deletion. */
function stem(word: string): string {
  const own = word.replace(/(?:ations?|ions?|ings?|ied|ies|ed|es|s|e|y)$/, "");
  const kept = own.length < 3 ? word : own;
  return kept.replace(/([b-df-hj-np-tv-z])\1$/, "$1");
}

/** The words of each quoted text, name in capitals, and word with digits or signs. */
const listProperNames = (text: string): readonly (readonly string[])[] =>
  [
    ...[...text.matchAll(quoted)].map(([it]) => it),
    ...(text.replaceAll(quoted, " ").match(properName) ?? []),
  ]
    .map(it => listWords(it).filter(word => !isFunctionWord(word) && !calendarWords.has(word)))
    .filter(words => words.length > 0);

/** The words of each name of an entity in the results that a text contains. */
function listNames(
  text: string,
  shown: readonly ShownResult[],
  tools: Tools,
): readonly (readonly string[])[] {
  const lower = text.toLowerCase();
  return shown.flatMap(({ name, value }) => {
    const tool = tools.get(name);
    if (!tool) return [];
    const { ids, labels } = findEntityValues(tool.outputSchema, value);
    return [...ids, ...labels]
      .map(it => String(it.value).toLowerCase())
      .filter(it => it.length > 2 && containsToken(lower, it))
      .map(listWords);
  });
}

/** A word in capitals that does not begin a sentence, or with a digit or a sign between letters. */
const properName =
  /(?<=[\p{L}\p{N},;:]["“”'’(]* )\p{Lu}[\p{L}\p{N}'’-]+|[\p{L}\p{N}~/]*\p{L}[-_./@]?[\p{N}_/@][\p{L}\p{N}_./@-]*|[\p{L}\p{N}_-]+\.\p{L}{2,}/gu;

const calendarWords: ReadonlySet<string> = new Set(
  [...weekdays, ...months, ...months.map(it => it.slice(0, 3))].map(it => it.toLowerCase()),
);

const isFunctionWord = (word: string): boolean => functionWords.has(word);

/** Words that say neither what is done nor to what. */
const functionWords: ReadonlySet<string> = new Set(
  (
    "a about again ahead all am an and any anything are as ask at be because been before but " +
    "by can cannot confirm confirmation confirmed could degrees did do does doing done each " +
    "euros every everything first for from get go going good has have her here him his hours " +
    "how i if in into is it its just know let like ll may me mean might minutes more must my " +
    "need needs no not nothing now of off ok okay on once one only or our out over per please " +
    "proceed ready really right s shall she should so some somebody something sure t than " +
    "that the their them then there these they thing things this those to too undo undone up " +
    "us user users want was way we well were what when where which who why will with would " +
    "yes you your"
  ).split(" "),
);
