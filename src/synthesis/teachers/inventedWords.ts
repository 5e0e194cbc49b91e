/** Finds names, numbers and days in a text that the model was not given. */
import { daysBetween, getWeekdayName } from "../../environment/time.ts";
import { removeMarks } from "../text/valueMarks.ts";
import { includesText, listNumbers, normalizeText, saysDay } from "./spokenValues.ts";
import { isReticent, listIntents, type TurnPlan } from "./turnPlan.ts";

/** Finds a name, number, day, quotation or address that nothing in the plan accounts for. */
export function findInvention(text: string, plan: TurnPlan): string | undefined {
  const givenText = collectGivenText(plan);
  const normalized = normalizeText(givenText);
  const address = text
    .match(/[\w.+-]+@[\w.-]+\w|https?:\/\/\S+|(?<![\w/])\/[\w./-]*\w/g)
    ?.find(it => !normalized.includes(it.toLowerCase()));
  if (address !== undefined) return address;
  for (const [, quoted] of text.matchAll(/["“]([^"”]{2,})["”]/g))
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
    const before = text.slice(0, index);
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
