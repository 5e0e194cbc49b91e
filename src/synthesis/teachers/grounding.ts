/**
 * Whether a text that a model wrote for the user may be said: every value can be read back from it,
 * nothing in it was made up, and it gives nothing away. Judges words only; whether the right calls
 * come of them is seen later.
 */
import type { Json } from "../../environment/json.ts";
import { daysBetween, getWeekdayName } from "../../environment/time.ts";
import { splitVisibleLines } from "../../trajectory/visible.ts";
import { isReticent, type TurnPlan } from "./turnPrompt.ts";
import { containsToken } from "../text/containsToken.ts";
import { removeMarks } from "../text/valueMarks.ts";
import type { Intent } from "../user/intent.ts";
import type { EntityInstance } from "../user/entityInstance.ts";

/** What is wrong, in a word for the log and in a sentence for who wrote it. */
export interface TextFlaw {
  readonly event: string;
  readonly complaint: string;
}

/**
 * Words of a message at most, and characters; and words beyond the plain wording's where it shall
 * be short.
 */
const longest = { message: 160, characters: 2000, minimal: { factor: 2, more: 8 } };

/** Why a user may not say this, or undefined. */
export function findGroundingFlaw(text: string, plan: TurnPlan): TextFlaw | undefined {
  const words = text.split(/\s+/).filter(it => it !== "").length;
  const most = plan.isMinimal
    ? longest.minimal.factor * plan.plain.split(/\s+/).length + longest.minimal.more
    : longest.message;
  if (words === 0) return { event: "empty", complaint: "it is empty" };
  if (
    /^\s*(user|person|message|assistant)\s*:/i.test(text) ||
    text.includes("```") ||
    hasInvisibleCharacters(text)
  )
    return { event: "no message", complaint: "it is not a plain message alone" };
  if (text.length > longest.characters)
    return { event: "too long", complaint: `it has ${text.length} characters` };
  const id = findUnspokenId(text, plan);
  if (id !== undefined)
    return {
      event: "says an id",
      complaint: `it says the identifier ${id}, which no person knows`,
    };
  for (const wish of wishesOf(plan)) {
    const lost = lostOf(wish, text, plan);
    if (lost !== undefined) return { event: "loses a value", complaint: `it does not say ${lost}` };
  }
  const invented = inventedIn(text, plan);
  if (invented !== undefined)
    return {
      event: "makes something up",
      complaint: `it speaks of ${invented}, which was not given`,
    };
  if (words > most)
    return { event: "too long", complaint: `it has ${words} words, where ${most} are enough` };
  return undefined;
}

/** Whether a text has characters in it that a reader does not see. */
export const hasInvisibleCharacters = (text: string): boolean =>
  splitVisibleLines(text.replaceAll("\t", " ")).join("\n") !==
  text.replaceAll("\t", " ").replaceAll(/\r\n?/g, "\n");

const wishesOf = ({ turn }: TurnPlan): Intent[] =>
  (turn?.intents ?? []).flatMap(it => (it.fallback ? [it, it.fallback] : [it]));

/** An id that nobody says, were it in the text. */
export function findUnspokenId(
  text: string,
  { sample, turn, plain }: Pick<TurnPlan, "sample" | "turn" | "plain">,
): string | undefined {
  const spoken = new Set(
    (turn?.intents ?? []).flatMap(it =>
      it.mentions.flatMap(named => (named.isIdSpoken ? [named.instance.id] : [])),
    ),
  );
  const known = [...(sample?.instances.values() ?? [])].flat().map(it => it.id);
  return (
    known.find(
      it =>
        /[_\d]/.test(it) && !spoken.has(it) && containsToken(text, it) && !containsToken(plain, it),
    ) ?? /\b[a-z]+_\d+\b/.exec(text.replaceAll(plain, ""))?.[0]
  );
}

/** What of a wish the plain wording says and the text does not, in words. */
function lostOf(
  { arguments: args, argumentTexts, mentions }: Intent,
  text: string,
  { plain, now }: TurnPlan,
): string | undefined {
  for (const [key, marked] of Object.entries(argumentTexts)) {
    const value = args[key];
    const words = removeMarks(marked);
    if (value === undefined || !has(plain, words)) continue;
    const own = mentions.filter(it => [value].flat().includes(it.instance.id));
    if (own.length > 0) {
      if (!own.every(({ instance }) => names(text, instance, words, now))) return `"${words}"`;
    } else if (!says(text, value, words, now)) return `"${words}"`;
  }
  return undefined;
}

