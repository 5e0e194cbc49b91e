/**
 * Reads worlds.json beside the shipped fixtures: the names in them that differ between worlds, and
 * the names to choose from.
 *
 * ```
 * { "format": "prove/worlds@1",
 *   "start": "2026-03-09",                       the day on which sessions of the fixtures start
 *   "starts": ["2020-03-09"],                    the days to choose from: as many weeks apart, in the same month
 *   "women": ["Ana Ruiz, Chloe Martin"],         people in the fixtures, separated by commas as all names
 *   "men": ["Ben Okafor"],
 *   "phrases": { "Northwind": "{firm}" },        other names, with words of pools; equal slots with a number
 *                                                (`{firm 1}`) are equal words
 *   "pools": { "firm": ["Stillwater, Eastgate"] },
 *   "origins": [ { "women": […], "men": […], "families": […] } ] }
 * ```
 * A name also stands for its form in addresses: `Salt & Vine` for `saltvine`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readIfExists } from "../storage/fileErrors.ts";
import { parseJson } from "../storage/parseJson.ts";
import { readTextFile } from "../storage/textFiles.ts";
import { UserError } from "../userError.ts";
import { day } from "./fieldSchemas.ts";
import type { FoundWord } from "./stateTemplate.ts";
import { createRandom, shuffle, type Random } from "./random.ts";
import { addDays, daysBetween, months } from "./time.ts";

const namesSchema = z
  .array(z.string())
  .transform(lines => lines.flatMap(line => line.split(",").map(it => it.trim())));

const vocabularySchema = z.strictObject({
  format: z.literal("prove/worlds@1"),
  start: day(),
  starts: z.array(day()).min(1),
  women: namesSchema,
  men: namesSchema,
  phrases: z.record(z.string(), z.string()),
  pools: z.record(z.string(), namesSchema),
  origins: z
    .array(z.strictObject({ women: namesSchema, men: namesSchema, families: namesSchema }))
    .min(1),
});

interface Person {
  readonly first: string;
  readonly last: string;
  readonly gender: "women" | "men";
}

interface Origin {
  readonly women: readonly string[];
  readonly men: readonly string[];
  readonly families: readonly string[];
}

export class WorldVocabulary {
  readonly start: string;
  readonly starts: readonly string[];
  readonly people: readonly Person[];
  /** Names other than those of people, with their patterns. */
  readonly phrases: ReadonlyMap<string, string>;
  readonly pools: ReadonlyMap<string, readonly string[]>;
  readonly origins: readonly Origin[];
  /** All names by their first word, the longest first. */
  readonly #names = new Map<string, string[]>();
  readonly #dateShifts = new Map<string, DateShift>();

  constructor(file: z.infer<typeof vocabularySchema>) {
    const { start, starts, women, men, phrases, pools, origins } = file;
    this.start = start;
    this.starts = starts;
    this.people = [
      ...women.map(it => splitName(it, "women")),
      ...men.map(it => splitName(it, "men")),
    ];
    this.phrases = new Map(Object.entries(phrases));
    this.pools = new Map(Object.entries(pools));
    this.origins = origins;
    for (const phrase of this.phrases.keys()) this.#add(phrase, toSlug(phrase));
    for (const { first, last } of this.people)
      this.#add(first, toSlug(first), last, toSlug(first + last));
    for (const names of this.#names.values()) names.sort((a, b) => b.length - a.length);
  }

  /** Moves dates to a world whose sessions start on that day. Worlds with the same day share it. */
  getDateShift(start: string): DateShift {
    let shift = this.#dateShifts.get(start);
    if (!shift) this.#dateShifts.set(start, (shift = new DateShift(this.start, start)));
    return shift;
  }

  /** The names and dates of a text, in order. */
  findWords(text: string): FoundWord[] {
    const found: FoundWord[] = [];
    let end = 0;
    for (const { 0: token, index } of text.matchAll(/[\p{L}\d]+/gu)) {
      if (index < end) continue;
      const word = this.#findName(text, token, index) ?? findDateAt(text, token, index);
      if (word === undefined) continue;
      found.push({ word, index });
      end = index + word.length;
    }
    return found;
  }

  #add(...names: string[]): void {
    for (const name of names) {
      const token = /[\p{L}\d]+/u.exec(name)![0];
      const others = this.#names.get(token) ?? [];
      if (!others.includes(name)) this.#names.set(token, [...others, name]);
    }
  }

  #findName(text: string, token: string, index: number): string | undefined {
    return this.#names
      .get(token)
      ?.find(
        it => text.startsWith(it, index) && !/^[\p{L}\d]/u.test(text.slice(index + it.length)),
      );
  }
}

