/**
 * Checks a text that a model wrote for the user: every value can be read from it, nothing in it is
 * invented, and it does not reveal ids.
 */
import { splitVisibleLines } from "../../../trajectory/invisibleText.ts";
import { containsToken } from "../../../trajectory/valueMatching.ts";
import { removeMarks } from "../../text/templateText.ts";
import type { EntityInstance } from "../../user/entities/entitySample.ts";
import type { Intent } from "../../user/intents/intent.ts";
import { listIntents, type TurnPlan, isReticent } from "./turnCheck.ts";
import { daysBetween, getWeekdayName } from "../../../environment/time.ts";
import type { Json } from "../../../environment/json.ts";

/** What is wrong with a text: a word for the log, and a sentence for the model that wrote it. */
export interface TextFlaw {
  readonly event: string;
  readonly complaint: string;
}

const limits = {
  words: 160,
  characters: 2000,
  /** A minimal message may have `factor` times the words of the plain wording, plus `more`. */
  minimal: { factor: 2, more: 8 },
};

/** Why the user may not say this, or undefined. */
export function findGroundingFlaw(text: string, plan: TurnPlan): TextFlaw | undefined {
  const format = findFormatFlaw(text);
  if (format) return format;
  const id = findUnspokenId(text, plan);
  if (id !== undefined)
    return {
      event: "says an id",
      complaint: `it says the identifier ${id}, which no person knows`,
    };
  for (const intent of listIntents(plan)) {
    const lostWords = findLostWords(intent, text, plan);
    if (lostWords !== undefined)
      return { event: "loses a value", complaint: `it does not say ${lostWords}` };
  }
  const invention = findInvention(text, plan);
  if (invention !== undefined)
    return {
      event: "makes something up",
      complaint: `it speaks of ${invention}, which was not given`,
    };
  return findLengthFlaw(text, plan);
}

function findFormatFlaw(text: string): TextFlaw | undefined {
  if (countWords(text) === 0) return { event: "empty", complaint: "it is empty" };
  if (
    /^\s*(user|person|message|assistant)\s*:/i.test(text) ||
    text.includes("```") ||
    hasInvisibleCharacters(text)
  )
    return { event: "no message", complaint: "it is not a plain message alone" };
  return text.length > limits.characters
    ? { event: "too long", complaint: `it has ${text.length} characters` }
    : undefined;
}

function findLengthFlaw(text: string, { isMinimal, plain }: TurnPlan): TextFlaw | undefined {
  const { factor, more } = limits.minimal;
  const words = countWords(text);
  const maxWords = isMinimal ? factor * plain.split(/\s+/).length + more : limits.words;
  return words > maxWords
    ? { event: "too long", complaint: `it has ${words} words, where ${maxWords} are enough` }
    : undefined;
}

const countWords = (text: string): number => text.split(/\s+/).filter(it => it !== "").length;

/** Whether a text contains characters that a reader does not see. */
export const hasInvisibleCharacters = (text: string): boolean =>
  splitVisibleLines(text.replaceAll("\t", " ")).join("\n") !==
  text.replaceAll("\t", " ").replaceAll(/\r\n?/g, "\n");

/** Finds an id in the text that people do not say. */
export function findUnspokenId(
  text: string,
  { sample, turn, plain }: Pick<TurnPlan, "sample" | "turn" | "plain">,
): string | undefined {
  const spoken = new Set(
    (turn?.intents ?? []).flatMap(it =>
      it.mentions.flatMap(mention => (mention.isIdSpoken ? [mention.instance.id] : [])),
    ),
  );
  // a number may be said for another reason
  const known = [...(sample?.instances.values() ?? [])]
    .flat()
    .flatMap(it => (typeof it.id === "string" ? [it.id] : []));
  return (
    known.find(
      it =>
        /[_\d]/.test(it) && !spoken.has(it) && containsToken(text, it) && !containsToken(plain, it),
    ) ?? /\b[a-z]+_\d+\b/.exec(text.replaceAll(plain, ""))?.[0]
  );
}

/** Finds words of an intent that the plain wording has and the text does not, in quotes. */
function findLostWords(
  { arguments: args, argumentTexts, mentions }: Intent,
  text: string,
  { plain, now }: TurnPlan,
): string | undefined {
  for (const [key, marked] of Object.entries(argumentTexts)) {
    const value = args[key];
    const words = removeMarks(marked);
    if (value === undefined || !includesText(plain, words)) continue;
    const own = mentions.filter(it => [value].flat().includes(it.instance.id));
    const isSaid =
      own.length > 0
        ? own.every(({ instance }) => namesEntity(text, instance, words, now))
        : saysValue(text, value, words, now);
    if (!isSaid) return `"${words}"`;
  }
  return undefined;
}

