/**
 * Fixtures that are made from a fixture file by replacing words. A variant has other ids, so that a
 * model learns to read ids instead of memorizing them; an id is a key such as `acc_101` that names
 * a row, whatever the server. A world also has other people, places and dates.
 */
import { deepFreeze } from "./digest.ts";
import { type Fixture, formatFixtureName } from "./fixture.ts";
import type { Json, JsonObject } from "./json.ts";
import { createStateTemplate, type StateTemplate, type WordFinder } from "./stateTemplate.ts";
import { shuffleIdNumbers, type World, type WorldVocabulary } from "./world.ts";

const idTemplates = new WeakMap<Fixture, StateTemplate & { readonly ids: readonly string[] }>();
const worldTemplates = new WeakMap<
  Fixture,
  StateTemplate & { readonly sources: readonly WordSource[] }
>();

/** The fixture with its ids renumbered; equal numbers give equal fixtures. */
export function createVariant(fixture: Fixture, number: number): Fixture {
  let template = idTemplates.get(fixture);
  if (!template) {
    const ids = collectIds(fixture.state, new Set());
    const findIds: WordFinder = it => (ids.has(it) ? [{ word: it, index: 0 }] : []);
    const state = deepFreeze(fixture.state);
    template = { ...createStateTemplate(state, findIds), ids: [...ids].sort() };
    idTemplates.set(fixture, template);
  }
  const { words, ids, instantiate } = template;
  let newWords: readonly string[] | undefined;
  return Object.freeze({
    ...fixture,
    name: formatFixtureName({ base: fixture.name, variant: number }),
    state: instantiate(() => {
      if (!newWords) {
        const newIds = renumberIds(ids, number);
        newWords = words.map(it => newIds.get(it)!);
      }
      return newWords;
    }),
  });
}

/** Fixtures have ids with three digits; sessions continue with four. */
const isId = (text: string): boolean => /^[a-z]+_[1-9]\d\d$/.test(text);

/**
 * The fixture in another world. Its ids are renumbered by the number of the variant, or of the
 * world where there is none, in the same way on all servers.
 */
export function createWorldFixture(
  fixture: Fixture,
  world: World,
  vocabulary: WorldVocabulary,
  variant?: number,
): Fixture {
  let template = worldTemplates.get(fixture);
  if (!template) {
    const ids = collectReferences(fixture.state, collectIds(fixture.state, new Set()));
    const created = createStateTemplate(deepFreeze(fixture.state), it =>
      isId(it) && ids.has(it) ? [{ word: it, index: 0 }] : vocabulary.findWords(it),
    );
    template = { ...created, sources: created.words.map(getSource) };
    worldTemplates.set(fixture, template);
  }
  const { sources, instantiate } = template;
  let newWords: readonly string[] | undefined;
  const { name: base, now } = fixture;
  return Object.freeze({
    ...fixture,
    name: formatFixtureName({
      base,
      world: world.number,
      ...(variant === undefined ? {} : { variant }),
    }),
    now: world.moveDate(now.slice(0, 10)) + now.slice(10),
    state: instantiate(() => {
      if (!newWords) {
        const numbers = variant === undefined ? world.idNumbers : shuffleIdNumbers(variant);
        newWords = sources.map(it =>
          typeof it === "string" ? world.translate(it) : it.ids[numbers[it.number]!]!,
        );
      }
      return newWords;
    }),
  });
}

const textTemplates = new WeakMap<object, StateTemplate>();

/** Another value with names of the shipped fixtures, as it is in a world. */
export function createWorldText<T extends object>(
  value: T,
  world: World,
  vocabulary: WorldVocabulary,
): T {
  let template = textTemplates.get(value);
  if (!template) {
    template = createStateTemplate(deepFreeze(value) as JsonObject, it => vocabulary.findWords(it));
    textTemplates.set(value, template);
  }
  const { words, instantiate } = template;
  return instantiate(() => words.map(it => world.translate(it))) as unknown as T;
}

/**
 * Collects the keys of rows that look like ids: letters, an underscore, digits. A key such as
 * `per_100` whose value is a number is not an id.
 */
function collectIds(value: Json, ids: Set<string>): Set<string> {
  if (Array.isArray(value)) for (const it of value) collectIds(it, ids);
  else if (value !== null && typeof value === "object")
    for (const [key, it] of Object.entries(value)) {
      if (it !== null && typeof it === "object" && /^[a-z]+_\d{1,3}$/.test(key)) ids.add(key);
      collectIds(it, ids);
    }
  return ids;
}

/** Collects the values that look like ids, which may be of rows of another server. */
function collectReferences(value: Json, ids: Set<string>): Set<string> {
  if (typeof value === "string" && isId(value)) ids.add(value);
  else if (value !== null && typeof value === "object")
    for (const it of Object.values(value)) collectReferences(it, ids);
  return ids;
}

function renumberIds(ids: readonly string[], seed: number): ReadonlyMap<string, string> {
  const numbers = shuffleIdNumbers(seed).map(it => it + 100);
  return new Map(
    ids.map((id, i) => {
      const number = numbers[i % numbers.length]! + 900 * Math.floor(i / numbers.length);
      return [id, `${id.slice(0, id.lastIndexOf("_"))}_${number}`];
    }),
  );
}

/** A name or a date that is translated, or an id that gets another number from 100 to 999. */
type WordSource = string | { readonly ids: readonly string[]; readonly number: number };

function getSource(word: string): WordSource {
  if (!isId(word)) return word;
  const at = word.lastIndexOf("_") + 1;
  return { ids: listIds(word.slice(0, at)), number: Number(word.slice(at)) - 100 };
}

const idsByPrefix = new Map<string, readonly string[]>();

/** All ids with that prefix. Worlds share them, which is faster than to build each id anew. */
function listIds(prefix: string): readonly string[] {
  let ids = idsByPrefix.get(prefix);
  if (!ids) {
    ids = Array.from({ length: 900 }, (_, i) => `${prefix}${100 + i}`);
    idsByPrefix.set(prefix, ids);
  }
  return ids;
}