const findDateAt = (text: string, token: string, index: number): string | undefined =>
  /^\d/.test(token) ? findDate(text, index) : undefined;

function splitName(name: string, gender: Person["gender"]): Person {
  const [first, ...rest] = name.split(" ");
  return { first: first!, last: rest.join(" "), gender };
}

const fileName = "worlds.json";

/** Whether one of the folders has a vocabulary, without which there are no worlds. */
export const hasWorldVocabulary = (folders: readonly string[]): boolean =>
  folders.some(it => existsSync(join(it, fileName)));

/** Reads the vocabulary from the first folder that has one. */
export function readWorldVocabulary(folders: readonly string[]): WorldVocabulary {
  for (const folder of folders) {
    const file = join(folder, fileName);
    const text = readIfExists(file, () => readTextFile(file));
    if (text !== undefined) return new WorldVocabulary(parseJson(vocabularySchema, text, { file }));
  }
  throw new UserError(
    `there is no ${fileName} beside the fixtures, which worlds need`,
    "use the fixture itself, without @ and a number",
  );
}

// A world: what each name of the shipped fixtures is called in it, and the day on which its
// sessions start. Equal numbers give equal worlds.

export class World {
  readonly number: number;
  readonly #dates: DateShift;
  readonly #drawNames: () => ReadonlyMap<string, string>;
  #names: ReadonlyMap<string, string> | undefined;
  #idNumbers: readonly number[] | undefined;

  constructor(vocabulary: WorldVocabulary, number: number) {
    this.number = number;
    const random = createRandom(number, "world");
    this.#dates = vocabulary.getDateShift(random.pick(vocabulary.starts));
    this.#drawNames = () =>
      new Map([...drawPhrases(vocabulary, random), ...drawPeople(vocabulary, random)]);
  }

