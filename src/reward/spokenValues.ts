/**
 * Reads numbers, days, times and durations out of a text, in the forms in which people write them:
 * "1,204.00 euros", "€1204", "12 March", "tomorrow", "4:15 pm", "1 h 30 min", "three". A form that
 * can mean several values has all of them. Takes linear time.
 */
import { addDays, getWeekday, months, weekdays } from "../environment/time.ts";

/** A value in a text. */
export interface SpokenValue {
  /** The words as they stand in the text. */
  readonly text: string;
  /** Where they begin and end. */
  readonly start: number;
  readonly end: number;
  /** What they may mean: numbers without a sign; one of them is meant. */
  readonly numbers: readonly number[];
  /** Days `YYYY-MM-DD`, or months `YYYY-MM`. */
  readonly days: readonly string[];
  /** Minutes since midnight. */
  readonly times: readonly number[];
  /** Minutes. */
  readonly durations: readonly number[];
  /** Words that are not used for values alone, such as "one", "Friday" or "now". */
  readonly isVague: boolean;
}

type Reading = Partial<Pick<SpokenValue, "numbers" | "days" | "times" | "durations" | "isVague">>;

/** Reads a match; undefined if it is no value. `now` is the minute of the conversation. */
type Reader = (match: RegExpExecArray, now: string) => Reading | undefined;

const monthNames = months.map(it => `${it.slice(0, 3)}(?:${it.slice(3)})?\\.?`).join("|");
const dayNumber = "(\\d{1,2})(?:st|nd|rd|th)?";
const year = "(?:,?\\s(\\d{4})\\b(?![:.,]\\d))?";
// with a limit, because a list such as 1'2'3 is tried again from each of its numbers
const number = "\\d+(?:[.,'’]\\d+){0,8}";
const smallNumbers =
  "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split(
    " ",
  );
const tens = "twenty thirty forty fifty sixty seventy eighty ninety".split(" ");
const numberWord = `(?:${[...smallNumbers, ...tens, "hundred", "thousand"].join("|")})`;
const numberWords = `${numberWord}(?:(?:-|\\s|\\sand\\s)${numberWord}){0,5}`;

const unitMinutes: readonly (readonly [RegExp, number])[] = [
  [/^s/i, 1 / 60],
  [/^min|^m$/i, 1],
  [/^h/i, 60],
  [/^d/i, 1440],
  [/^w/i, 7 * 1440],
];
const unit = "(seconds?|secs?|s|minutes?|mins?|min|m|hours?|hrs?|hr|h|days?|d|weeks?)";

/**
 * The forms, in the order in which they are looked for. What one form takes, later ones do not see.
 */