/**
 * Whether a thing is named as clearly as it was: by what it is called, or by all that tells it from
 * others.
 */
function names(text: string, { id, label }: EntityInstance, words: string, now: string): boolean {
  const name = [id, label].find(it => it !== undefined && has(words, it));
  if (has(text, words) || (name !== undefined && has(text, name))) return true;
  if (name !== undefined) return false;
  const days = words.match(isoDays) ?? [];
  const rest = words.replaceAll(isoDays, " ");
  const telling = rest.match(/["“][^"”]+["”]|[\p{L}\p{N}]*[\p{Lu}\p{N}][\p{L}\p{N}.]*/gu) ?? [];
  return days.every(it => saysDay(text, it, now)) && telling.every(it => has(text, it));
}

const isoDays = /\d{4}-\d\d-\d\d/g;

const has = (text: string, words: string): boolean => plainly(text).includes(plainly(words));

/** Without case, kinds of quotes, thousands' commas and spaces that make no difference. */
const plainly = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[’‘]/g, "'")
    .replaceAll(/[“”„"]/g, "")
    .replaceAll(/(\d),(?=\d{3}\b)/g, "$1")
    .replaceAll(/\s+/g, " ")
    .trim();

/**
 * Whether a value can be read from the text: in the words it was given, or in another way that
 * means just it.
 */
function says(text: string, value: Json, words: string, now: string): boolean {
  if (has(text, words) || value === null || typeof value === "boolean") return true;
  if (Array.isArray(value))
    return (value as readonly Json[]).every(it =>
      says(text, it, typeof it === "string" ? it : JSON.stringify(it), now),
    );
  if (typeof value === "number")
    return (
      numbersIn(text).includes(value) ||
      (Number.isInteger(value) && has(text, spelled[value] ?? "\0"))
    );
  if (typeof value !== "string") return false;
  if (/^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/.test(value))
    return (
      saysDay(text, value.slice(0, 10), now) &&
      (value.length < 11 || saysTime(text, value.slice(11)))
    );
  if (/^\d\d:\d\d$/.test(value)) return saysTime(text, value);
  return has(text, value);
}

const spelled = [
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

const numbersIn = (text: string): number[] =>
  [...plainly(text).matchAll(/\d+(?:\.\d+)?/g)].map(([it]) => Number(it));

function saysDay(text: string, date: string, now: string): boolean {
  const [day, month] = [
    `${Number(date.slice(8))}(st|nd|rd|th)?`,
    months[Number(date.slice(5, 7)) - 1]!,
  ];
  const away = daysBetween(now, date);
  const low = plainly(text);
  const withMonth = new RegExp(
    `\\b(${day}( of)? ${month}[a-z]*|${month}[a-z]*\\.? (the )?${day})\\b`,
  );
  const near: Readonly<Record<number, RegExp>> = {
    0: /\b(today|tonight|this (morning|afternoon|evening))\b/,
    1: /\btomorrow\b/,
    [-1]: /\b(yesterday|last night)\b/,
  };
  return (
    low.includes(date) ||
    withMonth.test(low) ||
    (near[away]?.test(low) ?? false) ||
    (Math.abs(away) < 14 && low.includes(getWeekdayName(date).toLowerCase()))
  );
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

function saysTime(text: string, time: string): boolean {
  const [hours, minutes] = [Number(time.slice(0, 2)), time.slice(3)];
  const twelve = `${hours % 12 || 12}${minutes === "00" ? "(:00)?" : `[:.]${minutes}`} ?(${hours < 12 ? "am|a\\.m\\." : "pm|p\\.m\\."})`;
  const named = time === "12:00" ? "|noon|midday" : time === "00:00" ? "|midnight" : "";
  return new RegExp(`(^|[^\\d:])(0?${hours}[:.]${minutes}|${twelve}${named})(?![\\d:])`, "i").test(
    text,
  );
}

/** A name, number, quotation or address in the text that nothing which was given accounts for. */
function inventedIn(text: string, plan: TurnPlan): string | undefined {
  const given = givenIn(plan);
  const low = plainly(given);
  const known = new Set(low.split(/[^\p{L}\p{N}]+/u));
  const numbers = new Set(numbersIn(low));
  const address = text
    .match(/[\w.+-]+@[\w.-]+\w|https?:\/\/\S+|(?<![\w/])\/[\w./-]*\w/g)
    ?.find(it => !low.includes(it.toLowerCase()));
  if (address !== undefined) return address;
  for (const [, quoted] of text.matchAll(/["“]([^"”]{2,})["”]/g))
    if (!has(given, quoted!.replace(/[.,!?]$/, ""))) return `"${quoted!}"`;
  // numbers of a list are nobody's
  const number = numbersIn(text.replaceAll(/(^|\s)\d[.)](?=\s)/g, " ")).find(
    it => !numbers.has(it) && !isOfTime(it, text, plan),
  );
  if (number !== undefined) return `the number ${number}`;
  const day = text
    .match(/\b(tomorrow|yesterday|next week|(mon|tues|wednes|thurs|fri|satur|sun)day)\b/gi)
    ?.find(it => !low.includes(it.toLowerCase()) && !isOfDay(it.toLowerCase(), plan));
  if (day !== undefined) return `"${day}"`;
  for (const { 0: word, index } of text.matchAll(/\p{Lu}[\p{L}\p{N}]*/gu)) {
    const isFirst = /(^|[.!?:)\n-]["“'’]?\s*)$/.test(text.slice(0, index));
    if (
      !isFirst &&
      word.length > 1 &&
      !known.has(word.toLowerCase()) &&
      !common.has(word.toLowerCase()) &&
      !/['’]$/.test(text.slice(0, index))
    )
      return word;
  }
  return undefined;
}

/** A day that was given, called by its weekday or by how near it is. */
const isOfDay = (word: string, plan: TurnPlan): boolean =>
  daysOf(plan).some(
    it =>
      saysDay(word, it, plan.now) ||
      word === getWeekdayName(it).toLowerCase() ||
      (word === "next week" && daysBetween(plan.now, it) < 14),
  );

const daysOf = (plan: TurnPlan): string[] =>
  wishesOf(plan)
    .flatMap(it => Object.values(it.arguments).flat())
    .flatMap(it =>
      typeof it === "string" && /^\d{4}-\d\d-\d\d/.test(it) ? [it.slice(0, 10)] : [],
    );

/** Digits of a day or a time that was given, said in another way. */
const isOfTime = (n: number, text: string, plan: TurnPlan): boolean =>
  wishesOf(plan)
    .flatMap(it => Object.values(it.arguments).flat())
    .some(it => {
      if (typeof it !== "string" || !/^\d{4}-\d\d|^\d\d:\d\d/.test(it)) return false;
      const [hours = NaN, minutes = NaN] = (/(\d\d):(\d\d)$/.exec(it) ?? []).slice(1).map(Number);
      const said = [
        ...(it.match(/\d+/g) ?? []).map(Number),
        hours + minutes / 100,
        ...(/pm|p\.m\./i.test(text) ? [hours - 12, hours - 12 + minutes / 100] : []),
      ];
      return said.some(other => Math.abs(other - n) < 1e-9);
    });

const common = new Set(
  "i ok okay hi hey hello thanks please pls asap fyi btw mr mrs ms dr am pm euro euros eur monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september october november december mon tue tues wed thu thurs fri sat sun jan feb mar apr jun jul aug sep sept oct nov dec".split(
    " ",
  ),
);

/** Everything the model was given, as one text. */
function givenIn({ plain, turn, now, sample, isMinimal, events }: TurnPlan): string {
  const wishes = wishesOf({ turn } as TurnPlan).map(
    it =>
      `${removeMarks(it.clause)} ${Object.values(it.argumentTexts).map(removeMarks).join(" ")} ${JSON.stringify(it.arguments)}`,
  );
  const things = isReticent({ turn, isMinimal })
    ? []
    : [...(sample?.instances.values() ?? [])]
        .flat()
        .map(it => `${it.label ?? ""} ${JSON.stringify(it.facts)}`);
  const conversation = events.flatMap(it =>
    it.kind === "user" || it.kind === "assistant" ? [it.text] : [],
  );
  return [plain, now, ...wishes, ...things, ...conversation].join("\n");
}