  /** The numbers of its ids; see `shuffleIdNumbers`. */
  get idNumbers(): readonly number[] {
    return (this.#idNumbers ??= shuffleIdNumbers(this.number));
  }

  /** What a word that the vocabulary has found is in this world. */
  translate(word: string): string {
    this.#names ??= this.#drawNames();
    return this.#names.get(word) ?? this.#dates.move(word);
  }

  /** A date in this world. */
  moveDate(date: string): string {
    return this.#dates.move(date);
  }
}

/** The numbers below 900, in an order that depends only on the seed. */
export function shuffleIdNumbers(seed: number): number[] {
  let state = Math.imul(seed, 0x9e3779b9) >>> 0;
  return shuffle(
    Array.from({ length: 900 }, (_, i) => i),
    () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32,
  );
}

type Rename = readonly [name: string, newName: string];

/** New names of companies, places and streets. Each word of a pool is drawn once. */
function* drawPhrases({ phrases, pools }: WorldVocabulary, random: Random): Generator<Rename> {
  const left = new Map([...pools].map(([name, words]) => [name, random.shuffle([...words])]));
  const drawn = new Map<string, string>();
  for (const [phrase, pattern] of phrases) {
    const newPhrase = pattern.replaceAll(/\{(\w+)( \d+)?\}/g, (slot, pool: string, label) => {
      const known = label === undefined ? undefined : drawn.get(slot);
      if (known !== undefined) return matchCase(known, phrase);
      const words = left.get(pool)!;
      // "an Orchard poster" needs a name with a vowel
      const at = words.findIndex(it => startsWithVowel(it) === startsWithVowel(phrase));
      const [word] = words.splice(Math.max(at, 0), 1);
      if (label !== undefined) drawn.set(slot, word!);
      return matchCase(word!, phrase);
    });
    yield [phrase, newPhrase];
    yield [toSlug(phrase), toSlug(newPhrase)];
  }
}

const matchCase = (word: string, phrase: string): string =>
  phrase === phrase.toLowerCase() ? toSlug(word) : word;

const startsWithVowel = (text: string): boolean => /^[aeiou]/i.test(text);

/** New names of people, first and last name of one origin. Relatives share the last name. */
function drawPeople({ people, origins }: WorldVocabulary, random: Random): Rename[] {
  const firstNames = new Map<string, string>();
  const lastNames = new Map<string, string>();
  const left = origins.map(it => ({
    women: random.shuffle([...it.women]),
    men: random.shuffle([...it.men]),
    families: random.shuffle([...it.families]),
  }));
  const originsByFamily = new Map<string, number>();
  const pickOrigin = (gender: Person["gender"]): number => {
    const able = [...left.keys()].filter(
      it => left[it]![gender].length > 0 && left[it]!.families.length > 0,
    );
    return random.pick(able);
  };
  for (const { first, last, gender } of people) {
    let origin = originsByFamily.get(last);
    if (origin === undefined || left[origin]![gender].length === 0) origin = pickOrigin(gender);
    if (!firstNames.has(first)) firstNames.set(first, left[origin]![gender].pop()!);
    if (!lastNames.has(last)) {
      lastNames.set(last, left[origin]!.families.pop()!);
      originsByFamily.set(last, origin);
    }
  }
  return [
    ...[...firstNames].flatMap(([name, newName]): Rename[] => [
      [name, newName],
      [toSlug(name), toSlug(newName)],
    ]),
    ...lastNames,
    ...people.map(({ first, last }): Rename => [
      toSlug(first + last),
      toSlug(firstNames.get(first)! + lastNames.get(last)!),
    ]),
  ];
}

// Finds dates in texts and moves them to the year of a world: days (`2026-03-09`, also within a
// time), days in words (`9 March`, `9 March 2026`), months (`2026-03`) and years.

const isoDay = /\d{4}-\d\d-\d\d(?!\d)/y;
const isoMonth = /20[12]\d-(?:0[1-9]|1[0-2])(?![\d-])/y;
const dayInWords = new RegExp(`\\d{1,2} (?:${months.join("|")})(?: \\d{4})?(?![\\p{L}\\d])`, "uy");
const year = /20[12]\d(?![\p{L}\d])/uy;

/** The date that begins at this position of the text, as it is written. */
function findDate(text: string, index: number): string | undefined {
  for (const pattern of [isoDay, isoMonth, dayInWords, year]) {
    pattern.lastIndex = index;
    const match = pattern.exec(text);
    if (match) return match[0];
  }
  return undefined;
}

/** Moves dates from one start of all sessions to another one, in the same month of a year. */
class DateShift {
  readonly #start: string;
  readonly #days: number;
  readonly #years: number;
  /** The dates that were moved before. Fixtures and templates have a few hundred. */
  readonly #moved = new Map<string, string>();

  constructor(from: string, to: string) {
    this.#start = from;
    this.#days = daysBetween(from, to);
    this.#years = getYear(to) - getYear(from);
  }

  /** A date that `findDate` has found, moved and written the same way. */
  move(date: string): string {
    if (this.#days === 0) return date;
    let moved = this.#moved.get(date);
    if (moved === undefined) this.#moved.set(date, (moved = this.#compute(date)));
    return moved;
  }

  #compute(date: string): string {
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

// The name in lower case, with letters and digits only, as in the domain of a company.

const toSlug = (name: string): string =>
  name
    .normalize("NFD")
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, "");
