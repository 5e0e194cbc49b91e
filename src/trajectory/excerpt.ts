/**
 * A result's text for a model, within a budget: always JSON, and where something is left out it
 * says how much. Knows no tools.
 */
import type { Json } from "../environment/json.ts";

/** How many characters of a result a model is shown. */
export const resultTextBudget = 8_192;

export interface Excerpt {
  readonly text: string;
  readonly truncated: boolean;
}

/** Shorter than this no text is cut while a list could be: ids and names stay whole. */
const wholeText = 1_000;

/**
 * The value's JSON, whole where it fits. Otherwise the ends of long texts or the last items of
 * lists are left out, then both.
 */
export function excerptJson(value: Json, budget = resultTextBudget): Excerpt {
  const whole = JSON.stringify(value);
  if (whole.length <= budget) return { text: whole, truncated: false };
  const cut = (limits: Limits) => JSON.stringify(shorten(value, limits));
  const most = (limit: number, limits: (n: number) => Limits) =>
    findGreatest(limit, n => cut(limits(n)).length <= budget);
  const characters = most(whole.length, n => ({ items: Infinity, characters: n }));
  if (characters !== undefined && characters >= wholeText)
    return { text: cut({ items: Infinity, characters }), truncated: true };
  const items = most(longestList(value), n => ({ items: n, characters: wholeText }));
  if (items !== undefined) return { text: cut({ items, characters: wholeText }), truncated: true };
  const few = most(wholeText, n => ({ items: 1, characters: n }));
  return {
    text:
      few === undefined
        ? JSON.stringify({ left_out: `${whole.length} characters` })
        : cut({ items: 1, characters: few }),
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

function longestList(value: Json): number {
  if (value === null || typeof value !== "object") return 0;
  const inside = Object.values(value).reduce<number>(
    (most, it: Json) => Math.max(most, longestList(it)),
    0,
  );
  return Array.isArray(value) ? Math.max(value.length, inside) : inside;
}

/**
 * The greatest whole number from 1 up to below `limit` that fits, where fitting ends once;
 * undefined where not even 1 does.
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
