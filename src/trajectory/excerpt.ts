/**
 * Shortens a result for a model to a number of characters. The text is always valid JSON and says
 * how much was left out.
 */
import type { Json } from "../environment/json.ts";

/** The most characters of a result that a model sees. */
export const resultTextBudget = 8_192;

interface Excerpt {
  readonly text: string;
  readonly truncated: boolean;
}

/**
 * Lists are shortened before any string falls below this length, so that ids and names stay whole.
 */
const minTextLength = 1_000;

/**
 * The value's JSON, complete if it fits. Otherwise the ends of long strings or the last items of
 * lists are left out, then both.
 */
export function excerptJson(value: Json, budget = resultTextBudget): Excerpt {
  const fullText = JSON.stringify(value);
  if (fullText.length <= budget) return { text: fullText, truncated: false };
  const formatShortened = (limits: Limits) => JSON.stringify(shorten(value, limits));
  const findLimit = (limit: number, createLimits: (n: number) => Limits) =>
    findGreatest(limit, n => formatShortened(createLimits(n)).length <= budget);
  const characters = findLimit(fullText.length, n => ({ items: Infinity, characters: n }));
  if (characters !== undefined && characters >= minTextLength)
    return { text: formatShortened({ items: Infinity, characters }), truncated: true };
  const items = findLimit(measureLongestList(value), n => ({
    items: n,
    characters: minTextLength,
  }));
  if (items !== undefined)
    return { text: formatShortened({ items, characters: minTextLength }), truncated: true };
  const shortCharacters = findLimit(minTextLength, n => ({ items: 1, characters: n }));
  return {
    text:
      shortCharacters === undefined
        ? JSON.stringify({ left_out: `${fullText.length} characters` })
        : formatShortened({ items: 1, characters: shortCharacters }),
    truncated: true,
  };
}

interface Limits {
  readonly items: number;
  readonly characters: number;
}

function shorten(value: Json, limits: Limits): Json {
  const { items, characters } = limits;
  if (typeof value === "string") {
    if (value.length <= characters) return value;
    const kept = value.slice(0, characters).replace(/[\uD800-\uDBFF]$/, "");
    return `${kept}… (${value.length - kept.length} more characters left out)`;
  }
  if (Array.isArray(value)) {
    const kept = value.slice(0, items).map((it: Json) => shorten(it, limits));
    return kept.length === value.length
      ? kept
      : [...kept, `… (${value.length - kept.length} more left out)`];
  }
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, shorten(it, limits)]));
}

function measureLongestList(value: Json): number {
  if (value === null || typeof value !== "object") return 0;
  const inside = Object.values(value).reduce<number>(
    (longest, it: Json) => Math.max(longest, measureLongestList(it)),
    0,
  );
  return Array.isArray(value) ? Math.max(value.length, inside) : inside;
}

/**
 * The greatest whole number in [1, limit) that fits, by binary search; undefined if not even 1
 * does. If a number fits, all smaller ones must fit too.
 */
function findGreatest(limit: number, fits: (n: number) => boolean): number | undefined {
  let [good, bad] = [0, limit];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good === 0 ? undefined : good;
}
