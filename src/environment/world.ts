/**
 * A world: what each name of the shipped fixtures is called in it, and the day on which its
 * sessions start. Equal numbers give equal worlds.
 */
import { createRandom, type Random } from "./random.ts";
import { toSlug } from "./slug.ts";
import { DateShift } from "./worldDates.ts";
import type { Person, WorldVocabulary } from "./worldVocabulary.ts";

export class World {
  readonly number: number;
  readonly #names = new Map<string, string>();
  readonly #dates: DateShift;

  constructor(vocabulary: WorldVocabulary, number: number) {
    this.number = number;
    const random = createRandom(number, "world");
    this.#dates = new DateShift(vocabulary.start, random.pick(vocabulary.starts));
    for (const [name, newName] of [
      ...drawPhrases(vocabulary, random),
      ...drawPeople(vocabulary, random),
    ])
      this.#names.set(name, newName);
  }

  /** What a word that the vocabulary has found is in this world. */
  translate(word: string): string {
    return this.#names.get(word) ?? this.#dates.move(word);
  }
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
