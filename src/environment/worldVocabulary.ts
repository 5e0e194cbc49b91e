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
import { readTextFile } from "../storage/readTextFile.ts";
import { UserError } from "../userError.ts";
import { day } from "./fieldSchemas.ts";
import { toSlug } from "./slug.ts";
import type { FoundWord } from "./stateTemplate.ts";
import { findDate } from "./worldDates.ts";

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

export interface Person {
  readonly first: string;
  readonly last: string;
  readonly gender: "women" | "men";
}

export interface Origin {
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