const forms: readonly (readonly [RegExp, Reader])[] = [
  [
    /(?<![\p{L}\d])(\d{4}-\d{2}-\d{2})(?:(?:T|,?\s)(\d{1,2}):(\d{2})(?::\d{2})?)?(?!\d|:\d)/gu,
    ([, day, hour, minute]) => ({
      days: [day!],
      times: hour === undefined ? [] : [Number(hour) * 60 + Number(minute)],
    }),
  ],
  [/(?<![\p{L}\d-])(\d{4}-\d{2})(?![\d-])/gu, ([, month]) => ({ days: [month!] })],
  [
    new RegExp(
      `(?<![\\p{L}\\d.,])${dayNumber}(?:\\sof)?\\s(${monthNames})(?![\\p{L}])${year}`,
      "giu",
    ),
    ([, day, month, ofYear], now) => readDay(month!, day!, ofYear, now),
  ],
  [
    new RegExp(
      `(?<![\\p{L}\\d])(${monthNames})\\s(?:the\\s)?${dayNumber}(?![\\d:]|\\.\\d)${year}`,
      "giu",
    ),
    ([, month, day, ofYear], now) => readDay(month!, day!, ofYear, now),
  ],
  [
    new RegExp(`(?<![\\p{L}\\d])(${monthNames})\\s(\\d{4})(?![\\d:])`, "giu"),
    ([, month, ofYear]) => ({ days: [`${ofYear}-${toMonthNumber(month!)}`] }),
  ],
  [
    /(?<![\p{L}\d.,/])(\d{1,2})[./](\d{1,2})[./](\d{4}|\d{2})(?![\d/])/gu,
    ([, a, b, ofYear], now) => {
      const whole = ofYear!.length === 2 ? `${now.slice(0, 2)}${ofYear}` : ofYear!;
      return {
        days: listDays([`${whole}-${pad(b!)}-${pad(a!)}`, `${whole}-${pad(a!)}-${pad(b!)}`]),
      };
    },
  ],
  [
    /(?<![\p{L}\d.:])(\d{1,2}):(\d{2})(?::\d{2})?(?:\s?([ap])\.?m\b\.?)?(?!\d|:\d)/giu,
    ([, hour, minute, half]) => ({
      times: listTimes(Number(hour), Number(minute), half),
      durations: half === undefined ? [Number(hour) * 60 + Number(minute)] : [],
    }),
  ],
  [
    /(?<![\p{L}\d.,:])(\d{1,2})(?:[.:](\d{2}))?\s?([ap])\.?m\b\.?/giu,
    ([, hour, minute, half]) => ({ times: listTimes(Number(hour), Number(minute ?? 0), half) }),
  ],
  [
    /(?<![\p{L}\d])(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\so['’]clock/giu,
    ([, hour]) => ({ times: listTimes(toNumber(hour!), 0, undefined) }),
  ],
  [
    /(?<![\p{L}\d])(half|quarter)\s(past|to)\s(\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?![\p{L}\d])/giu,
    ([, part, side, hour]) => {
      const minutes = part!.toLowerCase() === "half" ? 30 : 15;
      const first = toNumber(hour!) * 60 + (side!.toLowerCase() === "to" ? -minutes : minutes);
      return { times: [(first + 1440) % 1440, (first + 720) % 1440], isVague: true };
    },
  ],
  [/(?<![\p{L}])(noon|midday)(?![\p{L}])/giu, () => ({ times: [720], isVague: true })],
  [/(?<![\p{L}])midnight(?![\p{L}])/giu, () => ({ times: [0], isVague: true })],
  [
    new RegExp(
      `(?<![\\p{L}\\d.,])(${number}|an?|half\\san?|${numberWords})(\\sand\\sa\\shalf)?[\\s-]?${unit}(\\sand\\sa\\shalf)?(?:,?\\s(?:and\\s)?|\\s?)(?:(\\d+)\\s?(minutes?|mins?|min|m|hours?|h)(?![\\p{L}\\d])|(\\d{1,2})(?=[\\s.,;!?)]|$))?(?![\\p{L}\\d])`,
      "giu",
    ),
    readDuration,
  ],
  [
    /(?<![\p{L}])(the\sday\safter\stomorrow|the\sday\sbefore\syesterday|today|tonight|tomorrow|yesterday)(?![\p{L}])/giu,
    ([, word], now) => ({ days: [readRelativeDay(word!.toLowerCase(), now)], isVague: true }),
  ],
  [
    new RegExp(`(?<![\\p{L}])(${weekdays.join("|")})(?![\\p{L}])`, "giu"),
    ([, name], now) => ({ days: listWeekdays(name!, now), isVague: true }),
  ],
  [
    new RegExp(`(?<![\\p{L}])(${months.join("|")})(?![\\p{L}])`, "gu"),
    ([, name], now) => ({
      days: [-1, 0, 1].map(it => `${Number(now.slice(0, 4)) + it}-${toMonthNumber(name!)}`),
      isVague: true,
    }),
  ],
  [
    /(?<![\p{L}\d_.,])(?<![\p{L}\d]-)(\d{1,3}(?:[\s\u00a0\u202f]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,'’]\d+){0,8})(?:\s?(%|percent|k|thousand|million|cents?|km|kg|kB|KB|MB|GB|kWh|€)(?![\p{L}\d])|(st|nd|rd|th)(?![\p{L}\d]))?(?![\p{L}\d_]|-\p{L})/gu,
    readNumber,
  ],
  [
    new RegExp(`(?<![\\p{L}\\d-])(${numberWords})(?![\\p{L}\\d])`, "giu"),
    ([, words]) => ({ numbers: [readNumberWords(words!)], isVague: true }),
  ],
  [/(?<![\p{L}])both(?![\p{L}])/giu, () => ({ numbers: [2], isVague: true })],
];

/** The values in a text, in their order. `now` is the minute of the conversation. */
export function listSpokenValues(text: string, now: string): readonly SpokenValue[] {
  const values: SpokenValue[] = [];
  // characters that belong to a value are blanked out, so that positions stay the same
  let rest = text;
  for (const [form, read] of forms) {
    form.lastIndex = 0;
    const taken: { start: number; end: number }[] = [];
    for (let match = form.exec(rest); match; match = form.exec(rest)) {
      if (match[0] === "") form.lastIndex++;
      const reading = read(match, now);
      if (!reading) continue;
      const words = match[0].trimEnd();
      const [start, end] = [match.index, match.index + words.length];
      const { numbers = [], days = [], times = [], durations = [], isVague = false } = reading;
      values.push({ text: words, start, end, numbers, days, times, durations, isVague });
      taken.push({ start, end });
    }
    if (taken.length > 0) rest = blankOut(rest, taken);
  }
  return values.sort((a, b) => a.start - b.start);
}

function blankOut(text: string, ranges: readonly { start: number; end: number }[]): string {
  const parts: string[] = [];
  let at = 0;
  for (const { start, end } of ranges) {
    parts.push(text.slice(at, start), "\n".repeat(end - start));
    at = end;
  }
  parts.push(text.slice(at));
  return parts.join("");
}

const pad = (text: string): string => text.padStart(2, "0");

const toMonthNumber = (name: string): string =>
  pad(
    String(
      months.findIndex(it => it.slice(0, 3).toLowerCase() === name.slice(0, 3).toLowerCase()) + 1,
    ),
  );

const isDay = (day: string): boolean => !Number.isNaN(Date.parse(day));

const listDays = (days: readonly string[]): string[] => [...new Set(days.filter(isDay))];

/** A day without a year may be of this year or one beside it. */
function readDay(
  month: string,
  day: string,
  ofYear: string | undefined,
  now: string,
): Reading | undefined {
  // "may 5" is a day only with a capital
  if (/^ma[yr]/.test(month) && month.length < 4) return undefined;
  const own = Number(now.slice(0, 4));
  const years = ofYear === undefined ? [own, own - 1, own + 1] : [Number(ofYear)];
  // a day that does not exist, such as 53 March, is no day but still a value
  return { days: listDays(years.map(it => `${it}-${toMonthNumber(month)}-${pad(day)}`)) };
}

function listTimes(hour: number, minute: number, half: string | undefined): number[] {
  if (hour > 24 || minute > 59) return [];
  const first = (hour % 24) * 60 + minute;
  if (half !== undefined)
    return [((hour % 12) + (half.toLowerCase() === "p" ? 12 : 0)) * 60 + minute];
  return hour >= 1 && hour < 13 ? [first, ((hour % 12) + 12) * 60 + minute] : [first];
}

function readRelativeDay(words: string, now: string): string {
  const days: Readonly<Record<string, number>> = {
    today: 0,
    tonight: 0,
    tomorrow: 1,
    yesterday: -1,
  };
  const ahead = words.includes("after") ? 2 : words.includes("before") ? -2 : days[words]!;
  return addDays(now, ahead);
}

/** The days with a name from two weeks ago to two weeks ahead. */
function listWeekdays(name: string, now: string): string[] {
  const wanted = weekdays.findIndex(it => it.toLowerCase() === name.toLowerCase());
  const ahead = (wanted - getWeekday(now) + 7) % 7;
  return [-14, -7, 0, 7, 14].map(it => addDays(now, ahead + it));
}

const toNumber = (text: string): number =>
  /^\d/.test(text) ? Number(text) : readNumberWords(text);

function readNumberWords(words: string): number {
  let [total, current] = [0, 0];
  for (const word of words.toLowerCase().split(/[\s-]+/)) {
    const small = smallNumbers.indexOf(word);
    const ten = tens.indexOf(word);
    if (small >= 0) current += small;
    else if (ten >= 0) current += (ten + 2) * 10;
    else if (word === "hundred") current = Math.max(1, current) * 100;
    else if (word === "thousand") {
      total += Math.max(1, current) * 1000;
      current = 0;
    }
  }
  return total + current;
}

/** The numbers that digits with separators may stand for. */
function listNumbers(text: string): number[] {
  const plain = text.replaceAll(/[\s\u00a0\u202f'’]/g, "");
  const separators = plain.match(/[.,]/g) ?? [];
  const numbers = new Set<number>();
  // the last separator is a decimal point, or all of them group thousands
  const at = Math.max(plain.lastIndexOf("."), plain.lastIndexOf(","));
  const isGrouped = /^\d{1,3}(?:[.,]\d{3})+$/.test(plain);
  if (at < 0) numbers.add(Number(plain));
  else {
    const hasOneKind = new Set(separators).size === 1;
    if (!hasOneKind || separators.length === 1)
      numbers.add(Number(`${plain.slice(0, at).replaceAll(/[.,]/g, "")}.${plain.slice(at + 1)}`));
    if (isGrouped && hasOneKind) numbers.add(Number(plain.replaceAll(/[.,]/g, "")));
  }
  return [...numbers].filter(it => Number.isFinite(it));
}

const factors: Readonly<Record<string, readonly number[]>> = {
  "%": [1, 0.01],
  percent: [1, 0.01],
  k: [1000],
  thousand: [1000],
  million: [1_000_000],
  cent: [0.01, 1],
  cents: [0.01, 1],
  km: [1, 1000],
  kg: [1, 1000],
  kB: [1, 1000, 1024],
  KB: [1, 1000, 1024],
  MB: [1, 1e6, 1024 ** 2],
  GB: [1, 1e9, 1024 ** 3],
};

function readNumber([, digits, suffix]: RegExpExecArray): Reading | undefined {
  const own = listNumbers(digits!);
  const grouped = /[\s\u00a0\u202f]/.test(digits!) ? digits!.split(/[\s\u00a0\u202f]+/) : [];
  // "in 2 100 were sold" has two numbers, "2 100 euros" has one
  const parts = grouped.length === 2 ? listNumbers(grouped[0]!) : [];
  const numbers = own.flatMap(it => (factors[suffix ?? ""] ?? [1]).map(factor => it * factor));
  return numbers.length === 0 ? undefined : { numbers: [...numbers, ...parts] };
}

function readDuration(match: RegExpExecArray): Reading | undefined {
  const [, amount, half, ofUnit, halfAfter, second, secondUnit, bareMinutes] = match;
  const minutes = unitMinutes.find(([it]) => it.test(ofUnit!))![1];
  const lower = amount!.toLowerCase();
  // "a m" and "a d" are no durations, and "5 m" may be metres
  if (/^an?$/.test(lower) && ofUnit!.length === 1) return undefined;
  const amounts = lower.startsWith("half")
    ? [0.5]
    : /^an?$/.test(lower)
      ? [1]
      : /^\d/.test(lower)
        ? listNumbers(lower)
        : [readNumberWords(lower)];
  const extra = half !== undefined || halfAfter !== undefined ? 0.5 : 0;
  const rest =
    second === undefined
      ? Number(minutes === 60 ? (bareMinutes ?? 0) : 0)
      : Number(second) * unitMinutes.find(([it]) => it.test(secondUnit!))![1];
  const numbers = [
    ...amounts.map(it => it + extra),
    ...(second === undefined ? [] : [Number(second)]),
    ...(bareMinutes === undefined ? [] : [Number(bareMinutes)]),
  ];
  return {
    numbers,
    durations: amounts.map(it => (it + extra) * minutes + rest),
    isVague: !/\d/.test(lower),
  };
}

/** The minutes of a duration, by the unit in the name of its field. */
export function toMinutes(value: number, field: string | undefined): number | undefined {
  if (field === undefined) return undefined;
  if (/minute|_min\b/.test(field)) return value;
  if (/second/.test(field)) return value / 60;
  if (/hour/.test(field)) return value * 60;
  return /day/.test(field) ? value * 1440 : undefined;
}

/** Whether a number is another one, or the other one rounded to as many decimals as it has. */
export function isRounded(told: number, value: number): boolean {
  if (Math.abs(told - value) <= 1e-6 * Math.max(1, value)) return true;
  const [, decimals = ""] = String(told).split(".");
  const step = 10 ** -decimals.length;
  return decimals.length < 3 && Math.abs(told - value) <= step / 2 + 1e-9;
}

/** The words of a text in lower case without accents, with single spaces between them. */
export const foldWords = (text: string): string =>
  text
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .toLowerCase()
    .replaceAll(/['’]s\b/g, "")
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
