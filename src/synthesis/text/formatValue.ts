/**
 * Formats plain values so that the value can be read back from the words: `2026-03-12` as `12
 * March`, `2026-02` as `February`, 45.5 as 45.50 if it is money. Dates leave out the current year.
 */
import type { Json } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";
import { daysBetween, getWeekdayName, getWeekday, months } from "../../environment/time.ts";

/** How a persona writes days. */
export type DateStyle =
  "plain" | "day-first" | "month-first" | "relative" | "short" | "long" | "weekday";

/** How a persona writes days and times of day. */
interface TimeStyle {
  readonly dates: DateStyle;
  readonly clock?: 12 | undefined;
  /** How often a day is said by its distance from today, beside those of the style. */
  readonly relativeShare?: number | undefined;
  /** The value ends or begins a span, so that it stands after "since", "from" or "until". */
  readonly isBound?: boolean;
}

const datePatterns = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  minute: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/,
  month: /^\d{4}-(0[1-9]|1[0-2])$/,
};

/** What the words for a value depend on. */
interface ValueContext {
  /** The time of the conversation. */
  readonly now: string;
  readonly persona: TimeStyle;
  readonly random: Random;
}

export function formatValue(
  value: Json,
  { now, persona: { dates, clock, relativeShare = 0, isBound = false }, random }: ValueContext,
  isMoney = false,
): string {
  if (typeof value === "number")
    return isMoney && !Number.isInteger(value) ? value.toFixed(2) : String(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "string") return JSON.stringify(value);
  const isMinute = datePatterns.minute.test(value);
  if (isMinute || datePatterns.date.test(value)) {
    const date = value.slice(0, 10);
    const distance =
      relativeShare > 0 && random.boolean(relativeShare)
        ? formatDistance(date, { now, random, isBound })
        : undefined;
    const day = distance ?? formatDate(date, now, dates, random);
    return isMinute ? `${day} at ${formatTime(value.slice(11), clock)}` : day;
  }
  if (datePatterns.month.test(value)) return formatMonth(value, now);
  return value;
}

/** Formats a value in a reply of the assistant. */
export const formatReplyValue = (
  value: Json,
  { now, random }: Pick<ValueContext, "now" | "random">,
  isMoney = false,
): string => formatValue(value, { now, persona: { dates: "day-first" }, random }, isMoney);

const moneyKeys =
  /(^|_)(amount|price|balance|total|subtotal|paid|fee|fees|cost|costs|refund|refunded|deposit|tip|bid|estimate|income|spent|saved|owed|due|rent|charge|fare|closing|opening|money|revenue|cash|worth|target|value|spread|profit|loss|gain|highest|lowest|payable|payout|debt)(_|$)/;
const otherUnitKeys =
  /(^|_)(rating|stars|score|temperature|distance|km|hours|minutes|percent|rate|litres|kwh|bytes|count|days|lat|lng|latitude|longitude|shares|quantity|weight|at|on|date)(_|$)/;

/** Whether a number is an amount of money, by its description or else by its name. */
export function isMoney(key: string, schema: JsonSchema | undefined): boolean {
  const description = schema?.["description"];
  if (typeof description === "string" && /\beuros?\b/i.test(description)) return true;
  return moneyKeys.test(key) && !otherUnitKeys.test(key);
}

function formatDate(date: string, now: string, style: DateStyle, random: Random): string {
  if (style === "plain") return date;
  const weekday = getWeekdayName(date);
  if (style === "relative") {
    const relative = formatRelativeDay(daysBetween(now, date), weekday, getWeekday(now), random);
    if (relative !== undefined) return relative;
  }
  const [day, month] = [String(Number(date.slice(8))), months[Number(date.slice(5, 7)) - 1]!];
  const year = date.slice(0, 4) === now.slice(0, 4) ? "" : date.slice(0, 4);
  switch (style) {
    case "month-first":
      return `${month} ${day}${year && `, ${year}`}`;
    case "short":
      return `${day} ${month.slice(0, 3)}${year && ` ${year}`}`;
    case "long":
      return `the ${formatOrdinal(Number(day))} of ${month}${year && ` ${year}`}`;
    case "weekday":
      return `${weekday} ${day} ${month}${year && ` ${year}`}`;
    default:
      return `${day} ${month}${year && ` ${year}`}`;
  }
}

/** Words that mean one day only, as seen from today. Weeks begin on Monday. */
function formatRelativeDay(
  daysAhead: number,
  weekday: string,
  today: number,
  random: Random,
): string | undefined {
  if (daysAhead === 0) return "today";
  if (daysAhead === 1) return "tomorrow";
  if (daysAhead === -1) return "yesterday";
  if (daysAhead === 2 && random.boolean(0.4)) return "the day after tomorrow";
  if (daysAhead > 1 && daysAhead < 7) return random.pick([weekday, `this ${weekday}`]);
  if (daysAhead === 14 && random.boolean(0.4)) return "two weeks from today";
  const toNextMonday = (8 - today) % 7 || 7;
  return daysAhead >= toNextMonday &&
    daysAhead < toNextMonday + 7 &&
    daysAhead >= 7 &&
    random.boolean(0.7)
    ? `${weekday} next week`
    : undefined;
}

/** Numbers in words, as people say a few days or weeks. */
const smallNumbers = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

/**
 * A day as seen from today, in words that can stand after "for" and "to": `ten days from now`, `a
 * week from Friday`, `Friday next week`, `three days ago`. As the bound of a span, only words that
 * can stand after "since", "from" and "until", too. Undefined for a day that is too far away.
 */
function formatDistance(
  date: string,
  { now, random, isBound }: Pick<ValueContext, "now" | "random"> & { readonly isBound: boolean },
): string | undefined {
  const days = daysBetween(now, date);
  const size = Math.abs(days);
  const weekday = getWeekdayName(date);
  const words: string[] = [];
  const relative = formatRelativeDay(days, weekday, getWeekday(now), random);
  if (relative !== undefined) words.push(relative);
  if (days === -2) words.push("the day before yesterday");
  if (!isBound && size > 2 && size < smallNumbers.length && size !== 7)
    words.push(`${smallNumbers[size]!} days ${days > 0 ? "from now" : "ago"}`);
  if (!isBound && size > 0 && size % 7 === 0 && size <= 28) {
    const weeks = size === 7 ? "a week" : `${smallNumbers[size / 7]!} weeks`;
    words.push(days > 0 ? `${weeks} from today` : `${weeks} ago`);
  }
  if (!isBound && days > 8 && days < 14) words.push(`a week from ${weekday}`);
  if (!isBound && days > 15 && days < 21) words.push(`two weeks from ${weekday}`);
  // since Monday, "last Friday" is the one before the weekend
  if (days < -1 && days > -7 && getWeekday(date) > getWeekday(now)) words.push(`last ${weekday}`);
  return words.length === 0 ? undefined : random.pick(words);
}

const formatOrdinal = (n: number): string =>
  `${n}${n > 3 && n < 21 ? "th" : (["th", "st", "nd", "rd"][n % 10] ?? "th")}`;

/** `16:15` as `4:15 pm`. */
function formatTime(time: string, clock: 12 | undefined): string {
  if (clock !== 12) return time;
  const hour = Number(time.slice(0, 2));
  return `${hour % 12 || 12}${time.slice(3) === "00" ? "" : time.slice(2)} ${hour < 12 ? "am" : "pm"}`;
}

function formatMonth(month: string, now: string): string {
  const name = months[Number(month.slice(5)) - 1]!;
  return month.slice(0, 4) === now.slice(0, 4) ? name : `${name} ${month.slice(0, 4)}`;
}