/** Whether a text names an entity as clearly as `words`: by its name, or by all of its features. */
function namesEntity(
  text: string,
  { id, label }: EntityInstance,
  words: string,
  now: string,
): boolean {
  const name = [String(id), label].find(it => it !== undefined && includesText(words, it));
  if (includesText(text, words) || (name !== undefined && includesText(text, name))) return true;
  if (name !== undefined) return false;
  const days = words.match(isoDays) ?? [];
  const rest = words.replaceAll(isoDays, " ");
  const features = rest.match(/["“][^"”]+["”]|[\p{L}\p{N}]*[\p{Lu}\p{N}][\p{L}\p{N}.]*/gu) ?? [];
  return days.every(it => saysDay(text, it, now)) && features.every(it => includesText(text, it));
}

const isoDays = /\d{4}-\d\d-\d\d/g;

// Finds names, numbers and days in a text that the model was not given.

/** Finds a name, number, day, quotation or address that nothing in the plan accounts for. */
function findInvention(text: string, plan: TurnPlan): string | undefined {
  const givenText = collectGivenText(plan);
  const normalized = normalizeText(givenText);
  const address = text
    .match(/(?<![\w.+-])[\w.+-]+@[\w.-]+\w|https?:\/\/\S+|(?<![\w/])\/[\w./-]{0,300}\w/g)
    ?.find(it => !normalized.includes(it.toLowerCase()));
  if (address !== undefined) return address;
  for (const [, quoted] of text.matchAll(/["“]([^"“”]{2,})["”]/g))
    if (!includesText(givenText, quoted!.replace(/[.,!?]$/, ""))) return `"${quoted!}"`;
  const number = findInventedNumber(text, normalized, plan);
  if (number !== undefined) return `the number ${number}`;
  const day = text
    .match(/\b(tomorrow|yesterday|next week|(mon|tues|wednes|thurs|fri|satur|sun)day)\b/gi)
    ?.find(it => !normalized.includes(it.toLowerCase()) && !isGivenDay(it.toLowerCase(), plan));
  return day !== undefined ? `"${day}"` : findInventedName(text, normalized);
}

function findInventedNumber(text: string, givenText: string, plan: TurnPlan): number | undefined {
  const numbers = new Set(listNumbers(givenText));
  // the numbers of a list are not values
  const withoutBullets = text.replaceAll(/(^|\s)\d[.)](?=\s)/g, " ");
  return listNumbers(withoutBullets).find(
    it => !numbers.has(it) && !isPartOfGivenTime(it, text, plan),
  );
}

/** Finds a capitalized word within a sentence that was not given. */
function findInventedName(text: string, givenText: string): string | undefined {
  const known = new Set(givenText.split(/[^\p{L}\p{N}]+/u));
  for (const { 0: word, index } of text.matchAll(/\p{Lu}[\p{L}\p{N}]*/gu)) {
    const before = text.slice(Math.max(0, index - 40), index);
    const isFirst = /(^|[.!?:)\n-]["“'’]?\s*)$/.test(before);
    const lower = word.toLowerCase();
    if (
      !isFirst &&
      word.length > 1 &&
      !known.has(lower) &&
      !commonWords.has(lower) &&
      !/['’]$/.test(before)
    )
      return word;
  }
  return undefined;
}

/** Whether a word means a day that was given, by its weekday or its distance from today. */
const isGivenDay = (word: string, plan: TurnPlan): boolean =>
  listDays(plan).some(
    it =>
      saysDay(word, it, plan.now) ||
      word === getWeekdayName(it).toLowerCase() ||
      (word === "next week" && daysBetween(plan.now, it) < 14),
  );

const listArguments = (plan: TurnPlan) =>
  listIntents(plan).flatMap(it => Object.values(it.arguments).flat());

const listDays = (plan: TurnPlan): string[] =>
  listArguments(plan).flatMap(it =>
    typeof it === "string" && /^\d{4}-\d\d-\d\d/.test(it) ? [it.slice(0, 10)] : [],
  );

/** Whether a number is part of a given day or time that is said in another way. */
const isPartOfGivenTime = (n: number, text: string, plan: TurnPlan): boolean =>
  listArguments(plan).some(it => {
    if (typeof it !== "string" || !/^\d{4}-\d\d|^\d\d:\d\d/.test(it)) return false;
    const [hours = NaN, minutes = NaN] = (/(\d\d):(\d\d)$/.exec(it) ?? []).slice(1).map(Number);
    const readings = [
      ...(it.match(/\d+/g) ?? []).map(Number),
      hours + minutes / 100,
      ...(/pm|p\.m\./i.test(text) ? [hours - 12, hours - 12 + minutes / 100] : []),
    ];
    return readings.some(other => Math.abs(other - n) < 1e-9);
  });

/** Capitalized words that need no source. */
const commonWords = new Set(
  "i ok okay hi hey hello thanks please pls asap fyi btw mr mrs ms dr am pm euro euros eur monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december mon tue tues wed thu thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec".split(
    " ",
  ),
);

/** Everything that the model was given, as one text. */
function collectGivenText(plan: TurnPlan): string {
  const { plain, now, sample, events } = plan;
  const intents = listIntents(plan).map(({ clause, argumentTexts, arguments: args }) =>
    [
      removeMarks(clause),
      Object.values(argumentTexts).map(removeMarks).join(" "),
      JSON.stringify(args),
    ].join(" "),
  );
  const entities = isReticent(plan)
    ? []
    : [...(sample?.instances.values() ?? [])]
        .flat()
        .map(it => `${it.label ?? ""} ${JSON.stringify(it.facts)}`);
  const conversation = events.flatMap(it =>
    it.kind === "user" || it.kind === "assistant" ? [it.text] : [],
  );
  return [plain, now, ...intents, ...entities, ...conversation].join("\n");
}

// Recognizes values in a text that a model wrote: numbers, days and times in any wording that means
// exactly the value, other texts as they are.

/** Whether a value can be read from the text. `words` is how the template said it. */
function saysValue(text: string, value: Json, words: string, now: string): boolean {
  if (includesText(text, words) || value === null || typeof value === "boolean") return true;
  if (Array.isArray(value))
    return (value as readonly Json[]).every(it =>
      saysValue(text, it, typeof it === "string" ? it : JSON.stringify(it), now),
    );
  if (typeof value === "number")
    return (
      listNumbers(text).includes(value) ||
      (Number.isInteger(value) && includesText(text, numberWords[value] ?? "\0"))
    );
  if (typeof value !== "string") return false;
  if (/^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/.test(value))
    return (
      saysDay(text, value.slice(0, 10), now) &&
      (value.length < 11 || saysTime(text, value.slice(11)))
    );
  if (/^\d\d:\d\d$/.test(value)) return saysTime(text, value);
  return includesText(text, value);
}

/** Whether a text includes words, apart from differences that do not matter. */
const includesText = (text: string, words: string): boolean =>
  normalizeText(text).includes(normalizeText(words));

/** The text without case, kinds of quotes, thousands separators and repeated spaces. */
const normalizeText = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[’‘]/g, "'")
    .replaceAll(/[“”„"]/g, "")
    .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();

const numberWords = [
  "zero",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

const listNumbers = (text: string): number[] =>
  [...normalizeText(text).matchAll(/\d+(?:\.\d+)?/g)].map(([it]) => Number(it));

/** Whether a text names a day: by its date, or by its weekday or "tomorrow" where that is clear. */
function saysDay(text: string, date: string, now: string): boolean {
  const day = `${Number(date.slice(8))}(st|nd|rd|th)?`;
  const month = monthPrefixes[Number(date.slice(5, 7)) - 1]!;
  const daysAhead = daysBetween(now, date);
  const normalized = normalizeText(text);
  const withMonth = new RegExp(
    `\\b(${day}( of)? ${month}[a-z]*|${month}[a-z]*\\.? (the )?${day})\\b`,
  );
  return (
    normalized.includes(date) ||
    withMonth.test(normalized) ||
    (nearDays[daysAhead]?.test(normalized) ?? false) ||
    (Math.abs(daysAhead) < 14 && normalized.includes(getWeekdayName(date).toLowerCase()))
  );
}

/** Words for days by their distance from today. */
const nearDays: Readonly<Record<number, RegExp>> = {
  0: /\b(today|tonight|this (morning|afternoon|evening))\b/,
  1: /\btomorrow\b/,
  [-1]: /\b(yesterday|last night)\b/,
};

const monthPrefixes = [
  "jan",
  "feb",
  "mar",
  "apr",
  "may",
  "jun",
  "jul",
  "aug",
  "sep",
  "oct",
  "nov",
  "dec",
];

function saysTime(text: string, time: string): boolean {
  const [hours, minutes] = [Number(time.slice(0, 2)), time.slice(3)];
  const twelve = `${hours % 12 || 12}${minutes === "00" ? "(:00)?" : `[:.]${minutes}`} ?(${hours < 12 ? "am|a\\.m\\." : "pm|p\\.m\\."})`;
  const named = time === "12:00" ? "|noon|midday" : time === "00:00" ? "|midnight" : "";
  return new RegExp(`(^|[^\\d:])(0?${hours}[:.]${minutes}|${twelve}${named})(?![\\d:])`, "i").test(
    text,
  );
}
