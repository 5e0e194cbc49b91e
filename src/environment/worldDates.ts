/**
 * Finds dates in texts and moves them to the year of a world: days (`2026-03-09`, also within a
 * time), days in words (`9 March`, `9 March 2026`), months (`2026-03`) and years.
 */
import { addDays, daysBetween, months } from "./time.ts";

const isoDay = /\d{4}-\d\d-\d\d(?!\d)/y;
const isoMonth = /20[12]\d-(?:0[1-9]|1[0-2])(?![\d-])/y;
const dayInWords = new RegExp(`\\d{1,2} (?:${months.join("|")})(?: \\d{4})?(?![\\p{L}\\d])`, "uy");
const year = /20[12]\d(?![\p{L}\d])/uy;

/** The date that begins at this position of the text, as it is written. */
export function findDate(text: string, index: number): string | undefined {
  for (const pattern of [isoDay, isoMonth, dayInWords, year]) {
    pattern.lastIndex = index;
    const match = pattern.exec(text);
    if (match) return match[0];
  }
  return undefined;
}

/** Moves dates from one start of all sessions to another one, in the same month of a year. */
export class DateShift {
  readonly #start: string;
  readonly #days: number;
  readonly #years: number;

  constructor(from: string, to: string) {
    this.#start = from;
    this.#days = daysBetween(from, to);
    this.#years = getYear(to) - getYear(from);
  }

  /** A date that `findDate` has found, moved and written the same way. */
  move(date: string): string {
    if (this.#days === 0) return date;
    if (/^\d{4}-\d\d-\d\d$/.test(date)) return addDays(date, this.#days);
    if (/^\d{4}/.test(date)) return String(getYear(date) + this.#years) + date.slice(4);
    const [day, month, yearInWords] = date.split(" ");
    const monthNumber = String(months.findIndex(it => it === month) + 1).padStart(2, "0");
    const of = yearInWords ?? String(getYear(this.#start));
    const moved = addDays(`${of}-${monthNumber}-${day!.padStart(2, "0")}`, this.#days);
    const inWords = `${Number(moved.slice(8))} ${months[Number(moved.slice(5, 7)) - 1]!}`;
    return yearInWords === undefined ? inWords : `${inWords} ${moved.slice(0, 4)}`;
  }
}

const getYear = (date: string): number => Number(date.slice(0, 4));
