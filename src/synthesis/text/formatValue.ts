/**
 * How plain values are said, so that the value can be read back from the words: `2026-03-12` as `12
 * March`, `2026-02` as `February`, 45.5 as 45.50 where it is money. Dates leave out the year only
 * where the reader has it from the talk's own day. Knows no tools.
 */
import type { Json } from "../../environment/json.ts";
import type { JsonSchema } from "../../environment/server.ts";
import type { Random } from "../../environment/random.ts";

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** How a persona says days. */
export type DateStyle =
  "plain" | "day-first" | "month-first" | "relative" | "short" | "long" | "weekday";

/** How a persona says days and times of day. */
export interface TimeStyle {
  readonly dates: DateStyle;
  readonly clock?: 12 | undefined;
}

const datePatterns = {
  date: /^\d{4}-\d{2}-\d{2}$/,
  minute: /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/,
  month: /^\d{4}-(0[1-9]|1[0-2])$/,
};

/** The words for a value. `now` is the talk's time. */
export function formatValue(
  value: Json,
  now: string,
  { dates, clock }: TimeStyle,
  random: Random,
  isMoney = false,
): string {
  if (typeof value === "number")
    return isMoney && !Number.isInteger(value) ? value.toFixed(2) : String(value);
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "string") return JSON.stringify(value);
  if (datePatterns.minute.test(value))
    return `${formatDate(value.slice(0, 10), now, dates, random)} at ${formatTime(value.slice(11), clock)}`;
  if (datePatterns.date.test(value)) return formatDate(value, now, dates, random);
  if (datePatterns.month.test(value)) return formatMonth(value, now);
  return value;
}

/** A value in a reply: days and times as words, all else as it is. */
export const formatReplyValue = (
  value: Json,
  now: string,
  random: Random,
  isMoney = false,
): string => formatValue(value, now, { dates: "day-first" }, random, isMoney);

const moneyKeys =
  /(^|_)(amount|price|balance|total|subtotal|paid|fee|fees|cost|costs|refund|refunded|deposit|tip|bid|estimate|income|spent|saved|owed|due|rent|charge|fare|closing|opening|money|revenue|cash|worth|target|value|spread|profit|loss|gain|highest|lowest|payable|payout|debt)(_|$)/;
const otherUnitKeys =
  /(^|_)(rating|stars|score|temperature|distance|km|hours|minutes|percent|rate|litres|kwh|bytes|count|days|lat|lng|latitude|longitude|shares|quantity|weight|at|on|date)(_|$)/;

/**
 * Whether a number of this name and schema is a sum of money: by its description, else by its name.
 */
export function isMoney(key: string, schema: JsonSchema | undefined): boolean {
  if (
    schema &&
    /\beuros?\b/i.test(typeof schema["description"] === "string" ? schema["description"] : "")
  )
    return true;
  return moneyKeys.test(key) && !otherUnitKeys.test(key);
}

function formatDate(date: string, now: string, style: DateStyle, random: Random): string {
  const away = (Date.parse(date) - Date.parse(now.slice(0, 10))) / 86_400_000;
  const weekday = weekdays[new Date(`${date}T00:00Z`).getUTCDay()]!;
  if (style === "plain") return date;
  if (style === "relative") {
    const relative = formatRelativeDay(
      away,
      weekday,
      new Date(`${now.slice(0, 10)}T00:00Z`).getUTCDay(),
      random,
    );
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

/** Words that mean one day only, seen from the talk's own: weeks begin on Monday. */
function formatRelativeDay(
  away: number,
  weekday: string,
  today: number,
  random: Random,
): string | undefined {
  if (away === 0) return "today";
  if (away === 1) return "tomorrow";
  if (away === -1) return "yesterday";
  if (away === 2 && random.boolean(0.4)) return "the day after tomorrow";
  if (away > 1 && away < 7) return random.pick([weekday, `this ${weekday}`]);
  if (away === 14 && random.boolean(0.4)) return "two weeks from today";
  const toNextMonday = (8 - today) % 7 || 7;
  return away >= toNextMonday && away < toNextMonday + 7 && away >= 7 && random.boolean(0.7)
    ? `${weekday} next week`
    : undefined;
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

/** A day some days after another. */
export const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
